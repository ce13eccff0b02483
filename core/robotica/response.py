"""Robotica functions for torques and the response of the robot, and for traces that drive the robot or are plotted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.tool_frame import tool_frame
from core.errors import ExpressionError, ModelError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import Call, LeftRightPair, ListExpression, Name, QuotedString, Tree, error_at
from core.functions.results import Message, Motion, PoseSequence, Report, Result, Table
from core.functions.subjects.response import INCREMENT, summarise_response, write_response
from core.functions.subjects.torque_file import NO_TORQUES, Torques, missing_symbols, read_torque_file, respond
from core.functions.text import Column
from core.robotica.equations import report_parts
from core.robotica.pictures import apply_display_options, print_files
from core.robotica.workspace import Workspace

Array = NDArray[np.float64]

if TYPE_CHECKING:
    from core.simulation import Run
    from core.symbolic.robot import Robot

STEPS = 500
"""Largest number of steps that Robotica accepts; a Response without a number of steps may take more here."""
MOST_STEPS = 1_000_000
STEP = 0.2
"""Default time step in seconds between the arms that SimDrive draws."""
MOST_ARMS = 200
"""Largest number of arms that SimDrive draws; small steps are enlarged, or the end of the motion is left out."""
MOST_ASPECT = 100.0
ROWS = 20
"""Approximate number of plotted rows that are listed."""


def read_torques(workspace: Workspace, file: Tree | None = None) -> Result:
    """Read a torque file; without a file, set all torques to zero."""
    from core.robotica.command import string_value

    if file is None:
        workspace.state.torques = None
        return Message(title="Input torques", text="All torques are zero.")
    torques = read_torque_file(workspace.path(string_value(file)))
    torques.check(workspace.robot.n)
    _symbols_without_value(workspace, torques)
    workspace.state.torques = torques
    return display_torques(workspace)


def display_torques(workspace: Workspace) -> Result:
    """Show the torques, and the symbols in them that have no value."""
    torques = workspace.state.torques or NO_TORQUES
    lines = torques.display(workspace.robot.n)
    lines += [f"{name} = {meaning.format_tree(tree)}" for name, (tree, _) in torques.variables.items()]
    lacking = _symbols_without_value(workspace, torques)
    if lacking:
        lines.append(f"Without a value: {', '.join(lacking)}. Assign one, as in {lacking[0]} = 1.")
    return Message(title="Input torques", text="\n".join(lines), severity="warning" if lacking else "done")


def _symbols_without_value(workspace: Workspace, torques: Torques) -> list[str]:
    return missing_symbols(torques, workspace.context(), workspace.robot, workspace.state.given)


def simulate_response(workspace: Workspace, times: Tree, conditions: Tree | None = None) -> Result:
    """Integrate the equations of motion from the initial conditions."""
    begin, end, steps = _read_time_range(workspace, times)
    context, robot, state = workspace.context(), workspace.robot, workspace.state
    q0, v0 = _read_initial_conditions(workspace, conditions, robot, begin)
    first, last, *_ = map(meaning.format_for_message, meaning.list_items(times))
    more = f"Allow more steps: {{{first}, {last}, {10 * steps}}}."
    run, ended = respond(context, robot, state.torques, state.given, q0, v0, (begin, end), steps, more)
    state.run = run
    motion = Motion(title="Response", run=run, text=summarise_response(run, robot))
    if not ended:
        return motion
    return Report(title="Response", parts=(motion, Message(text=ended, severity="error")))


def _list_coordinate_names(robot: Robot) -> str:
    return ", ".join(v.symbol for v in robot.chain.variables)


def _read_time_range(workspace: Workspace, tree: Tree) -> tuple[float, float, int]:
    parts = [workspace.evaluate_number(part) for part in meaning.list_items(tree)]
    if not 2 <= len(parts) <= 3 or not parts[0] < parts[1]:
        form = "Write {start, end} or {start, end, steps}."
        raise error_at(
            tree,
            f"'{meaning.format_for_message(tree)}' is not a range of times.",
            "The end must be after the start." if len(parts) in (2, 3) else form,
        )
    steps = parts[2] if len(parts) == 3 else MOST_STEPS
    if steps < 1 or steps != int(steps):
        raise error_at(tree, f"{steps:g} is not a valid number of steps.", f"Write a whole number such as {STEPS}.")
    return parts[0], parts[1], int(steps)


def _read_initial_conditions(
    workspace: Workspace, tree: Tree | None, robot: Robot, start_time: float
) -> tuple[Any, Any]:
    """Return (q0, v0) at the time `start_time` from {q1[0] == 0, q1'[0] == 0, …} or a table {{q1, 0, 0}, …}; omitted
    values are zero."""
    context = workspace.context()
    q0, v0 = np.array(context.mech.rest(context.p)), np.zeros(context.mech.nv)
    places = {v.symbol: v for v in robot.chain.variables}
    for variable in places.values():
        q0[variable.q] = 0.0
    met: set[tuple[str, int]] = set()
    for condition in meaning.list_items(tree) if tree is not None else ():
        for name, primes, amount in _read_initial_condition(workspace, condition, start_time):
            if (name, primes) in met:
                raise error_at(
                    condition,
                    f"'{meaning.format_for_message(condition)}' is a second condition for {name}{chr(39) * primes}.",
                    "Give only one condition for each.",
                )
            met.add((name, primes))
            if name not in places:
                raise error_at(
                    condition,
                    f"'{name}' is not a joint coordinate.",
                    f"The coordinates are {_list_coordinate_names(robot)}.",
                )
            if primes:
                v0[places[name].v] = amount
            else:
                q0[places[name].q] = amount
    return q0, v0


def _read_initial_condition(workspace: Workspace, tree: Tree, start_time: float) -> Sequence[tuple[str, int, float]]:
    if isinstance(tree, LeftRightPair) and tree.operator == "==" and isinstance(tree.left, Call):
        head = tree.left.head
        if len(tree.left.arguments) == 1 and head.primes <= 1:
            if workspace.evaluate_number(tree.left.arguments[0]) != start_time:
                name = head.name + "'" * head.primes
                raise error_at(
                    tree,
                    f"'{meaning.format_for_message(tree)}' is not a condition at the start of the response, t = "
                    f"{start_time:g}.",
                    f"Write {name}[{start_time:g}] == {meaning.format_for_message(tree.right)}.",
                )
            return [(head.name, head.primes, workspace.evaluate_number(tree.right))]
    if isinstance(tree, ListExpression) and 2 <= len(tree.items) <= 3 and isinstance(tree.items[0], Name):
        numbers = [workspace.evaluate_number(item) for item in tree.items[1:]]
        return [(tree.items[0].name, primes, amount) for primes, amount in enumerate(numbers)]
    raise error_at(
        tree,
        f"'{meaning.format_for_message(tree)}' is not an initial condition.",
        "Write q1[0] == 0, q1'[0] == 0, or {q1, position, speed}.",
    )


def _current_run(workspace: Workspace) -> Run:
    if workspace.state.run is None:
        raise ModelError("There is no response or trace yet.", remedy="Call Response or SimDrive first.")
    found: Run = workspace.state.run
    return found


def save_response(workspace: Workspace, file: Tree, times: Tree | None = None, increment: Tree | None = None) -> Result:
    """Write the response to a SIMNON file, or to CSV or a complete run, depending on the suffix."""
    from core.robotica.command import string_value

    run = _current_run(workspace)
    ends = None if times is None else _read_time_range(workspace, times)[:2]
    step = INCREMENT if increment is None else workspace.evaluate_number(increment)
    text = write_response(run, workspace.robot, workspace.target(string_value(file)), step, ends)
    return Message(title="Response", text=text)


def simulate_drive(workspace: Workspace, file: Tree | None = None, options: Tree | None = None) -> Result:
    """Read a trace (SIMNON or CSV) and move the robot along it; "*" means the data in memory."""
    from core.robotica.command import string_value

    found = meaning.read_options(options)
    if file is not None and string_value(file) != "*":
        workspace.state.run = read_trace(workspace, workspace.path(string_value(file)))
    run = _current_run(workspace)
    motion = Motion(
        title="Trace",
        run=run,
        trace="trace" in found,
        animate="animate" in found,
        text=f"{len(run.time)} rows from {run.time[0]:g} to {run.time[-1]:g} s.",
    )
    if not found.keys() & {"arm", "frame", "print", "xprint", "mprint"}:
        return motion
    poses = _arm_poses(workspace, run, found) if "arm" in found else _final_pose(run)
    trajectories = (np.asarray(run[f"{tool_frame(run.model)}.position"]),) if "trace" in found else ()
    return Report(
        title="Trace",
        parts=(motion, *report_parts(apply_display_options(workspace, poses, found, "simdrive", trajectories))),
    )


def _final_pose(run: Run) -> PoseSequence:
    """Return the pose of the arm at the end of the trace."""
    return PoseSequence(
        title="End of the trace", q=(tuple(map(float, run.q[-1])),), p=(run.settings.parameters,), display="single"
    )


def _arm_poses(workspace: Workspace, run: Run, options: Mapping[str, Any]) -> PoseSequence:
    """Return the arm at every time step, or whenever the tool has moved by a given distance; at most `MOST_ARMS` poses,
    shown in one picture."""
    by_length = "distance" in options
    step = options["distance"] if by_length else options.get("step", options.get("number", STEP))
    if not isinstance(step, float):
        step = workspace.evaluate_number(step)
    if not step > 0.0:
        raise ExpressionError(
            f"{step:g} is not a valid step between arms.",
            remedy="Write a positive number: seconds, or metres of the tool's path.",
        )
    times = _times_by_distance(run, step) if by_length else _times_by_step(run, step)
    q = tuple(tuple(map(float, run.at(t))) for t in times)
    title = f"Arm every {step:g} m of the tool's path" if by_length else f"Arm every {step:g} s"
    return PoseSequence(title=title, q=q, p=(run.settings.parameters,) * len(q))


def _times_by_step(run: Run, step: float) -> Array:
    begin, end = float(run.time[0]), float(run.time[-1])
    step = max(step, (end - begin) / MOST_ARMS)
    return begin + step * np.arange(int((end - begin) / step + 1e-9) + 1, dtype=np.float64)


def _times_by_distance(run: Run, step: float) -> Array:
    """Return the start time, and each time at which the tool is farther than `step` from where it was last drawn."""
    places = np.asarray(run[f"{tool_frame(run.model)}.position"])
    chosen = [0]
    for k in range(1, len(places)):
        if np.linalg.norm(places[k] - places[chosen[-1]]) >= step * (1.0 - 1e-9) and len(chosen) <= MOST_ARMS:
            chosen.append(k)
    return np.asarray(run.time[chosen])


def read_trace(workspace: Workspace, path: str) -> Run:
    """Read a recorded trace as a run of the robot. Raises FileError naming line and column."""
    from core.mechanics.elements.recorded_signals import read_table
    from core.simulation.run.recorded import build_recorded_run

    names, numbers = read_table(path)
    context = workspace.context()
    return build_recorded_run(
        context.mech, context.p, names, numbers, workspace.coordinates(context), os.path.basename(path)
    )


def plot_variables(workspace: Workspace, x: Tree, ys: Tree, options: Tree | None = None) -> Result:
    """Plot variables against another variable."""
    run = _current_run(workspace)
    names = [_channel_name(workspace, tree) for tree in (x, *meaning.list_items(ys))]
    labels = [meaning.format_tree(tree) for tree in (x, *meaning.list_items(ys))]
    found = meaning.read_options(options)
    aspect = found.get("aspect", found.get("number", 0.0))
    aspect = aspect if isinstance(aspect, float) else workspace.evaluate_number(aspect)
    if not 0.0 <= aspect <= MOST_ASPECT:
        raise ExpressionError(
            f"{aspect:g} is not a valid ratio of height to width.", remedy="Write a positive number such as 0.7."
        )
    columns = [np.asarray(run[name]) for name in names]
    for label, column in zip(labels, columns, strict=True):
        if column.ndim != 1:
            raise ExpressionError(f"'{label}' has several components.", remedy="Give one of them, for example with .x.")
    table = _plotted_rows_table(labels, columns)
    curves = tuple((names[0], name) for name in names[1:])
    files = tuple(workspace.target(file) for file in print_files(found, "simplot"))
    text = f"{len(run.time)} samples plotted." + (f" Written to {', '.join(files)}." if files else "")
    motion = Motion(title=table.title, run=run, curves=curves, aspect=aspect, files=files, text=text)
    return Report(title=table.title, parts=(motion, table))


def _plotted_rows_table(labels: Sequence[str], columns: Sequence[Array]) -> Table:
    """Return about `ROWS` of the plotted rows as a table."""
    count = len(columns[0])
    stride = max(1, count // ROWS)
    rows = tuple(tuple(float(c[k]) for c in columns) for k in range(0, count, stride))
    note = f"one row for every {stride} of {count} samples" if stride > 1 else ""
    return Table(
        title=f"{', '.join(labels[1:])} against {labels[0]}", columns=tuple(map(Column, labels)), rows=rows, note=note
    )


def _channel_name(workspace: Workspace, tree: Tree) -> str:
    """Return the channel of a run for a name: t, q1, q1', Dq1, tau1, or a channel name in quotation marks."""
    if isinstance(tree, QuotedString):
        return tree.value
    named = tree
    if isinstance(tree, Call):
        number = "".join(map(meaning.format_tree, tree.arguments)) if tree.head.name == "tau" else ""
        tree = Name(f"{tree.head.name}{number}", tree.head.primes, tree.at)
    if not isinstance(tree, Name):
        raise error_at(tree, f"'{meaning.format_for_message(tree)}' is not a variable.", "Write t, q1, q1' …")
    if tree.name == "t":
        return "time"
    for i, variable in enumerate(workspace.robot.chain.variables, 1):
        if tree.name == variable.symbol:
            return f"{variable.coordinate}.{'qva'[min(tree.primes, 2)]}"
        if tree.name in (f"D{variable.symbol}", f"DD{variable.symbol}"):
            return f"{variable.coordinate}.{'va'[tree.name.startswith('DD')]}"
        if tree.name == f"tau{i}":
            return f"{variable.coordinate}.tau"
    run = _current_run(workspace)
    if tree.name in run.channels:
        return tree.name
    first = workspace.robot.chain.variables[0].symbol
    raise error_at(
        named,
        f"There is no variable '{meaning.format_for_message(named)}'.",
        f"There are t, {_list_coordinate_names(workspace.robot)}, their rates such as {first}', and tau1.",
    )
