"""Inverse kinematics by damped least squares inside the joint limits.

Levenberg–Marquardt on the frame error, S. Buss, "Introduction to inverse kinematics with Jacobian transpose,
pseudoinverse and damped least squares methods", 2009: Δ = (JᵀW J + λ² I)⁻¹ JᵀW e, λ falling with success. Coordinates
that stand at a limit and would be pushed through it are taken out of the step. `reach` goes on from a pose (a drag);
`solve` restarts from random poses and gathers the branches that it comes upon, which need not be all. Joints that do
not move what is asked for stay where they are; poses of loops that differ only by how a leg is turned about its own
line, or a universal joint flipped, are one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.equal_poses import (
    APART,
    PoseFingerprint,
    coordinates_by_speed,
    pose_distance,
    shift_to_nearest_turns,
)
from core.constraints.closed_positions import find_nearest_closed_position
from core.later import dataclass
from core.mechanism import Mechanism
from core.numerics.matrix_forms import to_dense

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Residual (m, and rad times the length scale) at which a target counts as reached."""
FIRST_DAMPING, SMALLEST_DAMPING, LARGEST_DAMPING = 1e-3, 1e-12, 1e6
LARGEST_STEP = 0.5
"""Largest norm of one step (rad, m), to keep the arm from jumping towards a distant target."""
SHORTER = 0.25
"""Factor by which the next step is shortened after a step that did not bring the frame nearer."""
SAME_POSE = 1e-4
"""Distance (rad, m), up to whole turns, within which two poses count as the same branch."""
STILL_TOLERANCE = 1e-6
"""Speed (rad/s, or machine sizes per second) of a frame, per unit joint speed, below which it counts as at rest."""
POSES_TRIED = 3
"""Number of random poses at which the joints that move a frame are determined."""
SELF_MOTION = 0.02
"""Distance (rad, or machine sizes) that a motion with the target met must cover to count as a self-motion."""
NEAR_LIMIT = 1e-6
"""Distance (rad, m) to a limit of a loop-closing joint within which its measured coordinate counts as at the limit."""


@dataclass(frozen=True)
class IKResult:
    """A pose in which a frame is as close to its target as possible.

    q : (nq,); residual : weighted norm of the error; position_error : m; orientation_error : rad (0 if no orientation
    was asked for); at_limits : names of coordinates that stand at a limit; iterations.
    """

    q: Array
    residual: float
    position_error: float
    orientation_error: float
    at_limits: tuple[str, ...]
    iterations: int

    @property
    def is_reached(self) -> bool:
        """True if the frame meets the target to about 1e-6 m and rad."""
        return self.position_error < 1e-6 and self.orientation_error < 1e-6


def move_frame_to_target(
    mech: Mechanism,
    q: Array,
    frame: str,
    target: Any,
    p: Mapping[str, float] | None = None,
    *,
    point: Any = (0.0, 0.0, 0.0),
    orientation_weight: float | None = None,
    iterations: int = 24,
    settle: float = 1e-12,
    t: float = 0.0,
) -> IKResult:
    """Find a pose near q in which `frame` meets the target.

    target : (3,) position (m, world), or (4, 4) pose (world ← frame).
    point : (3,) the point of the frame, in its axes (m), that is to be at the target's position.
    orientation_weight : metres that count like one radian; None: taken from the machine's size.
    iterations : at most so many; the default takes a seven-joint arm a few milliseconds when a target is out of reach.
    settle : relative decrease of the squared error below which a step is no progress. A target out of reach is given
        up when the error stands across all the frame can do, to an angle of √settle; a drag does with 1e-5.
    """
    problem = _FrameProblem(mech, frame, np.asarray(target, dtype=float), p, orientation_weight, t)
    problem.point = np.asarray(point, dtype=float)
    problem.settle = settle
    return problem.solve(np.array(q, dtype=float), iterations)


