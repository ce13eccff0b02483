"""Geometry edits that keep loops closed: dimensions (lengths of links, angles of ground links, positions of ground
pins), pins dragged together with the lengths of their links, and dyads flipped to their other branch."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from core.design.linkage.closing import change_keeping_loops_closed, set_reference_configuration, set_reference_value
from core.design.linkage.drawing import SAME_PLACE, Bar, Drawing, Pin, PointOnBody
from core.design.linkage.drawn_links import Poses, carrier_of_element
from core.design.linkage.plane import XZ, Plane, Point, round_measured_number
from core.errors import AssemblyError, ModelError
from core.mechanism import Mechanism
from core.model import Joint, Model
from core.model.edits.edits import change, rename, replace
from core.model.fields import Value, Vector
from core.model.parameters import Parameter, evaluate_field

MEETS = 1e-7
"""Distance, m, within which a pin counts as the end of a bar."""
FLAT = 2e-3
"""Distance between both branches of two links, relative to the longer link, below which the links are reported as
aligned."""


def dimension(model: Model, parameter: str, value: Value) -> Model:
    """Set a parameter, such as the length of a link, to a number (SI) or formula; the loops close again on their
    branch. Raises ModelError with the remaining gap and the range for which they would close."""
    old = model.find("parameters", parameter)
    before = model.values()[parameter]
    new = change(model, "parameters", parameter, value=value)
    after = float(new.values()[parameter])
    if old.dimension == "length" and not after > 0.0:
        raise ModelError(
            f"A link cannot be {after:g} m long.",
            where=f"parameter '{parameter}', value",
            remedy="Give a length greater than zero.",
        )

    def model_at(new_value: float) -> Model:
        return new if new_value == after else change(model, "parameters", parameter, value=new_value)

    return change_keeping_loops_closed(model_at, before, after, old.dimension, f"parameter '{parameter}'")


def named_dimension(model: Model, parameter: str, name: str, value: Value) -> Model:
    """Set a parameter and rename it, as entered in the form `name = value`."""
    return dimension(rename(model, "parameters", parameter, name), name, value)


def link_angle(model: Model, joint: str, angle: Value, *, plane: Plane = XZ) -> Model:
    """Set the reference angle (rad) of a link at a ground pin, from the plane's first axis."""
    found = model.find("joints", joint)
    start = float(evaluate_field(found.rest[0], model.values())) if found.rest else 0.0
    turned = Drawing(model, plane).angle(found.parent)
    wanted = (
        math.remainder(float(evaluate_field(angle, model.values(), "angle")) - turned - start, 2.0 * math.pi) + start
    )
    from core.design.linkage.closing import set_reference_configuration, set_reference_value
    from core.mechanism import Mechanism

    moved = set_reference_value(model, found, wanted)
    mech = Mechanism(model)
    if not mech.constrained:
        return moved
    new = Mechanism(moved)
    free = Mechanism(dataclasses.replace(moved, drivers=()))
    return set_reference_configuration(moved, new, free.move(mech.rest(), {joint: wanted}, exact=True))


def ground_distance(model: Model, pin: str, other: str, distance: float, *, plane: Plane = XZ) -> Model:
    """Move a ground pin along the line from another one to a distance (m); all lengths are kept, and the loops close
    again."""
    drawing = Drawing(model, plane)
    moved, fixed = drawing.pin(pin), drawing.pin(other)
    line = math.dist(moved.point, fixed.point)
    number = float(evaluate_field(distance, drawing.values, "length"))
    if not number > 0.0 or not line > 0.0:
        raise ModelError(
            f"Two pins cannot be {number:g} m apart.",
            where=f"pins {other} and {pin}",
            remedy="Give a distance above zero.",
        )

    def model_at(new_distance: float) -> Model:
        share = new_distance / line
        u, v = (a + share * (b - a) for a, b in zip(fixed.point, moved.point, strict=True))
        return move_ground_pin(model, drawing, moved, (u, v))

    return change_keeping_loops_closed(model_at, line, number, "length", f"pins {other} and {pin}")


def move_ground_pin(model: Model, drawing: Drawing, pin: Pin, point: Point) -> Model:
    """Move a ground pin, and others at the same point, to another point, without closing loops."""
    x, y, z = (round_measured_number(each) for each in drawing.local(pin.joint.parent, point))
    for each in drawing.pins_at(pin.point):
        joint = model.find("joints", each.name)
        if carrier_of_element(model, joint.parent) == carrier_of_element(model, pin.joint.parent):
            a = dataclasses.replace(joint.a, position=(x, y, z))
            model = replace(model, joint, dataclasses.replace(joint, a=a))
    return model


