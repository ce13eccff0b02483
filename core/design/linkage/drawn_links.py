"""Links drawn from pin to pin, the pins that support them, sliders on guides, and pins in slots."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.design.linkage.drawing import SAME_PLACE, Bar, Drawing, End, On, PointOnBody, half_of_length
from core.design.linkage.plane import XZ, Plane, Point, round_measured_number
from core.errors import ModelError
from core.model import WORLD, Body, Box, Capsule, Frame, Joint, Model, Parameter, Pose, Shape
from core.model.edits.edits import add, remove, replace, unused_name
from core.model.fields import Value, Vector
from core.model.parameters import evaluate_field

STEEL = 7850.0
"""Density of drawn bodies, kg/m³."""
THICKNESS = 0.06
"""Radius of the first bar relative to its length; further bars have the same radius."""

Poses = Mapping[str, NDArray[np.float64]]

BLOCK = (7.0, 4.0, 3.0)
"""Length, height and depth of a slider in radii of the bars."""


def link(
    model: Model,
    points: Sequence[End],
    *,
    plane: Plane = XZ,
    length: Value | None = None,
    angle: Value | None = None,
    radius: float | None = None,
    poses: Poses | None = None,
) -> Model:
    """Add links from point to point, connected by pins. A new first point becomes a ground pin; a new last point is a
    free end, `ground(u, v)` a ground pin, and the name of a pin closes a loop.

    length, angle : of a single link that begins at the first point, in place of the second: a number (m, rad) or a
    formula, from which the length's parameter is made
    radius : of the bars, m; default: that of the first one there is
    poses : (4, 4) world ← body, how the machine stands as one draws; default: its rest
    """
    ends = list(points)
    if length is not None or angle is not None:
        reached = _link_end_point(Drawing(model, plane, poses), ends, length, angle)
        ends = [ends[0], On(ends[1].body, reached) if len(ends) > 1 and isinstance(ends[1], On) else reached]
    if len(ends) < 2:
        raise ModelError("A link needs two ends.", remedy="Give two points, or one with a length and an angle.")
    start = ends[0]
    for end in ends[1:]:
        model = _add_one_link(model, start, end, plane, (length, angle, radius), poses)
        made = model.bodies[-1].name
        start = end if isinstance(end, str | On) else made
        poses = poses if poses is None else with_link(model, plane, poses)
    return model


def _add_one_link(
    model: Model,
    start: End,
    end: End,
    plane: Plane,
    length_angle_radius: tuple[Value | None, Value | None, float | None],
    poses: Poses | None,
) -> Model:
    length, angle, radius = length_angle_radius
    drawing = Drawing(model, plane, poses)
    model, begin = _make_point_for_pin(model, drawing, start)
    if model is not drawing.model:
        drawing = Drawing(model, plane, drawing.poses)
    first = drawing.point(begin)
    far = None if not isinstance(end, str | On) else drawing.place(end)
    last = _to_point(end) if far is None else drawing.point(far)
    span = math.dist(first, last)
    if span < SAME_PLACE:
        raise ModelError("Both ends of the link are at the same point.", remedy="Choose a different second point.")
    direction = math.atan2(last[1] - first[1], last[0] - first[0])
    number = _length_parameter(model, length, span)
    body = Body(name=unused_name(model, "bodies", "link1"), density=STEEL)
    body = dataclasses.replace(
        body, shapes=(_make_bar_shape(plane, number.name, radius or new_bar_radius(model, span)),)
    )
    turn = (
        _reference_angle(angle, drawing, begin)
        if angle is not None
        else round_measured_number(_wrap_angle(direction - drawing.angle(begin.owner)))
    )
    tree = Joint(
        name=next_pin_name(model),
        parent=begin.owner,
        child=body.name,
        a=drawing.frame(begin),
        axis=plane.normal,
        rest=(turn,),
    )
    for element in (number, body, tree):
        model = add(model, element)
    return model if far is None else _add_closing_pin(model, drawing, far, body.name, number.name)


def _add_closing_pin(model: Model, drawing: Drawing, far_end: PointOnBody, body: str, length: str) -> Model:
    """Add the pin at a link's far end; it closes a loop and therefore states no reference value."""
    at = Pose(position=drawing.plane.along(length))
    a, axis = drawing.frame(far_end), drawing.plane.normal
    return add(model, Joint(name=next_pin_name(model), parent=far_end.owner, child=body, a=a, b=at, axis=axis))


