"""Steps of a run, and how they propagate a small change of the state: δy ← Φ δy + Γ δp.

The derivative is that of the discrete solution. A Runge–Kutta step is composed of its stages,
δY_i = δy + h Σ A_ij δk_j and δk_i = f_y δY_i + f_p δp, all steps of a chunk at once, since their states are known; what
projects a state behind a step is differentiated, too. Going back, λ ← Φᵀ λ, and f_pᵀ is only multiplied by what the
stages weigh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.identification.sensitivities.explicit_rates import EvaluationPoints, IndicatorValues, RateDerivatives
from core.simulation.methods.tableaux import build_tableau

Array = NDArray[np.float64]

CHUNK = 256
"""Number of steps whose derivatives are in memory at once."""

SAME_TIME_FRACTION = 1e-9
"""Fraction of a step within which two times count as equal."""


class Rates(Protocol):
    """Interface of rates ẏ = f with derivatives; see `ExplicitRates`."""

    n: int
    by: tuple[int, ...]
    projects: bool
    by_iteration: bool
    still: int
    """Number of leading coordinates with q̇ = v in every configuration."""

    @property
    def indicator_count(self) -> int:
        """Number of event indicators."""
        ...

    def rates_with_derivatives(self, points: EvaluationPoints, parameters: bool) -> RateDerivatives:
        """Return f and its derivatives with respect to y, and on request to p."""
        ...

    def parameter_adjoint_product(self, points: EvaluationPoints, w: Array) -> Array:
        """Return F_pᵀ w."""
        ...

    def project_with_derivatives(self, points: EvaluationPoints) -> tuple[Array, Array, Array]:
        """Return y after projection and its derivatives."""
        ...

    def indicators_with_derivatives(self, points: EvaluationPoints) -> IndicatorValues:
        """Return the event indicators with derivatives."""
        ...


@dataclass(frozen=True)
class RunSteps:
    """Steps of a run: times (N + 1,), states (N + 1, n) after projection, sides of mode variables in each step (N,
    k)."""

    times: Array
    states: Array
    sides: Array
    method: str

    def __len__(self) -> int:
        return len(self.times) - 1

    @property
    def step_lengths(self) -> Array:
        """Lengths of the steps (N,), s."""
        return np.diff(self.times)

    def chunk_slices(self) -> list[slice]:
        """Return slices that divide the steps into chunks."""
        return [slice(k, min(k + CHUNK, len(self))) for k in range(0, len(self), CHUNK)]


class StepMaps(NamedTuple):
    """Linear maps of a chunk of steps: Φ (N, n, n), Γ (N, n, m); points and derivatives at the stages; ends of the
    steps before projection."""

    by_y: Array
    by_p: Array
    stages: list[tuple[EvaluationPoints, RateDerivatives]]
    end: EvaluationPoints


@dataclass(frozen=True)
class StepChunk:
    """One chunk of steps of a Runge–Kutta method or of semi-implicit Euler."""

    rates: Rates
    t: Array
    h: Array
    y: Array
    sides: Array
    method: str

    def compute_maps(self, parameters: bool) -> StepMaps:
        """Return Φ of the steps, and Γ on request."""
        if self.method == "semi_implicit_euler":
            return self._semi_implicit_euler_maps(parameters)
        n, m = self.rates.n, len(self.rates.by) if parameters else 0
        table, h = _butcher_tableau(self.method), self.h[:, None, None]
        unit = np.zeros((len(self.t), n, n + m))
        unit[:, np.arange(n), np.arange(n)] = 1.0
        total, moved = unit.copy(), self.y.copy()
        found: list[RateDerivatives] = []
        places: list[EvaluationPoints] = []
        changes: list[Array] = []
        for i, (row, weight, c) in enumerate(zip(table.A, table.b, table.c, strict=True)):
            at, change = self._stage_point(row[:i], found, c), unit
            for a, each in zip(row[:i], changes, strict=True):
                if a:
                    change = change + (a * h) * each
            slopes = self.rates.rates_with_derivatives(at, parameters)
            own = self._rate_change(slopes, change) if i else self._unit_rate_change(slopes, unit)
            found.append(slopes)
            places.append(at)
            changes.append(own)
            if weight:
                total += (weight * h) * own
                moved += (weight * self.h)[:, None] * slopes.f
        end = EvaluationPoints(self.t + self.h, moved, self.sides)
        return self._apply_projection(end, total, list(zip(places, found, strict=True)), parameters)

    def _rate_change(self, slopes: RateDerivatives, change: Array, parameters: bool = True) -> Array:
        """Return f_y δy + f_p δp for each column; rows with q̇ = v are copied."""
        n = self.rates.n
        first = self.rates.still
        own = np.empty_like(change)
        np.matmul(slopes.by_y, change, out=own[:, first:])
        own[:, :first] = change[:, first : 2 * first]
        if parameters and change.shape[2] > n:
            own[:, first:, n:] += slopes.by_p
        return own

    def _unit_rate_change(self, slopes: RateDerivatives, unit: Array) -> Array:
        """Return f_y δy + f_p δp for the columns [1 0], at the beginning of a step."""
        n, first = self.rates.n, self.rates.still
        own = np.zeros_like(unit)
        own[:, first:, :n] = slopes.by_y
        own[:, np.arange(first), np.arange(first, 2 * first)] = 1.0
        if unit.shape[2] > n:
            own[:, first:, n:] = slopes.by_p
        return own

    def _stage_point(
        self, row: Array, earlier_stages: list[RateDerivatives], stage_fraction: float
    ) -> EvaluationPoints:
        y = self.y
        for a, slopes in zip(row, earlier_stages, strict=True):
            if a:
                y = y + (a * self.h)[:, None] * slopes.f
        return EvaluationPoints(self.t + stage_fraction * self.h, y, self.sides)

    def _apply_projection(
        self,
        points: EvaluationPoints,
        total: Array,
        stages: list[tuple[EvaluationPoints, RateDerivatives]],
        parameters: bool,
    ) -> StepMaps:
        n = self.rates.n
        if self.rates.projects:
            _, by_y, by_p = self.rates.project_with_derivatives(points)
            total = by_y @ total
            if parameters:
                total[:, :, n:] += by_p
        return StepMaps(total[:, :, :n], total[:, :, n:], stages, points)

    def _semi_implicit_euler_maps(self, parameters: bool) -> StepMaps:
        """Return the maps of semi-implicit Euler: v ← v + h a, x ← x + h ẋ, then q ← q + h q̇(q, v)."""
        n, m, h = self.rates.n, len(self.rates.by) if parameters else 0, self.h[:, None, None]
        nq = self.coordinate_count
        first = self.rates.rates_with_derivatives(EvaluationPoints(self.t, self.y, self.sides), parameters)
        total = np.zeros((len(self.t), n, n + m))
        total[:, np.arange(n), np.arange(n)] = 1.0
        total[:, nq:] += h * self._rate_change(first, total)[:, nq:]
        between = self.y.copy()
        between[:, nq:] += self.h[:, None] * first.f[:, nq:]
        then = self.rates.rates_with_derivatives(EvaluationPoints(self.t, between, self.sides), False)
        total[:, :nq] += h * self._rate_change(then, total, False)[:, :nq]
        moved = between.copy()
        moved[:, :nq] += self.h[:, None] * then.f[:, :nq]
        return self._apply_projection(EvaluationPoints(self.t + self.h, moved, self.sides), total, [], parameters)

    def end(self) -> Array:
        """Return the states (N, n) at the ends of the steps."""
        if self.method == "semi_implicit_euler":
            nq, moved = self.coordinate_count, self.y.copy()
            moved[:, nq:] += (
                self.h[:, None]
                * self.rates.rates_with_derivatives(EvaluationPoints(self.t, self.y, self.sides), False).f[:, nq:]
            )
            then = self.rates.rates_with_derivatives(EvaluationPoints(self.t, moved, self.sides), False)
            moved[:, :nq] += self.h[:, None] * then.f[:, :nq]
        else:
            table, moved = _butcher_tableau(self.method), self.y.copy()
            found: list[RateDerivatives] = []
            for i, (row, weight, c) in enumerate(zip(table.A, table.b, table.c, strict=True)):
                found.append(self.rates.rates_with_derivatives(self._stage_point(row[:i], found, c), False))
                if weight:
                    moved += (weight * self.h)[:, None] * found[-1].f
        return (
            self.rates.project_with_derivatives(EvaluationPoints(self.t + self.h, moved, self.sides))[0]
            if self.rates.projects
            else moved
        )

    @property
    def coordinate_count(self) -> int:
        """Number of coordinates."""
        return int(self.rates.mech.nq)  # type: ignore[attr-defined]

    def adjoint_of_parameters(self, maps: StepMaps, weights: Array) -> Array:
        """Return Σ Γᵀ λ over the steps, (m,), for λ (N, n) at the end of each, without forming Γ; maps : result of
        `maps`"""
        if self.rates.by_iteration or not maps.stages:
            return np.einsum("kim,ki->m", self.compute_maps(True).by_p, weights)
        table, h, first = _butcher_tableau(self.method), self.h[:, None], self.rates.still
        total = np.zeros(len(self.rates.by))
        if self.rates.projects:
            _, by_y, by_p = self.rates.project_with_derivatives(maps.end)
            total += np.einsum("kim,ki->m", by_p, weights)
            weights = np.matmul(weights[:, None], by_y)[:, 0]
        stages = len(maps.stages)
        pulls: list[Array] = [weights] * stages
        for i in range(stages - 1, -1, -1):
            at, slopes = maps.stages[i]
            own = (table.b[i] * h) * weights
            for j in range(i + 1, stages):
                if table.A[j, i]:
                    own += (table.A[j, i] * h) * pulls[j]
            total += self.rates.parameter_adjoint_product(at, own).sum(axis=0)
            if i:
                pulls[i] = np.matmul(own[:, None, first:], slopes.by_y)[:, 0]
                pulls[i][:, first : 2 * first] += own[:, :first]
        return total


class _ButcherTableau(NamedTuple):
    A: Array
    b: Array
    c: Array


def _butcher_tableau(method: str) -> _ButcherTableau:
    """Return the Butcher tableau of a method without stages that do not contribute."""
    table = build_tableau(method)
    count = table.steps
    while count > 1 and table.b[count - 1] == 0.0:
        count -= 1
    return _ButcherTableau(table.A[:count, :count], table.b[:count], table.c[:count])


@dataclass(frozen=True)
class SampleTimes:
    """Times (s,), each with the step that contains it and the time since the beginning of that step, s."""

    times: Array
    step: NDArray[np.int64]
    onward: Array

    @staticmethod
    def of(steps: RunSteps, times: Array) -> SampleTimes:
        """Locate times, in any order, in the steps of a run."""
        grid, lengths = steps.times, steps.step_lengths
        at = np.clip(np.searchsorted(grid, times, side="right") - 1, 0, len(grid) - 1)
        length = lengths[np.minimum(at, len(lengths) - 1)]
        onward = times - grid[at]
        after = (at < len(lengths)) & (length - onward <= SAME_TIME_FRACTION * length)
        at = np.where(after, at + 1, at)
        onward = np.where(after | (onward <= SAME_TIME_FRACTION * length) | (at >= len(lengths)), 0.0, onward)
        return SampleTimes(times, at.astype(np.int64), onward)

    def states(self, rates: Rates, steps: RunSteps) -> Array:
        """Return the states (s, n)."""
        found = steps.states[self.step].copy()
        between = np.flatnonzero(self.onward)
        if len(between):
            found[between] = self._step_chunk(rates, steps, between).end()
        return found

    def evaluation_points(self, rates: Rates, steps: RunSteps) -> EvaluationPoints:
        """Return the points at which channels are evaluated."""
        sides = steps.sides[np.minimum(self.step, len(steps) - 1)]
        return EvaluationPoints(self.times, self.states(rates, steps), sides)

    def maps_to_samples(self, rates: Rates, steps: RunSteps, sample_indices: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return Φ and Γ from the beginning of a step to each of the selected samples inside it."""
        found = self._step_chunk(rates, steps, sample_indices).compute_maps(True)
        return found.by_y, found.by_p

    def _step_chunk(self, rates: Rates, steps: RunSteps, sample_indices: NDArray[np.int64]) -> StepChunk:
        at = self.step[sample_indices]
        given = steps.times[at], self.onward[sample_indices], steps.states[at], steps.sides[at]
        return StepChunk(rates, *given, steps.method)
