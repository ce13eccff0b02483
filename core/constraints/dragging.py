"""Interactive dragging of coordinates: loops follow in stages as far as they and all joint limits allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.change_points import FOLLOWS_TOLERANCE, Followers, loosened, meet_exactly, undecided
from core.constraints.closed_positions import closed_position, reversed_joint
from core.constraints.cut_coordinates import NEXT, cut_limits, exceeded_limit, limits_widened_to_start, reached_limits
from core.mechanics.multibody.parameter_values import Values
from core.numerics.tolerances import ACCEPTED_GAP, SOLVED_GAP
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


STAGE = 0.3
"""Largest displacement (rad or m) of a dragged coordinate between two closures of the loops."""
SHORTEST = 1e-7
"""Step (rad or m) below which a stage that the loops cannot follow is not shortened further."""
MOST_STAGES = 1000
FARTHEST = 100 * STAGE
"""Distance (rad or m) beyond which whole turns are skipped instead of being stepped through."""
UNWILLING = 1e3
"""Weight of a dragged coordinate that has to give way, so that it changes as little as possible."""
NEAR_END = 0.05
"""Largest displacement (rad or m) of any joint in the last step to a limit."""
LAST_STEP = 1e-3
"""Displacement (rad or m) of the dragged coordinate that the last step aims for."""
JUMP = 1.5
"""Displacement (rad or m) of a dependent coordinate in one stage that indicates a jump to another branch."""
CROSSING = 2e-5
"""Stage (rad or m) at which branches that are still indistinguishable count as crossing: rounding of lengths separates
them by no more."""
LEAPS = (0.05, 0.01, 1e-3)
"""Stages (rad or m) that lead over such a place, straight on; the last one's curve shows what gap it has."""
UNDECIDED_SHARE = 1e-9
"""Part of the largest singular value that a direction has where a way begins and nothing holds it."""
BENT_FRACTION = 0.3
"""Largest relative change of rates across such a step."""


class _StageResult(NamedTuple):
    """Result of a trial stage: the closed position, or None if the loops cannot follow; the remaining gap; and True if
    the loops closed on another branch."""

    q: Array | None
    gap: float
    turned: bool = False


class _DragPath(NamedTuple):
    """Straight path from a position to the target of the dragged coordinates."""

    compiled: Compiled
    target: Array
    kept: NDArray[np.bool_]
    p: Values
    t: float
    accepted: float
    """Gap (m, rad) of closings on the way: where it begins, little beyond the end of a loop would seem closed, too."""
    decided: bool = True
    """True to refuse branches between which nothing decides; False to accept either."""

    def left(self, q: Array) -> Array:
        """(nv,) remaining displacement to the target."""
        return np.asarray(self.compiled.coordinates.difference(q, self.target) * self.kept)

    def followers(self, q: Array) -> Followers:
        """First-order response of the dependent coordinates at a position."""
        return Followers(self.compiled, q, self.kept, self.p)


