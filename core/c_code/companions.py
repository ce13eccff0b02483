"""Building of generated code: build files and a README next to NAME.h and NAME.c, C compilers of this computer, and
test builds.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from core.apart.starting import ROOT, ProcessResult, find_program, module_command, process_environment, run_command
from core.c_code.plan import ExportPlan

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
OPTIMISED, PLAIN = "-O2", "-O0"
"""Compiler options for code that is kept and timed, and for code that is only tested: a third of the compile time,
identical results."""
LONGEST, TELLING = 300.0, 10.0
"""Time limits, s: for a compiler or the test program, and for printing the compiler's version."""


def write_makefile(plan: ExportPlan) -> str:
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


def write_cmake_lists(plan: ExportPlan) -> str:
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


def write_readme(plan: ExportPlan, difference: float | None, compiler_output: str) -> str:
    """Return README.md. difference : relative difference from Kinetostat's own simulation; compiler_output : output of
    the compiler."""
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
{_loop_closure_note(plan)}
## What is tried

{compiler_output}

{_comparison_note(plan, difference)}

{notes}

## Rules

Kept: one declaration a line, braces always, every value assigned once, no implicit conversions, one exit a function, no
names but those with the prefix `{name}_` outside. Not kept: conditional expressions nest (selection instead of
branches), and constants are hexadecimal floating-point numbers, which C90 does not know.
"""


def _comparison_note(plan: ExportPlan, difference: float | None) -> str:
    """Describe how the reference compares with Kinetostat's own simulation."""
    if difference is None:
        return (
            "Kinetostat has no simulation to compare with, because it lacks this method or the code smooths "
            "friction and stops."
        )
    return (
        f"Kinetostat's own simulation (method {plan.method.like}, the same steps) differs from the reference by "
        f"{difference:.2g} of its size at the end."
    )


def _loop_closure_note(plan: ExportPlan) -> str:
    if plan.functions.positions is None:
        return ""
    how = "analytically" if plan.functions.closed is not None else f"by {plan.closing} Gauss–Newton steps"
    if plan.machine.certain and plan.functions.closed is None:
        how += ", with constraint rows assumed independent (otherwise a step is `NOT_FINITE`)"
    return (
        f"\nAfter each step loops are closed {how}, by the smallest change in the mass metric; then speeds are "
        "made consistent. `NEAR_SINGULAR` means that constraints are nearly dependent; `OUT_OF_REACH` that loops "
        "did not close and the state was left unchanged.\n"
    )


class TestBuild(NamedTuple):
    """Result of building and running the test program; `passed` is None if there is no compiler."""

    passed: bool | None
    words: str
    """Result as a text for the user."""
    seconds: str = ""
    """Duration of the steps on this computer as a text for the user; it varies from run to run."""


def find_compiler() -> list[str] | None:
    """Return the command of a C compiler; None if there is none."""
    for name in ("cc", "gcc", "clang"):
        if found := find_program(name):
            return [found]
    if importlib.util.find_spec("ziglang") is not None:
        return module_command("ziglang", "cc")
    return None


def build_and_test(
    folder: Path, name: str, progress: Callable[[str], None], displayed_folder: str, optimised: bool = True
) -> TestBuild:
    """Build NAME_test in a folder, displayed to the user as `displayed_folder`, and run it; `progress` is called
    repeatedly meanwhile."""
    command = find_compiler()
    how = (
        f"`make` in {displayed_folder}, or `cc -std=c99 -O2 {name}.c {name}_test.c -o {name}_test -lm && ./{name}_test`"
    )
    if command is None:
        return TestBuild(
            None,
            f"Not yet tested, because there is no C compiler here (pip install ziglang provides one). Run {how}.",
        )
    trial = folder / f"{name}_test"
    files = [str(folder / f"{name}.c"), str(folder / f"{name}_test.c")]
    try:
        flags = (*STRICT, OPTIMISED if optimised else PLAIN)
        built = ran([*command, *flags, *files, "-o", str(trial), "-lm"], folder, progress)
        if built.code:
            return TestBuild(
                False,
                f"The compiler ({_compiler_version(command)}) rejected the "
                f"code:\n{decode_output(built.errors)[-2000:]}",
            )
        run = ran([str(trial), str(folder / f"{name}_reference.csv")], folder, progress)
    except OSError as error:
        return TestBuild(False, f"The code could not be tested: {error}. Run {how}.")
    finally:
        trial.unlink(missing_ok=True)
    verdict, _, seconds = decode_output(run.output).strip().partition("\n")
    verdict = verdict or f"the program ended with status {run.code}"
    return TestBuild(run.code == 0, f"{_compiler_version(command)}: {verdict}.", seconds)


def ran(
    command: list[str], folder: Path, progress: Callable[[str], None] = lambda _: None, limit: float = LONGEST
) -> ProcessResult:
    """Run a command; an exception raised by `progress` ends it and its children. Raises OSError if it cannot be started
    or exceeds `limit` s."""
    return run_command(
        command,
        folder,
        timeout=limit,
        environment_variables=process_environment(),
        poll=lambda: progress("Building and testing the code"),
    )


def decode_output(content: bytes) -> str:
    """Decode the output of a compiler or program."""
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def _compiler_version(command: list[str]) -> str:
    try:
        lines = decode_output(ran([*command, "--version"], ROOT, limit=TELLING).output).splitlines()
    except OSError:
        lines = []
    return lines[0] if lines else " ".join(command)
