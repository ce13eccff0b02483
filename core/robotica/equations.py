"""Robotica functions that read a robot, show its tables, derive its equations, and print matrices on the screen or
append them to files, as a whole or one entry per line."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from core.errors import ExpressionError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import (
    Binary,
    Call,
    IndexedPart,
    Name,
    Negative,
    Number,
    QuotedString,
    Tree,
    error_at,
)
from core.functions.results import Formulas, Message, Report, Result, Table
from core.functions.text import Cell, Column
from core.model.bodies import Gravity
from core.model.chains import DHChain, negate
from core.model.fields import Value
from core.model.formula.expression import format_formula as expression_text
from core.model.formula.expression import format_number, parse
from core.robotica.command import string_value
from core.robotica.workspace import Workspace


def find_formulas(workspace: Workspace, tree: Tree, label: str = "") -> Formulas:
    """Return a matrix or an entry, labelled by its own name or by `label`. Raises ExpressionError for anything else."""
    from core.robotica.expressions import build_formulas, find_matrix, short_forms

    found = find_matrix(workspace, tree)
    if found is None and isinstance(tree, Binary | Negative | IndexedPart | Call):
        found = build_formulas(workspace, tree, short_forms(workspace, tree))
    if found is None:
        raise error_at(
            tree,
            f"'{meaning.format_for_message(tree)}' is not a matrix.",
            "Use A[i], T[i,j], J, M, MU, CM, G, c[i,j,k], Jvc[i], Jwc[i].",
        )
    return dataclasses.replace(found, title=label or found.title, label=label or found.label)


def _print_matrix(workspace: Workspace, tree: Tree, label: Tree | None, file: Tree | None, by_element: bool) -> Result:
    """Show a matrix; append it to a file if one is named ("*" for the default file)."""
    from core.functions.subjects.symbols import append_to_file
    from core.symbolic.export import format_by_element, format_grid

    shown = find_formulas(workspace, tree, string_value(label) if label is not None else "")
    shown = dataclasses.replace(shown, by_element=by_element)
    if file is not None:
        path = output_path(workspace, string_value(file))
        append_to_file(path, (format_by_element if by_element else format_grid)(shown.entries, shown.label))
        return Report(title=shown.title, parts=(shown, Message(text=f"Appended to {path}.")))
    return shown


def output_path(workspace: Workspace, name: str) -> str:
    """Return the path of an output file. '*' means the default file; any other name becomes the default."""
    if name == "*":
        if not workspace.state.default_file:
            raise ExpressionError("There is no default file yet.", remedy="Give a file name; it becomes the default.")
        return workspace.state.default_file
    workspace.state.default_file = workspace.target(name)
    return workspace.state.default_file


def print_matrix(workspace: Workspace, tree: Tree, label: Tree | None = None, file: Tree | None = None) -> Result:
    """Print a matrix in two dimensions."""
    return _print_matrix(workspace, tree, label, file, by_element=False)


def print_elements(workspace: Workspace, tree: Tree, label: Tree | None = None, file: Tree | None = None) -> Result:
    """Print a matrix with one entry per line."""
    return _print_matrix(workspace, tree, label, file, by_element=True)


def print_coriolis(workspace: Workspace, label: Tree | None = None, file: Tree | None = None) -> Result:
    """Print the C matrix with one entry per line."""
    return _print_matrix(workspace, Name("CM"), label, file, by_element=True)


def _print_all(workspace: Workspace, calls: list[Call], file: Tree | None) -> Result:
    results = [
        _print_matrix(workspace, call, QuotedString(meaning.format_tree(call)), file, by_element=False)
        for call in calls
    ]
    return Report(title="Matrices", parts=tuple(part for result in results for part in report_parts(result)))


def print_all_a(workspace: Workspace, file: Tree | None = None) -> Result:
    """Print all A matrices."""
    calls = [Call(Name("A"), (Number(float(i)),)) for i in range(1, workspace.robot.n + 1)]
    return _print_all(workspace, calls, file)


def print_all_t(workspace: Workspace, file: Tree | None = None) -> Result:
    """Print all T matrices."""
    n = workspace.robot.n
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    return _print_all(workspace, [Call(Name("T"), (Number(float(i)), Number(float(j)))) for i, j in pairs], file)


def report_parts(result: Result) -> tuple[Result, ...]:
    """Return the results of a report, or the result itself."""
    return result.parts if isinstance(result, Report) else (result,)


def read_data_file(workspace: Workspace, name: Tree | None = None) -> Result:
    """Read a robot from a file and discard all previous values."""
    if name is None:
        raise ExpressionError("The file name is missing.", remedy='Write DataFile["name"].')
    path = workspace.path(string_value(name))
    workspace.host.open(path)
    workspace.reset()
    return Report(
        title="Data file",
        parts=(
            Message(text=f"{string_value(name)} is loaded. State Reset."),
            *report_parts(show_input_tables(workspace)),
        ),
    )


def show_input_tables(workspace: Workspace) -> Result:
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
    """Return the table of masses, centres of mass and inertias as entered, with the gravity vector in the sign
    convention of data files."""
    rows: list[tuple[Cell, ...]] = []
    for number, row in enumerate(chain.rows, 1):
        i = row.inertia
        inertia = (i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz)
        rows.append(
            (
                f"{chain.prefix}link{number}",
                _format_mathematica(row.mass),
                _format_list(row.center_of_mass),
                _format_list(inertia),
            )
        )
    against = (0.0, 0.0, 0.0) if gravity.kind == "none" else tuple(negate(x) for x in gravity.acceleration)
    note = (
        f"gravity vector {_format_list(against)}, opposite to the acceleration of gravity, m/s²; kg, m, kg·m²; inertia "
        "{xx, xy, xz, yy, yz, zz} about the centre of mass, axes of the link"
    )
    columns = tuple(map(Column, ("Link", "Mass", "Centre of mass", "Inertia")))
    return Table(title=f"Dynamics of {chain.name}", columns=columns, rows=tuple(rows), note=note)


def _format_mathematica(value: Value) -> str:
    """Format a number or formula in Mathematica's notation."""
    return expression_text(parse(value), "mathematica") if isinstance(value, str) else format_number(value)


