"""Robotica functions that print matrices on the screen and append them to files, whole or one entry per line."""

from __future__ import annotations

import dataclasses

from core.errors import ExpressionError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import Binary, Call, Name, Negative, Number, Part, Text, Tree, refused
from core.functions.results import Formulas, Message, Report, Result
from core.robotica.command import text_of
from core.robotica.workspace import Workspace


def formulas(workspace: Workspace, tree: Tree, label: str = "") -> Formulas:
    """Return a matrix or an entry, labelled by its own name or by `label`. Raises ExpressionError for anything else."""
    from core.robotica.expressions import forms_of
    from core.robotica.matrices import matrix_of, written

    found = matrix_of(workspace, tree)
    if found is None and isinstance(tree, Binary | Negative | Part | Call):
        found = written(workspace, tree, forms_of(workspace, tree))
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
