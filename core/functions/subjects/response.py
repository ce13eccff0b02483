"""Response of a robot to joint torques given as formulas (Robotica's GetInputTau, Response, SaveResponse)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import KinetostatError, ModelError
from core.functions.context import Context
from core.functions.function import Function, needs_mass, needs_motion
from core.functions.options import Choice, InputFile, Integer, Number, OutputFile, SymbolValues, Text, Values
from core.functions.results import Message, Motion, Report, Result, Table
from core.functions.subjects.robot_formulas import needs_open_chain, symbolic_robot
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.functions.subjects.torque_file import Torques
    from core.simulation import Run
    from core.symbolic.robot import Robot

SHOWN = 20
"""Number of time divisions in the table of a response."""


def response(
    context: Context,
    torques: str,
    formulas: str,
    values: dict[str, float],
    initial: dict[str, float],
    speeds: dict[str, float],
    begin: str,
    start: float,
    end: float,
    steps: int,
    file: str,
    increment: float,
) -> Result:
    """Simulate the motion from initial conditions under given torques."""
    import numpy as np

    from core.functions.subjects.torque_file import respond

    if not start < end:
        raise ModelError(
            f"The end, {end:g} s, is not after the start, {start:g} s.",
            where="option 'end'",
            remedy="Give a later end.",
        )
    context.step(0, 1, "equations of motion")
    robot, law = _derive_robot(context), _read_torques(context, torques, formulas)
    law.check(robot.n)
    q0, v0 = np.array(context.q), np.zeros(context.mech.nv)
    for variable in robot.chain.variables:
        q0[variable.q] = initial.get(variable.coordinate, q0[variable.q] if begin == "pose" else 0.0)
        v0[variable.v] = speeds.get(context.mech.v_names[variable.v], 0.0)
    run, ended = respond(
        context, robot, law, values, q0, v0, (start, end), steps, f"Set the largest number of steps to {10 * steps}."
    )
    parts: list[Result] = [
        Motion(title="Response", run=run, text=summarise_response(run, robot)),
        _response_table(run, robot),
    ]
    if ended:
        parts.insert(1, Message(text=ended, severity="error"))
    taken = context.assumed_values_text(values)
    if taken:
        parts.append(Message(text=taken, severity="hint"))
    if file:
        parts.append(Message(text=write_response(run, robot, file, increment)))
    return Report(title="Response", parts=tuple(parts))


def _derive_robot(context: Context) -> Robot:
    robot: Robot = symbolic_robot(context, "", "named", True)
    return robot


def _read_torques(context: Context, file: str, formulas: str) -> Torques:
    """Read the torques from a file, then those of typed formulas, which override them."""
    from core.functions.subjects.torque_file import NO_TORQUES, read_torque_file, read_torques

    found = read_torque_file(_resolve_path(context, file)) if file else NO_TORQUES
    return found.merged_with(read_torques(formulas)) if formulas.strip() else found


def _resolve_path(context: Context, file: str) -> str:
    """Return a path as given, or relative to the folder of the model's file if it exists only there."""
    path = os.path.expanduser(file)
    other = os.path.join(os.path.dirname(context.model.origin), path)
    return other if not os.path.exists(path) and os.path.exists(other) else path


def find_torque_files(context: Context) -> list[str]:
    """List torque files in the folder of the model's file and in its subfolder `torques`."""
    folder = Path(context.model.origin).parent if context.model.origin else None
    if folder is None or not folder.is_dir():
        return []
    return [str(path) for place in (folder, folder / "torques") for path in sorted(place.glob("*.tau"))]


