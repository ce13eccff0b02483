"""Torque files: user variables and tau[[i]] as formulas of t, q1[t], q1'[t], and of M, CM and G of the robot.

A definition may use names that are defined later in the file. No file means no torques. They act as joint forces of a
simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca

from core.errors import ExpressionError, FileError, SimulationError
from core.files.mathematica.meaning import evaluate_number, format_for_message, format_tree, value
from core.files.mathematica.syntax import Call, LeftRightPair, Name, Statement, Tree, parse_all
from core.files.regular_file import TORQUES, read_text
from core.later import dataclass
from core.numerics.spatial.scalar import Scalar

if TYPE_CHECKING:
    from core.functions.context import Context
    from core.simulation import Run
    from core.symbolic.robot import Robot


TIME = "t"
MATRICES = {"M": "M", "MU": "M", "CM": "C", "C": "C", "G": "G"}
"""Matrices of the dynamics that a formula may use → names of the robot's results."""

LONGEST = 200_000
"""Largest number of characters of a torque file; longer files are refused."""
SAMPLES = 1000
"""Number of equally spaced samples of a response."""
RTOL, ATOL = 1e-9, 1e-10
"""Tolerances per step, relative and absolute (SI)."""


@dataclass(frozen=True)
class Torques:
    """Content of a torque file: definitions of variables, and of tau by joint number (from 1), with their line
    numbers."""

    file: str
    variables: Mapping[str, tuple[Tree, int]]
    tau: Mapping[int, tuple[Tree, int]]

    def display(self, n: int) -> list[str]:
        """Write tau[[i]] = … for every joint, as Robotica's DisplayTau does."""
        return [f"tau[[{i}]] = {format_tree(self.tau[i][0]) if i in self.tau else 0}" for i in range(1, n + 1)]

    def forces(self, robot: Robot, scalars: Mapping[str, Any]) -> list[Scalar]:
        """Evaluate tau over scalars (floats or symbols): `scalars` has t and the robot's symbols (coordinates, rates
        Dq…, parameters).

        Raises FileError naming line and symbol for what has no meaning or no value.
        """
        return _FormulaEvaluator(self, robot, scalars).evaluate_torques()

    def merged_with(self, more: Torques) -> Torques:
        """Merge these definitions with later ones; a later definition of the same name overrides an earlier one."""
        return Torques(more.file or self.file, {**self.variables, **more.variables}, {**self.tau, **more.tau})

    def check(self, n: int) -> None:
        """Check that each torque belongs to one of n joints. Raises FileError."""
        for i, (_, line) in self.tau.items():
            if i > n:
                raise FileError(
                    f"tau[[{i}]] belongs to no joint: the robot has {n}.",
                    file=self.file,
                    line=line,
                    remedy=f"Use tau[[1]] … tau[[{n}]].",
                )

    def unknown_symbols(self, robot: Robot, known: set[str]) -> list[str]:
        """Return the symbols without a value that the formulas use, directly or through variables."""
        missing: list[str] = []

        def record_unknown(name: str) -> Scalar:
            missing.extend([name] if name not in missing else [])
            return ca.SX.sym(name)

        chain = robot.chain
        names = {*known, TIME, *chain.rates, *(v.symbol for v in chain.variables)}
        scalars = {name: ca.SX.sym(name) for name in names}
        _FormulaEvaluator(self, robot, scalars, record_unknown).evaluate_torques()
        return missing


NO_TORQUES = Torques("", {}, {})