def _make_point_for_pin(model: Model, drawing: Drawing, end: End) -> tuple[Model, PointOnBody]:
    """Make a point for a pin. A pin off a link's line turns the link into a plate with two parameters; a pin on the
    line beyond an end lengthens the bar by a parameter."""
    place = drawing.place(end)
    bar = drawing.bar(place.owner) if isinstance(end, On) else None
    if bar is None:
        return model, place
    along, aside = (drawing.number(each) for each in drawing.plane.components(place.position))
    if abs(aside) < SAME_PLACE * max(1.0, abs(along)):
        over = max(along - drawing.number(bar.length), -along)
        if over < SAME_PLACE:
            return model, PointOnBody(place.owner, drawing.plane.along(round_measured_number(along)))
        return lengthen_link(model, drawing.plane, bar, over, at_start=along < 0.0)
    return turn_link_into_triangle(model, drawing.plane, bar, along, aside)


def lengthen_link(
    model: Model, plane: Plane, bar: Bar, distance: float, *, at_start: bool
) -> tuple[Model, PointOnBody]:
    """Extend a link to a third point beyond its end or before its start, at a distance (m) that becomes a parameter;
    return the model and that point."""
    e = Parameter(
        name=unused_name(model, "parameters", "e1"), value=round_measured_number(distance), dimension="length"
    )
    model = add(model, e)
    body = model.find("bodies", bar.body)
    begin = "-" if at_start else f"{bar.length} + "
    middle, end = f"{begin}{e.name}/2", f"{begin}{e.name}"
    more = Capsule(
        radius=body.shapes[0].radius,
        length=e.name,
        pose=Pose(position=plane.along(middle), rotation=plane.bar()),
        material=body.shapes[0].material,
    )
    shaped = dataclasses.replace(body, shapes=(*body.shapes, more))
    return replace(model, body, shaped), PointOnBody(bar.body, plane.along(end))


def turn_link_into_triangle(
    model: Model, plane: Plane, bar: Bar, along: float, aside: float
) -> tuple[Model, PointOnBody]:
    """Turn a link into a triangle with a third point at the given coordinates (m, in the link's axes), defined by a
    distance and an angle as parameters; return the model and that point."""
    e = Parameter(
        name=unused_name(model, "parameters", "e1"),
        value=round_measured_number(math.hypot(along, aside)),
        dimension="length",
    )
    g = Parameter(
        name=unused_name(model, "parameters", "g1"),
        value=round_measured_number(math.atan2(aside, along)),
        dimension="angle",
    )
    model = add(add(model, e), g)
    u, v = f"{e.name}*cos({g.name})", f"{e.name}*sin({g.name})"
    body = model.find("bodies", bar.body)
    radius, rest = body.shapes[0].radius, f"({u} - {bar.length})"
    sides = (
        Capsule(
            radius=radius,
            length=e.name,
            pose=Pose(position=plane.vector(f"{u}/2", f"{v}/2"), rotation=plane.bar(g.name)),
            material=body.shapes[0].material,
        ),
        Capsule(
            radius=radius,
            length=f"sqrt({rest}^2 + ({v})^2)",
            pose=Pose(
                position=plane.vector(f"({bar.length} + {u})/2", f"{v}/2"), rotation=plane.bar(f"atan2({v}, {rest})")
            ),
            material=body.shapes[0].material,
        ),
    )
    shaped = dataclasses.replace(body, shapes=(*body.shapes, *sides))
    return replace(model, body, shaped), PointOnBody(bar.body, plane.vector(u, v))


