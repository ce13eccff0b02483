"""Times of a run located in its steps: at the beginning of a step, or part of the way through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.identification.sensitivities.explicit_rates import EvaluationPoints
from core.identification.sensitivities.steps import Rates, StepChunk, Steps

Array = NDArray[np.float64]

SAME_TIME_FRACTION = 1e-9
"""Fraction of a step within which two times count as equal."""


@dataclass(frozen=True)
class Samples:
    """Times (s,) with the step that contains each, and the time after its beginning (0 at the beginning), s."""

    times: Array
    step: NDArray[np.int64]
    onward: Array

    @staticmethod
    def of(steps: Steps, times: Array) -> Samples:
        """Locate times, in any order, in the steps of a run."""
        grid, lengths = steps.times, steps.lengths
        at = np.clip(np.searchsorted(grid, times, side="right") - 1, 0, len(grid) - 1)
        length = lengths[np.minimum(at, len(lengths) - 1)]
        onward = times - grid[at]
        after = (at < len(lengths)) & (length - onward <= SAME_TIME_FRACTION * length)
        at = np.where(after, at + 1, at)
        onward = np.where(after | (onward <= SAME_TIME_FRACTION * length) | (at >= len(lengths)), 0.0, onward)
        return Samples(times, at.astype(np.int64), onward)

    def states(self, rates: Rates, steps: Steps) -> Array:
        """Return the states (s, n)."""
        found = steps.states[self.step].copy()
        between = np.flatnonzero(self.onward)
        if len(between):
            found[between] = self._step_chunk(rates, steps, between).end()
        return found

    def moments(self, rates: Rates, steps: Steps) -> EvaluationPoints:
        """Return the points at which channels are evaluated."""
        sides = steps.sides[np.minimum(self.step, len(steps) - 1)]
        return EvaluationPoints(self.times, self.states(rates, steps), sides)

    def maps(self, rates: Rates, steps: Steps, which: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return Φ and Γ from the beginning of a step to each sample inside it, for the samples `which`."""
        found = self._step_chunk(rates, steps, which).maps(True)
        return found.by_y, found.by_p

    def _step_chunk(self, rates: Rates, steps: Steps, which: NDArray[np.int64]) -> StepChunk:
        at = self.step[which]
        given = steps.times[at], self.onward[which], steps.states[at], steps.sides[at]
        return StepChunk(rates, *given, steps.method)
