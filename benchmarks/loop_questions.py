"""`python -m benchmarks.loop_questions [--write]`: what is asked of rows of four-bars at a pose, in processor time.

A step of a drag, all speeds and accelerations from one, a motion and its reactions: each with its traces and machine
code there, the least of several. Mobility, upright and with all links in a line, and linearisation once, with their
traces. Each machine in a process of its own; the last line tells how times per loop grow from N = 100 to N = 1000.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import json  # noqa: E402
import math  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.document import tell  # noqa: E402
from benchmarks.loop_machines import four_bars, in_a_line  # noqa: E402

COUNTS = (20, 100, 200, 1000)
FEW, MANY = 100, 1000
"""Loops between which growth is told."""
REPEATED, LINEARISED = 7, 200
"""Repetitions of quick measurements; largest number of loops for which the machine is linearised."""


def questions(count: int) -> dict[str, float]:
    """Processor seconds of each."""
    from core.analysis.linearisation import linearise
    from core.mechanism import Mechanism

    mech = Mechanism(four_bars(count))
    q = mech.move(mech.rest(), {"A0": 0.3})
    v, tau = mech.speeds(q, {"A0": 1.0}), np.zeros(mech.nv)
    angles = iter(np.arange(0.31, 1.0, 0.01))
    repeated: dict[str, Callable[[], Any]] = {
        "step of a drag": lambda: mech.move(q, {"A0": float(next(angles))}),
        "speeds": lambda: mech.speeds(q, {"A0": 1.0}),
        "accelerations": lambda: mech.accelerations(q, v, {"A0": 0.0}),
        "motion": lambda: mech.forward_dynamics(q, v, tau),
        "motion and reactions": lambda: mech.reactions(q, v, tau),
    }
    found: dict[str, float] = {}
    for what, work in repeated.items():
        work()
        mech.compiled.program.wait()
        found[what] = min(_processor_time(work) for _ in range(REPEATED))
    found["mobility"] = _processor_time(lambda: mech.mobility(mech.rest()))
    if count <= LINEARISED:
        flat = mech.rest().copy()
        for name, angle in in_a_line(count).items():
            flat[mech.joint_q(name)] = angle
        found["mobility in a line"] = _processor_time(lambda: mech.mobility(flat))
        found["linearisation"] = _processor_time(lambda: linearise(mech, mech.rest()))
    return found


def _processor_time(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(questions(int(sys.argv[2]))))
        return
    found = {}
    for count in COUNTS:
        command = [sys.executable, "-m", "benchmarks.loop_questions", "--child", str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[count] = json.loads(done.stdout.splitlines()[-1])
    columns = list(found[COUNTS[0]])
    lines = [
        "N four-bars, ms of processor time; growth: per loop, N = 1000 over N = 100.",
        "",
        "| N | " + " | ".join(columns) + " |",
        "| --- |" + " ---: |" * len(columns),
    ]
    for count, times in found.items():
        lines.append(_line(str(count), [1e3 * times.get(name, math.nan) for name in columns]))
    growth = [found[MANY].get(name, math.nan) / found[FEW][name] * FEW / MANY for name in columns]
    tell("Questions to machines of many loops", "loop_questions", [*lines, _line("growth", growth), ""])


def _line(name: str, values: list[float]) -> str:
    return f"| {name} | {' | '.join('–' if math.isnan(x) else f'{x:.3g}' for x in values)} |"


if __name__ == "__main__":
    main()