def distinct_ground_pins(drawing: Drawing) -> Sequence[Pin]:
    """Return the pins on the plane's parent body, one for each point."""
    stands, found = carrier_of_element(drawing.model, drawing.plane.parent), list[Pin]()
    for pin in drawing.pins:
        if carrier_of_element(drawing.model, pin.joint.parent) == stands and not any(
            math.dist(pin.point, other.point) < 1e-9 for other in found
        ):
            found.append(pin)
    return found


class _PinRestriction(NamedTuple):
    """Restriction of a pin to a circle about a point, or to a line through the pin (angle, rad)."""

    center: Point
    radius: float = 0.0
    angle: float | None = None


def reachable_pin_position(drawing: Drawing, point: Point, goal: Point, locked: Collection[str] = ()) -> Point:
    """Return the position that a pin reaches when it is dragged towards another point: lengths that are formulas or in
    `locked` keep it on a circle, guides on a line; two such restrictions fix it."""
    held = [
        *(
            _PinRestriction(_other_end_of_bar(bar, point), math.dist(bar.start, bar.end))
            for bar in _bars_ending_at(drawing, point)
            if bar.length in locked or not _is_independent_length(drawing.model, bar.length)
        ),
        *(
            _PinRestriction(point, angle=guide.angle)
            for guide in drawing.guides
            if math.dist(guide.point, point) < MEETS and any(drawing.pins_at(point, MEETS))
        ),
    ]
    if len(held) > 1:
        return point
    if not held:
        return goal
    (center, radius, angle) = held[0]
    if angle is not None:
        along = (goal[0] - center[0]) * math.cos(angle) + (goal[1] - center[1]) * math.sin(angle)
        return center[0] + along * math.cos(angle), center[1] + along * math.sin(angle)
    away = math.dist(center, goal)
    if away < SAME_PLACE:
        return point
    share = radius / away
    return center[0] + share * (goal[0] - center[0]), center[1] + share * (goal[1] - center[1])


def moved_pin(
    model: Model,
    point: Point,
    to: Point,
    *,
    plane: Plane = XZ,
    locked: Collection[str] = (),
    poses: Poses | None = None,
) -> Model:
    """Move the pin or free end at a point of the plane: its links change their lengths, a ground pin changes its
    position, everything else stays. See `reachable_pin_position` for restrictions."""
    drawing = Drawing(model, plane, poses)
    goal = reachable_pin_position(drawing, point, to, locked)
    if math.dist(goal, point) < SAME_PLACE:
        return model
    touching = _bars_ending_at(drawing, point)
    for bar in touching:
        if math.dist(_other_end_of_bar(bar, point), goal) < SAME_PLACE:
            raise ModelError(
                f"'{bar.body}' would have no length.", remedy="Drop the pin away from the other end of its link."
            )
    angles: dict[str, float] = {}
    for bar in touching:
        model, angles[bar.body] = _stretch_bar(model, drawing, bar, point, goal)
    model = _move_points_along(model, drawing, point, goal, {bar.body for bar in touching})
    for joint in model.joints:
        model = _turn_reference_value(model, drawing, joint, angles)
    return _close_as_drawn(model, drawing, point, goal)


class PinShift(NamedTuple):
    """Numerical effect of dragging a pin: changed length parameters (m) and rotations of joints (rad)."""

    lengths: dict[str, float]
    turns: dict[str, float]


def compute_pin_shift(drawing: Drawing, point: Point, goal: Point) -> PinShift | None:
    """Compute the numerical effect of moving a pin from a point to a goal; None if more than numbers changes, as for
    ground pins and links with further points."""
    bars = {bar.body: bar for bar in _bars_ending_at(drawing, point)}
    lengths, angles = dict[str, float](), dict[str, float]()
    for bar in bars.values():
        other = _other_end_of_bar(bar, point)
        if not _is_independent_length(drawing.model, bar.length) or math.dist(other, goal) < SAME_PLACE:
            return None
        lengths[str(bar.length)] = math.dist(other, goal)
        was, now = (math.atan2(end[1] - other[1], end[0] - other[0]) for end in (point, goal))
        angles[bar.body] = math.remainder(now - was, 2.0 * math.pi)
    if not all(_joint_moves_with_bars(drawing, joint, bars, point) for joint in drawing.model.expanded.joints):
        return None
    turns = {pin.name: angles.get(pin.joint.child, 0.0) - angles.get(pin.joint.parent, 0.0) for pin in drawing.pins}
    return PinShift(lengths, {name: turn for name, turn in turns.items() if turn})


