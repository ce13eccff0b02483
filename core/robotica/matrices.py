"""Matrices that can be displayed: A[1], T[0,2], J, M, MU, CM, G, c[1,1,1], Jvc[1], R[0,1], z[1], o[1], and expressions
of them."""

from __future__ import annotations

import dataclasses
from typing import Any

from core.errors import ModelError
from core.files.mathematica.meaning import said, shown
from core.files.mathematica.syntax import Call, Name, Tree, place, refused
from core.functions.results import Formulas
from core.functions.subjects.robot_formulas import formulas, meanings
from core.robotica.workspace import Workspace
from core.symbolic.forms import Form
from core.symbolic.owners import owners

Rows = list[list[Any]]
WHOLE = {"J": "J", "M": "M", "MU": "M", "CM": "C", "C": "C", "G": "G", "tau": "tau", "K": "K", "P": "P"}
INDEXED = {
    "A": ("A", 1),
    "T": ("T", 2),
    "c": ("c", 3),
    "Jvc": ("Jvc", 1),
    "Jwc": ("Jwc", 1),
    "R": ("T", 2),
    "z": ("T", 1),
    "o": ("T", 1),
}
"""Name → (result, number of indices)."""


def exact_of(workspace: Workspace, tree: Tree) -> Rows | None:
    """Return the entries that an expression names, as elements of the robot's ring; None if it is not a result of the
    robot."""
    if isinstance(tree, Name) and not tree.primes and tree.name in WHOLE:
        return list(workspace.equations.exact(WHOLE[tree.name]))
    if not isinstance(tree, Call) or tree.head.primes:
        return None
    name = tree.head.name
    if name in INDEXED:
        return _indexed_entries(workspace, tree)
    if name in WHOLE:
        rows = workspace.equations.exact(WHOLE[name])
        indices = _integer_indices(workspace, tree)
        if len(indices) == 1 and len(rows[0]) == 1:
            indices.append(1)
        if len(indices) != 2:
            raise refused(tree, f"{name} takes 2 indices, {len(indices)} given.", f"Write {name}[1, 1].")
        if not (1 <= indices[0] <= len(rows) and 1 <= indices[1] <= len(rows[0])):
            raise refused(tree, f"'{said(tree)}' is outside of {name} ({len(rows)} × {len(rows[0])}).", "Count from 1.")
        return [[rows[indices[0] - 1][indices[1] - 1]]]
    return None


def _indexed_entries(workspace: Workspace, tree: Call) -> Rows:
    name = tree.head.name
    what, count = INDEXED[name]
    indices = _integer_indices(workspace, tree)
    if len(indices) != count:
        raise refused(
            tree,
            f"{name} takes {count} ind{'ices' if count > 1 else 'ex'}, {len(indices)} given.",
            f"Write {name}[{', '.join('1' * count)}].",
        )
    try:
        rows = workspace.equations.exact(what, *((0, indices[0]) if name in ("z", "o") else indices))
    except ModelError as error:
        place(error, tree)
        raise
    if name in ("z", "o"):
        return [[row[2 if name == "z" else 3]] for row in rows[:3]]
    return [row[:3] for row in rows[:3]] if name == "R" else list(rows)


def _integer_indices(workspace: Workspace, tree: Call) -> list[int]:
    return [workspace.index(argument) for argument in tree.arguments]


def matrix_of(workspace: Workspace, tree: Tree) -> Formulas | None:
    """Return a matrix, compared with the compiled kernel, or an entry; None if the expression names neither."""
    robot = workspace.equations
    if isinstance(tree, Name) and not tree.primes and tree.name in WHOLE:
        return labelled(formulas(robot, WHOLE[tree.name]), tree)
    rows = exact_of(workspace, tree)
    if rows is None:
        return None
    if isinstance(tree, Call) and INDEXED.get(tree.head.name, ("", 0))[0] == tree.head.name:
        return labelled(formulas(robot, tree.head.name, *_integer_indices(workspace, tree)), tree)
    return written(workspace, tree, tuple(tuple(robot.written(x) for x in row) for row in rows))


def written(workspace: Workspace, tree: Tree, entries: tuple[tuple[Form, ...], ...]) -> Formulas:
    """Return entries of an expression as a result, with the meaning of their symbols."""
    name, robot = shown(tree), workspace.equations
    return Formulas(title=name, label=name, entries=entries, symbols=meanings(robot), owners=owners(robot), plain=True)


def labelled(found: Formulas, tree: Tree) -> Formulas:
    """Return a result labelled by the expression that the user typed."""
    return dataclasses.replace(found, title=shown(tree), label=shown(tree), plain=True)
