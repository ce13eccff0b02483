"""Files that accompany NAME.h, NAME.c and the test program: build files and a README."""

from __future__ import annotations

from core.c_code.plan import Plan


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
