"""Robotica's functions by name: what its manual's command reference lists, on the functions of the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import ExpressionError, ModelError
from core.functions.results import Formulas, Message, Report, Result
from core.robotica import meaning, response
from core.robotica.matrices import forms_of, matrix_of
from core.robotica.syntax import Call, Items, Name, Text, Tree

if TYPE_CHECKING:
    from core.robotica.session import Session


@dataclass(frozen=True)
class Command:
    """A function of Robotica's command line."""

    name: str
    usage: str
    help: str
    run: Callable[..., Result]
    fewest: int = 0
    most: int = 0

    @property
    def counts(self) -> str:
        """How many arguments it takes, in words."""
        if self.fewest == self.most:
            return f"{self.most} argument{'s' * (self.most != 1)}" if self.most else "no argument"
        return f"{self.fewest} to {self.most} arguments"


def text_of(tree: Tree) -> str:
    """A file name or label: in quotation marks or a plain word."""
    if isinstance(tree, Text):
        return tree.value
    if isinstance(tree, Name):
        return tree.name
    raise ExpressionError(f"'{meaning.shown(tree)}' is no text.", remedy='Write it in quotation marks: "name".')


# --------------------------------------------------------------------------------- robot description


def data_file(session: Session, name: Tree | None = None) -> Result:
    """Read a robot; everything given before is forgotten."""
    if name is None:
        raise ExpressionError("Which file?", remedy='Write DataFile["name"].')
    path = session.path(text_of(name))
    session.host.open(path)
    session.reset()
    return Report(title="Data file", parts=(Message(text=f"{text_of(name)} is loaded. State Reset."),
                                            *_parts(print_input(session))))  # fmt: skip


def print_input(session: Session) -> Result:
    """The tables of the data file."""
    from core.functions import call

    context = session.context()
    table = "dh_table" if context.model.chains else "coordinates"
    return Report(title="Input data", parts=(call(table, context), call("mass_properties", context)))


def _parts(result: Result) -> tuple[Result, ...]:
    return result.parts if isinstance(result, Report) else (result,)


def clear(session: Session, *names: Tree) -> Result:
    """Take values away."""
    for name in names:
        session.state.given.pop(text_of(name), None)
    return Message(title="Clear", text=", ".join(map(text_of, names)) + " cleared.")


# --------------------------------------------------------------------------------- equations


def forward_kinematics(session: Session) -> Result:
    """Form A, T, J."""
    robot = session.robot
    robot.exact("J")
    n = robot.n
    a = ", ".join(f"A[{i}]" for i in range(1, n + 1))
    t = ", ".join(f"T[{i},{j}]" for i in range(n) for j in range(i + 1, n + 1))
    text = f"A Matrices Formed: {a}\nT Matrices Formed: {t}\nJacobian Formed: J (6×{n})"
    return Message(title="Forward kinematics", text=text)


def dynamics(session: Session) -> Result:
    """Form M, c, CM, G, Jvc, Jwc."""
    robot = session.robot
    for what in ("M", "C", "G"):
        robot.exact(what)
    text = "Mass matrix MU, Christoffel symbols c[i,j,k], C matrix CM, gravity vector G, Jvc[i] and Jwc[i] formed."
    return Message(title="Dynamics", text=text)


def simplified_dynamics(session: Session) -> Result:
    """M, CM and G in short form."""
    parts = [_formulas(session, Name(name)) for name in ("M", "CM", "G")]
    return Report(title="Simplified dynamics", parts=tuple(parts))


def simplify(session: Session, tree: Tree) -> Result:
    """An expression in short form."""
    found = matrix_of(session, tree)
    if found is not None:
        return _formulas(session, tree)
    return Formulas(title="Simplified expression", label=meaning.shown(tree), entries=((forms_of(session, tree),),))


def trig_notation(session: Session) -> Result:
    """C1, S12 … are always used."""
    return Message(title="Notation", text="C1 stands for Cos[q1], S12 for Sin[q1 + q2]: results are shown so.")


