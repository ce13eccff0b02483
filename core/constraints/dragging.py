"""Interactive dragging of coordinates: the loops follow in stages, as far as loops and joint limits allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.change_points import (
    FOLLOWS_TOLERANCE,
    DependentResponse,
    branches_meet_exactly,
    build_undecided_error,
    least_determined_motion,
)
from core.constraints.closed_positions import find_closed_position, find_reversed_joint
from core.constraints.cut_coordinates import (
    NEXT,
    cut_limits,
    limits_widened_to_start,
    most_exceeded_limit,
    reached_limits,
)
from core.mechanics.multibody.parameter_values import Values
from core.numerics.tolerances import ACCEPTED_GAP, SOLVED_GAP
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]


STAGE = 0.3
"""Largest displacement (rad or m) of a dragged coordinate between two loop closures."""
SHORTEST = 1e-7
"""Step (rad or m) below which a stage that the loops cannot follow is not shortened further."""
MOST_STAGES = 1000
FARTHEST = 100 * STAGE
"""Displacement (rad or m) above which whole turns are skipped instead of being stepped through."""
UNWILLING = 1e3
"""Weight of a dragged coordinate that must give way; it is large, so that the coordinate deviates as little as
possible."""
NEAR_END = 0.05
"""Largest displacement (rad or m) of any joint in the last step to a limit."""
LAST_STEP = 1e-3
"""Displacement (rad or m) of the dragged coordinate that the last step aims for."""
JUMP = 1.5
"""Displacement (rad or m) of a dependent coordinate in one stage that indicates a jump to another branch."""
CROSSING = 2e-5
"""Stage length (rad or m) at which branches that still cannot be distinguished count as crossing; rounding of lengths
separates them by no more."""
LEAPS = (0.05, 0.01, 1e-3)
"""Lengths (rad or m) of the straight steps tried across such a crossing; the closure error along the last one shows
whether the branches meet."""
UNDECIDED_SHARE = 1e-9
"""Singular value, relative to the largest one, below which the constraints do not determine a direction at the start of
a path."""
BENT_FRACTION = 0.3
"""Largest relative change of the rates across such a step."""


class _StageResult(NamedTuple):
    """Result of a trial stage: the closed position, or None if the loops cannot follow; the remaining gap; and True if
    the loops closed on another branch."""

    q: Array | None
    gap: float
    turned: bool = False


class _DragPath(NamedTuple):
    """Straight path from a position to the target of the dragged coordinates."""

    compiled: CompiledModel
    target: Array
    kept: NDArray[np.bool_]
    p: Values
    t: float
    accepted: float
    """Residual (m, rad) up to which loops count as closed on the path: with the tolerance used at its start, a position
    slightly beyond the end of travel would seem closed, too."""
    decided: bool = True
    """True to refuse a step where the given coordinates do not determine the branch; False to accept either branch."""

    def remaining_displacement(self, q: Array) -> Array:
        """(nv,) remaining displacement to the target."""
        return np.asarray(self.compiled.coordinates.speeds_between(q, self.target) * self.kept)

    def dependent_response(self, q: Array) -> DependentResponse:
        """First-order response of the dependent coordinates at a position."""
        return DependentResponse(self.compiled, q, self.kept, self.p)


def drag_towards(
    compiled: CompiledModel,
    q: Array,
    target: Array,
    dragged: NDArray[np.bool_],
    p: Values,
    t: float,
    may_give_way: bool = True,
    refuse_undecided: bool = True,
) -> Array | None:
    """Move from q (nq,) towards the target of the dragged coordinates (mask nv,) in closed stages on the machine's
    present branch, and return the position reached; stages shrink where loops cannot follow or would change branch.
    None if the loops do not close near q.

    may_give_way : True if dragged coordinates may deviate slightly at the end of travel, so that it is reached exactly
    refuse_undecided : True to raise UndecidedBranchError where the branch is undetermined; else take either branch
    """
    q_closed, gap = find_closed_position(compiled, q, np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool), p, t=t)
    if not gap < ACCEPTED_GAP:
        return None
    path = _DragPath(
        compiled, target, dragged, p, t, min(max(10.0 * SOLVED_GAP, 2.0 * gap), ACCEPTED_GAP), refuse_undecided
    )
    longest = STAGE
    refused: list[tuple[float, float]] = []
    stopped = False
    followers = first = path.dependent_response(q_closed)
    for _ in range(MOST_STAGES):
        displacement = path.remaining_displacement(q_closed)
        distance = float(np.max(np.abs(displacement), initial=0.0))
        if distance < 1e-12 or longest < SHORTEST:
            break
        stage = min(longest, distance)
        tried = _follow_stage(path, followers, displacement * (stage / distance), stage == distance)
        if tried.turned and stage <= CROSSING:
            tried = _step_over_crossing(path, followers, displacement, distance)
        if tried.q is None:
            stopped = True
            refused = [] if tried.turned else [*refused, (stage, tried.gap)]
            longest = 0.5 * stage if tried.turned else _next_stage_length(refused)
            if tried.turned and longest < SHORTEST:
                _refuse_undecided(path, followers, displacement * (min(LEAPS[-1], distance) / distance))
        else:
            if followers is first and path.decided:
                _refuse_ambiguous_start(path, first, tried.q, displacement * (min(LEAPS[-1], distance) / distance))
            # what has just been refused is not asked for again at once
            longest, refused = longest if refused else min(2.0 * longest, STAGE), []
            q_closed, followers = tried.q, path.dependent_response(tried.q)
    return _step_to_limit(path, q_closed) if stopped and may_give_way else q_closed


def _step_to_limit(path: _DragPath, q: Array) -> Array:
    """Take the final step from near the end of travel to the joint limit; the dragged coordinates may deviate."""
    compiled, held, p, t = path.compiled, path.kept, path.p, path.t
    displacement = path.remaining_displacement(q)
    distance = float(np.max(np.abs(displacement), initial=0.0))
    if distance < 1e-12:
        return q
    little = displacement * min(1.0, LAST_STEP / distance)
    trial = compiled.coordinates.clamp(_predict_position(path.dependent_response(q), little))
    limits = limits_widened_to_start(compiled, q, p)
    weights, free = np.where(held, UNWILLING, 1.0), np.zeros(compiled.nv, dtype=bool)
    closed, gap = find_closed_position(compiled, trial, weights, free, p, t=t, limits=limits)
    closed, gap = _move_onto_limits(compiled, closed, weights, p, t) if gap < path.accepted else (closed, gap)
    gone = compiled.coordinates.speeds_between(q, closed)
    nearer = np.linalg.norm(path.remaining_displacement(closed)) < np.linalg.norm(displacement)
    near = bool(np.max(np.abs(gone), initial=0.0) < NEAR_END)
    meets = (
        gap < path.accepted
        and not find_reversed_joint(compiled, closed, p)
        and not most_exceeded_limit(compiled, limits, closed, p)
    )
    return closed if meets and nearer and near else q


def _next_stage_length(refused: Sequence[tuple[float, float]]) -> float:
    """Length of the next trial stage from those refused, (stage, gap left): past the end of travel the gap grows
    linearly, so two refusals locate the end."""
    stage, gap = refused[-1]
    if len(refused) == 1:
        return 0.5 * stage
    before, gap_before = refused[-2]
    end = stage - gap * (before - stage) / (gap_before - gap) if gap_before > gap else 0.5 * stage
    return float(np.clip(0.95 * end, stage / 16.0, 0.5 * stage))


def _move_onto_limits(compiled: CompiledModel, q: Array, weights: Array, p: Values, t: float) -> tuple[Array, float]:
    """Move all joints that are close to a limit exactly onto it, if possible; return (q, gap)."""
    coordinates = compiled.coordinates
    low, high = coordinates.displacement_bounds(q)
    still = (low > -NEXT) | (high < NEXT)
    edges = np.where(still, np.where(low > -high, low, high), 0.0)
    limits = reached_limits(compiled, cut_limits(compiled), q, p)
    if not (still.any() or limits):
        return q, 0.0
    closed, gap = find_closed_position(
        compiled, coordinates.integrate_within_limits(q, edges), weights, still, p, t=t, limits=limits
    )
    return (closed, gap) if gap < ACCEPTED_GAP else (q, 0.0)


def _follow_stage(path: _DragPath, response: DependentResponse, step: Array, is_last: bool) -> _StageResult:
    """Follow a step of the dragged coordinates, stepping over a crossing of branches."""
    tried = _close_after_step(path, response, step)
    if tried.q is None:
        return tried
    meets = not is_last and least_determined_motion(path.dependent_response(tried.q), response.q)[0] < FOLLOWS_TOLERANCE
    return _StageResult(None, tried.gap, turned=True) if meets or not response.is_same_branch(tried.q) else tried


def _close_after_step(path: _DragPath, response: DependentResponse, step: Array) -> _StageResult:
    """Close the loops after a step of the dragged coordinates, at the position nearest to the first-order
    prediction."""
    from core.constraints.closed_forms.closed_forms import close_analytically

    compiled, held, p, t = path.compiled, path.kept, path.p, path.t
    q, ones = response.q, np.ones(compiled.nv)
    predicted = _predict_position(response, step)
    trial = compiled.coordinates.clamp(predicted)
    closed, gap = close_analytically(compiled, trial, held, p), 0.0
    if closed is None or np.max(np.abs(compiled.coordinates.speeds_between(q, closed))) > JUMP:
        closed, gap = find_closed_position(compiled, trial, ones, held, p, t=t)
    limits = limits_widened_to_start(compiled, q, p) if gap < ACCEPTED_GAP else ()
    if most_exceeded_limit(compiled, limits, closed, p):
        closed, gap = find_closed_position(compiled, trial, ones, held, p, t=t, limits=limits)
    if not gap < path.accepted or np.max(np.abs(compiled.coordinates.speeds_between(q, closed))) > JUMP:
        return _StageResult(None, gap)
    return _StageResult(closed, gap)


def _step_over_crossing(
    path: _DragPath, response: DependentResponse, displacement: Array, distance: float
) -> _StageResult:
    """Step straight over a crossing of branches; the step is accepted if the response to first order is the same on
    both sides."""
    difference = path.compiled.coordinates.speeds_between
    for leap in LEAPS:
        step = displacement * (min(leap, distance) / distance)
        tried = _close_after_step(path, response, step)
        if tried.q is None:
            continue
        along, gone = response.follow(step), difference(response.q, tried.q)
        size = float(np.linalg.norm(along))
        strayed = float(np.linalg.norm(gone - along)) > BENT_FRACTION * size
        behind = path.dependent_response(tried.q).follow(step)
        bent = leap <= distance and float(np.linalg.norm(behind - along)) > BENT_FRACTION * size
        if not (strayed or bent):
            _refuse_undecided(path, response, displacement * (min(LEAPS[-1], distance) / distance))
            return tried
    return _StageResult(None, 0.0, turned=True)


def _refuse_ambiguous_start(path: _DragPath, start_response: DependentResponse, q_after: Array, step: Array) -> None:
    """Raise UndecidedBranchError if the path starts where branches meet: from there the motion can continue in either
    direction, unlike at the end of travel, from which motions lead back."""
    if (
        least_determined_motion(start_response, q_after)[0] < UNDECIDED_SHARE
        and _close_after_step(path, start_response, -step).q is not None
    ):
        raise build_undecided_error(start_response, q_after)


def _refuse_undecided(path: _DragPath, response: DependentResponse, step: Array) -> None:
    """Raise UndecidedBranchError if the branches do not meet exactly at a point and nothing determines which one is
    intended."""
    ahead = _close_after_step(path, response, step).q if path.decided else None
    if ahead is None:
        return
    behind = path.dependent_response(ahead)
    back = _close_after_step(path, behind, -2.0 * step).q
    if back is None or not branches_meet_exactly(path.dependent_response(back), behind, 2.0 * step):
        raise build_undecided_error(response, ahead)


def _predict_position(response: DependentResponse, step: Array) -> Array:
    """First-order prediction of q after a step of the dragged coordinates."""
    follow = response.follow(step) - step
    size = float(np.max(np.abs(follow), initial=0.0))
    if size > 1.0:
        follow *= 1.0 / size
    return np.asarray(response.compiled.coordinates.integrate(response.q, step + follow))
