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
from core.identification.sensitivities.replay import RecordedSteps
from core.identification.sensitivities.start_state_derivatives import DerivativeVariable
from core.identification.sensitivities.steps import CHUNK, Rates, RunSteps, SampleTimes, StepChunk, StepMaps

Array = NDArray[np.float64]


Places = NDArray[np.intp]

GRAZING_FRACTION = 1e-6
"""Fraction of an indicator's largest possible rate in the run below which its root counts as grazing."""
NO_STEP_FRACTION = 1e-12
"""Fraction of a step below which the remainder after a root is ignored."""
ROOT_FRACTION = 1e-14
"""Tolerance of a root as a fraction of a step."""
MOST = 16
"""Largest number of switches within one step."""


def compute_switched_step_maps(
    rates: Rates, steps: RunSteps, signs: Array, formulas: Sequence[str]
) -> dict[int, tuple[Array, Array]]:
    """Return step → (Φ, Γ) for the steps in which indicators, with signs (N + 1, k), change their sign."""
    changed = np.flatnonzero(((signs[1:] != steps.sides) & (steps.sides != 0.0) & (signs[1:] != 0.0)).any(axis=1))
    if not len(changed):
        return {}
    fastest = np.abs(np.diff(steps.states, axis=0) / steps.step_lengths[:, None]).max(axis=0)
    found: dict[int, tuple[Array, Array]] = {}
    for first in range(0, len(changed), CHUNK):
        few = changed[first : first + CHUNK]
        pieces = _SwitchedSteps(rates, steps, few, signs[few + 1], formulas, fastest)
        found.update(zip(few.tolist(), pieces.compute_maps(), strict=True))
    return found


class _SwitchedSteps:
    """Remainders of the steps (N,) that contain switches, advanced together from root to root."""

    def __init__(
        self,
        rates: Rates,
        steps: RunSteps,
        step_indices: Places,
        end_signs: Array,
        formulas: Sequence[str],
        largest_rates: Array,
    ) -> None:
        """Begin at the start of the steps; signs (N, k) are those at their ends, rates (n,) the largest of the states
        in the run."""
        self.rates, self.method, self.formulas, self.fastest = rates, steps.method, formulas, largest_rates
        self.t, self.end, self.whole = (
            steps.times[step_indices].copy(),
            steps.times[step_indices + 1],
            steps.step_lengths[step_indices],
        )
        self.y, self.side, self.after = steps.states[step_indices].copy(), steps.sides[step_indices].copy(), end_signs
        self.Phi = np.repeat(np.eye(rates.n)[None], len(step_indices), axis=0)
        self.Gamma = np.zeros((len(step_indices), rates.n, len(rates.by)))

    def compute_maps(self) -> list[tuple[Array, Array]]:
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
            raise _make_no_derivative_error(self.t[k], self.formulas[of[among == k][0]], "changes sign again and again")
        behind = np.flatnonzero(self.end - self.t > NO_STEP_FRACTION * self.whole)
        self._advance(behind, self.end[behind] - self.t[behind])
        return list(zip(self.Phi, self.Gamma, strict=True))

    def _times_to_roots(self, piece_indices: Places, indicator_indices: Places) -> Array:
        """Return the times until indicators change sign, s; the end of the piece if they do not change while all sides
        are fixed."""
        from scipy.optimize.elementwise import find_root

        room, sides = self.end[piece_indices] - self.t[piece_indices], self.side[piece_indices, indicator_indices]

        def evaluate_indicators(time_fraction: Array, indices: Places) -> Array:
            chosen = piece_indices[indices]
            h, t, side = time_fraction * room[indices], self.t[chosen], self.side[chosen]
            at = self.y[chosen]
            if time_fraction.any():
                at = np.where(
                    time_fraction[:, None] > 0.0, StepChunk(self.rates, t, h, at, side, self.method).end(), at
                )
            g = self.rates.indicators_with_derivatives(EvaluationPoints(t + h, at, side)).g[
                np.arange(len(indices)), indicator_indices[indices]
            ]
            return np.asarray(g * sides[indices])

        asked = np.arange(len(piece_indices))
        passed = evaluate_indicators(np.zeros(len(asked)), asked) <= 0.0
        never = evaluate_indicators(np.ones(len(asked)), asked) > 0.0
        h = np.where(passed, 0.0, room)
        inside = np.flatnonzero(~passed & ~never)
        if len(inside):
            ends = np.zeros(len(inside)), np.ones(len(inside))
            closest = {"xatol": ROOT_FRACTION, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0}
            h[inside] *= find_root(evaluate_indicators, ends, args=(inside,), tolerances=closest).x
        return h

    def _advance(self, piece_indices: Places, h: Array) -> None:
        """Advance some pieces by steps of lengths h."""
        piece_indices, h = piece_indices[h > 0.0], h[h > 0.0]
        if not len(piece_indices):
            return
        passage = StepChunk(
            self.rates, self.t[piece_indices], h, self.y[piece_indices], self.side[piece_indices], self.method
        )
        maps = passage.compute_maps(True)
        self.Phi[piece_indices] = maps.by_y @ self.Phi[piece_indices]
        self.Gamma[piece_indices] = maps.by_y @ self.Gamma[piece_indices] + maps.by_p
        self.y[piece_indices], self.t[piece_indices] = passage.end(), self.t[piece_indices] + h

    def _apply_saltation(self, piece_index: int, indicator_index: int) -> None:
        """Apply the jump of the derivatives (saltation) to a piece at the root of an indicator."""
        t, y, side = self.t[piece_index], self.y[piece_index], self.side[piece_index]
        jump = _compute_saltation(self.rates, t, y, side, indicator_index, self.formulas[indicator_index], self.fastest)
        self.Gamma[piece_index] -= np.outer(jump.size, jump.by_y @ self.Gamma[piece_index] + jump.by_p)
        self.Phi[piece_index] -= np.outer(jump.size, jump.by_y @ self.Phi[piece_index])
        side[indicator_index] = -side[indicator_index]