def corner(model: Model, body: str, point: Point, *, plane: Plane = XZ, poses: Poses | None = None) -> Model:
    """Add a further point to a link, as a frame for pins (a ternary link). Off the link's line it makes the link a
    triangle whose third corner has a distance and an angle as parameters."""
    drawing = Drawing(model, plane, poses)
    model, place = _make_point_for_pin(model, drawing, On(body, point))
    name = unused_name(model, "frames", "P1")
    return add(model, Frame(name=name, parent=place.owner, pose=Pose(position=place.position)))


def ground_pin(model: Model, end: End, *, plane: Plane = XZ, poses: Poses | None = None) -> Model:
    """Attach a free end to the ground by a pin where it is; if it is a ground pin, remove it instead."""
    drawing = Drawing(model, plane, poses)
    joint = next((pin.joint for pin in drawing.pins if pin.name == end), None)
    if joint is not None and carrier_of_element(model, joint.parent) == carrier_of_element(model, plane.parent):
        return remove_pin(model, joint.name)
    place = drawing.place(end)
    if carrier_of_element(model, place.owner) == carrier_of_element(model, plane.parent):
        raise ModelError("This point already belongs to the ground.", remedy="Choose a free end or a pin of a link.")
    on_ground = drawing.place(drawing.point(place))
    name = next_pin_name(model)
    b = drawing.frame(place)
    return add(
        model,
        Joint(name=name, parent=on_ground.owner, child=place.owner, a=drawing.frame(on_ground), b=b, axis=plane.normal),
    )


def remove_pin(model: Model, joint: str) -> Model:
    """Remove a pin; the links it connected stay."""
    return remove(model, "joints", joint)


# ------------------------------------------------------------------------------- parts of it


def carrier_of_element(model: Model, owner: str) -> str:
    """Return the body, or the ground, that carries a body or frame."""
    return model.carrier(owner or WORLD).name


def next_pin_name(model: Model) -> str:
    """Return the next free pin name: A, B, C …, then A2, B2 …"""
    taken = {joint.name for joint in model.expanded.joints}
    rounds = len(taken) // 26 + 1
    letters = (chr(ord("A") + k) + (str(turn) if turn > 1 else "") for turn in range(1, rounds + 1) for k in range(26))
    return next(name for name in letters if name not in taken)


def new_bar_radius(model: Model, length: float) -> float:
    """Return the radius of a new bar, m: that of the first existing bar, otherwise a fraction of its length rounded to
    one digit."""
    for body in model.bodies:
        for shape in body.shapes:
            if isinstance(shape, Capsule) and isinstance(shape.radius, float):
                return shape.radius
    return float(f"{THICKNESS * length:.0e}")


def _make_bar_shape(plane: Plane, length: str, radius: float) -> Shape:
    pose = Pose(position=plane.along(half_of_length(length)), rotation=plane.bar())
    return Capsule(radius=radius, length=length, pose=pose)


def _length_parameter(model: Model, length: Value | None, drawn_length: float) -> Parameter:
    value = round_measured_number(drawn_length) if length is None else length
    number = float(evaluate_field(value, model.values(), "length"))
    if not number > 0.0:
        raise ModelError(
            f"A link cannot be {number:g} m long.", where="length", remedy="Give a length greater than zero."
        )
    return Parameter(name=unused_name(model, "parameters", "l1"), value=value, dimension="length")


def _reference_angle(angle: Value, drawing: Drawing, start_point: PointOnBody) -> Value:
    """Return the reference value of a link's pin for an angle from the plane's first axis; formulas are kept where
    possible."""
    turned = drawing.angle(start_point.owner)
    return angle if not turned else round_measured_number(_wrap_angle(drawing.number(angle) - turned))