def symbols_needing_values(context: Context, options: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the symbols that must have a value before the response can be computed, each with None or the value
    assumed for a parameter of the model."""
    from core.functions.subjects.torque_file import missing_symbols

    found: dict[str, float | None] = {}
    try:
        law = _read_torques(context, str(options.get("torques") or ""), str(options.get("formulas") or ""))
        found |= dict.fromkeys(missing_symbols(law, context, _derive_robot(context), {}))
    except KinetostatError:  # said when the function is run
        pass
    return found | {name: context.values[name] for name in context.assumed}


def summarise_response(run: Run, robot: Robot) -> str:
    """Summarise a response in one sentence."""
    symbols = ", ".join(v.symbol for v in robot.chain.variables)
    are = "are functions" if robot.n > 1 else "is a function"
    return f"Response from {run.time[0]:g} to {run.time[-1]:g} s: {run.statistics.steps} steps; {symbols} {are} of t."


def _response_table(run: Run, robot: Robot) -> Table:
    """Table of the joint variables and their rates at a few times."""
    from core.functions.text import without_rounding_errors

    columns = [Column("t", "time")]
    for v in robot.chain.variables:
        columns.append(Column(v.symbol, "angle" if v.turns else "length"))
    for v in robot.chain.variables:
        columns.append(Column(f"{v.symbol}'", "angular_velocity" if v.turns else "velocity"))
    chosen = sorted({round((len(run) - 1) * i / SHOWN) for i in range(SHOWN + 1)})
    places = [v.q for v in robot.chain.variables], [v.v for v in robot.chain.variables]
    q, rates = (
        without_rounding_errors(run.q[chosen][:, places[0]]),
        without_rounding_errors(run.v[chosen][:, places[1]]),
    )
    rows: list[tuple[Cell, ...]] = [
        (float(run.time[k]), *map(float, q[i]), *map(float, rates[i])) for i, k in enumerate(chosen)
    ]
    return Table(title="Joint variables", columns=tuple(columns), rows=tuple(rows))


def write_response(run: Run, robot: Robot, path: str, increment: float, ends: tuple[float, float] | None = None) -> str:
    """Write joint variables over time as columns t, q1 … (SIMNON, or CSV by suffix), or the whole run (.h5); return a
    message on what was written. Values between samples are interpolated by cubics through positions and speeds.

    time_range : s, default: the whole run. Raises FileError or ModelError.
    """
    import numpy as np
    from scipy.interpolate import CubicHermiteSpline

    from core.files.source import write_atomically

    if path.lower().endswith((".h5", ".hdf5")):
        run.save(path)
        return f"Run written to {path}."
    if not increment > 0.0:
        raise ModelError(
            f"The increment {increment:g} is not a positive number.",
            where="option 'increment'",
            remedy="Write a positive number of seconds.",
        )
    first, last = float(run.time[0]), float(run.time[-1])
    begin, end = ends or (first, last)
    if not first - 1e-9 <= begin < end <= last + 1e-9:
        raise ModelError(
            f"The response runs from {first:g} to {last:g} s, not from {begin:g} to {end:g} s.",
            where="times",
            remedy="Save a range within the response, or run Response for longer.",
        )
    count = (end - begin) / increment
    if count > MOST_ROWS:
        raise ModelError(
            f"{count:.3g} rows are too many.",
            where="option 'increment'",
            remedy=f"Write a larger increment; {MOST_ROWS} rows at most.",
        )
    grid = begin + increment * np.arange(int(count + 1e-9) + 1)
    variables = robot.chain.variables
    between = [CubicHermiteSpline(run.time, run.q[:, v.q], run.v[:, v.v])(grid) for v in variables]
    rows = np.column_stack([grid, *between])
    names = ["t", *(v.symbol for v in variables)]
    mark, head = (",", ",".join(names)) if path.lower().endswith(".csv") else (" ", '" ' + " ".join(names))
    lines = [head, *(mark.join(repr(float(x)) for x in row) for row in rows), ""]
    write_atomically(path, "\n".join(lines).encode())
    return f"{len(rows)} rows written to {path}."


MOST_ROWS = 1_000_000
"""Largest number of rows in the file of a response."""
INCREMENT = 0.1
"""Default time step between rows of a file, s (as in Robotica)."""
MOST_STEPS = 1_000_000

FUNCTIONS = (
    Function(
        "response",
        "Response to torques",
        "Dynamics",
        "Motion of the robot from initial conditions under joint torques given as formulas.\n\n"
        "Torques are read from a file or typed: user variables and tau[[1]] = … as functions of t, q1[t], "
        "q1'[t], parameters, M[[1,1]], CM[[1,2]], G[[1]]; definitions may be in any order. Without torques "
        "the robot moves under gravity alone. Symbols without a value are reported and get input fields. The "
        "result is a run like any other: it can be played, plotted, compared and saved. A file gets the "
        "columns t, q1 … as SIMNON (.sim) or CSV, or the whole run (.h5).",
        response,
        (
            InputFile(
                "torques",
                "Torque file",
                "File with formulas tau[[1]] = …; empty: none",
                suffixes=(".tau", ".txt", ".m"),
                near=find_torque_files,
            ),
            Text(
                "formulas",
                "Formulas",
                "Typed torques, e.g. tau[[1]] = -k q1'[t]; k = 2; they override those of the file",
            ),
            SymbolValues(
                "values",
                "Values",
                "Values of parameters and of symbols in the torque formulas",
                needed=symbols_needing_values,
            ),
            Values("initial", "Start pose", "Coordinates at the start, by name", of="coordinates", rate=0),
            Values("speeds", "Start speeds", "Speeds at the start, by name; zero if not given", rate=1),
            Choice(
                "begin",
                "Other coordinates start at",
                "Initial value of coordinates that are not given: zero, or that of the present pose",
                "zero",
                ("zero", "pose"),
            ),
            Number("start", "Start", "Time at which the response starts", 0.0, "time"),
            Number("end", "End", "Time at which the response ends", 10.0, "time"),
            Integer("steps", "Largest number of steps", "Largest number of integration steps", 100_000, 1, MOST_STEPS),
            OutputFile(
                "file",
                "Save to",
                "File for the joint variables (SIMNON or CSV) or for the whole run (.h5); empty: none",
                "",
                (".sim", ".csv", ".h5"),
            ),
            Number("increment", "Increment", "Time between rows of the file", INCREMENT, "time", 1e-9),
        ),
        (needs_motion, needs_mass, needs_open_chain),
        robotica="GetInputTau, Response, SaveResponse",
    ),
)