def _joint_moves_with_bars(drawing: Drawing, joint: Joint, bars: Mapping[str, Bar], point: Point) -> bool:
    """Return True if a joint moves along with the bars that change at a point: a pin that joins them there or at their
    other ends."""
    owners = {carrier_of_element(drawing.model, name) for name in (joint.parent, joint.child)}
    pin = next((pin for pin in drawing.pins if pin.name == joint.name), None)
    if pin is None or not owners & bars.keys():
        return pin is not None or not owners & bars.keys()
    if math.dist(pin.point, point) < MEETS:
        return owners <= bars.keys()
    others = (_other_end_of_bar(bars[name], point) for name in owners & bars.keys())
    return all(math.dist(pin.point, other) < MEETS for other in others)


def _bars_ending_at(drawing: Drawing, point: Point) -> list[Bar]:
    """Bars that end at a point and are joined there or free."""
    return [bar for bar in drawing.bars if min(math.dist(bar.start, point), math.dist(bar.end, point)) < MEETS]


def _other_end_of_bar(bar: Bar, point: Point) -> Point:
    return bar.end if math.dist(bar.start, point) < MEETS else bar.start


def _is_independent_length(model: Model, length: Value) -> bool:
    """Return True if a length is an independent number: a parameter that holds one."""
    found = next((each for each in model.parameters if each.name == length), None)
    return found is not None and found.independent


def _stretch_bar(model: Model, drawing: Drawing, bar: Bar, point: Point, goal: Point) -> tuple[Model, float]:
    """Return the model with a bar stretched from its other end to the goal and all other joints unchanged; and the
    bar's rotation."""
    starts = math.dist(bar.start, point) < MEETS
    start, end = (goal, bar.end) if starts else (bar.start, goal)
    before = math.atan2(bar.end[1] - bar.start[1], bar.end[0] - bar.start[0])
    after = math.atan2(end[1] - start[1], end[0] - start[0])
    if _is_independent_length(model, bar.length):
        model = change(model, "parameters", str(bar.length), value=round_measured_number(math.dist(start, end)))
    for joint in model.joints:
        for side, owner in (("a", joint.parent), ("b", joint.child)):
            if owner != bar.body:
                continue
            place = drawing.point(PointOnBody(owner, getattr(joint, side).position))
            if min(math.dist(place, bar.start), math.dist(place, bar.end)) < MEETS:
                continue
            along, aside = place[0] - start[0], place[1] - start[1]
            u = along * math.cos(after) + aside * math.sin(after)
            v = aside * math.cos(after) - along * math.sin(after)
            model = _move_joint_side(model, drawing.plane, model.find("joints", joint.name), side, (u, v))
    return model, math.remainder(after - before, 2.0 * math.pi)


def _move_joint_side(model: Model, plane: Plane, joint: Joint, side: str, position: Point) -> Model:
    """Return the model with one side of a joint at other coordinates on its link; a point given by distance and angle
    changes those parameters."""
    pose = getattr(joint, side)
    polar = _polar_parameters(model, plane, pose.position)
    if polar is not None:
        for name, value in zip(polar, (math.hypot(*position), math.atan2(position[1], position[0])), strict=True):
            model = change(model, "parameters", name, value=round_measured_number(value))
        return model
    if any(isinstance(each, str) for each in pose.position):
        return model
    moved = dataclasses.replace(
        pose, position=plane.vector(round_measured_number(position[0]), round_measured_number(position[1]))
    )
    return replace(model, joint, dataclasses.replace(joint, **{side: moved}))


def _polar_parameters(model: Model, plane: Plane, position: Vector) -> tuple[str, str] | None:
    """Parameters of a point that is given by distance and angle, as written by `drawn_links.plate`."""
    u, _v = plane.components(position)
    if not isinstance(u, str) or "*cos(" not in u:
        return None
    e, _, rest = u.partition("*cos(")
    names = e, rest.removesuffix(")")
    known = {each.name for each in model.parameters if isinstance(each, Parameter) and each.independent}
    return names if set(names) <= known else None


def _move_points_along(
    model: Model, drawing: Drawing, point: Point, goal: Point, stretched_bars: Collection[str]
) -> Model:
    """Return the model with ground pins, and points of links other than their ends, moved along."""
    stands = carrier_of_element(model, drawing.plane.parent)
    pins = list(drawing.pins_at(point, MEETS))
    grounded = next((pin for pin in pins if carrier_of_element(model, pin.joint.parent) == stands), None)
    if grounded is not None:
        model = move_ground_pin(model, drawing, grounded, goal)
    for pin in pins:
        for side, owner in (("a", pin.joint.parent), ("b", pin.joint.child)):
            if owner in stretched_bars or carrier_of_element(model, owner) == stands or drawing.bar(owner) is None:
                continue
            x = drawing.local(owner, goal)
            u, v = (float(each) for each in (drawing.plane.basis[:, :2].T @ x))
            model = _move_joint_side(model, drawing.plane, model.find("joints", pin.name), side, (u, v))
    return model


