"""Closing loops: the coordinates nearest to a given position at which every cut joint fits.

Damped Gauss–Newton in weighted coordinates (Nocedal and Wright, Numerical Optimization, 10.3): each step
minimises |G W⁻¹ y + r|² + μ |y|² with y = W·step, so heavy coordinates move last; limits are kept by freezing the
coordinates that would leave them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

TOLERANCE = 1e-11
"""Gap (m, rad) below which a loop counts as closed."""
ACCEPTABLE = 1e-8
"""Gap that is still accepted when no further step helps."""
MAX_STEPS = 80
PATIENCE = 8
"""Steps in which the gap must at least halve: beyond a limit of the mechanism it does not."""
LONGEST_STEP = 0.5
"""Longest step of a coordinate (rad or m)."""

KICKS = (0.03, 0.1, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 1.5, 1.5, 2.0, 3.0)
"""Sizes (rad or m) of the random displacements from which closing is tried again."""


class Problem(NamedTuple):
    """What an assembly needs of a mechanism."""

    residual: Callable[[Array], Array]
    """q → gaps (rows,)."""
    jacobian: Callable[[Array], Array]
    """q → (rows, nv)."""
    move: Callable[[Array, Array], Array]
    """(q, step) → q on the manifold."""
    room: Callable[[Array], tuple[Array, Array]]
    """q → smallest and largest step (nv,) that the limits allow."""


def close_from(problem: Problem, q: Array, weights: Array, fixed: Flags) -> tuple[Array, float]:
    """As `close`; when q is a dead end (all links in a line, say), from positions ever farther from q."""
    best, gap = close(problem, q, weights, fixed)
    rng = np.random.default_rng(len(weights))
    for size in KICKS:
        if gap < ACCEPTABLE:
            break
        kick = np.where(fixed, 0.0, rng.uniform(-size, size, len(weights)))
        trial, trial_gap = close(problem, problem.move(q, np.clip(kick, *problem.room(q))), weights, fixed)
        if trial_gap < gap:
            best, gap = trial, trial_gap
    return best, gap


def close(problem: Problem, q: Array, weights: Array, fixed: Flags) -> tuple[Array, float]:
    """(q, largest gap left).

    weights : (nv,) how unwilling a coordinate is to move; fixed : (nv,) True where it must not
    """
    r = problem.residual(q)
    damping = 1e-6
    before = np.inf
    for k in range(MAX_STEPS):
        gap = float(np.max(np.abs(r), initial=0.0))
        if gap < TOLERANCE or not np.isfinite(gap):
            break
        if k % PATIENCE == PATIENCE - 1:
            if gap > 0.5 * before:
                break
            before = gap
        G = problem.jacobian(q)
        step = _bounded_step(G, r, weights, fixed, damping, problem.room(q))
        trial = problem.move(q, step)
        r_trial = problem.residual(trial)
        if r_trial @ r_trial < r @ r:
            q, r, damping = trial, r_trial, max(damping * 0.1, 1e-12)
        elif damping > 1e6 or gap < 1e-14:
            break
        else:
            damping = max(damping * 10.0, 1e-8)
    return q, float(np.max(np.abs(r), initial=0.0))


def _bounded_step(G: Array, r: Array, weights: Array, fixed: Flags, damping: float, room: tuple[Array, Array]) -> Array:
    """The damped step; coordinates that would leave their room stop at its edge and the others make up for it."""
    low, high = room
    free = ~fixed
    step = np.zeros(len(weights))
    for _ in range(len(weights)):
        columns = G[:, free] / weights[free]
        target = -(r + G[:, ~free] @ step[~free])
        normal = columns @ columns.T
        scale = max(float(np.trace(normal)), 1e-12) / max(len(r), 1)
        y = columns.T @ np.linalg.lstsq(normal + damping * scale * np.eye(len(r)), target, rcond=1e-13)[0]
        step[free] = y / weights[free]
        outside = free & ((step < low - 1e-15) | (step > high + 1e-15))
        if not outside.any():
            break
        step = np.where(outside, np.clip(step, low, high), step)
        free &= ~outside
    longest = float(np.max(np.abs(step), initial=0.0))
    return step * min(1.0, LONGEST_STEP / longest) if longest > 0.0 else step
