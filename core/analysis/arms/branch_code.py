"""All branches of a closed form in one function, for targets that need no special care.

The function takes a target as given: it corrects its rotation, closes the chain, solves, turns revolutes by whole turns
and goes along the chain to the frame again with the cosine and sine of each joint. Targets next to singular poses or
with a branch that is almost a solution are found by its margins and left to `inverse_kinematics_call`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import (
    CYLINDRICAL,
    ELBOW,
    SOLVERS,
    THREE_PARALLEL,
    ClosedArm,
    pose_of_entries,
    root_joints,
)
from core.analysis.arms.configuration_names import BORDER_TOLERANCE
from core.analysis.arms.joint_turns import NEAREST, TURN
from core.analysis.arms.pose_errors import POLISH_BELOW
from core.analysis.arms.screw_chain import PARALLEL_TOLERANCE, ScrewChain, axis_frames
from core.analysis.arms.targets import ORTHONORMAL_TOLERANCE
from core.codegen.flat_code import FlatCode
from core.constraints.closed_forms.dyads import ChosenSide, Turn, pose_from_joint_value
from core.mechanism.inverse_kinematics_results import WITHIN
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3, Z
from core.numerics.spatial.vector import X as X_AXIS

Array = NDArray[np.float64]

MET = 1e-10
"""Error (rad, m) up to which a branch meets the target without a Newton step: arms from files with rounded angles have
some 1e-11."""
LEAST_SINE = 0.01
"""Sine of the angle between neighbouring axes that are not parallel, below which their common normal is too far."""
LARGEST_SQUARE = 1e300
"""Square (m²) of a position below which it is finite."""
PARALLEL_LINKS = {ELBOW: (1,), THREE_PARALLEL: (1, 2)}
"""Indices of links between parallel axes, by family."""
NO_TURN = Turn(1.0, 0.0)
"""Angle of joints that a singular pose leaves open: such targets are left to others."""


class Branches(NamedTuple):
    """Branches of N targets, in the order of the names.

    values : (N, K, n) of the joints, NaN where the branch does not exist; angles, distances : (N, K) errors (rad, m);
    beyond : (N, K) the largest distance of a joint beyond its limits; margins : (N, K) distance from a border between
    configurations, of unit size; is_simple : (N,) True where the answer is certain
    """

    values: Array
    angles: Array
    distances: Array
    beyond: Array
    margins: Array
    is_simple: NDArray[np.bool_]


class BranchCode:
    """The function of one arm: an exact closed form whose joints are all the machine's. order : of its branches"""

    def __init__(self, arm: ClosedArm, order: NDArray[np.intp], *, is_reversed: bool) -> None:
        chain = arm.chain
        links = _read_links(chain)
        self.is_possible = links is not None
        """False if the function would lose digits: do not call it then."""
        if links is None:
            return
        roots = np.array(list(itertools.product((1.0, -1.0), repeat=len(arm.roots))))
        self.branches, self.count = arm.branches, len(chain.kinds)
        limits = [chain.lower, chain.upper]
        ends = [links.first[:3].reshape(-1), links.last[:3].reshape(-1)]
        start = chain.start - links.signs * links.offsets
        sides = [roots[order[0]], [chain.size]]
        self._p = np.concatenate([*links.numbers, *ends, links.signs, start, *limits, *sides])
        self._code = _traced_branches(arm.family, chain.kinds, is_reversed)
        self._call: Callable[..., Array] | None = None
        self._is_final = False

    def solve(self, targets: Array, near: Array) -> Branches:
        """Solve for targets (N, 4, 4) with values nearest to `near` (n,)."""
        states = [targets.reshape(-1, 16), np.tile(near, (len(targets), 1))]
        found = self._code.rows(states, self._p)
        return self._read(found)

    def solve_one(self, target: Array, near: Array) -> Array:
        """Row of numbers for one target, a contiguous (4, 4) array; see `row_parts`."""
        if not self._is_final:
            self._is_final = self._code.is_compiled
            self._call = self._code.bind(self._p)
        assert self._call is not None
        return self._call(target.reshape(16), near)

    def _read(self, rows: Array) -> Branches:
        """Parts of rows (N, size) of numbers; see `_traced_branches`."""
        K, first = self.branches, self.branches * self.count
        values = rows[:, :first].reshape(-1, K, self.count)
        angles, distances, beyond, margins = (rows[:, first + K * k : first + K * (k + 1)] for k in range(4))
        return Branches(values, angles, distances, beyond, margins, rows[:, -1] == 1.0)


class _Links(NamedTuple):
    """Frames on the common normals of neighbouring axes (Denavit and Hartenberg's, so that links have few numbers).

    numbers : of the links, four each (a, cos α, sin α, d), twelve behind a slide; first : (4, 4) pose before the first
    joint; last : (4, 4) from behind the last joint to the frame; signs, offsets : (n,) of the turns about the axes
    """

    numbers: list[Array]
    first: Array
    last: Array
    signs: Array
    offsets: Array


