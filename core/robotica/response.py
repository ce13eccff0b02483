"""Torques, the response of the robot to them, and traces that drive and are plotted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import ExpressionError, FileError, ModelError
from core.functions.results import Column, Message, Motion, PoseSequence, Report, Result, Table
from core.robotica import meaning
from core.robotica.syntax import Call, Items, Name, Pair, Text, Tree
from core.robotica.torque_file import Torques, read_torques

if TYPE_CHECKING:
    from core.robotica.session import Session
    from core.simulation import Run
    from core.symbolic.robot import Robot

STEPS = 500
"""Robotica's own limit of steps; a Response that names none is not limited so tightly here."""
MOST_STEPS = 1_000_000
STEP = 0.2
"""Seconds between the arms that SimDrive draws unless it says otherwise."""
MOST_ARMS = 200
INCREMENT = 0.1
"""Seconds between rows of SaveResponse unless it says otherwise."""
SAMPLES = 1000


class TorqueLaw:
    """A torque file as joint forces of a simulation."""

    def __init__(self, torques: Torques, robot: Robot, given: Mapping[str, float]) -> None:
        self.torques, self.robot, self.given = torques, robot, dict(given)

    def forces(self, mech: Any, known: Mapping[str, Any]) -> dict[str, Any]:
        """speed → force, over the scalars of a simulation."""
        chain = self.robot.chain
        scalars: dict[str, Any] = {**self.given, **{n: known[n] for n in chain.parameters if n in known}}
        scalars["t"] = known["t"]
        for variable, rate in zip(chain.variables, chain.rates, strict=True):
            scalars[variable.symbol] = known[f"{variable.coordinate}.q"]
            scalars[rate] = known[f"{mech.v_names[variable.v]}.v"]
        forces = self.torques.forces(self.robot, scalars)
        return {mech.v_names[v.v]: force for v, force in zip(chain.variables, forces, strict=True)}

    def plain(self) -> dict[str, str]:
        """tau by joint."""
        lines = self.torques.display(self.robot.n)
        return {v.joint: line.split(" = ", 1)[1] for v, line in zip(self.robot.chain.variables, lines, strict=True)}


def get_torques(session: Session, file: Tree | None = None) -> Result:
    """Read a torque file; without one the torques are zero."""
    from core.robotica.commands import text_of

    if file is None:
        session.state.torques = None
        return Message(title="Input torques", text="All torques are zero.")
    path = session.path(text_of(file))
    try:
        with open(path, encoding="utf-8-sig") as stream:
            source = stream.read(200_000)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise FileError(f"The torque file cannot be read: {reason}.", file=path, remedy="Choose another.") from None
    torques = read_torques(source, path)
    robot = session.robot
    for i in torques.tau:
        if i > robot.n:
            raise FileError(f"tau[[{i}]] belongs to no joint: the robot has {robot.n}.", file=path,
                            line=torques.tau[i][1], remedy=f"Use tau[[1]] … tau[[{robot.n}]].")  # fmt: skip
    torques.unknown(robot, set(_known(session)))
    session.state.torques = torques
    return display_torques(session)


def display_torques(session: Session) -> Result:
    """The torques, and the symbols in them that have no value yet."""
    torques = session.state.torques or Torques("", {}, {})
    lines = torques.display(session.robot.n)
    lines += [f"{name} = {meaning.shown(tree)}" for name, (tree, _) in torques.variables.items()]
    missing = torques.unknown(session.robot, set(_known(session)))
    if missing:
        lines.append(f"Without a value: {', '.join(missing)}. Give them one, as in {missing[0]} = 1.")
    return Message(title="Input torques", text="\n".join(lines), severity="warning" if missing else "done")


def _known(session: Session) -> dict[str, float]:
    context = session.context()
    return {**context.values, **session.state.given}