def _formulas(session: Session, tree: Tree, label: str = "") -> Formulas:
    found = matrix_of(session, tree)
    if found is None:
        raise ExpressionError(f"'{meaning.shown(tree)}' is no matrix.",
                              remedy="There are A[i], T[i,j], J, M, MU, CM, G, c[i,j,k], Jvc[i], Jwc[i].")  # fmt: skip
    name, entries = found
    return Formulas(title=label or name, label=label or name, entries=entries)


# --------------------------------------------------------------------------------- prints


def _print(session: Session, tree: Tree, label: Tree | None, file: Tree | None, by_element: bool) -> Result:
    """Show a matrix; append it to a file if one is named ("*": the default file)."""
    from core.functions.symbols import append
    from core.symbolic.export import elements, grid

    shown = _formulas(session, tree, text_of(label) if label is not None else "")
    if file is not None:
        path = _file(session, text_of(file))
        append(path, (elements if by_element else grid)(shown.entries, shown.label))
        return Report(title=shown.title, parts=(shown, Message(text=f"Appended to {path}.")))
    return shown


def _file(session: Session, name: str) -> str:
    if name == "*":
        if not session.state.default_file:
            raise ExpressionError("There is no default file yet.", remedy="Name a file once; it is the default then.")
        return session.state.default_file
    session.state.default_file = session.path(name)
    return session.state.default_file


def matrix_print(session: Session, tree: Tree, label: Tree | None = None, file: Tree | None = None) -> Result:
    """Two-dimensional."""
    return _print(session, tree, label, file, by_element=False)


def element_print(session: Session, tree: Tree, label: Tree | None = None, file: Tree | None = None) -> Result:
    """One entry per line."""
    return _print(session, tree, label, file, by_element=True)


def coriolis_print(session: Session, label: Tree | None = None, file: Tree | None = None) -> Result:
    """The C matrix per element."""
    return _print(session, Name("CM"), label, file, by_element=True)


def _print_all(session: Session, calls: list[Call], file: Tree | None) -> Result:
    results = [_print(session, call, Text(meaning.shown(call)), file, by_element=False) for call in calls]
    return Report(title="Matrices", parts=tuple(part for result in results for part in _parts(result)))


def all_a(session: Session, file: Tree | None = None) -> Result:
    """Every A."""
    from core.robotica.syntax import Number

    calls = [Call(Name("A"), (Number(float(i)),)) for i in range(1, session.robot.n + 1)]
    return _print_all(session, calls, file)


def all_t(session: Session, file: Tree | None = None) -> Result:
    """Every T."""
    from core.robotica.syntax import Number

    n = session.robot.n
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    return _print_all(session, [Call(Name("T"), (Number(float(i)), Number(float(j)))) for i, j in pairs], file)


# --------------------------------------------------------------------------------- pictures


def planar(session: Session) -> Result:
    """The directions the tool can move in."""
    from core.functions import call

    return call("planarity", session.context())


def ellipsoids(session: Session, over: Tree | None = None, wishes: Tree | None = None) -> Result:
    """Manipulability ellipsoids over ranges."""
    from core.functions import call

    found = meaning.options(wishes)
    named: dict[str, Any] = {"ranges": _ranges(session, over)}
    named |= {"scale": "scale" in found, "graphics": "monly" not in found, "display": _display(found)}
    if isinstance(found.get("file"), str):
        named["file"] = session.path(found["file"])
    return call("manipulability", session.context(), **named)


def _ranges(session: Session, tree: Tree | None) -> tuple[tuple[str, float, float, int], ...]:
    if tree is None or tree == Items(()):
        return ()
    return tuple(meaning.ranges(tree, session.value_of))


def _display(options: dict[str, Any]) -> str:
    return "animate" if "animate" in options else "single" if "single" in options else "composite"


def show_robot(session: Session, over: Tree | None = None, wishes: Tree | None = None) -> Result:
    """All variables together."""
    from core.functions import call

    found = meaning.options(wishes)
    found_ranges = _ranges(session, over)
    if len({count for *_, count in found_ranges}) > 1:
        raise ModelError("The ranges have different numbers of divisions, so they cannot run together.",
                         remedy="Give the same number to all, or use SeqShowRobot.")  # fmt: skip
    return call("show_robot", session.context(), ranges=found_ranges, display=_display(found))


