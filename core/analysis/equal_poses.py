"""Comparison of poses by joint positions and body orientations; differences without effect, such as whole turns, are
ignored."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.rest_position import reference_position
from core.mechanism import Mechanism
from core.model import Body
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]

TURN = 2.0 * math.pi
BEYOND = 1e-9
"""Distance (rad) beyond a limit up to which a coordinate counts as inside."""


class PeriodicCoordinate(NamedTuple):
    """An angular coordinate that gives the same pose after a whole turn: its name, indices in q and v, limits (rad)."""

    name: str
    q: int
    v: int
    lower: float
    upper: float


def coordinates_by_speed(mech: Mechanism) -> dict[int, str]:
    """Index of a speed → name of the coordinate of which it is the rate, if there is one."""
    return _coordinates_by_speed(mech.compiled).copy()


@cache_per_model
def _coordinates_by_speed(compiled: CompiledModel) -> dict[int, str]:
    result = {}
    for coordinate in compiled.coordinates.table:
        at, q_at = compiled.joint_v(coordinate.joint), compiled.joint_q(coordinate.joint)
        if at.stop - at.start == q_at.stop - q_at.start:
            result[at.start + coordinate.index - q_at.start] = coordinate.name
    return result


def periodic_coordinates(mech: Mechanism) -> tuple[PeriodicCoordinate, ...]:
    """Coordinates for which whole turns leave the pose unchanged."""
    return _periodic_coordinates(mech.compiled)


@cache_per_model
def _periodic_coordinates(compiled: CompiledModel) -> tuple[PeriodicCoordinate, ...]:
    found = []
    for v, name in _coordinates_by_speed(compiled).items():
        coordinate = compiled.coordinates.table[at := compiled.coordinates.index[name]]
        k = at - compiled.joint_q(coordinate.joint).start
        if compiled.coordinates.joints[coordinate.joint].info.wraps_around(k):
            low = -math.inf if coordinate.lower is None else coordinate.lower
            high = math.inf if coordinate.upper is None else coordinate.upper
            found.append(PeriodicCoordinate(name, at, v, low, high))
    return tuple(found)


def shift_to_nearest_turns(mech: Mechanism, q: Array, guess: Array) -> Array:
    """Return the (nq,) same pose with angles shifted by whole turns to be as near as possible to the guess, within
    limits."""
    result = np.array(q, dtype=float)
    if (np.abs(guess - result) <= 0.5 * TURN).all():
        return result
    for angle in periodic_coordinates(mech):
        least, most = allowed_turn_range(angle, q[angle.q])
        turns = round((guess[angle.q] - q[angle.q]) / TURN)
        result[angle.q] += TURN * min(max(turns, least), most)
    return result


def count_other_turns(mech: Mechanism, q: Array) -> dict[str, int]:
    """Coordinate → number of other values that differ by whole turns and are within its limits; only for coordinates
    with both limits."""
    found = {}
    for angle in periodic_coordinates(mech):
        if math.isfinite(angle.upper - angle.lower):
            least, most = allowed_turn_range(angle, q[angle.q])
            if most > least:
                found[angle.name] = int(most - least)
    return found


def allowed_turn_range(angle: PeriodicCoordinate, value: float) -> tuple[float, float]:
    """Smallest and largest number of whole turns that may be added; (0, 0) if the value is outside its limits."""
    least = math.ceil((angle.lower - BEYOND - value) / TURN) if math.isfinite(angle.lower) else -math.inf
    most = math.floor((angle.upper + BEYOND - value) / TURN) if math.isfinite(angle.upper) else math.inf
    return (least, most) if least <= 0.0 <= most else (0.0, 0.0)


def pose_distance(mech: Mechanism, q0: Array, q1: Array) -> float:
    """Norm of the displacement (rad, m) from one pose to another, ignoring whole turns."""
    difference = np.array(mech.difference(q0, q1))
    for angle in periodic_coordinates(mech):
        difference[angle.v] = math.remainder(difference[angle.v], TURN)
    return float(np.linalg.norm(difference))


APART = 1e-4
"""Distance (in machine sizes, or of two direction vectors) above which poses count as different."""
SLIDING = ("prismatic", "cylindrical")
"""Kinds of joints that slide along their axis."""


class PoseFingerprint:
    """Numbers that identify a pose: positions of the joints and orientations of the bodies. A body whose joints lie on
    a line is represented by that line only, since its spin about the line is irrelevant; massless crosses of
    intersecting joints are ignored, since two settings of three hinges give the same rotation."""

    def __init__(self, constraints: PositionConstraints) -> None:
        self.constraints = constraints
        compiled = constraints.compiled
        at_rest = reference_position(compiled)
        points, poses = _joint_points(constraints, at_rest), compiled.call("poses", at_rest, p=constraints.p)
        turned, lines = [], []
        for i, body in enumerate(compiled.model.expanded.bodies):
            own = np.array(points.get(body.name, [])).reshape(-1, 3)
            line = _common_line(own, constraints.size)
            if line is not None:
                lines.append((i, poses[i, :3, :3].T @ line))
            elif not (_is_massless(body) and _points_coincide(own, constraints.size)):
                turned.append(i)
        self.turned = turned
        self.lines = [i for i, _ in lines]
        self.along = np.array([line for _, line in lines]).reshape(-1, 3)

    def __call__(self, q: Array) -> Array:
        """(…, k) identifying numbers of poses (…, nq)."""
        compiled, p = self.constraints.compiled, self.constraints.p
        places = compiled.call("joint_poses", q, p=p)[..., :3, 3] / self.constraints.size
        poses = compiled.call("poses", q, p=p)
        lines = np.einsum("...bij,bj->...bi", poses[..., self.lines, :3, :3], self.along)
        parts = (places, lines, poses[..., self.turned, :3, :3])
        leading = np.shape(q)[:-1]
        return np.concatenate([part.reshape(*leading, -1) for part in parts], axis=-1)


def _joint_points(constraints: PositionConstraints, q: Array) -> dict[str, list[Array]]:
    """Positions of each body's joints (m, world), and further points on the lines along which joints slide."""
    compiled, found = constraints.compiled, dict[str, list[Array]]()
    carriers, numbers = compiled.topology.carriers, compiled.coordinates.numbers
    pairs = compiled.joint_poses(q, constraints.p)
    for joint in compiled.model.expanded.joints:
        slides = joint.kind in SLIDING
        for side, X in zip((joint.parent, joint.child), pairs[joint.name], strict=True):
            own = found.setdefault(carriers[side], [])
            own.append(X[:3, 3])
            if slides:
                axis = pairs[joint.name][0][:3, :3] @ np.array([numbers.scalar(x) for x in joint.axis])
                own.append(X[:3, 3] + axis * (constraints.size / float(np.linalg.norm(axis))))
    return found


def _common_line(points: Array, size: float) -> Array | None:
    """(3,) direction of the line through points (n, 3), at least two of them distinct; None if they are not
    collinear."""
    if len(points) < 2:
        return None
    _, spread, directions = np.linalg.svd(points - np.mean(points, axis=0))
    on_a_line = spread[0] > APART * size and (len(spread) < 2 or spread[1] < APART * size)
    return np.asarray(directions[0]) if on_a_line else None


def _is_massless(body: Body) -> bool:
    return body.mass == 0.0 and body.density is None


def _points_coincide(points: Array, size: float) -> bool:
    """True if points, at least two, coincide."""
    return len(points) > 1 and bool(np.max(np.ptp(points, axis=0)) < APART * size)