def simulate_response(session: Session, times: Tree, conditions: Tree | None = None) -> Result:
    """Integrate the equations of motion from the initial conditions."""
    from core.simulation import simulate

    begin, end, steps = _times(session, times)
    context, robot = session.context(), session.robot
    q0, v0 = _conditions(session, conditions, robot)
    torques = session.state.torques
    law: Any = None
    if torques is not None:
        missing = torques.unknown(robot, set(_known(session)))
        if missing:
            raise ExpressionError(f"Symbols without a value: {', '.join(missing)}.",
                                  remedy=f"Give each one, as in {missing[0]} = 1.")  # fmt: skip
        law = TorqueLaw(torques, robot, _known(session))
    p = {name: context.p[name] for name in context.mech.p_names}
    run = simulate(
        context.mech, end - begin, start=begin, rtol=1e-9, atol=1e-10, q0=q0, v0=v0, parameters=p,
        torque=law, output=(end - begin) / SAMPLES, max_steps=steps, cancelled=context.cancelled,
        progress=context.progress,
    )  # fmt: skip
    session.state.run = run
    text = f"Response from {begin:g} to {end:g} s: {run.statistics.steps} steps; {_symbols(robot)} are functions of t."
    return Motion(title="Response", run=run, text=text)


def _symbols(robot: Robot) -> str:
    return ", ".join(v.symbol for v in robot.chain.variables)


def _times(session: Session, tree: Tree) -> tuple[float, float, int]:
    parts = [session.number(part) for part in meaning.items(tree)]
    if not 2 <= len(parts) <= 3 or not parts[0] < parts[1]:
        raise ExpressionError(f"'{meaning.shown(tree)}' is no range of times.",
                              remedy="Write {start, end} or {start, end, steps}.")  # fmt: skip
    steps = parts[2] if len(parts) == 3 else MOST_STEPS
    if steps < 1 or steps != int(steps):
        raise ExpressionError(f"{steps:g} is no limit of steps.", remedy=f"Write a whole number such as {STEPS}.")
    return parts[0], parts[1], int(steps)


def _conditions(session: Session, tree: Tree | None, robot: Robot) -> tuple[Any, Any]:
    """(q0, v0) from {q1[0] == 0, q1'[0] == 0, …} or a table {{q1, 0, 0}, …}; what is not given is zero."""
    context = session.context()
    q0, v0 = np.array(context.mech.rest(context.p)), np.zeros(context.mech.nv)
    places = {v.symbol: v for v in robot.chain.variables}
    for variable in places.values():
        q0[variable.q] = 0.0
    for condition in meaning.items(tree) if tree is not None else ():
        for name, primes, amount in _condition(session, condition):
            if name not in places:
                raise ExpressionError(f"'{name}' is no joint coordinate.", remedy=f"There are {_symbols(robot)}.")
            if primes:
                v0[places[name].v] = amount
            else:
                q0[places[name].q] = amount
    return q0, v0


def _condition(session: Session, tree: Tree) -> Sequence[tuple[str, int, float]]:
    if isinstance(tree, Pair) and tree.operator == "==" and isinstance(tree.left, Call):
        head = tree.left.head
        if len(tree.left.arguments) == 1 and head.primes <= 1:
            return [(head.name, head.primes, session.number(tree.right))]
    if isinstance(tree, Items) and 2 <= len(tree.items) <= 3 and isinstance(tree.items[0], Name):
        numbers = [session.number(item) for item in tree.items[1:]]
        return [(tree.items[0].name, primes, amount) for primes, amount in enumerate(numbers)]
    raise ExpressionError(f"'{meaning.shown(tree)}' is no initial condition.",
                          remedy="Write q1[0] == 0, q1'[0] == 0, or {q1, position, speed}.")  # fmt: skip


def _run(session: Session) -> Run:
    if session.state.run is None:
        raise ModelError("There is no response and no trace yet.", remedy="Call Response or SimDrive first.")
    found: Run = session.state.run
    return found


def save_response(session: Session, file: Tree, times: Tree | None = None, increment: Tree | None = None) -> Result:
    """The response as a SIMNON file."""
    from core.files.source import write_whole
    from core.robotica.commands import text_of

    run = _run(session)
    begin, end = float(run.time[0]), float(run.time[-1])
    if times is not None:
        begin, end, _ = _times(session, times)
    step = INCREMENT if increment is None else session.number(increment)
    if not step > 0.0:
        raise ExpressionError(f"{step:g} is no increment.", remedy="Write a positive number of seconds.")
    grid = np.arange(begin, end + 1e-9 * max(1.0, abs(end)), step)
    variables = session.robot.chain.variables
    rows = [[t, *(run.at(t)[v.q] for v in variables)] for t in grid]
    head = '" t ' + " ".join(v.symbol for v in variables)
    path = session.path(text_of(file))
    write_whole(path, "\n".join([head, *(" ".join(repr(float(x)) for x in row) for row in rows), ""]).encode())
    return Message(title="Response", text=f"{len(rows)} rows written to {path}.")