def _turn_reference_value(model: Model, drawing: Drawing, joint: Joint, angles: dict[str, float]) -> Model:
    """Return the model with the reference value of a pin changed by the rotation of its links."""
    by = angles.get(joint.child, 0.0) - angles.get(joint.parent, 0.0)
    if not by or not joint.rest or not joint.info.is_hinge():
        return model
    sign = 1.0 if any(pin.name == joint.name for pin in drawing.pins) else 0.0
    current = model.find("joints", joint.name)
    return set_reference_value(model, current, drawing.number(current.rest[0]) + sign * by)


def _close_as_drawn(model: Model, drawing: Drawing, point: Point, goal: Point) -> Model:
    """Return the model closed in its drawn position; sliders move along their guides."""
    for guide in drawing.guides:
        if math.dist(guide.point, point) < MEETS and guide.joint.rest:
            along = (goal[0] - point[0]) * math.cos(guide.angle) + (goal[1] - point[1]) * math.sin(guide.angle)
            joint = model.find("joints", guide.joint.name)
            model = set_reference_value(model, joint, drawing.number(joint.rest[0]) + along)
    mech = Mechanism(model)
    if not mech.constrained:
        return model
    try:
        q = np.asarray(mech.assemble(mech.rest()))
    except AssemblyError as error:
        raise ModelError(f"The loops do not close there: {error.what}", remedy="Drop the pin elsewhere.") from None
    return set_reference_configuration(model, mech, q)


# ------------------------------------------------------------------------------- other branches


def flipped_pin_position(drawing: Drawing, pin: Pin) -> Point | None:
    """Return the position of the middle pin of two links on their other branch: mirrored at the line through their far
    ends; for a slider, the other point on its guide at the same distance from the far end. None if the pin is not of
    this kind."""
    touching = _bars_ending_at(drawing, pin.point)
    guide = next((each for each in drawing.guides if math.dist(each.point, pin.point) < MEETS), None)
    if guide is not None and len(touching) == 1:
        center = _other_end_of_bar(touching[0], pin.point)
        u, v = math.cos(guide.angle), math.sin(guide.angle)
        along = (center[0] - pin.point[0]) * u + (center[1] - pin.point[1]) * v
        return pin.point[0] + 2.0 * along * u, pin.point[1] + 2.0 * along * v
    if len(touching) != 2:
        return None
    a, b = (_other_end_of_bar(bar, pin.point) for bar in touching)
    span = math.dist(a, b)
    if span < SAME_PLACE:
        return None
    u, v = (b[0] - a[0]) / span, (b[1] - a[1]) / span
    along = (pin.point[0] - a[0]) * u + (pin.point[1] - a[1]) * v
    foot = a[0] + along * u, a[1] + along * v
    return 2.0 * foot[0] - pin.point[0], 2.0 * foot[1] - pin.point[1]


def pins_at_dead_centre(drawing: Drawing, pin_names: Collection[str]) -> tuple[str, ...]:
    """Return those of the named pins at which both branches of two links coincide (a dead centre): the links are
    aligned (with a slider: perpendicular to its guide), so the motion cannot continue that way."""
    found = []
    for pin in drawing.pins:
        goal = flipped_pin_position(drawing, pin) if pin.name in pin_names else None
        reach = max((math.dist(bar.start, bar.end) for bar in _bars_ending_at(drawing, pin.point)), default=0.0)
        if goal is not None and math.dist(goal, pin.point) < FLAT * reach:
            found.append(pin.name)
    return tuple(found)


def flipped(model: Model, pin: str, *, plane: Plane = XZ, poses: Poses | None = None) -> Model:
    """Flip the two links at a pin to their other branch; only reference values change. Raises ModelError if the pin is
    not the middle of two links whose far ends stay in place."""
    drawing = Drawing(model, plane, poses)
    found = drawing.pin(pin)
    goal = flipped_pin_position(drawing, found)
    if goal is None:
        raise ModelError(
            f"Pin {pin} does not join two links whose other ends stay in place.",
            remedy="Choose a pin at which two links, or one and a slider, meet.",
        )
    angles: dict[str, float] = {}
    for bar in _bars_ending_at(drawing, found.point):
        other = _other_end_of_bar(bar, found.point)
        was = math.atan2(found.point[1] - other[1], found.point[0] - other[0])
        now = math.atan2(goal[1] - other[1], goal[0] - other[0])
        angles[bar.body] = math.remainder(now - was, 2.0 * math.pi)
    for joint in model.joints:
        model = _turn_reference_value(model, drawing, joint, angles)
    return _close_as_drawn(model, drawing, found.point, goal)