def _read_links(chain: ScrewChain) -> _Links | None:
    """Links of a chain; None where neighbouring axes are so near to parallel that their normal is far away."""
    frames, signs = axis_frames(chain)
    first = before = behind = frames[0]
    numbers: list[Array] = []
    offsets, n = np.zeros(len(signs)), len(signs)
    for k in range(n - 1):
        normal = _common_normal(before, frames[k + 1])
        if normal is None:
            return None
        start, x, a = normal
        behind = _frame(x, before[:3, 2], start)
        height = float(before[:3, 2] @ (start - before[:3, 3]))
        if k == 0:
            first = behind
        elif len(numbers[-1]) == 4:
            numbers[-1][3] = height
        else:
            numbers[-1][[3, 7, 11]] += height * numbers[-1][[2, 6, 10]]
        turned = np.linalg.inv(before) @ behind
        after = _frame(x, frames[k + 1, :3, 2], start + a * x)
        step = np.linalg.inv(behind) @ after
        if k and chain.kinds[k] == "R":
            offsets[k] = np.arctan2(turned[1, 0], turned[0, 0])
        if chain.kinds[k] == "R":
            numbers.append(np.array([a, step[1, 1], step[2, 1], 0.0]))
        else:
            turned[:3, 3] = 0.0
            numbers.append(((turned if k else np.eye(4)) @ step)[:3].reshape(-1))
        before = after
    return _Links(numbers, first, np.linalg.inv(before) @ chain.X, signs, offsets)


