"""Sliders on guides, and pins in slots."""

from __future__ import annotations

import math

from core.design.linkage.drawing import SAME_PLACE, Drawing, End, On, Place
from core.design.linkage.drawn_links import STEEL, Poses, carrier_of, pin_name, thickness
from core.design.linkage.plane import XZ, Plane, Point, written
from core.errors import ModelError
from core.model import WORLD, Body, Box, Joint, Model, Pose
from core.model.edits.edits import add, unused_name
from core.model.fields import Value, Vector
from core.model.parameters import value_of

BLOCK = (7.0, 4.0, 3.0)
"""Length, height and depth of a slider in radii of the bars."""


def slider(
    model: Model,
    pin: End,
    angle: Value = 0.0,
    *,
    plane: Plane = XZ,
    body: str = "",
    poses: Poses | None = None,
) -> Model:
    """Add a block that slides on the ground (or on a body) at an angle from the plane's first axis. At a pin, free end
    or point of a link it is joined to it by a pin; at a new point it has none.

    Its coordinate is zero at the foot of the perpendicular from the first pin on the ground of what it is joined to, so
    that it is the textbook's x.
    """
    drawing = Drawing(model, plane, poses)
    direction = float(value_of(angle, drawing.values, "angle"))
    place = drawing.place(pin)
    here = drawing.point(place)
    joined = isinstance(pin, str | On) and carrier_of(model, place.owner) != carrier_of(model, plane.parent)
    origin = _first_ground_pin(drawing, place.owner) if joined else None
    foot, distance = _perpendicular_foot(origin or here, here, direction)
    owner = body or plane.parent
    name = unused_name(model, "bodies", "slider1")
    model = add(model, _block_body(model, name, plane, direction))
    model = add(model, _guide_joint(model, drawing, owner, name, foot, direction, distance))
    return add(model, _pin_joint(model, drawing, place, name)) if joined else model


def slot(
    model: Model, pin: End, link: str, angle: Value | None = None, *, plane: Plane = XZ, poses: Poses | None = None
) -> Model:
    """Add a pin that slides along a link: a massless block on a guide of the link, along its line or at an angle from
    the plane's first axis, with the pin on the block."""
    drawing = Drawing(model, plane, poses)
    place = drawing.place(pin)
    if carrier_of(model, place.owner) == carrier_of(model, link):
        place = _place_on_other_body(drawing, pin, link)
    here, origin = drawing.point(place), drawing.point(Place(link))
    direction = drawing.angle(link) if angle is None else float(value_of(angle, drawing.values, "angle"))
    if angle is None and not drawing.aligned(link):
        raise ModelError(
            f"'{link}' is no bar in this plane, so its slot has no direction.", remedy="Give the direction of its slot."
        )
    foot, distance = _perpendicular_foot(origin, here, direction)
    name = unused_name(model, "bodies", "block1")
    radius = thickness(model, max(math.dist(here, origin), SAME_PLACE))
    turned = Pose(rotation=plane.turned(direction - drawing.angle(link)))
    shape = Box(size=_block_size(plane, radius), pose=turned)
    model = add(model, Body(name=name, shapes=(shape,)))
    model = add(model, _guide_joint(model, drawing, link, name, foot, direction, distance))
    return add(model, _pin_joint(model, drawing, place, name))


def _place_on_other_body(drawing: Drawing, pin: End, link: str) -> Place:
    """Place of a pin on a body other than the slotted link."""
    joint = next((each.joint for each in drawing.pins if each.name == pin), None)
    if joint is not None and carrier_of(drawing.model, joint.child) != link:
        return Place(joint.child, joint.b.position)
    raise ModelError(f"The pin belongs to '{link}' itself.", remedy="Choose a pin or free end of another link.")


def _guide_joint(
    model: Model, drawing: Drawing, owner: str, name: str, foot: Point, direction: float, distance: float
) -> Joint:
    plane = drawing.plane
    place = drawing.place(On(owner, foot))
    turn = direction - drawing.angle(owner)
    axis = plane.vector(written(math.cos(turn)), written(math.sin(turn)))
    return Joint(
        name=unused_name(model, "joints", "guide1"),
        kind="prismatic",
        parent=owner,
        child=name,
        a=drawing.frame(place),
        axis=axis,
        rest=(written(distance),),
    )


def _pin_joint(model: Model, drawing: Drawing, place: Place, block: str) -> Joint:
    """Pin between a link and the block, which closes the loop and states no reference value."""
    a, axis = drawing.frame(place), drawing.plane.normal
    return Joint(name=pin_name(model), parent=place.owner, child=block, a=a, axis=axis)


def _block_body(model: Model, name: str, plane: Plane, direction: float) -> Body:
    shape = Box(size=_block_size(plane, thickness(model, 0.1)), pose=Pose(rotation=plane.turned(direction)))
    return Body(name=name, density=STEEL, shapes=(shape,))


def _block_size(plane: Plane, radius: float) -> Vector:
    """Size of a block: length along the first axis of the plane, height across, depth along the normal."""
    length, height, depth = (written(share * radius) for share in BLOCK)
    x, y, z = (length if u else height if v else depth for u, v, _ in plane.basis)
    return x, y, z


def _perpendicular_foot(origin: Point, here: Point, direction: float) -> tuple[Point, float]:
    """Foot of the perpendicular from a point onto a line through another point, and its distance along the line."""
    u, v = math.cos(direction), math.sin(direction)
    distance = (here[0] - origin[0]) * u + (here[1] - origin[1]) * v
    return (here[0] - distance * u, here[1] - distance * v), distance


def _first_ground_pin(drawing: Drawing, owner: str) -> Point | None:
    """Position of the ground pin drawn first, of those that carry a body."""
    model = drawing.model.expanded
    stands, reached = carrier_of(model, drawing.plane.parent), {carrier_of(model, owner)}
    edges = [(joint, carrier_of(model, joint.parent), carrier_of(model, joint.child)) for joint in model.joints]
    grown = True
    while grown:
        near = {end for _, *ends in edges if set(ends) & reached - {stands, WORLD} for end in ends}
        grown = not near <= reached
        reached |= near
    held = {joint.name for joint, *ends in edges if stands in ends and (set(ends) - {stands}) & reached}
    return next((pin.point for pin in drawing.pins if pin.name in held), None)
