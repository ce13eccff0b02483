"""Generated C of every shipped machine and every published problem: whether it passes its own test without a warning,
what it asks of libraries, and what a step takes beside a run of the program with the same steps.

    python -m benchmarks.c_code [NAME …]

The test is built with all warnings as errors. `nm -u` of the object may show functions of <math.h> only. The longest
step (of 99.9 %, so that a computer that does other things, too, hardly shows) is a part of the median.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import kinetostat as ks
from benchmarks import problems
from core.c_code.compilers import compiler
from core.c_code.generate import generate_c
from resources import examples

STEPS = 20_000
_ROUND = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
_OTHERS = ("sqrt", "exp", "log", "pow", "fabs", "floor", "ceil", "fmin", "fmax", "sincos", "fmod", "copysign", "trunc")
MATH = frozenset((*_ROUND, *_OTHERS))
"""Functions of <math.h>, and what gcc makes of a sine and a cosine."""


def row(name: str, model: ks.Model) -> str:
    """A line of the table."""
    try:
        mech = ks.Mechanism(model)
        with tempfile.TemporaryDirectory() as room:
            found = generate_c(mech, Path(room) / "code")
            foreign = _foreign(found.folder, found.name)
    except ks.KinetostatError as error:
        return f"| {name} | refused: {error} | | | | | |"
    taken = re.search(r"median (\d+), 99.9 % (\d+)", found.trial.seconds)
    median, longest = (int(each) for each in taken.groups()) if taken else (0, 0)
    difference = "" if found.difference is None else f"{found.difference:.1g}"
    verdict = {True: "passed", False: "FAILED", None: "no compiler"}[found.trial.passed]
    ratio = f"{longest / median:.1f}" if median else ""
    return f"| {name} | {verdict} | {difference} | {foreign} | {median or ''} | {ratio} | {_of_run(mech)} |"


def _foreign(folder: Path, name: str) -> str:
    """Symbols that the object wants of others than <math.h>; "none"."""
    command = compiler()
    if command is None or shutil.which("nm") is None:
        return "not looked at"
    built = folder / f"{name}.o"
    subprocess.run(
        [*command, "-std=c99", "-O2", "-c", str(folder / f"{name}.c"), "-o", str(built)], check=True, cwd=folder
    )
    shown = subprocess.run(["nm", "-u", str(built)], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in shown.splitlines() if line.split()}
    return ", ".join(sorted(names - MATH)) or "none"


def _of_run(mech: ks.Mechanism) -> str:
    """Nanoseconds of a step of a run, by processor time."""
    try:
        run = ks.simulate(mech, STEPS * 1e-3, method="rk4", step=1e-3, output=STEPS * 1e-3)
    except ks.KinetostatError:
        return "fails at 1 ms"
    return f"{1e9 * run.statistics.cpu / STEPS:.0f}"


def machines() -> Iterator[tuple[str, ks.Model]]:
    """Examples, then problems with published numbers."""
    for example in examples():
        yield Path(example.path).stem, ks.load(str(example.path))
    for make in (problems.andrews_squeezer, problems.flyball_governor, problems.bricard, problems.double_pendulum):
        yield f"published {make.__name__}", make().model


def main(names: list[str]) -> None:
    """The table."""
    print("| machine | test | difference to a run | beside libm | ns a step, C | 99.9 % | ns a step, run |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, model in machines():
        if not names or name in names:
            print(row(name, model), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
