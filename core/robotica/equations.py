"""Robotica functions that read a robot, show its tables, form its equations, and print matrices on the screen or append
them to files, whole or one entry per line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from core.errors import ExpressionError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import Binary, Call, Name, Negative, Number, Part, Text, Tree, refused
from core.functions.results import Formulas, Message, Report, Result, Table
from core.functions.text import Cell, Column
from core.model.bodies import Gravity
from core.model.chains import DHChain, negative
from core.model.fields import Value
from core.model.formula.expression import number_text, parse
from core.model.formula.expression import text_of as expression_text
from core.robotica.command import text_of
from core.robotica.workspace import Workspace


def formulas(workspace: Workspace, tree: Tree, label: str = "") -> Formulas:
    """Return a matrix or an entry, labelled by its own name or by `label`. Raises ExpressionError for anything else."""
    from core.robotica.expressions import forms_of, matrix_of, written_matrix

    found = matrix_of(workspace, tree)
    if found is None and isinstance(tree, Binary | Negative | Part | Call):
        found = written_matrix(workspace, tree, forms_of(workspace, tree))
    if found is None:
        raise refused(
            tree,
            f"'{meaning.said(tree)}' is not a matrix.",
            "Use A[i], T[i,j], J, M, MU, CM, G, c[i,j,k], Jvc[i], Jwc[i].",
        )
    return dataclasses.replace(found, title=label or found.title, label=label or found.label)


def _print(workspace: Workspace, tree: Tree, label: Tree | None, file: Tree | None, by_element: bool) -> Result:
    """Show a matrix; append it to a file if one is named ("*" for the default file)."""
    from core.functions.subjects.symbols import append
    from core.symbolic.export import elements, grid

    shown = formulas(workspace, tree, text_of(label) if label is not None else "")
    shown = dataclasses.replace(shown, by_element=by_element)
    if file is not None:
        path = file_of(workspace, text_of(file))
        append(path, (elements if by_element else grid)(shown.entries, shown.label))
        return Report(title=shown.title, parts=(shown, Message(text=f"Appended to {path}.")))
    return shown


def file_of(workspace: Workspace, name: str) -> str:
    """Return the path of a file: '*' means the default file, and any other name becomes the default."""
    if name == "*":
        if not workspace.state.default_file:
            raise ExpressionError("There is no default file yet.", remedy="Name a file; it becomes the default.")
        return workspace.state.default_file
    workspace.state.default_file = workspace.target(name)
    return workspace.state.default_file


def matrix_print(workspace: Workspace, tree: Tree, label: Tree | None = None, file: Tree | None = None) -> Result:
    """Print a matrix in two dimensions."""
    return _print(workspace, tree, label, file, by_element=False)


def element_print(workspace: Workspace, tree: Tree, label: Tree | None = None, file: Tree | None = None) -> Result:
    """Print a matrix with one entry per line."""
    return _print(workspace, tree, label, file, by_element=True)


def coriolis_print(workspace: Workspace, label: Tree | None = None, file: Tree | None = None) -> Result:
    """Print the C matrix with one entry per line."""
    return _print(workspace, Name("CM"), label, file, by_element=True)


def _print_all(workspace: Workspace, calls: list[Call], file: Tree | None) -> Result:
    results = [_print(workspace, call, Text(meaning.shown(call)), file, by_element=False) for call in calls]
    return Report(title="Matrices", parts=tuple(part for result in results for part in parts_of(result)))


def all_a(workspace: Workspace, file: Tree | None = None) -> Result:
    """Print all A matrices."""
    calls = [Call(Name("A"), (Number(float(i)),)) for i in range(1, workspace.robot.n + 1)]
    return _print_all(workspace, calls, file)


def all_t(workspace: Workspace, file: Tree | None = None) -> Result:
    """Print all T matrices."""
    n = workspace.robot.n
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    return _print_all(workspace, [Call(Name("T"), (Number(float(i)), Number(float(j)))) for i, j in pairs], file)


def parts_of(result: Result) -> tuple[Result, ...]:
    """Return the results of a report, or the result itself."""
    return result.parts if isinstance(result, Report) else (result,)


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
    from core.robotica.expressions import forms_of, matrix_of

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
