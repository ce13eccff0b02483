"""Additions to drawn links: gear pairs, masses, springs, tracer points and motors."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

from core.design.linkage.drawing import SAME_PLACE, Drawing, End, On, Pin, PointOnBody
from core.design.linkage.drawn_links import STEEL, Poses, carrier_of_element, new_bar_radius
from core.design.linkage.plane import XZ, Plane, Point, round_measured_number
from core.errors import ModelError
from core.model import WORLD, Body, Constraint, Driver, Frame, Gearwheel, Joint, Model, Pipe, Pose, Shape, Sphere
from core.model.edits.edits import add, remove, replace, unused_name
from core.model.fields import Value
from core.model.new_elements import Surroundings, line_force
from core.model.parameters import evaluate_field

TEETH = 20.0
"""Number of teeth of the smaller gear if only a ratio is given."""
RIM = 1.1
"""Outer radius of a ring gear relative to its pitch radius."""
FACE = 3.0
"""Face width of a gear in radii of the bars."""
STROKE = 0.25
"""Amplitude of a driven slider, relative to its distance from zero."""


# ------------------------------------------------------------------------------- gears


class _GearBody(NamedTuple):
    """A gear body that turns in a carrier. sign : sense of its angle relative to the joint's coordinate"""

    joint: Joint
    body: str
    carrier: str
    sign: float


def gears(
    model: Model,
    first: str,
    second: str,
    ratio: float | tuple[float, float] = -1.0,
    *,
    plane: Plane = XZ,
    poses: Poses | None = None,
) -> Model:
    """Add two meshing gears at two named pins that are on one body; their pitch circles touch.

    ratio : speed of the second wheel over that of the first, both seen from the carrier: negative of outer, positive of
    internal meshes; or the numbers of teeth (z1, z2), one of them negative for an internal mesh
    """
    drawing = Drawing(model, plane, poses)
    a, b = drawing.pin(first), drawing.pin(second)
    distance = math.dist(a.point, b.point)
    if distance < SAME_PLACE:
        raise ModelError("Both pins are at the same point.", remedy="Choose two separate pins.")
    share, teeth = _gear_ratio_and_teeth(ratio)
    model, one, other = _make_meshing_gears(model, drawing, a, b)
    radii = _pitch_radii(distance, share)
    for wheel, pin, radius, count in ((one, a, radii[0], teeth[0]), (other, b, radii[1], teeth[1])):
        ring = share > 0.0 and radius == max(radii)
        model = _add_gear(model, drawing, wheel, pin.point, _gear_shape(model, radius, count, ring))
    at = [_drawn_pin_angle(drawing, model.find("joints", wheel.joint.name)) for wheel in (one, other)]
    along = share * one.sign * other.sign
    return add(
        model,
        Constraint(
            name=unused_name(model, "constraints", "gear1"),
            kind="gear",
            joint=other.joint.name,
            leader=one.joint.name,
            ratio=along,
            offset=round_measured_number(at[1] - along * at[0]),
        ),
    )


def _gear_ratio_and_teeth(ratio_or_teeth: float | tuple[float, float]) -> tuple[float, tuple[float, float]]:
    """Return the speed of the second gear over that of the first, and both numbers of teeth."""
    if isinstance(ratio_or_teeth, tuple):
        first, second = map(float, ratio_or_teeth)
        if not first or not second:
            raise ModelError(
                "A number of teeth cannot be zero.", where="ratio", remedy="Give two numbers other than zero."
            )
        return -first / second, (abs(first), abs(second))
    ratio = float(ratio_or_teeth)
    if not math.isfinite(ratio) or ratio in (0.0, 1.0):
        raise ModelError(
            f"Two gears on separate pins cannot have the ratio {ratio:g}.",
            where="ratio",
            remedy="Give a negative ratio for an external mesh, a positive ratio other than 1 for an internal mesh.",
        )
    slow = max(1.0, abs(ratio))
    return ratio, (TEETH * slow * abs(ratio) / max(1.0, abs(ratio)), TEETH * slow / max(1.0, abs(ratio)))


def _pitch_radii(distance: float, ratio: float) -> tuple[float, float]:
    """Return the radii of the pitch circles: r1 / r2 = |ratio|; their sum is the distance, or their difference for an
    internal mesh."""
    second = distance / (1.0 - ratio) if ratio < 1.0 else distance / (ratio - 1.0)
    return abs(ratio) * second, second