def dragged_position(
    compiled: Compiled,
    q: Array,
    target: Array,
    held: NDArray[np.bool_],
    p: Values,
    t: float,
    yields: bool = True,
    decided: bool = True,
) -> Array | None:
    """Position reached from q (nq,) towards the target of the dragged coordinates (mask nv,), in closed stages on the
    machine's present branch; stages shrink where loops cannot follow or would change branch. None if the loops do not
    close near q.

    yields : whether all that is held gives way a little at the end of the path, so that it ends exactly there
    decided : whether branches that nothing decides between are refused (UndecidedBranch); else either will do
    """
    q_closed, gap = closed_position(compiled, q, np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool), p, t=t)
    if not gap < ACCEPTED_GAP:
        return None
    path = _DragPath(compiled, target, held, p, t, min(max(10.0 * SOLVED_GAP, 2.0 * gap), ACCEPTED_GAP), decided)
    longest = STAGE
    refused: list[tuple[float, float]] = []
    stopped = False
    followers = first = path.followers(q_closed)
    for _ in range(MOST_STAGES):
        displacement = path.left(q_closed)
        distance = float(np.max(np.abs(displacement), initial=0.0))
        if distance < 1e-12 or longest < SHORTEST:
            break
        stage = min(longest, distance)
        tried = _stage(path, followers, displacement * (stage / distance), stage == distance)
        if tried.turned and stage <= CROSSING:
            tried = _across_branch_crossing(path, followers, displacement, distance)
        if tried.q is None:
            stopped = True
            refused = [] if tried.turned else [*refused, (stage, tried.gap)]
            longest = 0.5 * stage if tried.turned else _shortened_stage(refused)
            if tried.turned and longest < SHORTEST:
                _refuse_undecided(path, followers, displacement * (min(LEAPS[-1], distance) / distance))
        else:
            if followers is first and path.decided:
                _refuse_beginning(path, first, tried.q, displacement * (min(LEAPS[-1], distance) / distance))
            # what has just been refused is not asked for again at once
            longest, refused = longest if refused else min(2.0 * longest, STAGE), []
            q_closed, followers = tried.q, path.followers(tried.q)
    return _last_step(path, q_closed) if stopped and yields else q_closed


def _last_step(path: _DragPath, q: Array) -> Array:
    """Final step from near the end of travel to the joint limit; the dragged coordinates give way."""
    compiled, held, p, t = path.compiled, path.kept, path.p, path.t
    displacement = path.left(q)
    distance = float(np.max(np.abs(displacement), initial=0.0))
    if distance < 1e-12:
        return q
    little = displacement * min(1.0, LAST_STEP / distance)
    trial = compiled.coordinates.clamp(_predicted_position(path.followers(q), little))
    limits = limits_widened_to_start(compiled, q, p)
    weights, free = np.where(held, UNWILLING, 1.0), np.zeros(compiled.nv, dtype=bool)
    closed, gap = closed_position(compiled, trial, weights, free, p, t=t, limits=limits)
    closed, gap = _moved_onto_limits(compiled, closed, weights, p, t) if gap < path.accepted else (closed, gap)
    gone = compiled.coordinates.difference(q, closed)
    nearer = np.linalg.norm(path.left(closed)) < np.linalg.norm(displacement)
    near = bool(np.max(np.abs(gone), initial=0.0) < NEAR_END)
    meets = (
        gap < path.accepted
        and not reversed_joint(compiled, closed, p)
        and not exceeded_limit(compiled, limits, closed, p)
    )
    return closed if meets and nearer and near else q


def _shortened_stage(refused: Sequence[tuple[float, float]]) -> float:
    """Length of the next trial stage from those refused, (stage, gap left): past the end of travel the gap grows
    linearly, so two refusals locate the end."""
    stage, gap = refused[-1]
    if len(refused) == 1:
        return 0.5 * stage
    before, gap_before = refused[-2]
    end = stage - gap * (before - stage) / (gap_before - gap) if gap_before > gap else 0.5 * stage
    return float(np.clip(0.95 * end, stage / 16.0, 0.5 * stage))


def _moved_onto_limits(compiled: Compiled, q: Array, weights: Array, p: Values, t: float) -> tuple[Array, float]:
    """(q, gap) with all joints that are close to a limit moved exactly onto it, if possible."""
    coordinates = compiled.coordinates
    low, high = coordinates.room(q)
    still = (low > -NEXT) | (high < NEXT)
    edges = np.where(still, np.where(low > -high, low, high), 0.0)
    limits = reached_limits(compiled, cut_limits(compiled), q, p)
    if not (still.any() or limits):
        return q, 0.0
    closed, gap = closed_position(
        compiled, coordinates.integrate_within_limits(q, edges), weights, still, p, t=t, limits=limits
    )
    return (closed, gap) if gap < ACCEPTED_GAP else (q, 0.0)


