"""Coordinates moved as by hand: loops follow in stages, as far as they and the limits of all joints allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.constraints.axis_orientation import wrong_orientation
from core.constraints.closed_positions import closed_position
from core.constraints.cut_limits import NEXT, cut_limits, met, outside, widened
from core.multibody.parameter_values import Values
from core.numerics.rank import least
from core.numerics.tolerances import ACCEPTED_GAP
from core.traces.compiled import Compiled

Array = NDArray[np.float64]


STAGE = 0.3
"""Longest displacement (rad or m) of a dragged coordinate between two closings."""
SHORTEST = STAGE / 512
"""Way that is no longer halved when the loops cannot follow it."""
MOST_STAGES = 200
FARTHEST = 0.5 * MOST_STAGES * STAGE
"""Way (rad or m) that surely takes no more stages, unless loops keep shortening them."""
UNWILLING = 1e3
"""Weight of what is dragged where it gives way, so that it does as little as can be."""
NEAR_END = 0.05
"""Longest displacement (rad or m) of any joint in the last step to a limit."""
FOLLOWS_TOLERANCE = 1e-6
"""Part of the largest singular value below which directions do not follow to first order."""
JUMP = 1.5
"""Way of a follower in one stage (rad or m) that means another branch, not a motion."""


def dragged(
    compiled: Compiled, q: Array, target: Array, held: NDArray[np.bool_], p: Values, t: float, yields: bool = True
) -> Array | None:
    """From q (nq,) towards the target of what is held (nv,) in stages, each closed, as far as the loops allow; stages
    shrink where they cannot follow. None if loops do not close next to q.

    yields : whether all that is held gives way a little at the end of the way, so that it ends exactly there
    """
    q_closed, gap = closed_position(compiled, q, np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool), p, t=t)
    if not gap < ACCEPTED_GAP:
        return None
    longest = STAGE
    refused: list[tuple[float, float]] = []
    stopped = False
    for _ in range(MOST_STAGES):
        displacement = compiled.coordinates.difference(q_closed, target) * held
        distance = float(np.max(np.abs(displacement), initial=0.0))
        if distance < 1e-12 or longest < SHORTEST:
            break
        stage = min(longest, distance)
        follower, gap = _followed(compiled, q_closed, displacement * (stage / distance), held, p, t)
        if follower is None:
            stopped = True
            refused.append((stage, gap))
            longest = _shorter(refused)
        else:  # what has just been refused is not asked for again at once
            q_closed, longest, refused = follower, longest if refused else min(2.0 * longest, STAGE), []
    return _last_step(compiled, q_closed, target, held, p, t) if stopped and yields else q_closed


def _last_step(compiled: Compiled, q: Array, target: Array, held: NDArray[np.bool_], p: Values, t: float) -> Array:
    """From next to the end of a way to where a joint meets its limit: the held coordinates give way for that."""
    displacement = compiled.coordinates.difference(q, target) * held
    distance = float(np.max(np.abs(displacement), initial=0.0))
    if distance < 1e-12:
        return q
    little = displacement * min(1.0, 2.0 * SHORTEST / distance)
    trial = compiled.coordinates.clamp(_predicted(compiled, q, little, held, p))
    limits = widened(compiled, q, p)
    weights, free = np.where(held, UNWILLING, 1.0), np.zeros(compiled.nv, dtype=bool)
    closed, gap = closed_position(compiled, trial, weights, free, p, t=t, limits=limits)
    closed, gap = _at_edges(compiled, closed, weights, p, t) if gap < ACCEPTED_GAP else (closed, gap)
    gone = compiled.coordinates.difference(q, closed)
    nearer = np.linalg.norm(compiled.coordinates.difference(closed, target) * held) < np.linalg.norm(displacement)
    near = bool(np.max(np.abs(gone), initial=0.0) < NEAR_END)
    meets = (
        gap < ACCEPTED_GAP and not wrong_orientation(compiled, closed, p) and not outside(compiled, limits, closed, p)
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


def _followed(
    compiled: Compiled, q: Array, step: Array, held: NDArray[np.bool_], p: Values, t: float
) -> tuple[Array | None, float]:
    """(closed position after a step of the held coordinates, None if the loops cannot follow; gap left)."""
    from core.closed_forms.closed_forms import explicitly_closed

    trial = compiled.coordinates.clamp(_predicted(compiled, q, step, held, p))
    closed, gap = explicitly_closed(compiled, trial, held, p), 0.0
    if closed is None or np.max(np.abs(compiled.coordinates.difference(q, closed))) > JUMP:
        closed, gap = closed_position(compiled, trial, np.ones(compiled.nv), held, p, t=t)
    limits = widened(compiled, q, p) if gap < ACCEPTED_GAP else ()
    if outside(compiled, limits, closed, p):
        closed, gap = closed_position(compiled, trial, np.ones(compiled.nv), held, p, t=t, limits=limits)
    followed = gap < ACCEPTED_GAP and np.max(np.abs(compiled.coordinates.difference(q, closed))) <= JUMP
    return (closed, gap) if followed else (None, gap)


def _predicted(compiled: Compiled, q: Array, step: Array, held: NDArray[np.bool_], p: Values) -> Array:
    """q after the step of the held coordinates, the others following to first order."""
    G = compiled.constraint_matrix(q, p)[compiled.levels == 0]
    others = ~held
    follow = np.zeros(compiled.nv)
    follow[others] = -least(G[:, others], G[:, held] @ step[held], FOLLOWS_TOLERANCE)
    size = float(np.max(np.abs(follow), initial=0.0))
    if size > 1.0:
        follow *= 1.0 / size
    return compiled.coordinates.integrate(q, step + follow)
