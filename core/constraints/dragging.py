"""Coordinates moved as by hand: loops follow in stages, as far as they and the limits of all joints allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.axis_orientation import wrong_orientation
from core.constraints.branch_sides import FOLLOWS_TOLERANCE, Followers
from core.constraints.change_points import loosened, meet_exactly, undecided
from core.constraints.closed_positions import closed_position
from core.constraints.cut_limits import NEXT, cut_limits, met, outside, widened
from core.multibody.parameter_values import Values
from core.numerics.tolerances import ACCEPTED_GAP, SOLVED_GAP
from core.traces.compiled import Compiled

Array = NDArray[np.float64]


STAGE = 0.3
"""Longest displacement (rad or m) of a dragged coordinate between two closings."""
SHORTEST = 1e-7
"""Way (rad or m) that is no longer shortened when the loops cannot follow it."""
MOST_STAGES = 1000
FARTHEST = 100 * STAGE
"""Way (rad or m) beyond which whole turns are not gone, but counted."""
UNWILLING = 1e3
"""Weight of what is dragged where it gives way, so that it does as little as can be."""
NEAR_END = 0.05
"""Longest displacement (rad or m) of any joint in the last step to a limit."""
LAST_STEP = 1e-3
"""Displacement (rad or m) of what is dragged at which that step aims."""
JUMP = 1.5
"""Way of a follower in one stage (rad or m) that means another branch, not a motion."""
CROSSING = 2e-5
"""Stage (rad or m) at which branches that still cannot be told apart count as crossing each other: lengths as they are
rounded part them by no more."""
LEAPS = (0.05, 0.01, 1e-3)
"""Stages (rad or m) that lead over such a place, straight on; the last one's curve shows what gap it has."""
UNDECIDED_SHARE = 1e-9
"""Part of the largest singular value that a direction has where a way begins and nothing holds it."""
BENT_FRACTION = 0.3
"""Part of a leap by which rates may have changed behind it."""


class _Tried(NamedTuple):
    """A stage that was tried: the closed position, None if the loops cannot follow; the gap that is left, or whether
    they closed on another branch."""

    q: Array | None
    gap: float
    turned: bool = False


class _Way(NamedTuple):
    """Towards the target of what is held."""

    compiled: Compiled
    target: Array
    kept: NDArray[np.bool_]
    p: Values
    t: float
    accepted: float
    """Gap (m, rad) of closings on the way: where it begins, little beyond the end of a loop would seem closed, too."""
    decided: bool = True
    """Whether branches that nothing decides between are refused; else either will do."""

    def left(self, q: Array) -> Array:
        """(nv,) the displacement that is left."""
        return np.asarray(self.compiled.coordinates.difference(q, self.target) * self.kept)

    def followers(self, q: Array) -> Followers:
        """What follows, at a position."""
        return Followers(self.compiled, q, self.kept, self.p)


def dragged(
    compiled: Compiled,
    q: Array,
    target: Array,
    held: NDArray[np.bool_],
    p: Values,
    t: float,
    yields: bool = True,
    decided: bool = True,
) -> Array | None:
    """From q (nq,) towards the target of what is held (nv,) in stages, each closed, as far as the loops allow, on the
    branch on which the machine is; stages shrink where they cannot follow or would end on another branch. None if loops
    do not close next to q.

    yields : whether all that is held gives way a little at the end of the path, so that it ends exactly there
    decided : whether branches that nothing decides between are refused (UndecidedBranch); else either will do
    """
    q_closed, gap = closed_position(compiled, q, np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool), p, t=t)
    if not gap < ACCEPTED_GAP:
        return None
    path = _Way(compiled, target, held, p, t, min(max(10.0 * SOLVED_GAP, 2.0 * gap), ACCEPTED_GAP), decided)
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
        tried = _followed(path, followers, displacement * (stage / distance), stage == distance)
        if tried.turned and stage <= CROSSING:
            tried = _across(path, followers, displacement, distance)
        if tried.q is None:
            stopped = True
            refused = [] if tried.turned else [*refused, (stage, tried.gap)]
            longest = 0.5 * stage if tried.turned else _shorter(refused)
            if tried.turned and longest < SHORTEST:
                _refuse_undecided(path, followers, displacement * (min(LEAPS[-1], distance) / distance))
        else:
            if followers is first and path.decided:
                _refuse_beginning(path, first, tried.q, displacement * (min(LEAPS[-1], distance) / distance))
            # what has just been refused is not asked for again at once
            longest, refused = longest if refused else min(2.0 * longest, STAGE), []
            q_closed, followers = tried.q, path.followers(tried.q)
    return _last_step(path, q_closed) if stopped and yields else q_closed