def _link_end_point(drawing: Drawing, points: Sequence[End], length: Value | None, angle: Value | None) -> Point:
    """Return the end point of a link with given length or angle; the quantity not given follows from the second
    point."""
    place = drawing.place(points[0])
    start = drawing.point(place)
    toward = drawing.point(drawing.place(points[1])) if len(points) > 1 else None
    if toward is None and (length is None or angle is None):
        raise ModelError(
            "The end of the link is not given.", remedy="Give a second point, or both a length and an angle."
        )
    span = drawing.number(length) if length is not None else math.dist(start, toward or start)
    if not span > 0.0:
        raise ModelError(
            f"A link cannot be {span:g} m long.", where="length", remedy="Give a length greater than zero."
        )
    if angle is not None:
        turn = drawing.number(angle)
    else:
        assert toward is not None
        turn = math.atan2(toward[1] - start[1], toward[0] - start[0])
    return start[0] + span * math.cos(turn), start[1] + span * math.sin(turn)


def _to_point(end: object) -> Point:
    try:
        u, v = (float(each) for each in end)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        u = v = math.nan
    if not (math.isfinite(u) and math.isfinite(v)):
        raise ModelError(f"A point of the plane is two numbers in m, not {end!r}.", remedy="Give (u, v).")
    return u, v


def _wrap_angle(angle: float) -> float:
    """Return the equivalent angle within half a turn."""
    return math.remainder(angle, 2.0 * math.pi)


def with_link(model: Model, plane: Plane, poses: Poses) -> Poses:
    """Return the poses with that of the link drawn last, which follows from its pin in the tree."""
    body = model.bodies[-1].name
    joint = next(joint for joint in model.joints if joint.child == body and joint.rest)
    drawing = Drawing(model, plane, {**poses, body: np.eye(4)})
    angle = float(drawing.number(joint.rest[0])) + drawing.angle(joint.parent)
    X = drawing.X_WD.copy()
    turn = np.array(
        [[math.cos(angle), -math.sin(angle), 0.0], [math.sin(angle), math.cos(angle), 0.0], [0.0, 0.0, 1.0]]
    )
    X[:3, :3] = X[:3, :3] @ turn @ plane.basis.T
    X[:3, 3] = drawing.world_point(drawing.point(PointOnBody(joint.parent, joint.a.position)))
    return {**poses, body: X}


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
    or point of a link a pin joins it to the link; at a new point it has no pin.

    Its coordinate is zero at the foot of the perpendicular from the first pin on the ground of what it is joined to, so
    that it is the textbook's x.
    """
    drawing = Drawing(model, plane, poses)
    direction = float(evaluate_field(angle, drawing.values, "angle"))
    place = drawing.place(pin)
    here = drawing.point(place)
    joined = isinstance(pin, str | On) and carrier_of_element(model, place.owner) != carrier_of_element(
        model, plane.parent
    )
    origin = _first_ground_pin(drawing, place.owner) if joined else None
    foot, distance = _perpendicular_foot(origin or here, here, direction)
    owner = body or plane.parent
    name = unused_name(model, "bodies", "slider1")
    model = add(model, _make_block_body(model, name, plane, direction))
    model = add(model, _guide_joint(model, drawing, owner, name, foot, direction, distance))
    return add(model, _pin_joint(model, drawing, place, name)) if joined else model


def slot(
    model: Model, pin: End, link: str, angle: Value | None = None, *, plane: Plane = XZ, poses: Poses | None = None
) -> Model:
    """Add a pin that slides along a link: a massless block on a guide of the link, along its line or at an angle from
    the plane's first axis, with the pin on the block."""
    drawing = Drawing(model, plane, poses)
    place = drawing.place(pin)
    if carrier_of_element(model, place.owner) == carrier_of_element(model, link):
        place = _pin_point_on_other_body(drawing, pin, link)
    here, origin = drawing.point(place), drawing.point(PointOnBody(link))
    direction = drawing.angle(link) if angle is None else float(evaluate_field(angle, drawing.values, "angle"))
    if angle is None and not drawing.aligned(link):
        raise ModelError(
            f"'{link}' is not a bar in this plane, so its slot has no direction.",
            remedy="Give the direction of its slot.",
        )
    foot, distance = _perpendicular_foot(origin, here, direction)
    name = unused_name(model, "bodies", "block1")
    radius = new_bar_radius(model, max(math.dist(here, origin), SAME_PLACE))
    turned = Pose(rotation=plane.turned(direction - drawing.angle(link)))
    shape = Box(size=_block_size(plane, radius), pose=turned)
    model = add(model, Body(name=name, shapes=(shape,)))
    model = add(model, _guide_joint(model, drawing, link, name, foot, direction, distance))
    return add(model, _pin_joint(model, drawing, place, name))