def show_in_sequence(session: Session, over: Tree, wishes: Tree | None = None) -> Result:
    """One variable after another."""
    from core.functions import call

    found = meaning.options(wishes)
    return call("show_in_sequence", session.context(), sequence=_ranges(session, over), display=_display(found))


def helped(session: Session, name: Tree | None = None) -> Result:
    """What a function does."""
    if name is None:
        return Message(title="Functions", text="\n".join(f"{c.usage:60s} {c.help}" for c in COMMANDS.values()))
    command = COMMANDS.get(text_of(name))
    if command is None:
        raise ExpressionError(f"There is no function '{text_of(name)}'.", remedy="Help[] lists all.")
    return Message(title=command.name, text=f"{command.usage}\n{command.help}")


_TABLE = (
    Command("DataFile", 'DataFile["name"]', "Read a robot (any supported file).", data_file, 0, 1),
    Command("PrintInputData", "PrintInputData[]", "Show the robot's tables.", print_input),
    Command("FKin", "FKin[]", "Form the A and T matrices and the Jacobian.", forward_kinematics),
    Command("ELDynamics", "ELDynamics[]", "Form mass matrix, Christoffel symbols, C matrix, gravity.", dynamics),
    Command("SDynamics", "SDynamics[]", "Show the simplified dynamics.", simplified_dynamics),
    Command("SimplifyExpression", "SimplifyExpression[c[1,1,1]]", "Short form of an expression.", simplify, 1, 1),
    Command("SimplifyTrigNotation", "SimplifyTrigNotation[]", "Write C1, S12 for cosines and sines.", trig_notation),
    Command("MPrint", 'MPrint[M, "label", "file"]', "Print a matrix.", matrix_print, 1, 3),
    Command("EPrint", 'EPrint[M, "label", "file"]', "Print a matrix, an entry per line.", element_print, 1, 3),
    Command("CPrint", 'CPrint["label", "file"]', "Print the C matrix, an entry per line.", coriolis_print, 0, 2),
    Command("APrint", 'APrint["file"]', "Print every A matrix.", all_a, 0, 1),
    Command("TPrint", 'TPrint["file"]', "Print every T matrix.", all_t, 0, 1),
    Command("Planar", "Planar[]", "The space in which the tool can move: 0 … 7.", planar),
    Command("RElp", "RElp[{{q1, 0, 90 Degree}}, {scale}]", "Manipulability ellipsoids.", ellipsoids, 0, 2),
    Command("ShowRobot", "ShowRobot[{{q1, 0, 90 Degree, 8}}, {animate}]", "The arm over ranges.", show_robot, 0, 2),
    Command("SeqShowRobot", "SeqShowRobot[{{q1, 0, 1}, {q2, 0, 1}}, {animate}]", "One range after another.",
            show_in_sequence, 1, 2),
    Command("Clear", "Clear[d3]", "Take the value of a symbol away.", clear, 1, 20),
    Command("GetInputTau", 'GetInputTau["file"]', "Read torques; without a file they are zero.", response.get_torques,
            0, 1),
    Command("DisplayTau", "DisplayTau[]", "Show the torques.", response.display_torques),
    Command("Response", "Response[{0, 10, 500}, {q1[0] == 0, q1'[0] == 0}]", "Let the robot move.",
            response.simulate_response, 1, 2),
    Command("SaveResponse", 'SaveResponse["file", {0, 10}, 0.1]', "Save the response in SIMNON form.",
            response.save_response, 1, 3),
    Command("SimDrive", 'SimDrive["file", {trace, arm, animate, 0.2}]', "Drive the robot by a trace.",
            response.drive, 0, 2),
    Command("SimPlot", "SimPlot[t, {q1, q2}, {1.5}]", "Plot a trace, any variable against any others.",
            response.plot, 2, 3),
    Command("Help", "Help[RElp]", "What a function does.", helped, 0, 1),
)  # fmt: skip
COMMANDS: dict[str, Command] = {command.name: command for command in _TABLE}
"""By name, in the order of the manual."""
