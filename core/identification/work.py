"""Identification tasks executed by a subprocess (`core.mechanism.work_apart`), which report progress and receive stop
requests over a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.apart.talk import Line, Progress
from core.identification.excitation import Excitation, excitation
from core.identification.identify import Identification, identify_motion
from core.identification.measured_motion import Preparation, measured_motion
from core.identification.measured_trace import trace_of
from core.identification.output_error import RunFit, fit_run
from core.mechanism import Mechanism

MANY = 20.0
"""Nominal number of steps of a fit, for progress reports."""


def forces(
    mech: Mechanism, line: Line, columns: Any, cutoff: float | None, p: Any, options: Mapping[str, Any]
) -> Identification | None:
    """Run `identify` with physically consistent bodies; None if stopped. Raises KinetostatError."""
    steps: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("Trace", lambda _: trace_of(mech, columns)),
        ("Motion", lambda trace: measured_motion(mech, trace, Preparation(cutoff=cutoff), p)),
        ("Fit", lambda motion: identify_motion(mech, motion, p=p, **options)),
        ("Making bodies physically consistent", lambda found: (found.values, found)[1]),
    )
    found: Any = None  # of each step, taken by the next
    for k, (title, step) in enumerate(steps):
        if line.asked():
            return None
        line.tell(Progress(k / len(steps), title))
        found = step(found)
    return found


def run(mech: Mechanism, line: Line, columns: Any, options: Mapping[str, Any]) -> RunFit:
    """Run `fit_run`, reporting each step as text; if stopped, return the best result so far. Raises KinetostatError."""

    def watch(step: int, values: Mapping[str, float], size: float) -> None:
        line.tell(Progress(min(0.95, step / MANY), f"step {step}"))
        line.tell(f"Step {step}: " + ", ".join(f"{name} {value:.5g}" for name, value in values.items()))

    return fit_run(mech, columns, **options, watch=watch, cancelled=line.asked)


def motion(mech: Mechanism, line: Line, p: Any, options: Mapping[str, Any]) -> Excitation:
    """Run `excitation`; if stopped, return the best result so far. Raises KinetostatError."""
    return excitation(
        mech, p=p, **options, progress=lambda part: line.tell(Progress(part, "search")), cancelled=line.asked
    )
