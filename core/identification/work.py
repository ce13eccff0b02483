"""Identification tasks that a worker process executes (`core.mechanism.work_apart`); they report progress and receive
stop requests over a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.apart.talk import Progress, TaskConnection
from core.identification.excitation import Excitation, excitation
from core.identification.identify import Identification, identify_motion
from core.identification.measured_motion import Preparation, prepare_measured_motion
from core.identification.measured_trace import build_trace
from core.identification.output_error import RunFit, fit_run
from core.mechanism import Mechanism

MANY = 20.0
"""Number of steps that a fit is assumed to take, for progress reports."""


def identify_in_worker(
    mech: Mechanism, line: TaskConnection, columns: Any, cutoff: float | None, p: Any, options: Mapping[str, Any]
) -> Identification | None:
    """Run `identify` with physically consistent bodies; None if stopped. Raises KinetostatError."""
    steps: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("Trace", lambda _: build_trace(mech, columns)),
        ("Motion", lambda trace: prepare_measured_motion(mech, trace, Preparation(cutoff=cutoff), p)),
        ("Fit", lambda motion: identify_motion(mech, motion, p=p, **options)),
        ("Making bodies physically consistent", lambda found: (found.values, found)[1]),
    )
    found: Any = None  # of each step, taken by the next
    for k, (title, step) in enumerate(steps):
        if line.should_stop():
            return None
        line.report(Progress(k / len(steps), title))
        found = step(found)
    return found


def fit_run_in_worker(mech: Mechanism, line: TaskConnection, columns: Any, options: Mapping[str, Any]) -> RunFit:
    """Run `fit_run`, reporting each step as text; if stopped, return the best result so far. Raises KinetostatError."""

    def report_iteration(iteration: int, values: Mapping[str, float], weighted_residual: float) -> None:
        line.report(Progress(min(0.95, iteration / MANY), f"step {iteration}"))
        line.report(f"Step {iteration}: " + ", ".join(f"{name} {value:.5g}" for name, value in values.items()))

    return fit_run(mech, columns, **options, watch=report_iteration, cancelled=line.should_stop)


def design_excitation_in_worker(
    mech: Mechanism, line: TaskConnection, p: Any, options: Mapping[str, Any]
) -> Excitation:
    """Run `excitation`; if stopped, return the best result so far. Raises KinetostatError."""
    return excitation(
        mech, p=p, **options, progress=lambda part: line.report(Progress(part, "search")), cancelled=line.should_stop
    )
