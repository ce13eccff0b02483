"""Function that exports a machine as C code."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from core.functions.context import Context
from core.functions.function import Function, needs_continuous_signals, needs_mass, needs_motion
from core.functions.options import Choice, Flag, Integer, Number, OutputFolder, Text
from core.functions.results import Message, Report, Result, Table
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.c_code.generate import Generated

TITLES = {
    "rates": "accelerations",
    "reduced": "accelerations with analytic loop closure",
    "closed": "analytic loop closure",
    "masses": "factorisation of the mass matrix",
    "positions": "loop closure, one iteration",
    "speeds": "consistent speeds",
    "normalised": "quaternion normalisation",
    "settled": "massless junctions, one iteration",
    "beyond": "limits",
    "q_rate": "coordinate rates",
    "values": "outputs",
}
"""Labels of the functions that a time step consists of."""
HEADS = {"square roots": "Roots"}
"""Labels of the kinds of operations; a kind without a label is shown by its name."""


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
    """Write C code into a folder; if none is named, generate it in a temporary folder only to report its properties."""
    from core.c_code.generate import UnstableStep, generate_c

    def report_progress(text: str) -> None:
        context.step(stages.index(text) if text in stages else 0, len(stages), text)

    def generate(length: float) -> Generated:
        with tempfile.TemporaryDirectory() as room:
            return generate_c(
                context.mech,
                folder or Path(room) / "code",
                functions=_split_names_and_formulas(functions),
                outputs=_split_names_and_formulas(outputs) or None,
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
                progress=report_progress,
            )

    stages = ["Building expression graphs", "Computing the reference", "Building and testing the code"]
    try:
        found = generate(1e-3 if step is None else step)
    except UnstableStep as error:
        if step is not None or not 0.0 < error.longest < 1e-3:
            raise
        found = generate(error.longest)
    return _build_report(found, folder)


def _split_names_and_formulas(text: str) -> tuple[str, ...]:
    """Split names and formulas at semicolons or, outside of brackets, at commas."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == ";" or (letter == "," and depth == 0):
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts if part.strip())


def _build_report(generated: Generated, folder: str) -> Result:
    measured = ", with the measured time per step in README.md" if generated.trial.passed else ""
    where = f"Written to {folder}{measured}." if folder else "Nothing was written, since no folder is given."
    lines = [f"{where} {generated.trial.words}", *generated.notes]
    if generated.difference is not None:
        lines.append(
            f"At the end of the reference the program's own run differs by a fraction of {generated.difference:.2g}."
        )
    severity = "error" if generated.trial.passed is False else "done" if folder else "info"
    kinds = list(next(iter(generated.operations.values())))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (TITLES.get(name, name), *(float(counts[kind]) for kind in kinds))
        for name, counts in generated.operations.items()
    )
    columns = (Column("Function"), *(Column(HEADS.get(kind, kind[:1].upper() + kind[1:])) for kind in kinds))
    return Report(
        title="C code",
        parts=(
            Message(title="", text="\n".join(lines), severity=severity),
            Table(title="Operations per call", columns=columns, rows=rows),
        ),
    )


FUNCTIONS = (
    Function(
        "write_c_code",
        "C code",
        "Control",
        "The machine as stand-alone C99 code: a time step of fixed cost, and further functions of the "
        "machine.\n\n"
        "The code depends only on <math.h>: no memory is allocated, every loop has a constant bound, and all "
        "state is in a structure that the caller owns. Loops are closed in closed form where possible, "
        "otherwise by a fixed number of Gauss–Newton iterations. The folder also gets a test program that "
        "compares every sample with a reference run and measures the time per step (it is compiled and run "
        "at once if a compiler is available), a Makefile and a CMakeLists.txt. Without a folder nothing is "
        "written, but the code is tested and its operations are counted.",
        write_c_code,
        (
            OutputFolder(
                "folder",
                "Folder",
                "Folder for the code; empty: test the code and count its operations without writing it",
            ),
            Text(
                "functions",
                "Functions",
                "Further functions besides the time step, separated by commas: inverse_dynamics, mass_matrix, "
                "frame:tool, jacobian:tool …",
                joined=", ",
            ),
            Text(
                "outputs",
                "Outputs",
                "Formulas of signals that are computed after each step, separated by commas; empty: all sensors",
                joined=", ",
            ),
            Choice(
                "method",
                "Method",
                "Integration method",
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
                "Step size; empty: 1 ms, or less if the machine needs it",
                None,
                dimension="time",
                minimum=1e-9,
                maximum=10.0,
            ),
            Choice(
                "parameters",
                "Parameters",
                "Pass parameters as arguments, so that they can be changed at run time, or compile them in as "
                "constants",
                "arguments",
                ("arguments", "constants"),
            ),
            Choice("precision", "Precision", "Floating-point type of the code", "double", ("double", "float")),
            Integer(
                "closing",
                "Loop iterations",
                "Gauss–Newton iterations per time step for loops without a closed form",
                2,
                1,
                10,
            ),
            Choice(
                "factorisation",
                "Factorisation",
                "Solution of the constraint equations: rank-revealing (automatic) finds redundant constraints at "
                "each step, Cholesky assumes that there are none",
                "automatic",
                ("automatic", "Cholesky", "rank-revealing"),
            ),
            Flag("fmu", "FMU", "Also write a Functional Mock-up Unit (FMI 2.0, Co-Simulation)", False),
        ),
        needs=(needs_motion, needs_mass, needs_continuous_signals),
        apart=True,
        also=("C", "code generation", "embedded", "real time", "FMU", "FMI", "co-simulation", "S-function"),
    ),
)
