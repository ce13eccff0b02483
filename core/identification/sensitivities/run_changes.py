"""Propagation of derivatives through the steps of a run: forward from each parameter, or backward from a scalar
(adjoint).

Where a formula switches, its indicator g has a root at t*, after which other forces act. Before and behind t* the
derivative is that of a shorter step; at it the root moves with the change of the state, δt* = −(g_y δy + g_p δp)/ġ, and
δy ← δy + (f⁻ − f⁺) δt* (saltation; Leine and Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems,
7.4). Fixed steps go over switches as they are; their derivative is that of the motion which switches at the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import SimulationError
from core.identification.sensitivities.explicit_rates import EvaluationPoints
from core.identification.sensitivities.replay import Replay
from core.identification.sensitivities.start_state_derivatives import Column
from core.identification.sensitivities.steps import CHUNK, Rates, Samples, StepChunk, StepMaps, Steps

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


class RunDerivativePropagation:
    """Derivatives of one replay. columns : names to differentiate by; start : (n, m) ∂y₀; formulas : texts of event
    indicators"""

    def __init__(self, found: Replay, columns: Sequence[Column], start: Array, formulas: Sequence[str]) -> None:
        self.rates, self.steps, self._formulas = found.rates, found.steps, formulas
        names = {parameter: k for k, parameter in enumerate(found.rates.by)}
        self.columns = np.array([names.get(column.parameter, -1) for column in columns], dtype=np.int64)
        """(m,) which of the parameters of the rates each column is, −1: a start value."""
        self.start = start

    @cached_property
    def _maps_of_switches(self) -> dict[int, tuple[Array, Array]]:
        steps, rates = self.steps, self.rates
        if not rates.switches:
            return {}
        free = np.zeros((len(steps.times), rates.switches))
        signs = np.sign(rates.crossings(EvaluationPoints(steps.times, steps.states, free)).g)
        return maps_of_switched_steps(rates, steps, signs, self._formulas)

    def _step_chunk(self, chunk: slice) -> StepChunk:
        steps = self.steps
        given = steps.times[:-1][chunk], steps.lengths[chunk], steps.states[:-1][chunk], steps.sides[chunk]
        return StepChunk(self.rates, *given, steps.method)

    def _switches_in(self, chunk: slice) -> list[int]:
        return [k for k in self._maps_of_switches if chunk.start <= k < chunk.stop]

    def _maps(self, chunk: slice, parameters: bool) -> StepMaps:
        found = self._step_chunk(chunk).maps(parameters)
        for k in self._switches_in(chunk):
            Phi, Gamma = self._maps_of_switches[k]
            found.by_y[k - chunk.start] = Phi
            if parameters:
                found.by_p[k - chunk.start] = Gamma
        return found

    def forward(self, samples: Samples) -> Array:
        """Return ∂y at samples, (s, n, m)."""
        wanted = np.zeros((len(samples.times), *self.start.shape))
        last = int(samples.step.max(initial=0))
        of_p = self.columns >= 0
        S = self.start.copy()
        wanted[samples.step == 0] = S
        for chunk in self.steps.chunks():
            if chunk.start >= last:
                break
            found = self._maps(chunk, bool(of_p.any()))
            count = len(found.by_y)
            rows, added = np.empty((count + 1, *S.shape)), np.zeros((count, *S.shape))
            if of_p.any():
                added[:, :, of_p] = found.by_p[:, :, self.columns[of_p]]
            rows[0] = S
            for k in range(count):
                np.matmul(found.by_y[k], rows[k], out=rows[k + 1])
                rows[k + 1] += added[k]
            S = rows[-1]
            inside = (samples.step > chunk.start) & (samples.step <= chunk.stop)
            wanted[inside] = rows[samples.step[inside] - chunk.start]
        between = np.flatnonzero(samples.onward)
        if len(between):
            Phi, Gamma = samples.maps(self.rates, self.steps, between)
            wanted[between] = Phi @ wanted[between]
            added = np.zeros((len(between), *self.start.shape))
            added[:, :, of_p] = Gamma[:, :, self.columns[of_p]]
            wanted[between] += added
        return wanted

    def adjoint(self, samples: Samples, weights: Array) -> Array:
        """Return Σ weights · ∂y over samples, (m,), for weights (s, n), by one backward pass for any number of
        columns."""
        rates, steps = self.rates, self.steps
        by_p = np.zeros(len(rates.by))
        at_steps = np.zeros((len(steps.times), rates.n))
        between, direct = np.flatnonzero(samples.onward), np.flatnonzero(samples.onward == 0.0)
        np.add.at(at_steps, samples.step[direct], weights[direct])
        if len(between):
            Phi, Gamma = samples.maps(rates, steps, between)
            np.add.at(at_steps, samples.step[between], np.einsum("ki,kij->kj", weights[between], Phi))
            by_p += np.einsum("ki,kim->m", weights[between], Gamma)
        last = int(samples.step.max(initial=0))
        adjoint = at_steps[-1].copy()
        for chunk in reversed(steps.chunks()):
            if chunk.start >= last:  # nothing is looked at behind its beginning
                adjoint = adjoint + at_steps[chunk.start]
                continue
            found = self._maps(chunk, False)
            count = len(found.by_y)
            rows = at_steps[chunk.start : chunk.start + count + 1].copy()  # what is looked at, then λ, at each step
            rows[-1] = adjoint
            places = list(rows)
            for k, by_y in zip(range(count - 1, -1, -1), found.by_y[::-1], strict=True):
                places[k] += places[k + 1].dot(by_y)
            behind, adjoint = rows[1:], rows[0].copy()
            if rates.by:
                for k in self._switches_in(chunk):
                    by_p += behind[k - chunk.start] @ self._maps_of_switches[k][1]
                    behind[k - chunk.start] = 0.0
                by_p += self._step_chunk(chunk).adjoint_of_parameters(found, behind)
        total = adjoint @ self.start
        of_p = self.columns >= 0
        total[of_p] += by_p[self.columns[of_p]]
        return total
