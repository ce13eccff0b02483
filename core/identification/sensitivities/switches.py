"""Steps in which a formula switches: its indicator g has a root at t*, after which other forces act.

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
from core.identification.sensitivities.explicit_rates import EvaluationPoints
from core.identification.sensitivities.steps import CHUNK, Rates, StepChunk, Steps

Array = NDArray[np.float64]
Places = NDArray[np.intp]

GRAZING_FRACTION = 1e-6
"""Fraction of an indicator's largest possible rate in the run below which its root is grazing."""
NO_STEP_FRACTION = 1e-12
"""Fraction of a step below which the remainder after a root is ignored."""
ROOT_FRACTION = 1e-14
"""Tolerance of a root as a fraction of a step."""
MOST = 16
"""Largest number of switches within one step."""


def maps_of_switched_steps(
    rates: Rates, steps: Steps, signs: Array, formulas: Sequence[str]
) -> dict[int, tuple[Array, Array]]:
    """Return step → (Φ, Γ) for the steps in which indicators change their signs (N + 1, k)."""
    changed = np.flatnonzero(((signs[1:] != steps.sides) & (steps.sides != 0.0) & (signs[1:] != 0.0)).any(axis=1))
    if not len(changed):
        return {}
    fastest = np.abs(np.diff(steps.states, axis=0) / steps.lengths[:, None]).max(axis=0)
    found: dict[int, tuple[Array, Array]] = {}
    for first in range(0, len(changed), CHUNK):
        few = changed[first : first + CHUNK]
        pieces = _StepPieces(rates, steps, few, signs[few + 1], formulas, fastest)
        found.update(zip(few.tolist(), pieces.maps(), strict=True))
    return found


class _StepPieces:
    """Remainders of some steps (N,), advanced together from root to root."""

    def __init__(
        self, rates: Rates, steps: Steps, chosen: Places, after: Array, formulas: Sequence[str], fastest: Array
    ) -> None:
        """Begin at the start of the steps. after : (N, k) signs at their ends; fastest : (n,) largest rates of the
        states in the run"""
        self.rates, self.method, self.formulas, self.fastest = rates, steps.method, formulas, fastest
        self.t, self.end, self.whole = steps.times[chosen].copy(), steps.times[chosen + 1], steps.lengths[chosen]
        self.y, self.side, self.after = steps.states[chosen].copy(), steps.sides[chosen].copy(), after
        self.Phi = np.repeat(np.eye(rates.n)[None], len(chosen), axis=0)
        self.Gamma = np.zeros((len(chosen), rates.n, len(rates.by)))

    def maps(self) -> list[tuple[Array, Array]]:
        """Return (Φ, Γ) of each step."""
        for _ in range(MOST):
            left = (self.side != 0.0) & (self.after != 0.0) & (self.side != self.after)
            among, of = np.nonzero(left)
            if not len(among):
                break
            lengths = np.full(left.shape, np.inf)
            lengths[among, of] = self._times_to_roots(among, of)
            there = np.unique(among)
            first = np.argmin(lengths[there], axis=1)
            self._advance(there, lengths[there, first])
            for k, j in zip(there, first, strict=True):
                self._apply_saltation(k, j)
        else:
            k = among[np.argmin(self.t[among])]
            raise _no_derivative_error(self.t[k], self.formulas[of[among == k][0]], "changes sign again and again")
        behind = np.flatnonzero(self.end - self.t > NO_STEP_FRACTION * self.whole)
        self._advance(behind, self.end[behind] - self.t[behind])
        return list(zip(self.Phi, self.Gamma, strict=True))

    def _times_to_roots(self, among: Places, of: Places) -> Array:
        """Return the times until indicators change sign, s; the end of the piece if they do not while all sides are
        held."""
        from scipy.optimize.elementwise import find_root

        room, sides = self.end[among] - self.t[among], self.side[among, of]

        def indicator(part: Array, asked: Places) -> Array:
            chosen = among[asked]
            h, t, side = part * room[asked], self.t[chosen], self.side[chosen]
            at = self.y[chosen]
            if part.any():
                at = np.where(part[:, None] > 0.0, StepChunk(self.rates, t, h, at, side, self.method).end(), at)
            g = self.rates.crossings(EvaluationPoints(t + h, at, side)).g[np.arange(len(asked)), of[asked]]
            return np.asarray(g * sides[asked])

        asked = np.arange(len(among))
        passed = indicator(np.zeros(len(asked)), asked) <= 0.0
        never = indicator(np.ones(len(asked)), asked) > 0.0
        h = np.where(passed, 0.0, room)
        inside = np.flatnonzero(~passed & ~never)
        if len(inside):
            ends = np.zeros(len(inside)), np.ones(len(inside))
            closest = {"xatol": ROOT_FRACTION, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0}
            h[inside] *= find_root(indicator, ends, args=(inside,), tolerances=closest).x
        return h

    def _advance(self, those: Places, h: Array) -> None:
        """Advance some pieces by steps of lengths h."""
        those, h = those[h > 0.0], h[h > 0.0]
        if not len(those):
            return
        passage = StepChunk(self.rates, self.t[those], h, self.y[those], self.side[those], self.method)
        maps = passage.maps(True)
        self.Phi[those] = maps.by_y @ self.Phi[those]
        self.Gamma[those] = maps.by_y @ self.Gamma[those] + maps.by_p
        self.y[those], self.t[those] = passage.end(), self.t[those] + h

    def _apply_saltation(self, k: int, j: int) -> None:
        """Apply the saltation of piece k at the root of indicator j."""
        t, y, side = self.t[k], self.y[k], self.side[k]
        jump = _saltation(self.rates, t, y, side, j, self.formulas[j], self.fastest)
        self.Gamma[k] -= np.outer(jump.size, jump.by_y @ self.Gamma[k] + jump.by_p)
        self.Phi[k] -= np.outer(jump.size, jump.by_y @ self.Phi[k])
        side[j] = -side[j]


class _SaltationJump(NamedTuple):
    """Saltation at a root of g: (f⁻ − f⁺)/ġ (n,), g_y (n,) and g_p (m,)."""

    size: Array
    by_y: Array
    by_p: Array


def _saltation(rates: Rates, t: float, y: Array, side: Array, j: int, formula: str, fastest: Array) -> _SaltationJump:
    other = side.copy()
    other[j] = -side[j]
    at = np.array([t])
    before, behind = (rates.slopes(EvaluationPoints(at, y[None], each[None]), False).f[0] for each in (side, other))
    found = rates.crossings(EvaluationPoints(at, y[None], side[None]))
    g_y, g_t = found.by_y[0, j], found.by_t[0, j]
    rate, onward = float(g_y @ before + g_t), float(g_y @ behind + g_t)
    if not abs(rate) > GRAZING_FRACTION * float(np.abs(g_y) @ fastest + abs(g_t)):
        raise _no_derivative_error(t, formula, "only touches zero")
    if rate * onward <= 0.0:
        raise _no_derivative_error(t, formula, "is driven back to zero")
    return _SaltationJump((before - behind) / rate, g_y, found.by_p[0, j])


def _no_derivative_error(t: float, formula: str, why: str) -> SimulationError:
    error = SimulationError(
        f"At t = {t:.6g} s '{formula}' {why}, so the run has no derivative there.",
        where="formula",
        remedy="Start from another state, or use a smooth function, such as tanh(x/0.001) for sign(x).",
    )
    error.time = t
    return error
