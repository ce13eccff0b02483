"""`python -m benchmarks.controllers [--write]`: runs of arms under controllers, and what these add to them.

Processor time, the least of several; on a busy machine that is up to a third more than on a calm one. Machine code is
made before.
"""

from __future__ import annotations

import os

os.environ["KINETOSTAT_CACHE"] = ""  # what is compiled is compiled here
os.environ["KINETOSTAT_THREADS"] = "1"  # threads of one core take longer than one after the other

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import kinetostat as ks
from benchmarks.document import tell
from benchmarks.measure import together
from core.codegen import background
from resources import EXAMPLES

PAGE = Path(__file__).parents[1] / "docs" / "controllers.md"
LONG = 10.0
"""s, of motion."""
GAINS = {"kp": 225.0, "kd": 30.0}


def _model(name: str) -> ks.Model:
    return ks.load(str(EXAMPLES / f"{name}.kst"))


def _controlled(name: str, reference: str = "", **fields: Any) -> ks.Mechanism:
    """Return an arm under computed torque in all joints."""
    model = _model(name)
    rows = tuple(
        ks.ControlledJoint(joint=joint.name, reference=reference or None)
        for joint in model.expanded.joints
        if joint.kind == "revolute"
    )
    law = ks.Signal(name="hold", kind="computed_torque", joints=rows, **GAINS, **fields)
    return ks.Mechanism(replace(model, signals=(law,)))


def _law(t: float, y: Any, state: Any) -> Any:
    """PD control around one pose."""
    return 20.0 * (0.3 - y.q) - 20.0 * y.v


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield the lines of the table: what, how long it took, and the goal."""
    puma, follows = ks.Mechanism(_model("puma560")), "0.3*sin(2*t)"
    continuous, sampled = _controlled("puma560", follows), _controlled("puma560", follows, period=1e-3)
    on_motion = _controlled("ur5", motion="pick", period=1e-3)
    run = partial(ks.simulate, duration=LONG, output=0.01)
    calls: dict[str, Callable[[], Any]] = {
        "sampled": partial(run, sampled),
        "motion": partial(run, on_motion),
        "python": partial(run, puma, control=_law),
        "continuous": partial(run, continuous),
    }
    for call in calls.values():
        call()
    while background.is_busy():
        time.sleep(0.01)
    took = {name: spent.least for name, spent in together(calls, 3).items()}
    law = "computed torque at 1 kHz"
    yield f"{law}, PUMA 560, {LONG:g} s of motion", f"{took['sampled']:.2f} s", "1 s"
    yield f"{law} along a planned motion, UR5, {LONG:g} s", f"{took['motion']:.2f} s", "1 s"
    yield f"a law in Python at 1 kHz, PUMA 560, {LONG:g} s", f"{took['python']:.2f} s", "3 s"
    yield f"continuous computed torque, PUMA 560, {LONG:g} s", f"{took['continuous']:.2f} s", ""


def main() -> None:
    """All of it."""
    lines = ["Processor time, one thread, the least of several repeats, on cores that other programs use, too.", ""]
    lines += ["| what | took | goal |", "| --- | --- | --- |"]
    for what, took, goal in rows():
        lines.append(f"| {what} | {took} | {goal} |")
        print(lines[-1], flush=True)
    tell("What it costs", "controllers", lines, PAGE)


if __name__ == "__main__":
    main()
