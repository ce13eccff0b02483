"""Runs with nothing to do, and samples of runs: `python -m benchmarks.short_runs [EXAMPLE …]`.

Processor time in µs of a whole `simulate` of 1 ms with two samples: again, with another start, with another parameter
value; then of one sample more in a longer run, and of one evaluation of the equations of motion.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks.measure import together
from core.files import load
from core.machine_code.language import call_entry
from core.machine_code.records import array_address
from core.mechanism import Mechanism
from core.simulation import simulate
from core.simulation.run.initial_state import start_state
from core.simulation.run.settings import check_settings
from core.simulation.simulator import SimulationJob
from resources import EXAMPLES

MACHINES = ("pendulum", "ur5", "puma560", "stewart")
SHORT = {"duration": 1e-3, "output": 1e-3}
LONG, FEW, MANY = 0.5, 100, 2100


def rows(name: str) -> None:
    """Print the times of one example."""
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    starts = cycle(np.full(mech.nv, speed) for speed in (0.0, 0.01))
    calls: dict[str, Any] = {"again": partial(simulate, mech, **SHORT)}
    calls["another start"] = lambda: simulate(mech, **SHORT, v0=next(starts))
    p = mech.parameter_values()
    if len(p):
        values = cycle(p * each for each in (1.0, 1.01))
        calls["other parameter values"] = lambda: simulate(mech, **SHORT, parameters=next(values))
    for count in (FEW, MANY):
        calls[f"{count} samples"] = partial(simulate, mech, LONG, output=LONG / count)
    calls["evaluation"] = _evaluation(mech)
    for call in calls.values():
        call()
    mech.compile()
    times = together(calls)
    for what, time in times.items():
        print(f"{name:12s} {what:32s} {time.least * 1e6:9.3g}")
    sample = (times[f"{MANY} samples"].least - times[f"{FEW} samples"].least) / (MANY - FEW)
    print(f"{name:12s} {'a sample':32s} {sample * 1e6:9.3g}")


def _evaluation(mech: Mechanism) -> Any:
    """Return a function that evaluates ẏ once."""
    y = start_state(mech, None, None, mech.parameter_values())
    chosen = check_settings(mech, 1.0, "rk54", None, 1e-6, 1e-9, None, 0.0, None, None, 10)
    job, out = SimulationJob(mech, chosen, y, None), np.zeros(len(y))
    places = array_address(job.state.y), array_address(out)

    def evaluate() -> Any:
        return call_entry(job.equations.system.derivative, job.equations.system.place, 0.0, *places), out

    return evaluate


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for each in sys.argv[1:] or MACHINES:
        rows(each)
