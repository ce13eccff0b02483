"""Steps within which a formula switches: its indicator g has its root at t*, and the motion goes on with other forces.

Before and behind t* the derivative is that of a shorter step; at it the root moves with the change of the state,
δt* = −(g_y δy + g_p δp)/ġ, and δy ← δy + (f⁻ − f⁺) δt* (saltation; Leine and Nijmeijer, Dynamics and Bifurcations of
Non-Smooth Mechanical Systems, 7.4). Fixed steps go over switches as they are; their derivative is that of the motion
which switches at the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import SimulationError
from core.sensitivities.explicit_rates import Moments
from core.sensitivities.steps import Passage, Rates, Steps

Array = NDArray[np.float64]

GRAZING_FRACTION = 1e-6
"""Part of the largest rate that an indicator could have in the run below which it has none: the motion only touches."""
NO_STEP_FRACTION = 1e-12
"""Part of a step below which what is left of it behind a root is nothing."""
MOST = 16
"""Switches within one step."""


def switched(rates: Rates, steps: Steps, signs: Array, formulas: Sequence[str]) -> dict[int, tuple[Array, Array]]:
    """Step → (Φ, Γ) of those in which indicators change their signs (N + 1, k)."""
    changed = np.flatnonzero(((signs[1:] != steps.sides) & (steps.sides != 0.0) & (signs[1:] != 0.0)).any(axis=1))
    if not len(changed):
        return {}
    fastest = np.abs(np.diff(steps.states, axis=0) / steps.lengths[:, None]).max(axis=0)
    return {int(k): _step(rates, steps, int(k), signs[k + 1], formulas, fastest) for k in changed}


def _step(
    rates: Rates, steps: Steps, k: int, after: Array, formulas: Sequence[str], fastest: Array
) -> tuple[Array, Array]:
    """fastest : (n,) the largest rates of the states in the run"""
    t, end, y, side = steps.times[k], steps.times[k + 1], steps.states[k], steps.sides[k].copy()
    whole = end - t
    Phi, Gamma = np.eye(rates.n), np.zeros((rates.n, len(rates.by)))
    for _ in range(MOST):
        left = [j for j in range(len(side)) if side[j] != 0.0 and after[j] != 0.0 and side[j] != after[j]]
        if not left:
            break
        h, j = min((_root(rates, steps.method, t, end - t, y, side, j), j) for j in left)
        Phi, Gamma, y = _passed(rates, steps.method, t, h, y, side, Phi, Gamma)
        t += h
        jump = _saltation(rates, t, y, side, j, formulas[j], fastest)
        Gamma = Gamma - np.outer(jump.size, jump.by_y @ Gamma + jump.by_p)
        Phi = Phi - np.outer(jump.size, jump.by_y @ Phi)
        side[j] = -side[j]
    else:
        raise _without(t, formulas[left[0]], "changes its side ever again")
    if end - t > NO_STEP_FRACTION * whole:
        Phi, Gamma, y = _passed(rates, steps.method, t, end - t, y, side, Phi, Gamma)
    return Phi, Gamma


def _passed(
    rates: Rates, method: str, t: float, h: float, y: Array, side: Array, Phi: Array, Gamma: Array
) -> tuple[Array, Array, Array]:
    """Behind a step of the length h."""
    if h <= 0.0:
        return Phi, Gamma, y
    passage = Passage(rates, np.array([t]), np.array([h]), y[None], side[None], method)
    maps = passage.maps(True)
    return maps.by_y[0] @ Phi, maps.by_y[0] @ Gamma + maps.by_p[0], passage.end()[0]


def _root(rates: Rates, method: str, t: float, h: float, y: Array, side: Array, j: int) -> float:
    """Where in a step indicator j changes its sign; its end if it does not while all sides are held."""
    from scipy.optimize import brentq

    def g(part: float) -> float:
        at = y[None]
        if part > 0.0:
            at = Passage(rates, np.array([t]), np.array([part]), y[None], side[None], method).end()
        return float(rates.crossings(Moments(np.array([t + part]), at, side[None])).g[0, j])

    first, last = g(0.0), g(h)
    if first * side[j] <= 0.0:
        return 0.0
    if last * side[j] > 0.0:
        return h
    return float(brentq(g, 0.0, h, xtol=1e-14 * h, maxiter=500, disp=False))


class _Jump(NamedTuple):
    """(f⁻ − f⁺)/ġ (n,), g_y (n,) and g_p (m,) at a root of g."""

    size: Array
    by_y: Array
    by_p: Array


def _saltation(rates: Rates, t: float, y: Array, side: Array, j: int, formula: str, fastest: Array) -> _Jump:
    other = side.copy()
    other[j] = -side[j]
    at = np.array([t])
    before, behind = (rates.slopes(Moments(at, y[None], each[None]), False).f[0] for each in (side, other))
    found = rates.crossings(Moments(at, y[None], side[None]))
    g_y, g_t = found.by_y[0, j], found.by_t[0, j]
    rate, onward = float(g_y @ before + g_t), float(g_y @ behind + g_t)
    if not abs(rate) > GRAZING_FRACTION * float(np.abs(g_y) @ fastest + abs(g_t)):
        raise _without(t, formula, "only touches zero")
    if rate * onward <= 0.0:
        raise _without(t, formula, "is driven back to zero")
    return _Jump((before - behind) / rate, g_y, found.by_p[0, j])


def _without(t: float, formula: str, why: str) -> SimulationError:
    error = SimulationError(
        f"At t = {t:.6g} s '{formula}' {why}: there the run has no derivative.",
        where="formula",
        remedy="Begin elsewhere, or write the switch with a slope: tanh(x/0.001) in place of sign(x).",
    )
    error.time = t
    return error
