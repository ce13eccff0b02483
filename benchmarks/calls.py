"""`python -m benchmarks.calls [--write]`: calls into this program's Python code for a few common tasks.

Each task was done before in the same process, with a machine of the same structure. Resumed generators count like
calls. The numbers do not depend on the computer, only a little on Python's version.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import core
from benchmarks.document import tell
from core.files import load, save
from core.functions import call
from core.mechanism import Mechanism
from core.model import Model
from core.simulation import simulate
from resources import EXAMPLES

ROOT = str(Path(core.__file__).parents[1])
OWN = tuple(f"{ROOT}/{room}/" for room in ("core", "resources"))
ARM, LOOP = EXAMPLES / "puma560.kst", EXAMPLES / "four_bar.kst"


def count(task: Callable[[], Any]) -> int:
    """Return the number of calls into this program's code."""
    calls = 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(OWN)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        task()
    finally:
        sys.setprofile(before)
    return calls


def tasks(folder: Path) -> dict[str, Callable[[], Callable[[], Any]]]:
    """Task → function that prepares it and returns it."""
    lines = ARM.read_text(encoding="utf-8").count("\n")

    return {
        "`simulate(model, 1.0)`, PUMA 560, model just opened": lambda: _run(load(ARM)),
        "`simulate(mech, 1.0)` again": lambda: _run_again(Mechanism(load(ARM))),
        f"open a native file of {lines} lines": lambda: lambda: load(ARM),
        f"save it, {lines} lines": lambda: _saving(load(ARM), folder / "arm.kst"),
        "`mech.gravity(q)`, four-bar": lambda: _gravity(Mechanism(load(LOOP))),
        '`call("gravity", model)`, four-bar, again': lambda: _gravity_table(load(LOOP)),
    }


def _run(model: Any) -> Callable[[], Any]:
    return lambda: simulate(model, 1.0)


def _run_again(mech: Mechanism) -> Callable[[], Any]:
    simulate(mech, 1.0)
    return lambda: simulate(mech, 1.0)


def _saving(model: Any, path: Path) -> Callable[[], Any]:
    return lambda: save(model, str(path))


def _gravity(mech: Mechanism) -> Callable[[], Any]:
    q = mech.rest()
    mech.gravity(q)
    return lambda: mech.gravity(q)


def _gravity_table(model: Model) -> Callable[[], Any]:
    call("gravity", model)
    return lambda: call("gravity", model)


def main() -> None:
    """Count and print."""
    lines = ["| task | calls |", "| --- | ---: |"]
    with tempfile.TemporaryDirectory() as folder:
        for name, prepare in tasks(Path(folder)).items():
            prepare()()
            lines.append(f"| {name} | {count(prepare())} |")
    tell("Calls into the program's code", "calls", lines)


if __name__ == "__main__":
    main()