def _stage(path: _DragPath, followers: Followers, step: Array, last: bool) -> _StageResult:
    """Result of a step of the dragged coordinates, with a crossing of branches stepped over."""
    tried = _closed_after_step(path, followers, step)
    if tried.q is None:
        return tried
    meets = not last and loosened(path.followers(tried.q), followers.q)[0] < FOLLOWS_TOLERANCE
    return _StageResult(None, tried.gap, turned=True) if meets or not followers.is_same_branch(tried.q) else tried


def _closed_after_step(path: _DragPath, followers: Followers, step: Array) -> _StageResult:
    """Result of a step of the dragged coordinates: the closed position nearest to the first-order prediction."""
    from core.constraints.closed_forms.closed_forms import explicitly_closed

    compiled, held, p, t = path.compiled, path.kept, path.p, path.t
    q, ones = followers.q, np.ones(compiled.nv)
    predicted = _predicted_position(followers, step)
    trial = compiled.coordinates.clamp(predicted)
    closed, gap = explicitly_closed(compiled, trial, held, p), 0.0
    if closed is None or np.max(np.abs(compiled.coordinates.difference(q, closed))) > JUMP:
        closed, gap = closed_position(compiled, trial, ones, held, p, t=t)
    limits = limits_widened_to_start(compiled, q, p) if gap < ACCEPTED_GAP else ()
    if exceeded_limit(compiled, limits, closed, p):
        closed, gap = closed_position(compiled, trial, ones, held, p, t=t, limits=limits)
    if not gap < path.accepted or np.max(np.abs(compiled.coordinates.difference(q, closed))) > JUMP:
        return _StageResult(None, gap)
    return _StageResult(closed, gap)


def _across_branch_crossing(
    path: _DragPath, followers: Followers, displacement: Array, distance: float
) -> _StageResult:
    """Result of a straight step across a crossing of branches, accepted if both sides respond alike to first order."""
    difference = path.compiled.coordinates.difference
    for leap in LEAPS:
        step = displacement * (min(leap, distance) / distance)
        tried = _closed_after_step(path, followers, step)
        if tried.q is None:
            continue
        along, gone = followers.follow(step), difference(followers.q, tried.q)
        size = float(np.linalg.norm(along))
        strayed = float(np.linalg.norm(gone - along)) > BENT_FRACTION * size
        behind = path.followers(tried.q).follow(step)
        bent = leap <= distance and float(np.linalg.norm(behind - along)) > BENT_FRACTION * size
        if not (strayed or bent):
            _refuse_undecided(path, followers, displacement * (min(LEAPS[-1], distance) / distance))
            return tried
    return _StageResult(None, 0.0, turned=True)


def _refuse_beginning(path: _DragPath, first: Followers, behind: Array, step: Array) -> None:
    """Raise UndecidedBranch if a way begins where branches meet: there it can go on in either direction, unlike at the
    end of what the loops allow, from which moves lead back."""
    if loosened(first, behind)[0] < UNDECIDED_SHARE and _closed_after_step(path, first, -step).q is not None:
        raise undecided(first, behind)


def _refuse_undecided(path: _DragPath, followers: Followers, step: Array) -> None:
    """Raise UndecidedBranch if branches do not meet at a place exactly, and nothing says which is meant."""
    ahead = _closed_after_step(path, followers, step).q if path.decided else None
    if ahead is None:
        return
    behind = path.followers(ahead)
    back = _closed_after_step(path, behind, -2.0 * step).q
    if back is None or not meet_exactly(path.followers(back), behind, 2.0 * step):
        raise undecided(followers, ahead)


def _predicted_position(followers: Followers, step: Array) -> Array:
    """First-order prediction of q after a step of the dragged coordinates."""
    follow = followers.follow(step) - step
    size = float(np.max(np.abs(follow), initial=0.0))
    if size > 1.0:
        follow *= 1.0 / size
    return np.asarray(followers.compiled.coordinates.integrate(followers.q, step + follow))
