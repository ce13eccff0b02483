"""Function that exports a machine as C code."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from core.functions.context import Context
from core.functions.function import Function, needs_mass, needs_motion
from core.functions.options import Choice, Flag, Integer, Number, OutputFolder, Text
from core.functions.results import Message, Report, Result, Table
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.c_code.generate import Generated

TITLES = {
    "rates": "accelerations",
    "reduced": "accelerations by closed forms",
    "closed": "closing by closed forms",
    "masses": "factors of masses",
    "positions": "closing, one step",
    "speeds": "consistent speeds",
    "normalised": "unit quaternions",
    "settled": "junctions, one step",
    "beyond": "limits",
    "q_rate": "rates of coordinates",
    "values": "outputs",
}
"""Labels of the functions that make up a time step."""
HEADS = {"square roots": "Roots"}
"""Labels of the kinds of operations; default: their names."""


def write_c_code(
    context: Context,
    folder: str,
    functions: str,
    outputs: str,
    method: str,
    step: float | None,
    parameters: str,
    precision: str,
    closing: int,
    factorisation: str,
    fmu: bool,
) -> Result:
    """Write C code into a folder, or into a temporary folder only to report its properties if none is named."""
    from core.c_code.generate import UnstableStep, generate_c

    def progress(text: str) -> None:
        context.step(stages.index(text) if text in stages else 0, len(stages), text)

    def made(length: float) -> Generated:
        with tempfile.TemporaryDirectory() as room:
            return generate_c(
                context.mech,
                folder or Path(room) / "code",
                functions=_split_list(functions),
                outputs=_split_list(outputs) or None,
                method=method,
                step=length,
                parameters=parameters,
                values=dict(context.p) or None,
                q0=context.q,
                precision=precision,
                closing=closing,
                factorisation=factorisation,
                fmi="2.0" if fmu else None,
                optimised=bool(folder),
                progress=progress,
            )

    stages = ["Tracing the machine", "Making the reference", "Building and trying the code"]
    try:
        found = made(1e-3 if step is None else step)
    except UnstableStep as error:
        if step is not None or not 0.0 < error.longest < 1e-3:
            raise
        found = made(error.longest)
    return _report(found, folder)


def _split_list(text: str) -> tuple[str, ...]:
    """Split names and formulas at semicolons or, outside of brackets, at commas."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == ";" or (letter == "," and depth == 0):
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts if part.strip())


def _report(found: Generated, folder: str) -> Result:
    measured = ", with how long a step takes here in README.md" if found.trial.passed else ""
    where = f"Written to {folder}{measured}." if folder else "Nothing was written: no folder is named."
    lines = [f"{where} {found.trial.words}", *found.notes]
    if found.difference is not None:
        lines.append(
            f"The program's own run differs by {found.difference:.2g} of its size at the end of the reference."
        )
    severity = "error" if found.trial.passed is False else "done" if folder else "info"
    kinds = list(next(iter(found.operations.values())))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (TITLES.get(name, name), *(float(counts[kind]) for kind in kinds)) for name, counts in found.operations.items()
    )
    columns = (Column("Function"), *(Column(HEADS.get(kind, kind[:1].upper() + kind[1:])) for kind in kinds))
    return Report(
        title="C code",
        parts=(
            Message(title="", text="\n".join(lines), severity=severity),
            Table(title="Operations of one call", columns=columns, rows=rows),
        ),
    )


FUNCTIONS = (
    Function(
        "write_c_code",
        "C code",
        "Control",
        "The machine as stand-alone C99: a step of fixed cost, and functions of it.\n\nThe code needs nothing but "
        "<math.h>: nothing is allocated, no loop is without a constant bound, all state lies in a structure that the "
        "caller owns. Loops close in closed form where they have one, else by a fixed number of Gauss–Newton steps. "
        "Beside it lie a program that compares every sample of a reference and measures time (it is built and run at "
        "once if there is a compiler), a Makefile and CMakeLists.txt. Without a folder nothing is written, but the "
        "code is tried and its operations are counted.",
        write_c_code,
        (
            OutputFolder("folder", "Folder", "Where the code goes; empty: nowhere"),
            Text(
                "functions",
                "Functions",
                "Beside the step, with commas: inverse_dynamics, mass_matrix, frame:tool, jacobian:tool …",
                joined=", ",
            ),
            Text(
                "outputs",
                "Outputs",
                "Formulas of signals after each step, with commas; empty: all sensors",
                joined=", ",
            ),
            Choice(
                "method",
                "Method",
                "How a step is taken",
                "rk4",
                ("rk4", "heun", "euler", "semi_implicit", "ros2"),
                {
                    "rk4": "Runge–Kutta 4",
                    "heun": "Heun",
                    "euler": "Explicit Euler",
                    "semi_implicit": "Semi-implicit Euler",
                    "ros2": "Rosenbrock 2 (stiff machines)",
                },
            ),
            Number(
                "step",
                "Step",
                "Length of a step; empty: 1 ms, or less where that is too long",
                None,
                dimension="time",
                minimum=1e-9,
                maximum=10.0,
            ),
            Choice(
                "parameters",
                "Parameters",
                "Whether they can be changed while the code runs",
                "arguments",
                ("arguments", "constants"),
            ),
            Choice("precision", "Precision", "Type of numbers", "double", ("double", "float")),
            Integer("closing", "Closing", "Gauss–Newton steps that close loops without a closed form", 2, 1, 10),
            Choice(
                "factorisation",
                "Factorisation",
                "How their equations are solved: rank-revealing (automatic) finds redundant constraints at each step, "
                "Cholesky takes all for independent",
                "automatic",
                ("automatic", "Cholesky", "rank-revealing"),
            ),
            Flag("fmu", "FMU", "A Functional Mock-up Unit (FMI 2.0, Co-Simulation) next to the code", False),
        ),
        needs=(needs_motion, needs_mass),
        apart=True,
        also=("C", "code generation", "embedded", "real time", "FMU", "FMI", "co-simulation", "S-function"),
    ),
)