class _FormulaEvaluator:
    """Evaluator of the definitions in order of dependence, each once."""

    def __init__(
        self, torques: Torques, robot: Robot, scalars: Mapping[str, Any], missing: Callable[[str], Scalar] | None = None
    ) -> None:
        self.torques, self.robot, self.scalars, self.missing = torques, robot, scalars, missing
        self.found: dict[str, Scalar] = {}
        self.open: list[str] = []
        self.line = 0
        self.coordinates = {v.symbol for v in robot.chain.variables}

    def evaluate_torques(self) -> list[Scalar]:
        result: list[Scalar] = []
        for i in range(1, self.robot.n + 1):
            tree, line = self.torques.tau.get(i, (None, 0))
            result.append(0.0 if tree is None else self.evaluate_line(line, tree))
        return result

    def evaluate_line(self, line: int, tree: Tree) -> Scalar:
        before, self.line = self.line, line
        try:
            return value(tree, self.evaluate_name, self.evaluate_call)
        except ExpressionError as error:
            raise self.make_error(error.what, error.remedy, where=error.where) from None
        finally:
            self.line = before

    def make_error(self, problem: str, remedy: str, tree: Tree | None = None, where: str = "") -> FileError:
        at = None if tree is None else tree.at
        line, where = (self.line, where) if at is None else (at.line, f"column {at.column}")
        return FileError(problem, line=line, where=where, file=self.torques.file, remedy=remedy)

    def evaluate_name(self, name: Name) -> Scalar:
        if name.name in self.coordinates:
            return self.scalars[("D" if name.primes else "") + name.name]
        if name.primes:
            raise self.make_error(
                f"'{format_for_message(name)}' is the rate of a variable that is not a joint coordinate.",
                "Define the rate as a separate variable.",
                name,
            )
        if name.name in self.torques.variables:
            return self.evaluate_variable(name)
        if name.name in self.scalars:
            return self.scalars[name.name]
        if self.missing is not None:
            return self.missing(name.name)
        raise self.make_error(f"The symbol '{name.name}' has no value.", f"Give it one, as in {name.name} = 1.", name)

    def evaluate_variable(self, tree: Name) -> Scalar:
        name = tree.name
        if name in self.open:
            circle = " → ".join([*self.open, name])
            raise self.make_error(f"'{name}' depends on itself: {circle}.", "Remove the circular definition.", tree)
        if name not in self.found:
            self.open.append(name)
            formula, line = self.torques.variables[name]
            self.found[name] = self.evaluate_line(line, formula)
            self.open.pop()
        return self.found[name]

    def evaluate_call(self, call: Call) -> Scalar:
        """Evaluate q1[t], q1'[t], M[1,2], CM[1,2] or G[1]."""
        name = call.head.name
        if name in self.coordinates:
            if call.arguments != (Name(TIME),):
                raise self.make_error(
                    f"'{format_for_message(call)}' must be evaluated at the time t.", f"Write {name}[t].", call
                )
            if call.head.primes > 1:
                raise self.make_error(
                    f"'{format_for_message(call)}' is an acceleration, which torques cannot depend on.",
                    "Use q and q' only.",
                    call,
                )
            return self.evaluate_name(call.head)
        if name in MATRICES:
            return self.evaluate_matrix_entry(call)
        raise self.make_error(
            f"'{format_for_message(call)}' is not known.",
            "Use t, coordinates such as q1[t], M[1,1], CM[1,2], G[1].",
            call,
        )

    def evaluate_matrix_entry(self, call: Call) -> Scalar:
        from core.symbolic.forms import evaluate

        what = MATRICES[call.head.name]
        wanted = 1 if what == "G" else 2
        indices = [evaluate_number(argument, self.reject_name_as_index) for argument in call.arguments]
        n = self.robot.n
        if len(indices) != wanted or any(i != int(i) or not 1 <= i <= n for i in indices):
            raise self.make_error(
                f"'{format_for_message(call)}' is outside {call.head.name}, since the robot has {n} joints.",
                f"Give {wanted} whole numbers from 1 to {n}.",
                call,
            )
        if self.missing is not None:  # every symbol of the robot itself has a value
            return ca.SX.sym(format_tree(call))
        row, column = int(indices[0]) - 1, int(indices[1]) - 1 if wanted == 2 else 0
        form = self.robot.form(what)[row][column]
        try:
            return evaluate(form, self.scalars)
        except KeyError as error:
            name = error.args[0]
            raise self.make_error(
                f"The symbol '{name}' has no value.", f"Give it one, as in {name} = 1.", call
            ) from None

    def reject_name_as_index(self, name: str) -> float:
        raise self.make_error(f"The index '{name}' is not a number.", "Write numbers as indices.")


def read_torque_file(path: str) -> Torques:
    """Read the torques in a file. Raises FileError naming the line."""
    source = read_text(path, TORQUES)
    if len(source) > LONGEST:
        raise FileError(f"The file has more than {LONGEST} characters.", file=path, remedy="Choose a torque file.")
    return read_torques(source, path)


def read_torques(source: str, file: str = "") -> Torques:
    """Parse the torques in a text. Raises FileError naming the line."""
    variables: dict[str, tuple[Tree, int]] = {}
    tau: dict[int, tuple[Tree, int]] = {}
    try:
        statements = parse_all(source)
    except ExpressionError as error:
        raise FileError(error.what, line=error.line, where=error.where, file=file, remedy=error.remedy) from None
    for statement in statements:
        target, tree = _parse_assignment(statement, file)
        if isinstance(target, Name):
            variables[target.name] = (tree, statement.line)
        else:
            tau[_parse_torque_index(target, statement.line, file)] = (tree, statement.line)
    return Torques(file, variables, tau)


