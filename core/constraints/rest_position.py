"""Reference position: stated joint values are kept, and joints without a stated value move first to close loops.

Where the stated values cannot be met, because loops do not close so or drivers prescribe others, the nearest position
is taken, and the deviation of each joint is reported. The position also gives the machine's characteristic length
(`size_of`), used to compare lengths with angles and forces with torques.

After an edit bodies stay in place (`transfer_pose`) although the edit may change the spanning tree: a new joint closes
a loop and takes the place of another in the tree, a body loses its joint and becomes free. Coordinates that are still
there keep their values; those of joints that had none are measured between the bodies of the old machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints import cut_coordinates
from core.constraints.closed_positions import find_closed_position
from core.constraints.named_positions import move_to_values
from core.joints.kind import measure_joint_coordinates
from core.mechanics.multibody.parameter_values import Values
from core.mechanics.multibody.tree_of_model import joint_sides
from core.model import WORLD, Joint
from core.model.validation.findings import Finding
from core.numerics.spatial.pose import IDENTITY, from_matrix
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]

KEPT_TOLERANCE = 1e-6
"""Largest deviation (rad, m) from a stated reference value up to which the value counts as kept."""
TOLD_TOLERANCE = 1e-3
"""Smallest deviation (rad, m) from a stated reference value that is reported; files state the values with few digits.
"""
UNWILLING = 100.0
"""Weight of coordinates with a stated reference value relative to others, used if not all stated values can be kept."""
PASSES = 3
"""Number of closures from the stated values, each starting with the other coordinates of the previous one."""


class ReferenceDeviation(NamedTuple):
    """A coordinate that differs from its joint's stated reference value, rad or m; for orientations and free bodies
    only the distance is given, and the values are None."""

    joint: str
    stated: float | None
    stands: float | None
    apart: float
    dimension: str


def reference_position(compiled: CompiledModel, p: Values = None, t: float = 0.0) -> Array:
    """(nq,) reference position: stated values, or neutral values inside the limits, with loops closed as well as
    possible; joints without a stated value move first."""
    return (
        _default_reference_position(compiled).copy()
        if p is None and t == 0.0
        else _closed_reference_position(compiled, p, t)
    )


@cache_per_model
def _default_reference_position(compiled: CompiledModel) -> Array:
    return _closed_reference_position(compiled, None, 0.0)


def _closed_reference_position(compiled: CompiledModel, p: Values, t: float) -> Array:
    start, ones, nothing = _stated_position(compiled), np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool)
    closed, gap = find_closed_position(compiled, start, ones, nothing, p, search_far=True, t=t)
    stated = _joints_with_stated_values(compiled)
    if not gap < ACCEPTED_GAP or len(stated) in (0, len(compiled.coordinates.joints)):  # nothing goes before others
        return closed
    apart = np.concatenate([(closed - start)[compiled.coordinates.slice_q(joint)] for joint in stated])
    if not any(joint.rest for joint in compiled.cuts) and np.max(np.abs(apart)) < KEPT_TOLERANCE:
        return closed
    if _largest_deviation(compiled, closed, p) < KEPT_TOLERANCE:
        return closed
    from core.constraints.named_positions import find_position_with_values

    values = {c.name: float(start[c.index]) for c in compiled.coordinates.table if c.joint in stated}
    kept = find_position_with_values(compiled, closed, values, p, t)
    return _close_near_stated_values(compiled, start, closed, stated, p, t) if kept is None else kept


def _stated_position(compiled: CompiledModel) -> Array:
    """(nq,) stated values; joints without one are placed between bodies that the others position."""
    q, own = compiled.coordinates.rest(), compiled.coordinates
    unstated = [joint for joint in own.joints.values() if not joint.rest]
    if not (unstated and any(joint.rest for joint in compiled.cuts)):
        return q
    sides = joint_sides(compiled.topology, own.numbers)
    carriers, poses = compiled.topology.carriers, {WORLD: IDENTITY}
    bodies = {joint.name: (carriers[joint.parent], carriers[joint.child]) for joint in compiled.model.expanded.joints}
    left = [joint for joint in compiled.model.expanded.joints if joint.rest and joint.mimic is None]
    while placed := [joint for joint in left if len(poses.keys() & set(bodies[joint.name])) == 1]:
        for joint in placed:
            (parent, child), (law, a, b) = bodies[joint.name], sides[joint.name]
            X_ab = law.pose([own.numbers.scalar(value) for value in joint.rest])
            if parent in poses:
                poses.setdefault(child, poses[parent] @ a @ X_ab @ b.inverse())
            else:
                poses.setdefault(parent, poses[child] @ b @ X_ab.inverse() @ a.inverse())
        left = [joint for joint in left if not poses.keys() >= set(bodies[joint.name])]
    for joint in unstated:
        if joint.name in bodies and poses.keys() >= set(bodies[joint.name]):
            (parent, child), (law, a, b) = bodies[joint.name], sides[joint.name]
            with suppress(ZeroDivisionError):  # upside down to one another: an angle about the axis has no value
                q[own.slice_q(joint.name)] = measure_joint_coordinates(
                    poses[parent] @ a, poses[child] @ b, law, None
                ).values
    return own.clamp(q)


def _close_near_stated_values(
    compiled: CompiledModel, start: Array, closed: Array, stated: list[str], p: Values, t: float
) -> Array:
    """Closed position, among those near a start and a closed position, in which joints are nearest to their stated
    values."""
    weights, nothing = np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool)
    for joint in stated:
        weights[compiled.joint_v(joint)] = UNWILLING
    best, q = closed, start
    for _ in range(PASSES):
        q, gap = find_closed_position(compiled, q, weights, nothing, p, search_far=True, t=t)
        if gap < ACCEPTED_GAP and _largest_deviation(compiled, q, p) < _largest_deviation(compiled, best, p):
            best = q
        q = best.copy()
        for joint in stated:
            q[compiled.joint_q(joint)] = start[compiled.joint_q(joint)]
    return best


def _joints_with_stated_values(compiled: CompiledModel) -> list[str]:
    """Tree joints with a stated reference value that no driver moves."""
    driven = {driver.joint for driver in compiled.model.expanded.drivers}
    return [name for name, joint in compiled.coordinates.joints.items() if joint.rest and name not in driven]


def _largest_deviation(compiled: CompiledModel, q: Array, p: Values) -> float:
    return max((move.apart for move in _find_reference_deviations(compiled, q, p)), default=0.0)


def reference_deviations(compiled: CompiledModel) -> tuple[ReferenceDeviation, ...]:
    """Coordinates that differ from their stated values in the reference position."""
    return tuple(
        move
        for move in _find_reference_deviations(compiled, reference_position(compiled), None)
        if move.apart > TOLD_TOLERANCE
    )


def _find_reference_deviations(compiled: CompiledModel, q: Array, p: Values) -> list[ReferenceDeviation]:
    """Deviation of coordinates from the stated values; angles of loop-closing joints up to whole turns."""
    own, found = compiled.coordinates, []
    driven = {driver.joint for driver in compiled.model.expanded.drivers}
    cut = {joint.name for joint in compiled.cuts}
    for joint in compiled.model.expanded.joints:
        if not joint.rest or not joint.info.nv or joint.name in driven:
            continue
        stated = np.array([own.numbers.scalar(x, f"joint '{joint.name}', rest") for x in joint.rest])
        in_tree = joint.name in own.joints
        stands = (
            q[own.slice_q(joint.name)] if in_tree else cut_coordinates.joint_coordinates(compiled, q, joint.name, p)
        )
        if joint.info.nq > joint.info.nv:
            displacement = joint.info.between(stated, stands)
            found += [
                ReferenceDeviation(joint.name, None, None, float(np.linalg.norm(displacement[rows])), dimension)
                for rows, dimension in ((slice(3), "angle"), (slice(3, None), "length"))
            ]
            continue
        for k, dimension in enumerate(joint.info.coordinate_dimensions):
            apart = float(stands[k] - stated[k])
            if joint.name in cut and joint.info.wraps_around(k):
                apart -= 2.0 * np.pi * round(apart / (2.0 * np.pi))
            found.append(
                ReferenceDeviation(joint.name, float(stated[k]), float(stated[k]) + apart, abs(apart), dimension)
            )
    return found


def reference_position_findings(compiled: CompiledModel) -> tuple[Finding, ...]:
    """Findings about joints whose stated reference values cannot be kept."""
    remedy = "State reference positions for fewer joints, so that the others follow, or those of a closed pose."
    return tuple(
        Finding("warning", _finding_text(each), remedy, "joints", each.joint, "rest")
        for each in reference_deviations(compiled)
    )


def _finding_text(deviation: ReferenceDeviation) -> str:
    from core.constraints.failures import format_coordinate

    apart = format_coordinate(deviation.apart, deviation.dimension)
    if deviation.stated is None or deviation.stands is None:
        return (
            "Its reference position is incompatible with those of other joints: the nearest closed position found is "
            f"{apart} away."
        )
    stated, stands = (format_coordinate(x, deviation.dimension) for x in (deviation.stated, deviation.stands))
    return (
        f"Its reference position {stated} is incompatible with those of other joints: the nearest closed position "
        f"found has {stands}, {apart} away."
    )


def characteristic_length(compiled: CompiledModel, p: Values) -> float:
    """Characteristic length, m: root mean square distance of the joints from their centroid in the reference
    configuration; 1 if all coincide."""
    pairs = compiled.joint_poses(reference_position(compiled), p)
    points = np.array([side[:3, 3] for sides in pairs.values() for side in sides]).reshape(-1, 3)
    if not len(points):
        return 1.0
    spread = float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1))))
    return spread if spread > 1e-9 else 1.0


def speed_units(compiled: CompiledModel, p: Values) -> NDArray[np.float64]:
    """(nv,) characteristic length for translational speeds, 1 for rotational ones."""
    lengths = [dimension == "velocity" for dimension in compiled.coordinates.speed_dimensions]
    return np.where(lengths, characteristic_length(compiled, p) if any(lengths) else 1.0, 1.0)


def has_same_tree(old: CompiledModel, new: CompiledModel) -> bool:
    """Return True if two machines have the same coordinates and cut the same joints."""
    return old.q_names == new.q_names and [x.cut for x in old.loops] == [x.cut for x in new.loops]


def transfer_pose(old: CompiledModel, q: Array, new: CompiledModel, new_names: Mapping[str, str]) -> Array:
    """Return the (nq,) coordinates of the new machine that leave its bodies where they are in the old one at q, with
    loops closed if possible.

    new_names : old name → new name of joints that only changed their names
    """
    before = {new_names.get(name, name): name for name in old.joint_names}
    kinds = {joint.name: joint.kind for joint in (*old.implicit_joints, *old.model.expanded.joints)}
    result = reference_position(new)
    for name, joint in new.coordinates.joints.items():
        then = before.get(name, "")
        at = new.joint_q(name)
        if then in old.coordinates.joints and kinds[then] == joint.kind:
            result[at] = cut_coordinates.joint_coordinates(old, q, then)
            continue
        measured = _measure_coordinates(old, q, new, joint)
        if measured is not None and np.isfinite(measured).all():
            result[at] = _shift_turns_inside_limits(new, joint, measured, result[at])
    return move_to_values(new, new.coordinates.clamp(result), {}, None)


def _measure_coordinates(old: CompiledModel, q: Array, new: CompiledModel, joint: Joint) -> Array | None:
    """Coordinates of a joint measured between its bodies in the old machine; None if a body is missing there, or if the
    bodies are half a turn apart, where the angle about the axis is undefined."""
    topology = new.topology
    poses = dict(zip(old.frame_names, np.asarray(old.call("poses", q)), strict=True))
    bodies = [topology.carriers[name] for name in (joint.parent, joint.child)]
    if not all(body == WORLD or body in poses for body in bodies):
        return None
    law, a, b = joint_sides(topology, new.coordinates.numbers)[joint.name]
    X_Wa, X_Wb = (
        (from_matrix(poses[body]) if body != WORLD else IDENTITY) @ side
        for body, side in zip(bodies, (a, b), strict=True)
    )
    try:
        return np.array(measure_joint_coordinates(X_Wa, X_Wb, law, None).values, dtype=float)
    except ZeroDivisionError:
        return None


def _shift_turns_inside_limits(compiled: CompiledModel, joint: Joint, values: Array, reference: Array) -> Array:
    """Joint values shifted by whole turns to lie inside the limits, as near to the reference position as possible."""
    result = values.copy()
    for k, coordinate in enumerate(compiled.coordinates.table[compiled.joint_q(joint.name)]):
        if not joint.info.wraps_around(k):
            continue
        turn = 2.0 * math.pi
        nearest = values[k] + turn * round((reference[k] - values[k]) / turn)
        lower = -math.inf if coordinate.lower is None else coordinate.lower
        upper = math.inf if coordinate.upper is None else coordinate.upper
        tried = (nearest, values[k], nearest - turn, nearest + turn)
        result[k] = next((x for x in tried if lower <= x <= upper), values[k])
    return result
