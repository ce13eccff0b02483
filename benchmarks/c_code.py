"""Generated C of every shipped machine and every published problem: whether it passes its own test without a warning,
what it asks of libraries, and what a step takes beside a run of the program with the same steps.

    python -m benchmarks.c_code [NAME …] [--write]

The test is built with all warnings as errors. `nm -u` of the object may show functions of <math.h> only. *Longest*:
the longest step over the median, each of 1,000 steps being the least of 20 runs, so that nothing else interrupts it.
Steps are of 1 ms, or of what the machine bears where that is shorter. At last loops that a fixed number of iterations
closes go on for 10⁵ steps. `--write` puts what is found of all machines into docs/c_code.md.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import kinetostat as ks
from benchmarks import problems
from benchmarks.document import tell
from core.c_code.companions import find_compiler
from core.c_code.generate import Generated, UnstableStep, generate_c
from resources import EXAMPLES, examples

STEPS = 20_000
STEP = 1e-3
"""s"""
PAGE = Path(__file__).parents[1] / "docs" / "c_code.md"
_ROUND = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
_OTHERS = ("sqrt", "exp", "log", "pow", "fabs", "floor", "ceil", "fmin", "fmax", "sincos", "fmod", "copysign", "trunc")
MATH = frozenset((*_ROUND, *_OTHERS))
"""Functions of <math.h>, and what gcc makes of a sine and a cosine."""


def row(name: str, model: ks.Model) -> str:
    """A line of the table."""
    try:
        mech = ks.Mechanism(model)
        with tempfile.TemporaryDirectory() as room:
            found, step = _made(mech, Path(room) / "code")
            foreign = _foreign(found.folder, found.name)
    except ks.KinetostatError as error:
        return f"| {name} | refused: {error} | | | | | |"
    taken = re.search(r"median (\d+).* at most ([\d.]+) times", found.trial.seconds)
    own = " | ".join(taken.groups()) if taken else " | "
    difference = "" if found.difference is None else f"{found.difference:.0e}"
    verdict = {True: "passed", False: "FAILED", None: "no compiler"}[found.trial.passed]
    if step != STEP:
        verdict = f"{verdict}, steps of {step:g} s"
    return f"| {name} | {verdict} | {difference} | {foreign} | {own} | {_of_run(mech, step)} |"


def _made(mech: ks.Mechanism, folder: Path) -> tuple[Generated, float]:
    """Code with steps of `STEP`, or with shorter ones where the machine needs them."""
    try:
        return generate_c(mech, folder, step=STEP), STEP
    except UnstableStep as error:
        if not error.longest:
            raise
        return generate_c(mech, folder, step=error.longest), error.longest


def _foreign(folder: Path, name: str) -> str:
    """Symbols that the object wants of others than <math.h>; "none"."""
    command = find_compiler()
    if command is None or shutil.which("nm") is None:
        return "not looked at"
    built = folder / f"{name}.o"
    subprocess.run(
        [*command, "-std=c99", "-O2", "-c", str(folder / f"{name}.c"), "-o", str(built)], check=True, cwd=folder
    )
    shown = subprocess.run(["nm", "-u", str(built)], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in shown.splitlines() if line.split()}
    return ", ".join(sorted(names - MATH)) or "none"


def _of_run(mech: ks.Mechanism, step: float) -> str:
    """Nanoseconds of a step of a run, by processor time."""
    try:
        run = ks.simulate(mech, STEPS * step, method="rk4", step=step, output=STEPS * step)
    except ks.KinetostatError:
        return "does not come to its end"
    return f"{1e9 * run.statistics.cpu / STEPS:.0f}"


LONG = 100_000
MOVED = 0.1
"""rad, m, that loops move at least while their gaps are looked at."""
_LONG_MAIN = """#include "@name@.h"
#include <stdio.h>
int main(void)
{
    static @name@_state state;
    static @name@_input input;
    static @name@_output output;
    @name@_start(&state);
    for (int k = 0; k < @steps@; k++)
    {
        if ((@name@_step(&state, &input, &output) & (@NAME@_NOT_FINITE | @NAME@_OUT_OF_REACH)) != 0) { return 1; }
        if (k % 100 == 99)
        {
            for (int i = 0; i < @NAME@_NQ; i++) { (void)printf("%a ", state.q[i]); }
            (void)printf("\\n");
        }
    }
    return 0;
}
"""


def gap(name: str, model: ks.Model) -> str:
    """The largest residual (rad, m) of a machine's loops in `LONG` steps of its code, looked at each hundredth."""
    mech, command = ks.Mechanism(model), find_compiler()
    if command is None:
        return f"{name}: no compiler"
    with tempfile.TemporaryDirectory() as room:
        found = generate_c(mech, Path(room) / "code", step=STEP, trial=False)
        text = _LONG_MAIN.replace("@steps@", str(LONG)).replace("@NAME@", found.name.upper())
        (found.folder / "long.c").write_text(text.replace("@name@", found.name), encoding="utf-8")
        files = [f"{found.name}.c", "long.c", "-o", "long", "-lm"]
        subprocess.run([*command, "-std=c99", "-O2", *files], check=True, cwd=found.folder)
        shown = subprocess.run([str(found.folder / "long")], check=True, capture_output=True, text=True).stdout
    poses = [[float.fromhex(x) for x in line.split()] for line in shown.splitlines()]
    assert np.ptp(poses, axis=0).max() > MOVED
    return f"{name}: {max(np.max(np.abs(mech.constraint_residual(q))) for q in np.array(poses)):.0e}"


def long_machines() -> Iterator[tuple[str, ks.Model]]:
    """Machines whose loops iteration closes; the platform stands on springs in its legs."""
    yield "Bricard", problems.bricard().model
    model = ks.load(str(EXAMPLES / "stewart.kst"))
    legs = {each.name for each in model.expanded.joints if each.name.startswith("leg") and each.name.endswith("slide")}
    joints = tuple(
        dataclasses.replace(each, stiffness=5e3, damping=20.0) if each.name in legs else each
        for each in model.expanded.joints
    )
    yield "Stewart platform on springs", dataclasses.replace(model.expanded, joints=joints)


def machines() -> Iterator[tuple[str, ks.Model]]:
    """Examples, then problems with published numbers."""
    for example in examples():
        yield Path(example.path).stem, ks.load(str(example.path))
    for make in (problems.andrews_squeezer, problems.flyball_governor, problems.bricard, problems.double_pendulum):
        yield f"published {make.__name__}", make().model


def main(names: list[str]) -> None:
    """The table, and what comes after long times."""
    head = "| machine | test | difference from a run | beyond libm | ns per step, C | longest | ns per step, run |"
    lines = [head, "| --- | --- | ---: | --- | ---: | ---: | ---: |"]
    for name, model in machines():
        if not names or name in names:
            lines.append(row(name, model))
            print(lines[-1], flush=True)
    if not names:
        found = "; ".join(gap(name, model) for name, model in long_machines())
        lines += ["", f"Largest gap of loops closed by two iterations a step, over {LONG:,} steps, rad or m: {found}."]
        tell("Every machine", "c_code", lines, PAGE)


if __name__ == "__main__":
    main([each for each in sys.argv[1:] if not each.startswith("--")])
