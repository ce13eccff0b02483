"""Symbolic bearing loads: for each speed of a joint whose friction grows with its reaction, the friction force (N) or
torque (N·m) for a friction coefficient of one.

f, n : the joint's reaction on its child side, at b's origin; f has parts along its axis (f_z) and across (f⊥).
Σ|f⊥| is that of two bearings at the distance d about b, f⊥/2 ± (n⊥ × axis)/d, or |f⊥| where there is one.

pin : r Σ|f⊥| + r_t |f_z| (r: radius of the pin, r_t: of its shoulder)
guide : Σ|f⊥| along its axis, r Σ|f⊥| about it
plane : |f_z| in its plane, r |f_z| about its normal
point : r |f|
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.mechanics import kinematics
from core.mechanics.dry_friction import NOTHING
from core.mechanics.tree import Runner, inline
from core.model import Joint
from core.numerics.spatial.scalar import Scalar, is_zero, over, plus, sqrt, times
from core.numerics.spatial.vector import Force, Vector3
from core.programs.bearing_pairs import BearingPairs, bearing_pairs
from core.programs.constraint_sides import constraint_sides, cut_sides
from core.programs.joint_wrenches import wrenches
from core.programs.trace_context import TraceContext

Inputs = Mapping[str, list[Any]]


def bearing_loads(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return one load for each entry of `TraceContext.bearings`. u : accelerations; l : constraint multipliers; c :
    forces along coordinates of cut joints and clutches."""
    names, machine = list(context.unmerged.joints), context.unmerged
    flat = wrenches(context, x, "", run, smooth=True)
    forces = [_force(flat[6 * i : 6 * i + 6]) for i in range(len(names))]
    poses = kinematics.link_poses(machine.tree, x["q"], run)
    frames = {
        name: tuple(place.pose if place.link < 0 else poses[place.link] @ place.pose for place in pair)
        for name, pair in machine.joints.items()
    }
    index = {name: i for i, name in enumerate(names)}
    for letter, sides, trace in _constraint_groups(context):
        if x.get(letter):
            pairs = bearing_pairs(context.topology, index, sides)
            places = [frames[name][1].position for name in names]
            _add_transmitted_wrenches(forces, pairs, trace(context, {"q": x["q"]}, "", run), x[letter], places)
    result: list[Scalar] = []
    for joint, k in context.bearings:
        if k == 0:
            axis = frames[joint.name][0].rotation.act(context.numbers.law(joint)[1].columns()[2])
            loads = _friction_loads(context, joint, forces[index[joint.name]], axis)
        result.append(loads[k])
    return result


def _constraint_groups(context: TraceContext) -> list[tuple[str, list[Any], Any]]:
    """Return the groups of rows that exert wrenches: letter of their multipliers, their sides with row numbers, and the
    function of their wrenches."""
    held = [(side, list(range(rows.start, rows.stop))) for _, side, rows in context.constraints.sides()]
    closing = [(side, [i]) for i, coordinate in enumerate(context.cut_coordinates) for side in coordinate.sides]
    return [("l", held, constraint_sides), ("c", closing, cut_sides)]


def _add_transmitted_wrenches(
    forces: list[Force], pairs: BearingPairs, sides: list[Scalar], factors: list[Any], places: list[Vector3]
) -> None:
    """Add the wrenches that row forces transmit through joints, at each joint's frame b in world axes."""
    for joint, row, side, sign, moved in zip(*pairs[:5], strict=True):
        own = sides[9 * side : 9 * side + 9]
        force = _force(own[:6])
        if moved:
            arm = Vector3(*own[6:]) - places[joint]
            force = Force(force.moment + arm.cross(force.force), force.force)
        forces[joint] = forces[joint] + force.scaled(times(float(sign), factors[row]))


def _force(entries: list[Scalar]) -> Force:
    return Force(Vector3(*entries[:3]), Vector3(*entries[3:]))


def _norm(v: Vector3) -> Scalar:
    return sqrt(plus(v.dot(v), NOTHING))


def _friction_loads(context: TraceContext, joint: Joint, force: Force, axis: Vector3) -> list[Scalar]:
    """Return the friction per unit coefficient for each speed of a joint."""
    where, scalar = f"joint '{joint.name}'", context.numbers.scalar
    radius, shoulder = (
        scalar(getattr(joint, field), f"{where}, {field}") for field in ("bearing_radius", "thrust_radius")
    )
    along = force.force.dot(axis)
    match joint.info.bearing:
        case "pin":
            across = times(radius, _force_across_axis(context, joint, force, axis))
            normal = across if is_zero(shoulder) else plus(across, times(shoulder, _norm(Vector3(along, 0.0, 0.0))))
            return [normal]
        case "guide":
            normal = _force_across_axis(context, joint, force, axis)
        case "plane":
            normal = _norm(Vector3(along, 0.0, 0.0))
        case _:
            normal = _norm(force.force)
    turns = [dimension == "angular_velocity" for dimension in joint.info.speed_dimensions]
    return [times(radius, normal) if turn else normal for turn in turns]


def _force_across_axis(context: TraceContext, joint: Joint, force: Force, axis: Vector3) -> Scalar:
    """Return the sum Σ|f⊥| of the bearing forces normal to the joint's axis."""
    across = force.force - axis.scaled(force.force.dot(axis))
    if joint.bearing_distance is None:
        return _norm(across)
    distance = context.numbers.scalar(joint.bearing_distance, f"joint '{joint.name}', bearing_distance")
    pair = force.moment.cross(axis).scaled(over(1.0, distance))
    half = across.scaled(0.5)
    return plus(_norm(half + pair), _norm(half - pair))
