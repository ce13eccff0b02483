"""Inverse kinematics by damped least squares inside the joint limits.

Levenberg–Marquardt on the frame error, S. Buss, "Introduction to inverse kinematics with Jacobian transpose,
pseudoinverse and damped least squares methods", 2009: Δ = (JᵀW J + λ² I)⁻¹ JᵀW e, λ falling with success. Coordinates
that stand at a limit and would be pushed through it are taken out of the step. `reach` goes on from a pose (a drag);
`solve` restarts from random poses and gathers the branches that it comes upon, which need not be all. Joints that do
not move what is asked for stay where they are; poses of loops that differ only by how a leg is turned about its own
line, or a universal joint flipped, are one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from core.analysis.frame_search import FrameSearch, FrameTarget
from core.constraints.closed_positions import find_nearest_closed_position
from core.constraints.newton.availability import has_newton
from core.constraints.newton.frame_newton import ReachedPose, borrow_frame_newton
from core.later import dataclass
from core.mechanism import Mechanism
from core.numerics.matrix_forms import to_dense
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]

SAME_POSE = 1e-4
"""Distance (rad, m), up to whole turns, within which two poses count as the same branch."""
STILL_TOLERANCE = 1e-6
"""Speed (rad/s, or machine sizes per second) of a frame, per unit joint speed, below which it counts as at rest."""
REMEMBERED = 16
"""Number of frames of a machine whose speeds without effect are remembered."""
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
    settle : relative decrease of the squared error below which a step does not count as progress. A target out of reach
        is given up when the error is perpendicular to all the frame can do, to an angle of √settle; for a drag 1e-5 is
        enough.
    """
    found = _frame_target(target, point, orientation_weight, settle, t)
    with _FrameProblem(mech, frame, found, p).begin() as solve:
        return solve(np.array(q, dtype=float), iterations)


def _frame_target(
    target: Any, point: Any = (0.0, 0.0, 0.0), weight: float | None = None, settle: float = 1e-12, t: float = 0.0
) -> FrameTarget:
    given = np.asarray(target, dtype=float)
    position, rotation = (given, None) if given.shape == (3,) else (given[:3, 3], given[:3, :3])
    return FrameTarget(position, rotation, np.asarray(point, dtype=float), weight, settle, t)


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

    target, guess = np.asarray(target, dtype=float), np.array(q, dtype=float)
    problem = _FrameProblem(mech, frame, _frame_target(target, t=t), p)
    first = mech.clamp(guess)
    if mech.constrained:
        closed = find_nearest_closed_position(mech.compiled, first, problem.p, t, start=guess)
        first = np.asarray(mech.assemble(q, p=problem.p, t=t)) if closed is None else closed
    still = _coordinates_moved_only_by(
        mech, speeds_without_effect(mech, frame, p, translation=target.shape == (3,), t=t)
    )
    rng = np.random.default_rng(2) if restarts else None
    found: list[IKResult] = []
    best: IKResult | None = None
    with problem.begin() as solve:
        for k in range(restarts + 1):
            if step is not None:
                step(k, restarts + 1)
            start = first if rng is None or k == 0 else np.where(still, first, random_pose(mech.compiled, rng, p, t))
            attempt = solve(start, 100)
            if best is None or attempt.residual < best.residual:
                best = attempt
            if attempt.is_reached:
                found.append(replace(attempt, q=shift_to_nearest_turns(mech, attempt.q, guess)))
    if not found:
        return (best,) if best is not None else ()
    if len(found) == 1:
        return tuple(found)
    found.sort(key=lambda attempt: float(np.linalg.norm(mech.difference(guess, attempt.q))))
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
    known = _known_without_effect(mech.compiled)
    key = frame, translation, mech.compiled.parameter_values(p).tobytes(), t
    if key not in known:
        known[key] = _find_speeds_without_effect(mech, frame, p, translation, t)
        if len(known) > REMEMBERED:
            del known[next(iter(known))]
    return known[key].copy()


@cache_per_model
def _known_without_effect(compiled: CompiledModel) -> dict[Any, NDArray[np.bool_]]:
    """Answers of `speeds_without_effect`, the latest last."""
    return {}


def _find_speeds_without_effect(
    mech: Mechanism, frame: str, p: Mapping[str, float] | None, translation: bool, t: float
) -> NDArray[np.bool_]:
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
    if not speeds.any():
        return flags
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
    """Search for poses in which one frame meets one target, by machine code where it knows the machine's coordinates
    and constraints are dense."""

    def __init__(self, mech: Mechanism, frame: str, target: FrameTarget, p: Mapping[str, float] | None) -> None:
        self._mech, self._target = mech, target
        self._frame = mech.compiled.check_frame_name(frame)
        self.p = mech.parameter_values(p) if p else None
        mech.compiled.coordinates.check_limit_order()
        self._other = None if has_newton(mech.compiled) else FrameSearch(mech, frame, target, self.p)

    @contextlib.contextmanager
    def begin(self) -> Iterator[Callable[[Array, int], IKResult]]:
        """Context of the search: a function of the pose to begin at and the largest number of steps."""
        if self._other is not None:
            search = self._other
            yield lambda q, iterations: self._result(search.solve(q, iterations))
            return
        mech, target = self._mech, self._target
        with borrow_frame_newton(mech.compiled, self._frame) as newton:
            values = mech.compiled.parameter_values(self.p)
            newton.prepare(
                values,
                mech.compiled.time_argument(target.t, values),
                target.position,
                target.rotation,
                target.point,
                target.weight,
                target.settle,
            )
            yield lambda q, iterations: self._result(newton.reach(q, iterations))

    def _result(self, found: ReachedPose) -> IKResult:
        q, residual, position, orientation, steps = found
        return IKResult(q, residual, position, orientation, coordinates_at_limits(self._mech, q), steps)


def coordinates_at_limits(mech: Mechanism, q: Sequence[float] | Array, tolerance: float = 1e-9) -> tuple[str, ...]:
    """Names of the coordinates at (or beyond) a limit; those of cut joints last."""
    coordinates, values = mech.compiled.coordinates, np.asarray(q, dtype=float)
    at_limit = (values <= coordinates.lower + tolerance) | (values >= coordinates.upper - tolerance)
    own = [coordinates.table[k].name for k in np.flatnonzero(at_limit)] if at_limit.any() else []
    measured = [(limit, limit.value(mech.compiled, values)) for limit in mech.cut_limits]
    near = max(tolerance, NEAR_LIMIT)
    cut = [each.name for each, x in measured if x <= each.lower + near or x >= each.upper - near]
    return (*own, *cut)