def _format_list(values: Iterable[Value]) -> str:
    return "{" + ", ".join(map(_format_mathematica, values)) + "}"


def clear_values(workspace: Workspace, *names: Tree) -> Result:
    """Remove the values of symbols."""
    for name in names:
        workspace.state.given.pop(string_value(name), None)
        workspace.state.lists.pop(string_value(name), None)
        workspace.state.valued.pop(string_value(name), None)
        workspace.state.cleared.append(string_value(name))
    return Message(title="Clear", text=", ".join(map(string_value, names)) + " cleared.")


def derive_forward_kinematics(workspace: Workspace) -> Result:
    """Derive A, T and J."""
    robot = workspace.robot
    robot.exact_entries("J")
    n = robot.n
    a = ", ".join(f"A[{i}]" for i in range(1, n + 1))
    t = ", ".join(f"T[{i},{j}]" for i in range(n) for j in range(i + 1, n + 1))
    text = f"A Matrices Formed: {a}\nT Matrices Formed: {t}\nJacobian Formed: J (6×{n})"
    return Message(title="Forward kinematics", text=text)


def derive_dynamics(workspace: Workspace) -> Result:
    """Derive M, c, CM, G, Jvc and Jwc."""
    robot = workspace.robot
    for what in ("M", "C", "G"):
        robot.exact_entries(what)
    text = "Mass matrix MU, Christoffel symbols c[i,j,k], C matrix CM, gravity vector G, Jvc[i] and Jwc[i] formed."
    return Message(title="Dynamics", text=text)


def show_simplified_dynamics(workspace: Workspace) -> Result:
    """Show M, CM and G in short form."""
    parts = [find_formulas(workspace, Name(name)) for name in ("M", "CM", "G")]
    return Report(title="Simplified dynamics", parts=tuple(parts))


def simplify_expression(workspace: Workspace, tree: Tree) -> Result:
    """Simplify an expression to its short form."""
    from core.robotica.expressions import find_matrix, short_forms

    found = find_matrix(workspace, tree)
    if found is not None:
        return find_formulas(workspace, tree)
    return Formulas(
        title="Simplified expression", label=meaning.format_tree(tree), entries=short_forms(workspace, tree)
    )


def set_trig_notation(workspace: Workspace, notation: Tree | None = None) -> Result:
    """Select C1 and S12, or with `full` Cos[q1] and Sin[q1 + q2], for all later results."""
    from core.functions import call

    chosen = "short" if notation is None else string_value(notation)
    if chosen not in ("short", "full"):
        raise error_at(notation, f"Unknown notation '{chosen}'.", "Write short or full.")  # type: ignore[arg-type]
    return call("trig_notation", workspace.context(), notation=chosen)