def _make_meshing_gears(model: Model, drawing: Drawing, a: Pin, b: Pin) -> tuple[Model, _GearBody, _GearBody]:
    """Return the model with the two gear bodies, which turn in one carrier. A gear on the ground that is coaxial with a
    pin of the carrier is attached to the carrier instead, with the same motion."""
    used = {name for each in model.constraints for name in each.joints} | {d.joint for d in model.drivers}
    choices = [
        (pair, grounded, used_before)
        for one in drawing.pins_at(a.point)
        for other in drawing.pins_at(b.point)
        for pair in _possible_gear_pairs(model, one.joint, other.joint)
        for grounded in [carrier_of_element(model, drawing.plane.parent) in (pair[0].body, pair[1].body)]
        for used_before in [sum(wheel.joint.name in used for wheel in pair)]
    ]
    choices = [each for each in choices if each[2] < 2]
    moving = [each for each in choices if not each[1]]
    if not moving and (hung := _attach_ground_gear_to_carrier(model, drawing, a, b, used)) is not None:
        return hung
    if not choices:
        raise ModelError(
            f"No body carries both pins, {a.name} and {b.name}.",
            remedy="Choose two pins of one link (the carrier), or both on the ground.",
        )
    pair = min(moving or choices, key=lambda each: each[2])[0]
    return model, pair[0], pair[1]


def _possible_gear_pairs(model: Model, one: Joint, other: Joint) -> list[tuple[_GearBody, _GearBody]]:
    if one == other:
        return []
    return [
        (first, second)
        for first in _gear_bodies_of_joint(model, one)
        for second in _gear_bodies_of_joint(model, other)
        if first.carrier == second.carrier and first.body != second.body
    ]


def _gear_bodies_of_joint(model: Model, joint: Joint) -> tuple[_GearBody, _GearBody]:
    parent, child = carrier_of_element(model, joint.parent), carrier_of_element(model, joint.child)
    return _GearBody(joint, child, parent, 1.0), _GearBody(joint, parent, child, -1.0)


def _attach_ground_gear_to_carrier(
    model: Model, drawing: Drawing, a: Pin, b: Pin, used: set[str]
) -> tuple[Model, _GearBody, _GearBody] | None:
    """Return the model with a ground gear that is coaxial with a pin of the carrier attached to the carrier; None if
    there is none."""
    stands = carrier_of_element(model, drawing.plane.parent)
    for near, far, swapped in ((a, b, False), (b, a, True)):
        here = [each.joint for each in drawing.pins_at(near.point)]
        there = [each.joint for each in drawing.pins_at(far.point)]
        for planet in there:
            arm = next(
                (each for each in here if _is_joint_on_body(model, each, stands) and each.child == planet.parent), None
            )
            wheel = next(
                (
                    each
                    for each in here
                    if _is_joint_on_body(model, each, stands) and each not in (arm, planet) and each.rest
                ),
                None,
            )
            if arm is None or wheel is None or wheel.name in used:
                continue
            turned = drawing.angle(wheel.child) - drawing.angle(arm.child)
            moved = dataclasses.replace(
                wheel, parent=arm.child, a=arm.b, axis=drawing.plane.normal, rest=(round_measured_number(turned),)
            )
            pair = _gear_bodies_of_joint(model, moved)[0], _gear_bodies_of_joint(model, planet)[0]
            return replace(model, wheel, moved), *(pair[::-1] if swapped else pair)
    return None


def _is_joint_on_body(model: Model, joint: Joint, body: str) -> bool:
    return carrier_of_element(model, joint.parent) == body


def _drawn_pin_angle(drawing: Drawing, joint: Joint) -> float:
    """Return the drawn angle of a pin."""
    if joint.rest:
        return drawing.number(joint.rest[0])
    return math.remainder(drawing.angle(joint.child) - drawing.angle(joint.parent), 2.0 * math.pi)


def _gear_shape(model: Model, radius: float, teeth: float, ring: bool) -> Shape:
    """Return the shape of a gear; the larger gear of an internal mesh is a ring."""
    thick = new_bar_radius(model, radius)
    width = round_measured_number(FACE * thick)
    if ring:
        return Pipe(
            radius=round_measured_number(RIM * radius), inner_radius=round_measured_number(radius), length=width
        )
    bore = round_measured_number(min(thick, radius / 2.0))
    return Gearwheel(radius=round_measured_number(radius), teeth=round_measured_number(teeth), width=width, bore=bore)


def _add_gear(model: Model, drawing: Drawing, gear: _GearBody, point: Point, shape: Shape) -> Model:
    """Add a gear to a body, centred on a pin; a ground gear becomes a separate body fixed to the ground."""
    if gear.body == WORLD:
        return _add_ground_gear(model, drawing, point, shape)
    place = drawing.place(On(gear.body, point))
    shape = dataclasses.replace(shape, pose=Pose(position=place.position, rotation=drawing.plane.upright))
    body = model.find("bodies", gear.body)
    if shape in body.shapes:  # a planet has one wheel for both meshes
        return model
    return replace(model, body, dataclasses.replace(body, shapes=(*body.shapes, shape)))