class _SaltationJump(NamedTuple):
    """Jump of the derivatives at a root of g: (f⁻ − f⁺)/ġ (n,), g_y (n,) and g_p (m,)."""

    size: Array
    by_y: Array
    by_p: Array


def _compute_saltation(
    rates: Rates, t: float, y: Array, side: Array, j: int, formula: str, largest_rates: Array
) -> _SaltationJump:
    other = side.copy()
    other[j] = -side[j]
    at = np.array([t])
    before, behind = (
        rates.rates_with_derivatives(EvaluationPoints(at, y[None], each[None]), False).f[0] for each in (side, other)
    )
    found = rates.indicators_with_derivatives(EvaluationPoints(at, y[None], side[None]))
    g_y, g_t = found.by_y[0, j], found.by_t[0, j]
    rate, onward = float(g_y @ before + g_t), float(g_y @ behind + g_t)
    if not abs(rate) > GRAZING_FRACTION * float(np.abs(g_y) @ largest_rates + abs(g_t)):
        raise _make_no_derivative_error(t, formula, "only touches zero")
    if rate * onward <= 0.0:
        raise _make_no_derivative_error(t, formula, "is driven back to zero")
    return _SaltationJump((before - behind) / rate, g_y, found.by_p[0, j])


def _make_no_derivative_error(t: float, formula: str, reason: str) -> SimulationError:
    error = SimulationError(
        f"At t = {t:.6g} s '{formula}' {reason}, so the run has no derivative there.",
        where="formula",
        remedy="Start from another state, or use a smooth function, such as tanh(x/0.001) for sign(x).",
    )
    error.time = t
    return error


