"""Robotica functions that read a robot, show its tables and form its equations."""

from __future__ import annotations

from collections.abc import Iterable

from core.errors import ExpressionError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import Name, Tree, refused
from core.functions.results import Formulas, Message, Report, Result, Table
from core.functions.text import Cell, Column
from core.model.bodies import Gravity
from core.model.chains import DHChain, negative
from core.model.fields import Value
from core.model.formula.expression import number_text, parse
from core.model.formula.expression import text_of as expression_text
from core.robotica.command import text_of
from core.robotica.prints import formulas, parts_of
from core.robotica.workspace import Workspace


def data_file(workspace: Workspace, name: Tree | None = None) -> Result:
    """Read a robot from a file and forget all previous values."""
    if name is None:
        raise ExpressionError("The file name is missing.", remedy='Write DataFile["name"].')
    path = workspace.path(text_of(name))
    workspace.host.open(path)
    workspace.reset()
    return Report(
        title="Data file",
        parts=(Message(text=f"{text_of(name)} is loaded. State Reset."), *parts_of(print_input(workspace))),
    )


def print_input(workspace: Workspace) -> Result:
    """Show the tables of the data file."""
    from core.functions import call

    context = workspace.context()
    model = context.model
    if not model.chains or model.bodies or model.world.gravity.kind == "point":
        table = "dh_table" if model.chains else "coordinates"
        return Report(title="Input data", parts=(call(table, context), call("mass_properties", context)))
    dynamics = tuple(_dynamics_table(chain, model.world.gravity) for chain in model.chains)
    return Report(title="Input data", parts=(call("dh_table", context), *dynamics))


def _dynamics_table(chain: DHChain, gravity: Gravity) -> Table:
    """Table of masses, centres of mass and inertias as written, with the gravity vector in the sign of data files."""
    rows: list[tuple[Cell, ...]] = []
    for number, row in enumerate(chain.rows, 1):
        i = row.inertia
        inertia = (i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz)
        rows.append(
            (f"{chain.prefix}link{number}", _mathematica_text(row.mass), _listed(row.center_of_mass), _listed(inertia))
        )
    against = (0.0, 0.0, 0.0) if gravity.kind == "none" else tuple(negative(x) for x in gravity.acceleration)
    note = (
        f"gravity vector {_listed(against)}, against the pull, m/s²; kg, m, kg·m²; inertia "
        "{xx, xy, xz, yy, yz, zz} about the centre of mass, axes of the link"
    )
    columns = tuple(map(Column, ("Link", "Mass", "Centre of mass", "Inertia")))
    return Table(title=f"Dynamics of {chain.name}", columns=columns, rows=tuple(rows), note=note)


def _mathematica_text(value: Value) -> str:
    """Write a number or formula in Mathematica's notation."""
    return expression_text(parse(value), "mathematica") if isinstance(value, str) else number_text(value)


def _listed(values: Iterable[Value]) -> str:
    return "{" + ", ".join(map(_mathematica_text, values)) + "}"


def clear(workspace: Workspace, *names: Tree) -> Result:
    """Remove the values of symbols."""
    for name in names:
        workspace.state.given.pop(text_of(name), None)
        workspace.state.lists.pop(text_of(name), None)
        workspace.state.valued.pop(text_of(name), None)
        workspace.state.cleared.append(text_of(name))
    return Message(title="Clear", text=", ".join(map(text_of, names)) + " cleared.")


def forward_kinematics(workspace: Workspace) -> Result:
    """Form A, T and J."""
    robot = workspace.robot
    robot.exact("J")
    n = robot.n
    a = ", ".join(f"A[{i}]" for i in range(1, n + 1))
    t = ", ".join(f"T[{i},{j}]" for i in range(n) for j in range(i + 1, n + 1))
    text = f"A Matrices Formed: {a}\nT Matrices Formed: {t}\nJacobian Formed: J (6×{n})"
    return Message(title="Forward kinematics", text=text)


def dynamics(workspace: Workspace) -> Result:
    """Form M, c, CM, G, Jvc and Jwc."""
    robot = workspace.robot
    for what in ("M", "C", "G"):
        robot.exact(what)
    text = "Mass matrix MU, Christoffel symbols c[i,j,k], C matrix CM, gravity vector G, Jvc[i] and Jwc[i] formed."
    return Message(title="Dynamics", text=text)


def simplified_dynamics(workspace: Workspace) -> Result:
    """Show M, CM and G in short form."""
    parts = [formulas(workspace, Name(name)) for name in ("M", "CM", "G")]
    return Report(title="Simplified dynamics", parts=tuple(parts))


def simplify(workspace: Workspace, tree: Tree) -> Result:
    """Return an expression in short form."""
    from core.robotica.expressions import forms_of
    from core.robotica.matrices import matrix_of

    found = matrix_of(workspace, tree)
    if found is not None:
        return formulas(workspace, tree)
    return Formulas(title="Simplified expression", label=meaning.shown(tree), entries=forms_of(workspace, tree))


def trig_notation(workspace: Workspace, notation: Tree | None = None) -> Result:
    """Write C1 and S12 in all later results, or Cos[q1] and Sin[q1 + q2] with `full`."""
    from core.functions import call

    chosen = "short" if notation is None else text_of(notation)
    if chosen not in ("short", "full"):
        raise refused(notation, f"Unknown notation '{chosen}'.", "Write short or full.")  # type: ignore[arg-type]
    return call("trig_notation", workspace.context(), notation=chosen)
