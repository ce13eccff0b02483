"""The fastest law along a path within linear limits of ṡ² and s̈: reachability analysis on a grid.

With x = ṡ² and u = s̈ every limit of speeds, accelerations, joint forces and of the tool is a row α u + β x ≤ γ that
depends on s. The largest x from which the end can be reached is found backwards from the end, the fastest motion among
these forwards from the start. Between grid points u is constant, so that positions over time are polynomials.

Source: Pham and Pham, A new approach to time-optimal path parameterization based on reachability analysis, IEEE
Transactions on Robotics 34 (2018). Rows of a grid point hold at both ends of the step that begins there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.motions.laws import PolynomialLaw

Array = NDArray[np.float64]

CUTS = 60
"""Largest number of intersections of rows until the largest x is found; each is of two rows."""
ROUNDING = 1e-12
"""Relative amount by which an interval of u may be empty."""
ENDS = 8
"""Times that the first and the last step are divided, since s ~ t² near rest."""


class Rows(NamedTuple):
    """Limits α u + β x ≤ γ at grid points, each (N, m)."""

    alpha: Array
    beta: Array
    gamma: Array

    @staticmethod
    def join(*parts: Rows) -> Rows:
        """Return the rows of all parts."""
        return Rows(*(np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True)))

    @staticmethod
    def between(a: Array, b: Array, low: Array, high: Array) -> Rows:
        """Return the rows of low ≤ a u + b x ≤ high, without those that are unbounded everywhere."""
        alpha, beta = np.concatenate([a, -a], axis=1), np.concatenate([b, -b], axis=1)
        gamma = np.concatenate([high, -low], axis=1)
        kept = np.isfinite(gamma).any(axis=0)
        return Rows(alpha[:, kept], beta[:, kept], gamma[:, kept])


def grid_points(count: int) -> Array:
    """(N,) parameters from 0 to 1, finer near the ends."""
    s = np.linspace(0.0, 1.0, count + 1)
    near = s[1] * (np.arange(1, ENDS) / ENDS) ** 2
    return np.concatenate([s[:1], near, s[1:-1], 1.0 - near[::-1], s[-1:]])


def fastest_law(s: Array, rows: Rows, where: str = "") -> PolynomialLaw:
    """Return the law of the parameter from rest at s[0] to rest at s[-1] that is fastest within the rows.

    Raises ModelError naming the share of the path where no speed meets the limits.
    """
    step = np.diff(s)
    stages = _stages(rows, step)
    reachable = _backwards(stages, step, where)
    x, u = _forwards(stages, step, reachable, where)
    return _law_of(s, x, u)


def _stages(rows: Rows, step: Array) -> Rows:
    """(N − 1, 2 m) rows of steps: those at their start, and those at their end with x + 2 h u there."""
    alpha, beta, gamma = (np.where(np.isfinite(rows.gamma), each, 0.0) for each in (rows.alpha, rows.beta, rows.gamma))
    gamma = np.where(np.isfinite(rows.gamma), rows.gamma, 1.0)
    after = alpha[1:] + 2.0 * step[:, None] * beta[1:]
    return Rows(
        np.concatenate([alpha[:-1], after], axis=1),
        np.concatenate([beta[:-1], beta[1:]], axis=1),
        np.concatenate([gamma[:-1], gamma[1:]], axis=1),
    )


def _backwards(stages: Rows, step: Array, where: str) -> Array:
    """(N,) the largest x from which the end is reached."""
    count = len(step)
    found = np.zeros(count + 1)
    for i in range(count - 1, -1, -1):
        h = 2.0 * step[i]
        # x + h u lies in [0, found[i + 1]], x ≥ 0
        alpha = np.concatenate([stages.alpha[i], [h, -h]])
        beta = np.concatenate([stages.beta[i], [1.0, -1.0]])
        gamma = np.concatenate([stages.gamma[i], [found[i + 1], 0.0]])
        best = _largest_x(alpha, beta, gamma)
        if best < 0.0:
            raise ModelError(
                f"The limits permit no motion after {100.0 * i / count:.3g} % of the path.",
                where=where,
                remedy="Raise the limits of joint forces, or lead the path through positions that need less.",
            )
        found[i] = best
    return found


def _largest_x(alpha: Array, beta: Array, gamma: Array) -> float:
    """Return the largest x ≥ 0 for which some u meets all rows; −1 if there is none."""
    is_level = np.abs(alpha) <= 1e-14 * np.maximum(np.abs(beta), 1e-300)
    level = is_level & (beta > 0.0)
    x = float(np.min(gamma[level] / beta[level])) if level.any() else 1e12
    if x < 0.0:
        return -1.0
    up, down = ~is_level & (alpha > 0.0), ~is_level & (alpha < 0.0)
    slope_up, start_up = -beta[up] / alpha[up], gamma[up] / alpha[up]
    slope_down, start_down = -beta[down] / alpha[down], gamma[down] / alpha[down]
    for _ in range(CUTS):
        highs, lows = start_up + slope_up * x, start_down + slope_down * x
        i, j = int(np.argmin(highs)), int(np.argmax(lows))
        gap = lows[j] - highs[i]
        if gap <= ROUNDING * max(abs(highs[i]), abs(lows[j]), 1e-9):
            return x
        closing = slope_down[j] - slope_up[i]
        if closing <= 0.0:
            return -1.0
        x = float((start_up[i] - start_down[j]) / closing)
        if x < 0.0:
            return 0.0 if x > -1e-9 else -1.0
    return x


def _forwards(stages: Rows, step: Array, reachable: Array, where: str) -> tuple[Array, Array]:
    """Return x (N,) and u (N − 1,) of the fastest motion within the reachable sets."""
    count = len(step)
    x, u = np.zeros(count + 1), np.zeros(count)
    for i in range(count):
        alpha, beta, gamma = stages.alpha[i], stages.beta[i], stages.gamma[i]
        up = alpha > 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = (gamma - beta * x[i]) / alpha
        highest = float(np.min(bounds[up], initial=np.inf))
        u[i] = min(highest, (reachable[i + 1] - x[i]) / (2.0 * step[i]))
        x[i + 1] = max(x[i] + 2.0 * step[i] * u[i], 0.0)
        if x[i + 1] <= 0.0 and i + 1 < count:
            raise ModelError(
                f"The limits permit no motion after {100.0 * (i + 1) / count:.3g} % of the path.",
                where=where,
                remedy="Raise the limits of joint forces, or lead the path through positions that need less.",
            )
        u[i] = (x[i + 1] - x[i]) / (2.0 * step[i])
    return x, u


def _law_of(s: Array, x: Array, u: Array) -> PolynomialLaw:
    speed = np.sqrt(x)
    lengths = 2.0 * np.diff(s) / (speed[:-1] + speed[1:])
    coefficients = np.stack([s[:-1], speed[:-1], 0.5 * u], axis=1)
    return PolynomialLaw(np.concatenate([[0.0], np.cumsum(lengths)]), coefficients, s[-1], lengths)


def kinematic_rows(
    rate: Array, change: Array, velocity: Array, acceleration: Array, deceleration: Array | None = None
) -> Rows:
    """Return rows of the speeds and accelerations of coordinates along a path.

    rate, change : (N, n) first and second derivatives with respect to s; velocity, acceleration, deceleration : (n,)
    """
    slow = acceleration if deceleration is None else deceleration
    forward = rate >= 0.0
    high = np.where(forward, acceleration, slow)
    low = -np.where(forward, slow, acceleration)
    nothing = np.zeros_like(rate)
    squared = np.broadcast_to(np.asarray(velocity, dtype=float) ** 2, rate.shape)
    return Rows.join(
        Rows.between(nothing, rate**2, -np.full(rate.shape, np.inf), squared),
        Rows.between(rate, change, low, high),
    )