def _parse_assignment(statement: Statement, file: str) -> tuple[Name | Call, Tree]:
    tree = statement.tree
    if isinstance(tree, LeftRightPair) and tree.operator == "=":
        left = tree.left
        if isinstance(left, Name) or (isinstance(left, Call) and left.head.name == "tau"):
            return left, tree.right
    raise FileError(
        f"'{format_for_message(tree)}' is not an assignment.",
        line=statement.line,
        where=_column_text(tree),
        file=file,
        remedy="Write name = formula, or tau[[1]] = formula.",
    )


def _column_text(tree: Tree) -> str:
    return "" if tree.at is None else f"column {tree.at.column}"


def _parse_torque_index(target: Call, line: int, file: str) -> int:
    index = target.arguments[0] if len(target.arguments) == 1 else None
    found = getattr(index, "value", None)
    if not isinstance(found, float) or found != int(found) or found < 1:
        raise FileError(
            f"'{format_for_message(target)}' is not the torque of a joint.",
            line=line,
            where=_column_text(target),
            file=file,
            remedy="Write tau[[1]], tau[[2]] …",
        )
    return int(found)


class TorqueLaw:
    """Torques of a torque file over scalars of a simulation (a `Law` of `core.simulation.equations.joint_forces`)."""

    def __init__(self, torques: Torques, robot: Robot, symbol_values: Mapping[str, float]) -> None:
        self.torques, self.robot, self.given = torques, robot, dict(symbol_values)

    def forces(self, mech: Any, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return a mapping speed → force."""
        chain = self.robot.chain
        scalars: dict[str, Any] = {**self.given, **{n: known[n] for n in chain.parameters if n in known}}
        scalars["t"] = known["t"]
        for variable, rate in zip(chain.variables, chain.rates, strict=True):
            scalars[variable.symbol] = known[f"{variable.coordinate}.q"]
            scalars[rate] = known[f"{mech.v_names[variable.v]}.v"]
        forces = self.torques.forces(self.robot, scalars)
        return {mech.v_names[v.v]: force for v, force in zip(chain.variables, forces, strict=True)}

    def plain(self) -> dict[str, str]:
        """Formulas of tau by joint, as strings."""
        lines = self.torques.display(self.robot.n)
        return {v.joint: line.split(" = ", 1)[1] for v, line in zip(self.robot.chain.variables, lines, strict=True)}


def known_symbol_values(context: Context, robot: Robot, given: Mapping[str, float]) -> dict[str, float]:
    """Return the value of every symbol that has one, from the robot's equations, the model or the given values."""
    return {**robot.chain.values, **context.values, **given}


def missing_symbols(torques: Torques, context: Context, robot: Robot, given: Mapping[str, float]) -> list[str]:
    """Return the symbols of the torques that have no value. Raises FileError for unknown names."""
    return torques.unknown_symbols(robot, set(known_symbol_values(context, robot, given)))


def respond(
    context: Context,
    robot: Robot,
    torques: Torques | None,
    given: Mapping[str, float],
    q0: Any,
    v0: Any,
    times: tuple[float, float],
    steps: int,
    more_steps: str,
) -> tuple[Run, str]:
    """Simulate from q0, v0 over times (start, end); return the run and the reason why it ended early ('' if it did
    not).

    more_steps : remedy that allows ten times as many steps, as the caller words it
    symbol_values : of the torques and of the model. Raises ExpressionError naming symbols without a value.
    """
    from core.simulation import simulate

    law: Any = None
    if torques is not None:
        lacking = missing_symbols(torques, context, robot, given)
        if lacking:
            raise ExpressionError(
                f"Symbols without a value: {', '.join(lacking)}.",
                remedy=f"Give each one a value, as in {lacking[0]} = 1.",
            )
        law = TorqueLaw(torques, robot, known_symbol_values(context, robot, given))
    begin, end = times
    p = {name: given.get(name, context.p[name]) for name in context.mech.p_names}
    try:
        run = simulate(
            context.mech,
            end - begin,
            start=begin,
            rtol=RTOL,
            atol=ATOL,
            q0=q0,
            v0=v0,
            parameters=p,
            torque=law,
            output=(end - begin) / SAMPLES,
            max_steps=steps,
            cancelled=context.cancelled,
            progress=context.progress,
        )
    except SimulationError as error:
        if error.run is not None and error.run.statistics.steps >= steps:
            error.remedy = more_steps
        if error.run is None or len(error.run) < 2:
            raise
        return error.run, str(error)
    return run, run.statistics.ended