def _frame(x: Array, z: Array, origin: Array) -> Array:
    result = np.eye(4)
    result[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    result[:3, 3] = origin
    return result


def _common_normal(one: Array, other: Array) -> tuple[Array, Array, float] | None:
    """Foot on the z axis of `one`, direction and length of the common normal to that of `other`; None if it is far."""
    z, w, between = one[:3, 2], other[:3, 2], other[:3, 3] - one[:3, 3]
    normal = np.cross(z, w)
    sine = float(np.linalg.norm(normal))
    if sine < PARALLEL_TOLERANCE:
        across = between - z * float(z @ between)
        a = float(np.linalg.norm(across))
        return (one[:3, 3], across / a, a) if a > 0.0 else (one[:3, 3], one[:3, 0], 0.0)
    if sine < LEAST_SINE:
        return None
    foot = one[:3, 3] + z * float(np.cross(between, w) @ normal) / sine**2
    a = float(between @ normal) / sine
    return foot, normal / sine, a


class _Parameters:
    """Symbols of the function's parameters, in the order of `BranchCode`."""

    def __init__(self, family: str, kinds: str, roots: int) -> None:
        n = len(kinds)
        sizes = [4 if kind == "R" else 12 for kind in kinds[:-1]]
        self.all = ca.SX.sym("p", sum(sizes) + 24 + 4 * n + roots + 1)
        self._at = 0
        self.links = [self._link(size, k in PARALLEL_LINKS.get(family, ())) for k, size in enumerate(sizes)]
        self.first, self.last = pose_of_entries(self._take(12)), pose_of_entries(self._take(12))
        self.signs, self.start, self.lower, self.upper = (self._take(n) for _ in range(4))
        self.sides = self._take(roots)
        self.size = self._take(1)[0]

    def _take(self, count: int) -> list[ca.SX]:
        self._at += count
        return [self.all[k] for k in range(self._at - count, self._at)]

    def _link(self, size: int, is_parallel: bool) -> Pose:
        entries = self._take(size)
        if size == 12:
            return pose_of_entries(entries)
        a, c, s, d = entries
        if is_parallel:
            return Pose(NO_ROTATION, Vector3(a, 0.0, d))
        return Pose(Rotation(X_AXIS, Vector3(0.0, c, -s), Vector3(0.0, s, c)), Vector3(a, -s * d, c * d))


@lru_cache(maxsize=32)
def _traced_branches(family: str, kinds: str, is_reversed: bool) -> FlatCode:
    """Function of a target (16,) and near values (n,): values of all branches, four numbers for each (error's angle and
    distance, distance beyond the limits, margin), and 1 if the target is simple."""
    n, joints = len(kinds), root_joints(family, kinds)
    target, near = ca.SX.sym("target", 16), ca.SX.sym("near", n)
    known = _Parameters(family, kinds, len(joints))
    X, deviation = _read_pose([target[k] for k in range(12)])
    closing = known.last @ (X if is_reversed else X.inverse()) @ known.first
    K, asked = [*known.links, closing], closing.inverse()
    is_finite = X.position.dot(X.position) < LARGEST_SQUARE
    is_simple = ca.logic_and(deviation <= ORTHONORMAL_TOLERANCE, is_finite)
    for k, wanted in enumerate((0.0, 0.0, 0.0, 1.0)):
        is_simple = ca.logic_and(is_simple, ca.fabs(target[12 + k] - wanted) <= ORTHONORMAL_TOLERANCE)
    rows, numbers = [], []
    for signs in itertools.product((1.0, -1.0), repeat=len(joints)):
        sides = {k: ChosenSide(sign * side) for k, sign, side in zip(joints, signs, known.sides, strict=True)}
        found, reach = SOLVERS[family](kinds, K, sides.__getitem__, [NO_TURN] * n)
        end, factors = _follow(family, found, known)
        angle, distance = _squared_errors(end, asked)
        error = ca.fmax(angle, distance)
        is_met = error <= MET**2
        # with three parallel joints an aligned wrist may be turned so that the branch exists after all
        otherwise = factors[-1] if family == THREE_PARALLEL else 1.0
        margin = ca.if_else(is_met, _least(ca.sqrt(ca.fmax(reach, 0.0)), *factors), otherwise)
        values, beyond = _turn_near(found, known, near, is_reversed)
        rows.append(ca.horzcat(*(ca.if_else(is_met, value, np.nan) for value in values)))
        numbers.append([ca.sqrt(angle), ca.sqrt(distance), beyond, margin])
        is_clear = ca.logic_and(
            ca.logic_or(is_met, ca.logic_not(error < POLISH_BELOW**2)), ca.logic_not(margin < BORDER_TOLERANCE)
        )
        is_simple = ca.logic_and(is_simple, is_clear)
    columns = [ca.vertcat(*each) for each in zip(*numbers, strict=True)]
    return FlatCode([target, near, known.all], [ca.vertcat(*rows), *columns, is_simple], later=True)


def _read_pose(entries: list[ca.SX]) -> tuple[Pose, ca.SX]:
    """Pose with a rotation as near to orthonormal as rounding allows, and the deviation of the one given."""
    R = ca.reshape(ca.vertcat(*entries), 4, 3)[:3, :].T
    deviation = ca.sqrt(ca.sumsqr(R.T @ R - ca.SX.eye(3)) + (ca.det(R) - 1.0) ** 2)  # NaN if an entry is
    for _ in range(2):  # Newton's iteration of the polar decomposition
        R = 1.5 * R - 0.5 * R @ (R.T @ R)
    rotation = Rotation(*(Vector3(*(R[i, k] for k in range(3))) for i in range(3)))
    return Pose(rotation, Vector3(*(entries[4 * i + 3] for i in range(3)))), deviation


def _least(*values: ca.SX) -> ca.SX:
    result = values[0]
    for each in values[1:]:
        result = ca.fmin(result, each)
    return result


def _follow(family: str, values: list[Scalar], known: _Parameters) -> tuple[Pose, list[ca.SX]]:
    """Pose behind the last joint, and sizes of the shoulder's and the wrist's factors (`configuration_borders`) where
    the roots do not show them."""
    before, points = IDENTITY, []
    for k, value in enumerate(values):
        points.append(before.position)
        before = before @ pose_from_joint_value(value)
        if k < len(known.links):
            before = before @ known.links[k]
    if family == CYLINDRICAL:
        return before, []
    normal = (pose_from_joint_value(values[0]) @ known.links[0]).rotation.columns()[2].cross(Z)
    shoulder = ca.fabs(normal.dot(points[4 if family == THREE_PARALLEL else 3])) / known.size
    wrist = ca.fabs(values[4].sine * known.links[3].rotation.z.y * known.links[4].rotation.z.y)
    return before, [shoulder, wrist]


def _squared_errors(end: Pose, X: Pose) -> tuple[ca.SX, ca.SX]:
    """Squares of the angle (rad, exact for small ones) and of the distance (m) between two poses."""
    turned = [
        a - b for one, other in zip(end.rotation, X.rotation, strict=True) for a, b in zip(one, other, strict=True)
    ]
    moved = end.position - X.position
    return 0.5 * ca.sumsqr(ca.vertcat(*turned)), moved.dot(moved)


def _turn_near(found: list[Scalar], known: _Parameters, near: ca.SX, is_reversed: bool) -> tuple[list[ca.SX], ca.SX]:
    """Values of the machine's joints, from the base on, turned as `nearest_turns` does, and the largest distance of one
    beyond its limits."""
    values, beyond, n = [], ca.SX(0.0), len(found)
    for k, each in enumerate(found):
        low, high = known.lower[k], known.upper[k]
        angle = ca.atan2(each.sine, each.cosine) if isinstance(each, Turn) else each
        value = known.start[k] + known.signs[k] * angle
        if isinstance(each, Turn):
            turned = value / TURN
            below, above = (low - WITHIN) / TURN - turned, (high + WITHIN) / TURN - turned
            fewest, most = ca.ceil(below), ca.floor(above)
            turns = ca.floor(near[n - 1 - k if is_reversed else k] / TURN + NEAREST - turned)
            within = ca.fmin(ca.fmax(turns, fewest), most)
            outside = ca.if_else(below - most <= fewest - above, most, fewest)
            value = value + TURN * ca.if_else(fewest <= most, within, outside)
        beyond = ca.fmax(beyond, ca.fmax(low - value, value - high))
        values.append(value)
    return values[::-1] if is_reversed else values, beyond