def solve_inverse_kinematics(
    mech: Mechanism,
    q: Array,
    frame: str,
    target: Any,
    p: Mapping[str, float] | None = None,
    *,
    restarts: int = 20,
    step: Any = None,
    t: float = 0.0,
) -> tuple[IKResult, ...]:
    """Find distinct poses that meet the target, nearest to q first; if none does, the single best attempt. Angles are
    within limits and as near to those of q as whole turns allow.

    `step(done, total)` is called before each restart (progress, cancel). t : time, s, at which drivers hold.
    Raises AssemblyError where q does not close, and no pose near it does.
    """
    from core.constraints.assembly import random_pose

    rng = np.random.default_rng(2)
    target = np.asarray(target, dtype=float)
    problem = _FrameProblem(mech, frame, target, p, None, t)
    closed = find_nearest_closed_position(mech.compiled, mech.clamp(q), problem.p, t, start=np.array(q, dtype=float))
    first = np.asarray(mech.assemble(q, p=problem.p, t=t)) if closed is None else closed
    still = _coordinates_moved_only_by(
        mech, speeds_without_effect(mech, frame, p, translation=target.shape == (3,), t=t)
    )
    found: list[IKResult] = []
    best: IKResult | None = None
    for k in range(restarts + 1):
        if step is not None:
            step(k, restarts + 1)
        start = first if k == 0 else random_pose(mech.compiled, rng, p, t)
        attempt = problem.solve(np.where(still, first, start), 100)
        if best is None or attempt.residual < best.residual:
            best = attempt
        if attempt.is_reached:
            found.append(replace(attempt, q=shift_to_nearest_turns(mech, attempt.q, np.asarray(q, dtype=float))))
    if not found:
        return (best,) if best is not None else ()
    found.sort(key=lambda attempt: float(np.linalg.norm(mech.difference(np.asarray(q), attempt.q))))
    return _remove_duplicates(mech, found, p, t)


def _remove_duplicates(
    mech: Mechanism, results: Sequence[IKResult], p: Mapping[str, float] | None, t: float
) -> tuple[IKResult, ...]:
    """The poses without duplicates; the first of each group of equivalent ones is kept."""
    from core.constraints.mobility.constraint_rank import PositionConstraints

    in_loops = {joint for loop in mech.loops for joint in loop.joints}
    looped = np.array([coordinate.joint in in_loops for coordinate in mech.coordinates])
    mark_of = PoseFingerprint(PositionConstraints(mech.compiled, p, t)) if looped.any() else None
    kept: list[tuple[IKResult, Array]] = []
    for each in results:
        mark = np.zeros(0) if mark_of is None else mark_of(each.q)
        if not any(_is_same_pose(mech, (each.q, mark), (other.q, seen), looped) for other, seen in kept):
            kept.append((each, mark))
    return tuple(each for each, _ in kept)


def _is_same_pose(
    mech: Mechanism, one: tuple[Array, Array], other: tuple[Array, Array], is_loop_coordinate: NDArray[np.bool_]
) -> bool:
    """Return True if two poses are equal up to irrelevant differences in the flagged coordinates. one, other : pose and
    its identifying numbers"""
    if pose_distance(mech, one[0], np.where(is_loop_coordinate, one[0], other[0])) > SAME_POSE:
        return False
    if pose_distance(mech, one[0], other[0]) <= SAME_POSE:
        return True
    return bool(is_loop_coordinate.any() and np.max(np.abs(one[1] - other[1])) <= APART)


def speeds_without_effect(
    mech: Mechanism, frame: str, p: Mapping[str, float] | None = None, *, translation: bool = False, t: float = 0.0
) -> NDArray[np.bool_]:
    """(nv,) True for speeds that move the frame at no pose, neither directly nor through loops and constraints.

    translation : only the place of the frame's origin counts, not how it is turned
    """
    from core.constraints.assembly import random_pose

    rng = np.random.default_rng(5)
    poses = [random_pose(mech.compiled, rng, p, t) for _ in range(POSES_TRIED)]
    columns = np.array([np.asarray(mech.jacobian(q, frame, p=p))[3 * translation :] for q in poses])
    largest = max(float(np.max(np.abs(columns), initial=0.0)), 1e-300)
    moving = np.max(np.abs(columns), axis=(0, 1), initial=0.0) > STILL_TOLERANCE * largest
    if mech.constrained:
        rows = np.max([np.abs(to_dense(mech.compiled.constraint_matrix(q, p))) for q in poses], axis=0) > 0.0
        while (grown := moving | rows[rows[:, moving].any(axis=1)].any(axis=0)).sum() > moving.sum():
            moving = grown
    return np.asarray(~moving)