def _last_step(path: _Way, q: Array) -> Array:
    """From next to the end of a way to where a joint meets its limit: the held coordinates give way for that."""
    compiled, held, p, t = path.compiled, path.kept, path.p, path.t
    displacement = path.left(q)
    distance = float(np.max(np.abs(displacement), initial=0.0))
    if distance < 1e-12:
        return q
    little = displacement * min(1.0, LAST_STEP / distance)
    trial = compiled.coordinates.clamp(_predicted(path.followers(q), little))
    limits = widened(compiled, q, p)
    weights, free = np.where(held, UNWILLING, 1.0), np.zeros(compiled.nv, dtype=bool)
    closed, gap = closed_position(compiled, trial, weights, free, p, t=t, limits=limits)
    closed, gap = _at_edges(compiled, closed, weights, p, t) if gap < path.accepted else (closed, gap)
    gone = compiled.coordinates.difference(q, closed)
    nearer = np.linalg.norm(path.left(closed)) < np.linalg.norm(displacement)
    near = bool(np.max(np.abs(gone), initial=0.0) < NEAR_END)
    meets = (
        gap < path.accepted and not wrong_orientation(compiled, closed, p) and not outside(compiled, limits, closed, p)
    )
    return closed if meets and nearer and near else q


def _shorter(refused: Sequence[tuple[float, float]]) -> float:
    """The stage to try after those that were refused, (stage, gap left): the gap grows in proportion to the
    displacement beyond the end of travel, so two of them tell where that is."""
    stage, gap = refused[-1]
    if len(refused) == 1:
        return 0.5 * stage
    before, gap_before = refused[-2]
    end = stage - gap * (before - stage) / (gap_before - gap) if gap_before > gap else 0.5 * stage
    return float(np.clip(0.95 * end, stage / 16.0, 0.5 * stage))


def _at_edges(compiled: Compiled, q: Array, weights: Array, p: Values, t: float) -> tuple[Array, float]:
    """(q, gap) with joints that stand next to a limit exactly there, if they all can."""
    coordinates = compiled.coordinates
    low, high = coordinates.room(q)
    still = (low > -NEXT) | (high < NEXT)
    edges = np.where(still, np.where(low > -high, low, high), 0.0)
    limits = met(compiled, cut_limits(compiled), q, p)
    if not (still.any() or limits):
        return q, 0.0
    closed, gap = closed_position(compiled, coordinates.integrate_step(q, edges), weights, still, p, t=t, limits=limits)
    return (closed, gap) if gap < ACCEPTED_GAP else (q, 0.0)


def _followed(path: _Way, followers: Followers, step: Array, last: bool) -> _Tried:
    """After a step of the held coordinates; only the last one may end where branches meet, since from there on nothing
    says which is which."""
    tried = _closed_after(path, followers, step)
    if tried.q is None:
        return tried
    meets = not last and loosened(path.followers(tried.q), followers.q)[0] < FOLLOWS_TOLERANCE
    return _Tried(None, tried.gap, turned=True) if meets or not followers.same_branch(tried.q) else tried


def _closed_after(path: _Way, followers: Followers, step: Array) -> _Tried:
    """After a step of the held coordinates, next to where it leads to first order."""
    from core.closed_forms.closed_forms import explicitly_closed

    compiled, held, p, t = path.compiled, path.kept, path.p, path.t
    q, ones = followers.q, np.ones(compiled.nv)
    predicted = _predicted(followers, step)
    trial = compiled.coordinates.clamp(predicted)
    closed, gap = explicitly_closed(compiled, trial, held, p), 0.0
    if closed is None or np.max(np.abs(compiled.coordinates.difference(q, closed))) > JUMP:
        closed, gap = closed_position(compiled, trial, ones, held, p, t=t)
    limits = widened(compiled, q, p) if gap < ACCEPTED_GAP else ()
    if outside(compiled, limits, closed, p):
        closed, gap = closed_position(compiled, trial, ones, held, p, t=t, limits=limits)
    if not gap < path.accepted or np.max(np.abs(compiled.coordinates.difference(q, closed))) > JUMP:
        return _Tried(None, gap)
    return _Tried(closed, gap)


def _across(path: _Way, followers: Followers, displacement: Array, distance: float) -> _Tried:
    """Straight on over a place where branches cross: both sides of it follow alike to first order."""
    difference = path.compiled.coordinates.difference
    for leap in LEAPS:
        step = displacement * (min(leap, distance) / distance)
        tried = _closed_after(path, followers, step)
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
    return _Tried(None, 0.0, turned=True)


def _refuse_beginning(path: _Way, first: Followers, behind: Array, step: Array) -> None:
    """Raise UndecidedBranch if a way begins where branches meet: there it can go on in either direction, unlike at the
    end of what the loops allow, from which moves lead back."""
    if loosened(first, behind)[0] < UNDECIDED_SHARE and _closed_after(path, first, -step).q is not None:
        raise undecided(first, behind)


def _refuse_undecided(path: _Way, followers: Followers, step: Array) -> None:
    """Raise UndecidedBranch if branches do not meet at a place exactly, and nothing says which is meant."""
    ahead = _closed_after(path, followers, step).q if path.decided else None
    if ahead is None:
        return
    behind = path.followers(ahead)
    back = _closed_after(path, behind, -2.0 * step).q
    if back is None or not meet_exactly(path.followers(back), behind, 2.0 * step):
        raise undecided(followers, ahead)


def _predicted(followers: Followers, step: Array) -> Array:
    """q after the step of the held coordinates, the others following to first order."""
    follow = followers.follow(step) - step
    size = float(np.max(np.abs(follow), initial=0.0))
    if size > 1.0:
        follow *= 1.0 / size
    return np.asarray(followers.compiled.coordinates.integrate(followers.q, step + follow))
