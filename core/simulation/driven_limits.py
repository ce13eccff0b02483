"""Notes of a run on joints that drivers moved beyond their limits, at any of its samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.constraints.elastic_stops import Passed, passed_limits
from core.constraints.failures import coordinate_text
from core.simulation.run.run import Run

LEAST_PASSING = 1e-6
"""Smallest distance (rad or m) beyond a limit that is noted."""


def driven_beyond(run: Run) -> tuple[str, ...]:
    """Return a sentence for each coordinate that a driver moved beyond a limit, with the amount and the time."""
    driven = {driver.joint for driver in run.model.expanded.drivers if driver.joint}
    if not driven or not len(run.time):
        return ()
    compiled = run.mech.compiled
    p = run.settings.values_of(run.mech.p_names)
    found = []
    for passed in passed_limits(compiled, run.q, p, LEAST_PASSING):
        joint = next((name for name in driven if passed.name == name or passed.name.startswith(f"{name}.")), None)
        if joint is None or passed.name not in compiled.q_names:
            continue
        since = _since(run.time, run.q[:, compiled.q_names.index(passed.name)], passed)
        limit, most = (coordinate_text(x, passed.dimension) for x in (passed.limit, passed.by))
        found.append(
            f"A driver moves '{passed.name}' beyond its limit {limit}, from t = {since:.4g} s on, by up to {most}:"
            " change its function or the limit, or let the run end before."
        )
    return tuple(found)


def _since(time: NDArray[np.float64], q: NDArray[np.float64], passed: Passed) -> float:
    """Return the time of the first sample beyond the limit, s."""
    outward = 1.0 if np.isclose(float(np.max(q)) - passed.limit, passed.by) else -1.0
    return float(time[int(np.argmax(outward * (q - passed.limit) > LEAST_PASSING))])