class RunDerivativePropagation:
    """Derivatives of one recorded run. columns : names of the variables of differentiation; start : (n, m) ∂y₀;
    formulas : texts of event indicators"""

    def __init__(
        self,
        recorded_steps: RecordedSteps,
        columns: Sequence[DerivativeVariable],
        start: Array,
        formulas: Sequence[str],
    ) -> None:
        self.rates, self.steps, self._formulas = recorded_steps.rates, recorded_steps.steps, formulas
        names = {parameter: k for k, parameter in enumerate(recorded_steps.rates.by)}
        self.columns = np.array([names.get(column.parameter, -1) for column in columns], dtype=np.int64)
        """(m,) which of the parameters of the rates each column is, −1: a start value."""
        self.start = start

    @cached_property
    def _maps_of_switches(self) -> dict[int, tuple[Array, Array]]:
        steps, rates = self.steps, self.rates
        if not rates.indicator_count:
            return {}
        free = np.zeros((len(steps.times), rates.indicator_count))
        signs = np.sign(rates.indicators_with_derivatives(EvaluationPoints(steps.times, steps.states, free)).g)
        return compute_switched_step_maps(rates, steps, signs, self._formulas)

    def _step_chunk(self, chunk: slice) -> StepChunk:
        steps = self.steps
        given = steps.times[:-1][chunk], steps.step_lengths[chunk], steps.states[:-1][chunk], steps.sides[chunk]
        return StepChunk(self.rates, *given, steps.method)

    def _switched_steps_in(self, chunk: slice) -> list[int]:
        return [k for k in self._maps_of_switches if chunk.start <= k < chunk.stop]

    def _maps_of_chunk(self, chunk: slice, parameters: bool) -> StepMaps:
        found = self._step_chunk(chunk).compute_maps(parameters)
        for k in self._switched_steps_in(chunk):
            Phi, Gamma = self._maps_of_switches[k]
            found.by_y[k - chunk.start] = Phi
            if parameters:
                found.by_p[k - chunk.start] = Gamma
        return found

    def forward(self, samples: SampleTimes) -> Array:
        """Return ∂y at samples, (s, n, m)."""
        wanted = np.zeros((len(samples.times), *self.start.shape))
        last = int(samples.step.max(initial=0))
        of_p = self.columns >= 0
        S = self.start.copy()
        wanted[samples.step == 0] = S
        for chunk in self.steps.chunk_slices():
            if chunk.start >= last:
                break
            found = self._maps_of_chunk(chunk, bool(of_p.any()))
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
            Phi, Gamma = samples.maps_to_samples(self.rates, self.steps, between)
            wanted[between] = Phi @ wanted[between]
            added = np.zeros((len(between), *self.start.shape))
            added[:, :, of_p] = Gamma[:, :, self.columns[of_p]]
            wanted[between] += added
        return wanted

    def propagate_adjoint(self, samples: SampleTimes, weights: Array) -> Array:
        """Return Σ weights · ∂y over samples, (m,), for weights (s, n), by a single backward pass for any number of
        columns."""
        rates, steps = self.rates, self.steps
        by_p = np.zeros(len(rates.by))
        at_steps = np.zeros((len(steps.times), rates.n))
        between, direct = np.flatnonzero(samples.onward), np.flatnonzero(samples.onward == 0.0)
        np.add.at(at_steps, samples.step[direct], weights[direct])
        if len(between):
            Phi, Gamma = samples.maps_to_samples(rates, steps, between)
            np.add.at(at_steps, samples.step[between], np.einsum("ki,kij->kj", weights[between], Phi))
            by_p += np.einsum("ki,kim->m", weights[between], Gamma)
        last = int(samples.step.max(initial=0))
        adjoint = at_steps[-1].copy()
        for chunk in reversed(steps.chunk_slices()):
            if chunk.start >= last:  # nothing is looked at behind its beginning
                adjoint = adjoint + at_steps[chunk.start]
                continue
            found = self._maps_of_chunk(chunk, False)
            count = len(found.by_y)
            rows = at_steps[chunk.start : chunk.start + count + 1].copy()  # what is looked at, then λ, at each step
            rows[-1] = adjoint
            places = list(rows)
            for k, by_y in zip(range(count - 1, -1, -1), found.by_y[::-1], strict=True):
                places[k] += places[k + 1].dot(by_y)
            behind, adjoint = rows[1:], rows[0].copy()
            if rates.by:
                for k in self._switched_steps_in(chunk):
                    by_p += behind[k - chunk.start] @ self._maps_of_switches[k][1]
                    behind[k - chunk.start] = 0.0
                by_p += self._step_chunk(chunk).adjoint_of_parameters(found, behind)
        total = adjoint @ self.start
        of_p = self.columns >= 0
        total[of_p] += by_p[self.columns[of_p]]
        return total
