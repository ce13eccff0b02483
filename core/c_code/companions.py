"""Building of generated code: build files and a README next to NAME.h and NAME.c, C compilers of this computer, and
test builds.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from core.apart.starting import ROOT, Finished, environment, finished, program, python
from core.c_code.plan import Plan

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
OPTIMISED, PLAIN = "-O2", "-O0"
"""Compiler options for code that is kept and timed, and for code that is only tested: a third of the compile time,
identical results."""
LONGEST, TELLING = 300.0, 10.0
"""Time limits, s: for a compiler or the test program, and for printing the compiler's version."""


def makefile(plan: Plan) -> str:
    """Return the Makefile."""
    name = plan.name
    return f"""# Made by Kinetostat. make: build and try {name}.c
CC ?= cc
CFLAGS ?= -std=c99 -O2 -Wall -Wextra -Wconversion -Wshadow -pedantic

test: {name}_test
\t./{name}_test

{name}_test: {name}.c {name}.h {name}_test.c
\t$(CC) $(CFLAGS) {name}.c {name}_test.c -o $@ -lm

clean:
\trm -f {name}_test

.PHONY: test clean
"""


def cmake(plan: Plan) -> str:
    """Return CMakeLists.txt."""
    name = plan.name
    return f"""# Made by Kinetostat.
cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)

add_library({name} STATIC {name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
add_executable({name}_test {name}_test.c)
target_link_libraries({name}_test {name})
if(UNIX)
  target_link_libraries({name} PUBLIC m)
endif()

enable_testing()
add_test(NAME {name} COMMAND {name}_test ${{CMAKE_CURRENT_SOURCE_DIR}}/{name}_reference.csv)
"""


def readme(plan: Plan, difference: float | None, tried: str) -> str:
    """Return README.md; difference : to Kinetostat's own simulation, tried : output of the compiler."""
    name, m = plan.name, plan.machine
    notes = "\n".join(f"- {note}" for note in plan.notes)
    return f"""# {plan.title} as C

Made by Kinetostat. The generated code belongs to whoever made it.

| file | what it is |
| --- | --- |
| `{name}.h`, `{name}.c` | the machine: C99 and `<math.h>`, nothing else |
| `{name}_test.c`, `{name}_reference.csv` | a program that compares every sample of a reference and measures time |
| `Makefile`, `CMakeLists.txt` | either builds the library and the test |

{m.nq} coordinates, {m.nv} speeds, {m.nx} states of force elements, {len(plan.parameters)} parameters. Units are SI.

## Use

```c
{name}_state state;
{name}_input input = {{{{0}}}};
{name}_output output;
{name}_start(&state);
status = {name}_step(&state, &input, &output);   /* {plan.h:g} s */
```

Nothing is allocated, there are no recursions, no global variables but constants, and no loops without a constant bound.
All state lies in the structure that the caller owns, so that several machines can run beside one another, also in
interrupts. A step costs the same each time; the number of operations of each function stands in `{name}.h`.
{_closing_note(plan)}
## What is tried

{tried}

{_comparison_note(plan, difference)}

{notes}

## Rules

Kept: one declaration a line, braces always, every value assigned once, no implicit conversions, one exit a function, no
names but those with the prefix `{name}_` outside. Not kept: conditional expressions nest (selection instead of
branches), and constants are hexadecimal floating-point numbers, which C90 does not know.
"""


def _comparison_note(plan: Plan, difference: float | None) -> str:
    """Describe how the reference compares with Kinetostat's own simulation."""
    if difference is None:
        return (
            "There is no simulation by Kinetostat to compare with: it lacks this method, or the code smooths "
            "friction and stops."
        )
    return (
        f"Kinetostat's own simulation (method {plan.method.like}, the same steps) differs from the reference by "
        f"{difference:.2g} of its size at the end."
    )


def _closing_note(plan: Plan) -> str:
    if plan.functions.positions is None:
        return ""
    how = "in closed form" if plan.functions.closed is not None else f"by {plan.closing} Gauss–Newton steps"
    if plan.machine.certain and plan.functions.closed is None:
        how += ", with constraint rows assumed independent (otherwise a step is `NOT_FINITE`)"
    return (
        f"\nAfter each step loops are closed {how}, with the least change in the metric of the masses, then speeds are "
        "made consistent. `NEAR_SINGULAR` means that constraints are nearly dependent; `OUT_OF_REACH` that loops "
        "did not close and the state was left unchanged.\n"
    )


class Trial(NamedTuple):
    """Result of building and running the test; `passed` is None without a compiler."""

    passed: bool | None
    words: str
    """Result as a text for the user."""
    seconds: str = ""
    """Duration of the steps on this computer as a text for the user; it varies from run to run."""


def compiler() -> list[str] | None:
    """Return the command of a C compiler; None if there is none."""
    for name in ("cc", "gcc", "clang"):
        if found := program(name):
            return [found]
    if importlib.util.find_spec("ziglang") is not None:
        return python("ziglang", "cc")
    return None


def tried(folder: Path, name: str, progress: Callable[[str], None], called: str, optimised: bool = True) -> Trial:
    """Build NAME_test in a folder, shown to the user as `called`, and run it; progress is called repeatedly."""
    command = compiler()
    how = f"`make` in {called}, or `cc -std=c99 -O2 {name}.c {name}_test.c -o {name}_test -lm && ./{name}_test`"
    if command is None:
        return Trial(
            None,
            f"Not yet tested, because there is no C compiler here (pip install ziglang provides one). Run {how}.",
        )
    trial = folder / f"{name}_test"
    files = [str(folder / f"{name}.c"), str(folder / f"{name}_test.c")]
    try:
        flags = (*STRICT, OPTIMISED if optimised else PLAIN)
        built = ran([*command, *flags, *files, "-o", str(trial), "-lm"], folder, progress)
        if built.code:
            return Trial(
                False, f"The compiler ({_version(command)}) rejected the code:\n{text_of(built.errors)[-2000:]}"
            )
        run = ran([str(trial), str(folder / f"{name}_reference.csv")], folder, progress)
    except OSError as error:
        return Trial(False, f"The code could not be tested: {error}. Run {how}.")
    finally:
        trial.unlink(missing_ok=True)
    verdict, _, seconds = text_of(run.output).strip().partition("\n")
    verdict = verdict or f"the program ended with status {run.code}"
    return Trial(run.code == 0, f"{_version(command)}: {verdict}.", seconds)


def ran(
    command: list[str], folder: Path, progress: Callable[[str], None] = lambda _: None, limit: float = LONGEST
) -> Finished:
    """Run a command; an exception raised by `progress` ends it and its children. Raises OSError if it cannot be started
    or exceeds `limit` s."""
    return finished(
        command, folder, limit=limit, own=environment(), look=lambda: progress("Building and testing the code")
    )


def text_of(content: bytes) -> str:
    """Decode the output of a compiler or program."""
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def _version(command: list[str]) -> str:
    try:
        lines = text_of(ran([*command, "--version"], ROOT, limit=TELLING).output).splitlines()
    except OSError:
        lines = []
    return lines[0] if lines else " ".join(command)