def drive(session: Session, file: Tree | None = None, wishes: Tree | None = None) -> Result:
    """Read a trace (SIMNON or CSV) and drive the robot by it; "*": the data in memory."""
    from core.robotica.commands import text_of

    found = meaning.options(wishes)
    if file is not None and text_of(file) != "*":
        session.state.run = read_trace(session, session.path(text_of(file)))
    run = _run(session)
    shown = {key for key in ("trace", "arm", "frame", "animate") if key in found}
    step = float(found.get("number", STEP))
    if not step > 0.0:
        raise ExpressionError(f"{step:g} is no step between pictures.", remedy="Write a positive number of seconds.")
    motion = Motion(title="Trace", run=run, trace="trace" in shown, animate="animate" in shown,
                    text=f"{len(run.time)} rows from {run.time[0]:g} to {run.time[-1]:g} s.")  # fmt: skip
    return Report(title="Trace", parts=(motion, _arms(run, step))) if "arm" in shown else motion


def _arms(run: Run, step: float) -> PoseSequence:
    """The arm every `step` seconds, all at once."""
    times = np.arange(run.time[0], run.time[-1] + 1e-9, max(step, (run.time[-1] - run.time[0]) / MOST_ARMS))
    q = tuple(tuple(map(float, run.at(t))) for t in times)
    return PoseSequence(title=f"Arm every {step:g} s", q=q, p=(run.settings.parameters,) * len(q))


def read_trace(session: Session, path: str) -> Run:
    """A recorded trace as a run of the robot. Raises FileError naming line and column."""
    from core.kernel.recorded_traces import table_of
    from core.simulation.recorded import run_of

    names, numbers = table_of(path)
    context = session.context()
    return run_of(context.mech, context.p, names, numbers, session.coordinates(context), os.path.basename(path))


def plot(session: Session, x: Tree, ys: Tree, wishes: Tree | None = None) -> Result:
    """Any variable against any others."""
    run = _run(session)
    names = [_channel(session, tree) for tree in (x, *meaning.items(ys))]
    labels = [meaning.shown(tree) for tree in (x, *meaning.items(ys))]
    aspect = meaning.options(wishes).get("number", 0.0)
    columns = [np.asarray(run[name]) for name in names]
    for label, column in zip(labels, columns, strict=True):
        if column.ndim != 1:
            raise ExpressionError(f"'{label}' has several components.", remedy="Name one of them.")
    stride = max(1, len(columns[0]) // 200)
    rows = tuple(tuple(float(c[k]) for c in columns) for k in range(0, len(columns[0]), stride))
    table = Table(title=f"{', '.join(labels[1:])} over {labels[0]}", columns=tuple(map(Column, labels)), rows=rows)
    curves = tuple((names[0], name) for name in names[1:])
    return Report(title=table.title, parts=(Motion(title=table.title, run=run, curves=curves, aspect=aspect), table))


def _channel(session: Session, tree: Tree) -> str:
    """The channel of a run that a name means: t, q1, q1', tau1, or a channel's own name in quotation marks."""
    if isinstance(tree, Text):
        return tree.value
    if isinstance(tree, Call):
        tree = tree.head
    if not isinstance(tree, Name):
        raise ExpressionError(f"'{meaning.shown(tree)}' is no variable.", remedy="Write t, q1, q1' …")
    if tree.name == "t":
        return "time"
    for i, variable in enumerate(session.robot.chain.variables, 1):
        if tree.name == variable.symbol:
            return f"{variable.coordinate}.{'qva'[min(tree.primes, 2)]}"
        if tree.name == f"tau{i}":
            return f"{variable.coordinate}.tau"
    run = _run(session)
    if tree.name in run.channels:
        return tree.name
    raise ExpressionError(f"There is no variable '{meaning.shown(tree)}'.",
                          remedy=f"There are t, {_symbols(session.robot)} and their rates.")  # fmt: skip