def _add_ground_gear(model: Model, drawing: Drawing, point: Point, shape: Shape) -> Model:
    place = drawing.place(point)
    name = unused_name(model, "bodies", "wheel1")
    shape = dataclasses.replace(shape, pose=Pose(rotation=drawing.plane.upright))
    model = add(model, Body(name=name, density=STEEL, shapes=(shape,)))
    joint = unused_name(model, "joints", name)
    return add(model, Joint(name=joint, kind="fixed", parent=place.owner, child=name, a=Pose(position=place.position)))


# ------------------------------------------------------------------------------- masses, springs, points


def mass_point(model: Model, at: End, mass: Value, *, plane: Plane = XZ, poses: Poses | None = None) -> Model:
    """Add a point mass (kg), fixed to a link at a pin, free end or point."""
    drawing = Drawing(model, plane, poses)
    number = float(evaluate_field(mass, drawing.values, "mass"))
    if not number > 0.0:
        raise ModelError(f"A mass of {number:g} kg is not possible.", where="mass", remedy="Give a mass above zero.")
    place = _point_on_link(drawing, at)
    name = unused_name(model, "bodies", "mass1")
    radius = round_measured_number(2.0 * new_bar_radius(model, 0.1))
    model = add(model, Body(name=name, mass=mass, shapes=(Sphere(radius=radius),)))
    joint = Joint(
        name=unused_name(model, "joints", name),
        kind="fixed",
        parent=place.owner,
        child=name,
        a=Pose(position=place.position),
    )
    return add(model, joint)


def spring(model: Model, a: End, b: End, *, plane: Plane = XZ, poses: Poses | None = None) -> Model:
    """Add a spring and damper between two points, with the drawn distance as rest length."""
    drawing = Drawing(model, plane, poses)
    places = [drawing.place(end) for end in (a, b)]
    distance = math.dist(*(drawing.point(place) for place in places))
    if distance < SAME_PLACE:
        raise ModelError("Both ends of the spring are at the same point.", remedy="Choose two separate points.")
    names = []
    for end, place in zip((a, b), places, strict=True):
        if isinstance(end, str) and any(frame.name == end for frame in model.frames):
            names.append(end)
            continue
        stem = "ground_point" if carrier_of_element(model, place.owner) == WORLD else f"{place.owner}_point"
        names.append(unused_name(model, "frames", stem))
        model = add(model, Frame(name=names[-1], parent=place.owner, pose=Pose(position=place.position)))
    return add(model, line_force(model, "spring_damper", names[0], names[1], Surroundings(distance)))


def tracer(model: Model, body: str, point: Point, *, plane: Plane = XZ, poses: Poses | None = None) -> Model:
    """Add a named point of a link whose path can be shown."""
    place = _point_on_link(Drawing(model, plane, poses), On(body, point))
    name = unused_name(model, "frames", "P1")
    return add(model, Frame(name=name, parent=place.owner, pose=Pose(position=place.position)))


def _point_on_link(drawing: Drawing, end: End) -> PointOnBody:
    place = drawing.place(end)
    if carrier_of_element(drawing.model, place.owner) == WORLD:
        if isinstance(end, str) and (joint := next((j for j in drawing.model.joints if j.name == end), None)):
            return PointOnBody(joint.child, joint.b.position)
        raise ModelError("A point of the ground does not move, so it has no path.", remedy="Choose a point of a link.")
    return place


# ------------------------------------------------------------------------------- motors


def motor(model: Model, joint: str, *, poses: Poses | None = None, plane: Plane = XZ) -> Model:
    """Add a motor to a pin (one turn per second) or slider (one stroke back and forth per second), starting from the
    drawn position; if there is a motor already, remove it instead."""
    found = model.joint(joint)
    driven = [driver for driver in model.drivers if driver.joint == joint]
    for driver in driven:
        model = remove(model, "drivers", driver.name)
    if driven:
        return model
    if not (found.info.is_hinge() or found.info.is_slider()):
        raise ModelError(f"A {found.kind} joint cannot have a motor.", remedy="Choose a pin or a guide.")
    start = _drawn_joint_value(model, found, plane, poses)
    motion = "2*pi*t"
    if found.info.is_slider():
        motion = f"{round_measured_number(float(f'{STROKE * abs(start) or 0.05:.0e}')):g}*sin(2*pi*t)"
    function = f"{start:.12g} + {motion}" if start else motion
    return add(model, Driver(name=unused_name(model, "drivers", f"{joint}_motor"), joint=joint, function=function))


def _drawn_joint_value(model: Model, joint: Joint, plane: Plane, poses: Poses | None) -> float:
    """Return the drawn value of a joint: its reference value, or the measured one for a loop-closing joint."""
    if joint.rest:
        return float(evaluate_field(joint.rest[0], model.values()))
    from core.mechanism import Mechanism

    mech = Mechanism(model)
    return round_measured_number(float(mech.coordinate(mech.rest(), joint.name)[0]))