def _pin_point_on_other_body(drawing: Drawing, pin: End, link: str) -> PointOnBody:
    """Return the point for a pin on a body other than the slotted link."""
    joint = next((each.joint for each in drawing.pins if each.name == pin), None)
    if joint is not None and carrier_of_element(drawing.model, joint.child) != link:
        return PointOnBody(joint.child, joint.b.position)
    raise ModelError(f"The pin belongs to '{link}' itself.", remedy="Choose a pin or free end of another link.")


def _guide_joint(
    model: Model, drawing: Drawing, owner: str, name: str, foot_point: Point, direction: float, distance: float
) -> Joint:
    plane = drawing.plane
    place = drawing.place(On(owner, foot_point))
    turn = direction - drawing.angle(owner)
    axis = plane.vector(round_measured_number(math.cos(turn)), round_measured_number(math.sin(turn)))
    return Joint(
        name=unused_name(model, "joints", "guide1"),
        kind="prismatic",
        parent=owner,
        child=name,
        a=drawing.frame(place),
        axis=axis,
        rest=(round_measured_number(distance),),
    )


def _pin_joint(model: Model, drawing: Drawing, pin_point: PointOnBody, block: str) -> Joint:
    """Return the pin between a link and the block; it closes the loop and states no reference value."""
    a, axis = drawing.frame(pin_point), drawing.plane.normal
    return Joint(name=next_pin_name(model), parent=pin_point.owner, child=block, a=a, axis=axis)


def _make_block_body(model: Model, name: str, plane: Plane, direction: float) -> Body:
    shape = Box(size=_block_size(plane, new_bar_radius(model, 0.1)), pose=Pose(rotation=plane.turned(direction)))
    return Body(name=name, density=STEEL, shapes=(shape,))


def _block_size(plane: Plane, radius: float) -> Vector:
    """Return the size of a block: length along the first axis of the plane, height across, depth along the normal."""
    length, height, depth = (round_measured_number(share * radius) for share in BLOCK)
    x, y, z = (length if u else height if v else depth for u, v, _ in plane.basis)
    return x, y, z


def _perpendicular_foot(origin: Point, point: Point, direction: float) -> tuple[Point, float]:
    """Return the foot of the perpendicular from a point onto a line through another point, and its distance along the
    line."""
    u, v = math.cos(direction), math.sin(direction)
    distance = (point[0] - origin[0]) * u + (point[1] - origin[1]) * v
    return (point[0] - distance * u, point[1] - distance * v), distance


def _first_ground_pin(drawing: Drawing, owner: str) -> Point | None:
    """Return the position of the ground pin drawn first, among those that carry a body."""
    model = drawing.model.expanded
    stands, reached = carrier_of_element(model, drawing.plane.parent), {carrier_of_element(model, owner)}
    edges = [
        (joint, carrier_of_element(model, joint.parent), carrier_of_element(model, joint.child))
        for joint in model.joints
    ]
    grown = True
    while grown:
        near = {end for _, *ends in edges if set(ends) & reached - {stands, WORLD} for end in ends}
        grown = not near <= reached
        reached |= near
    held = {joint.name for joint, *ends in edges if stands in ends and (set(ends) - {stands}) & reached}
    return next((pin.point for pin in drawing.pins if pin.name in held), None)
