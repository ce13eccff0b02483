"""Propagation of derivatives through the steps of a run: forward from each parameter, or backward from a scalar
(adjoint)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.identification.sensitivities.explicit_rates import EvaluationPoints
from core.identification.sensitivities.replay import Replay
from core.identification.sensitivities.sample_places import Samples
from core.identification.sensitivities.start_state_derivatives import Column
from core.identification.sensitivities.steps import StepChunk, StepMaps
from core.identification.sensitivities.switches import maps_of_switched_steps

Array = NDArray[np.float64]


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
