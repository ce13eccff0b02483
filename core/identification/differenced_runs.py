"""Derivatives of a segment's run by finite differences of runs, for cases without exact derivatives: dry friction,
stops, limits, and integration methods or machines whose steps are not differentiable.

Central differences about the parameters and start values: a run through sticking, sliding and impacts is smooth in them
as long as these come in the same order, and a fit takes shorter steps where they do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError, SimulationError

if TYPE_CHECKING:
    from core.simulation import Run

Array = NDArray[np.float64]

PARAMETER_STEP_FRACTION = 1e-4
"""Relative difference step of a parameter (of 0.1 if the parameter is 0)."""
START_STEP_FRACTION = 1e-5
"""Difference step of an initial value, relative to its size, or to one (rad, m and their rates) if that is larger."""
EVEN_FRACTION = 1e-6
"""Relative variation of the row spacing up to which times count as evenly spaced."""
SAME_TIME_FRACTION = 1e-9
"""Fraction of a run's duration within which two times are equal."""
FINER = 8
"""Number of samples between two rows of an unevenly spaced trace; values between samples are interpolated."""


class SegmentedProblem(Protocol):
    """Interface of runs in segments, as in `core.identification.shooting`."""

    segments: Any
    time: Array
    outputs: tuple[str, ...]
    names: tuple[str, ...]

    def run(
        self,
        segment_index: int,
        p: Array,
        z: Array,
        nearby_pose: Array | None = None,
        end: float | None = None,
        sample_interval: float | None = None,
    ) -> tuple[Run, Any]:
        """Simulate segment k."""
        ...


class SegmentValues(NamedTuple):
    """Run of a segment: channel values (n, c) at its rows, last state (n,), first pose (nq,)."""

    values: Array
    state: Array
    pose: Array


class SegmentDerivatives(NamedTuple):
    """Run of a segment with derivatives of the values (n, c, m) and of the last state (n, m), with respect to
    parameters, then initial values."""

    seen: SegmentValues
    slopes: Array
    state_slopes: Array


def simulate_and_sample(
    problem: SegmentedProblem, segment_index: int, p: Array, z: Array, nearby_pose: Array | None
) -> SegmentValues:
    """Simulate segment k and read its channels at the rows of the trace. Raises SimulationError if the run cannot
    continue."""
    segment = problem.segments[segment_index]
    times = problem.time[segment.first : segment.last]
    spacing = np.diff(problem.time[segment.first : min(segment.last + 1, len(problem.time))])
    least = float(spacing.min()) if len(spacing) else segment.end - segment.begin
    even = len(spacing) > 0 and float(spacing.max()) - least <= EVEN_FRACTION * least
    run, _ = problem.run(segment_index, p, z, nearby_pose, sample_interval=least if even else least / FINER)
    state = np.concatenate([run.q[-1], run.v[-1], *([run.x[-1]] if run.x.shape[1] else [])])
    return SegmentValues(channel_values_at(run, problem.outputs, times), state, run.q[0])


def channel_values_at(run: Run, channels: tuple[str, ...], times: Array) -> Array:
    """Evaluate channels (n, c) of a run at given times: directly at samples, by monotone cubics between them."""
    from scipy.interpolate import PchipInterpolator

    last = np.append(np.diff(run.time) > 0.0, True)  # of several samples at one time the last
    grid = run.time[last]
    same = SAME_TIME_FRACTION * float(grid[-1] - grid[0])
    near = np.clip(np.searchsorted(grid, times - same), 0, len(grid) - 1)
    exact = np.abs(grid[near] - times) <= same
    found = []
    for name in channels:
        values = np.asarray(run[name])[last]
        found.append(np.where(exact, values[near], 0.0 if exact.all() else PchipInterpolator(grid, values)(times)))
    return np.column_stack(found)


def differentiate_segment(
    problem: SegmentedProblem, segment_index: int, p: Array, z: Array, nearby_pose: Array | None
) -> SegmentDerivatives:
    """Simulate segment k and differentiate it. Raises SimulationError if the run cannot continue."""
    here = simulate_and_sample(problem, segment_index, p, z, nearby_pose)
    both = np.concatenate([p, z])
    m, count = len(p), len(both)
    slopes = np.zeros((*here.values.shape, count))
    state_slopes = np.zeros((len(here.state), count))
    for j, value in enumerate(both):
        part = PARAMETER_STEP_FRACTION * (abs(value) or 0.1) if j < m else START_STEP_FRACTION * max(1.0, abs(value))
        ends, places = [], []
        for sign in (1.0, -1.0):
            moved = both.copy()
            moved[j] += sign * part
            try:
                ends.append(simulate_and_sample(problem, segment_index, moved[:m], moved[m:], nearby_pose))
            except KinetostatError:  # a friction below zero, a run that cannot go on
                continue
            places.append(sign * part)
        if not ends:
            raise SimulationError(
                "The run cannot be completed with slightly smaller or larger values.", where=problem.names[j]
            )
        if len(ends) == 1:
            ends, places = [*ends, here], [*places, 0.0]
        over = places[0] - places[1]
        slopes[:, :, j] = (ends[0].values - ends[1].values) / over
        state_slopes[:, j] = (ends[0].state - ends[1].state) / over
    return SegmentDerivatives(here, slopes, state_slopes)
