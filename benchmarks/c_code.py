"""Generated C of every shipped machine: whether it passes its own test, and what a step takes beside a run of the
program with the same steps: `python -m benchmarks.c_code [NAME …]`."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import kinetostat as ks
from core.c_code.generate import generate_c
from resources import examples

STEPS = 20_000


def row(path: Path) -> str:
    """A line of the table."""
    try:
        mech = ks.Mechanism(ks.load(str(path)))
        with tempfile.TemporaryDirectory() as room:
            found = generate_c(mech, Path(room) / "code")
    except ks.KinetostatError as error:
        return f"| {path.stem} | refused: {error} | | | |"
    taken = re.search(r"median (\d+)", found.trial.seconds)
    difference = "" if found.difference is None else f"{found.difference:.1g}"
    verdict = {True: "passed", False: "FAILED", None: "no compiler"}[found.trial.passed]
    return f"| {path.stem} | {verdict} | {difference} | {taken[1] if taken else ''} | {_of_run(mech)} |"


def _of_run(mech: ks.Mechanism) -> str:
    """Nanoseconds of a step of a run, by processor time."""
    try:
        run = ks.simulate(mech, STEPS * 1e-3, method="rk4", step=1e-3, output=STEPS * 1e-3)
    except ks.KinetostatError:
        return "fails at 1 ms"
    return f"{1e9 * run.statistics.cpu / STEPS:.0f}"


def main(names: list[str]) -> None:
    """The table."""
    print("| machine | test | difference to a run | ns a step, C | ns a step, run |")
    print("| --- | --- | --- | --- | --- |")
    for example in examples():
        if not names or Path(example.path).stem in names:
            print(row(Path(example.path)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