def coordinates_without_effect(
    mech: Mechanism, frame: str, p: Mapping[str, float] | None = None, *, translation: bool = False, t: float = 0.0
) -> tuple[str, ...]:
    """Names of coordinates that move the frame at no pose; for a ball joint its name."""
    flags = _coordinates_moved_only_by(mech, speeds_without_effect(mech, frame, p, translation=translation, t=t))
    plain = set(coordinates_by_speed(mech).values())
    names = [c.name if c.name in plain else c.joint for c, idle in zip(mech.coordinates, flags, strict=True) if idle]
    return tuple(dict.fromkeys(names))


def _coordinates_moved_only_by(mech: Mechanism, speeds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(nq,) True for coordinates that only these speeds (nv,) move."""
    flags = np.zeros(mech.nq, dtype=bool)
    plain = {name: k for k, name in coordinates_by_speed(mech).items()}
    for at, coordinate in enumerate(mech.coordinates):
        k = plain.get(coordinate.name)
        flags[at] = speeds[mech.joint_v(coordinate.joint)].all() if k is None else speeds[k]
    return flags


def count_self_motions(
    mech: Mechanism, q: Array, frame: str, target: Any, p: Mapping[str, float] | None = None, *, t: float = 0.0
) -> int:
    """Number of degrees of freedom with which the machine can still move while the frame stays at the target.

    They are the motions that constraints leave and that do not move the frame, as far as they go on: at a singular pose
    some end at once, and a way along them the target is met only back at the pose. Joints that never move the frame (of
    a camera or a gripper) do not count.
    """
    from core.constraints.mobility.constraint_rank import PositionConstraints

    constraints = PositionConstraints(mech.compiled, p, t)
    N = constraints.free_motions(q)
    rows = np.asarray(mech.jacobian(q, frame, p=p)) @ N
    rows[3:] /= constraints.size
    asked = rows[3:] if np.shape(target) == (3,) else rows
    asked = np.vstack([asked, N[speeds_without_effect(mech, frame, p, t=t)]])
    _, sigma, right = np.linalg.svd(asked)
    left = N @ right[int(np.count_nonzero(sigma > STILL_TOLERANCE)) :].T
    return sum(any(_is_self_motion(mech, q, sign * v, frame, target, p, t) for sign in (1.0, -1.0)) for v in left.T)


def _is_self_motion(
    mech: Mechanism, q: Array, v: Array, frame: str, target: Any, p: Mapping[str, float] | None, t: float
) -> bool:
    step = v * (SELF_MOTION / float(np.max(np.abs(v))))
    ahead = find_nearest_closed_position(mech.compiled, mech.clamp(mech.integrate(q, step, 1.0)), p, t, start=q)
    if ahead is None:
        return False
    found = move_frame_to_target(mech, ahead, frame, target, p, iterations=100, t=t)
    return found.is_reached and pose_distance(mech, q, found.q) > 0.5 * SELF_MOTION


class _FrameProblem:
    """Inverse kinematics problem of one frame and target, with all data that stay constant between steps."""

    def __init__(
        self,
        mech: Mechanism,
        frame: str,
        target: Array,
        p: Mapping[str, float] | None,
        weight: float | None,
        t: float,
    ) -> None:
        self.mech, self.frame, self.t = mech, frame, t
        self.p = mech.parameter_values(p) if p else None
        self.position = target if target.shape == (3,) else target[:3, 3]
        self.rotation = None if target.shape == (3,) else target[:3, :3]
        self.weight = weight
        self.point = np.zeros(3)
        self.settle = 1e-12
        self.bounds = speed_bounds(mech)

    def solve(self, q: Array, iterations: int) -> IKResult:
        """Pose found by Levenberg–Marquardt iteration from q."""
        mech = self.mech
        damping, longest, done = FIRST_DAMPING, math.inf, 0
        q = self.mech.clamp(q)
        error, jacobian = self._weighted_error(q), self._jacobian(q)
        for done in range(iterations):  # noqa: B007
            norm = float(error @ error)
            if norm < TOLERANCE**2:
                break
            descent = jacobian.T @ error
            free = self._free_speeds(q, descent)
            if float(descent[free] @ descent[free]) <= self.settle * norm * float(np.sum(jacobian[:, free] ** 2)):
                break
            step = _damped_step(jacobian, error, damping, free)
            while math.sqrt(float(step @ step)) > longest and damping < LARGEST_DAMPING:
                damping *= 10.0
                step = _damped_step(jacobian, error, damping, free)
            if longest < math.inf and 2.0 * float(error @ jacobian @ step) < self.settle * norm:
                break
            trial = self._step_along(q, step)
            trial_error = self._weighted_error(trial)
            if float(trial_error @ trial_error) < norm:
                gain = norm - float(trial_error @ trial_error)
                q, error, jacobian = trial, trial_error, self._jacobian(trial)
                damping, longest = max(damping * 0.1, SMALLEST_DAMPING), 2.0 * longest
                if gain < self.settle * norm:
                    break
            else:
                damping, longest = 10.0 * damping, SHORTER * math.sqrt(float(step @ step))
                if damping > LARGEST_DAMPING:
                    break
        position, orientation = self._position_and_angle_errors(q)
        return IKResult(q, math.sqrt(float(error @ error)), position, orientation, coordinates_at_limits(mech, q), done)

    def _step_along(self, q: Array, step: Array) -> Array:
        moved = self.mech.clamp(self.mech.integrate(q, step, 1.0))
        if not self.mech.constrained:
            return moved
        closed = find_nearest_closed_position(self.mech.compiled, moved, self.p, self.t, start=q)
        return q if closed is None else closed

    def _target_point_pose(self, q: Array) -> Array:
        """(4, 4) pose with the axes of the frame and its origin at the point that should meet the target."""
        X_WF = np.array(self.mech.frame(q, self.frame, p=self.p))
        X_WF[:3, 3] += X_WF[:3, :3] @ self.point
        return X_WF

    def _weighted_error(self, q: Array) -> Array:
        X_WF = self._target_point_pose(q)
        error = self.position - X_WF[:3, 3]
        if self.rotation is None:
            return error
        return np.concatenate([self._length_scale(q) * rotation_vector(self.rotation @ X_WF[:3, :3].T), error])

    def _jacobian(self, q: Array) -> Array:
        jacobian = np.array(self.mech.jacobian(q, self.frame, p=self.p))
        if self.point.any():  # v_P = v_F + ω × r
            arm = np.asarray(self.mech.frame(q, self.frame, p=self.p))[:3, :3] @ self.point
            jacobian[3:] += np.cross(jacobian[:3], arm, axisb=-1, axisa=0).T
        if self.mech.constrained:
            jacobian = jacobian @ self._constraint_projection(q)
        if self.rotation is None:
            return jacobian[3:]
        return np.concatenate([self._length_scale(q) * jacobian[:3], jacobian[3:]])

    def _constraint_projection(self, q: Array) -> Array:
        """(nv, nv) projection 1 − G⁺G onto the joint speeds that all constraints admit."""
        G = np.asarray(self.mech.constraint_jacobian(q, p=self.p))
        return np.eye(self.mech.nv) - np.linalg.pinv(G, rcond=1e-7) @ G

    def _length_scale(self, q: Array) -> float:
        """Length in m weighted like one radian: the ratio of the frame's linear to its angular mobility."""
        if self.weight is None:
            jacobian = np.asarray(self.mech.jacobian(q, self.frame, p=self.p))
            angular, linear = np.linalg.norm(jacobian[:3]), np.linalg.norm(jacobian[3:])
            self.weight = float(np.clip(linear / angular, 0.01, 10.0)) if angular > 1e-9 else 1.0
        return self.weight

    def _position_and_angle_errors(self, q: Array) -> tuple[float, float]:
        X_WF = self._target_point_pose(q)
        position = float(np.linalg.norm(self.position - X_WF[:3, 3]))
        if self.rotation is None:
            return position, 0.0
        return position, float(np.linalg.norm(rotation_vector(self.rotation @ X_WF[:3, :3].T)))

    def _free_speeds(self, q: Array, descent: Array) -> NDArray[np.bool_]:
        """Mask of the speeds that take part in a step: not those blocked by a limit."""
        index, speed, lower, upper = self.bounds
        free = np.ones(self.mech.nv, dtype=bool)
        at_lower, at_upper = q[index] <= lower + 1e-12, q[index] >= upper - 1e-12
        blocked = (at_lower & (descent[speed] < 0.0)) | (at_upper & (descent[speed] > 0.0))
        free[speed[blocked]] = False
        return free


def _damped_step(jacobian: Array, error: Array, damping: float, free_speeds: NDArray[np.bool_]) -> Array:
    """Δ = Jᵀ (J Jᵀ + λ² I)⁻¹ e over the free columns, at most LARGEST_STEP long."""
    step = np.zeros(jacobian.shape[1])
    columns = jacobian[:, free_speeds]
    if columns.size:
        gram = columns @ columns.T
        gram.flat[:: len(gram) + 1] += damping * (1e-6 + np.trace(gram) / len(gram))
        step[free_speeds] = columns.T @ np.linalg.solve(gram, error)
    length = math.sqrt(float(step @ step))
    limit = LARGEST_STEP * math.sqrt(max(1, len(step)))
    return step * (limit / length) if length > limit else step


def speed_bounds(mech: Mechanism) -> tuple[NDArray[np.intp], NDArray[np.intp], Array, Array]:
    """Limited coordinates whose speed is their rate: indices in q, indices in v, lower and upper bounds. Raises
    ModelError if lower exceeds upper."""
    mech.compiled.coordinates.check_limit_order()
    where: dict[str, tuple[int, int]] = {}
    for joint in dict.fromkeys(coordinate.joint for coordinate in mech.coordinates):
        in_q, in_v = mech.joint_q(joint), mech.joint_v(joint)
        if in_q.stop - in_q.start == in_v.stop - in_v.start:
            for k in range(in_q.stop - in_q.start):
                where[mech.q_names[in_q.start + k]] = (in_q.start + k, in_v.start + k)
    rows = [
        (*where[c.name], -math.inf if c.lower is None else c.lower, math.inf if c.upper is None else c.upper)
        for c in mech.coordinates
        if c.name in where and not (c.lower is None and c.upper is None)
    ]
    table = list(zip(*rows, strict=True)) or [(), (), (), ()]
    return (
        np.array(table[0], dtype=np.intp),
        np.array(table[1], dtype=np.intp),
        np.array(table[2], dtype=float),
        np.array(table[3], dtype=float),
    )


def coordinates_at_limits(mech: Mechanism, q: Sequence[float] | Array, tolerance: float = 1e-9) -> tuple[str, ...]:
    """Names of the coordinates at (or beyond) a limit; those of cut joints last."""
    own = [
        c.name
        for c, x in zip(mech.coordinates, q, strict=True)
        if (c.lower is not None and x <= c.lower + tolerance) or (c.upper is not None and x >= c.upper - tolerance)
    ]
    measured = [(limit, limit.value(mech.compiled, np.asarray(q))) for limit in mech.cut_limits]
    near = max(tolerance, NEAR_LIMIT)
    cut = [each.name for each, x in measured if x <= each.lower + near or x >= each.upper - near]
    return (*own, *cut)


def rotation_vector(R: Array) -> Array:
    """(3,) axis times angle (rad, 0 … π) of a rotation matrix, accurate near 0 and near π."""
    w = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = math.sqrt(float(w @ w)), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-6:
        return w * (angle / sine)
    if cosine > 0.0:
        return w
    # angle near π: R ≈ 2 n nᵀ − I, the longest column of R + I is along n
    columns = R + np.eye(3)
    axis = columns[:, int(np.argmax(np.diag(columns)))]
    axis = axis / np.linalg.norm(axis)
    return angle * (axis if w @ axis >= 0.0 else -axis)
