"""Typed expressions: matrices that can be displayed (A[1], T[0,2], J, M, MU, CM, G, c[1,1,1], Jvc[1], R[0,1], z[1],
o[1]), and numbers, symbols, printed sines (S12), entries and products, simplified.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from core.errors import ExpressionError, KinetostatError, ModelError
from core.files.mathematica.algebra import Grid
from core.files.mathematica.meaning import CONSTANTS, said, shown, value
from core.files.mathematica.syntax import (
    FUNCTION_NAMES,
    FUNCTIONS,
    Binary,
    Call,
    Items,
    Name,
    Negative,
    Pair,
    Part,
    Tree,
    place,
    refused,
)
from core.functions.results import Formulas
from core.functions.subjects.robot_formulas import formulas, meanings
from core.robotica.workspace import Workspace
from core.symbolic.conventions import owners
from core.symbolic.factoring import written
from core.symbolic.forms import Form
from core.symbolic.notation import short_angle_digits
from core.symbolic.ring import Element, Ring
from core.symbolic.terms import terms_of

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

_PRINTED = re.compile(r"([CS])([0-9]+)")


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
    return written_matrix(workspace, tree, tuple(tuple(robot.written(x) for x in row) for row in rows))


def written_matrix(workspace: Workspace, tree: Tree, entries: tuple[tuple[Form, ...], ...]) -> Formulas:
    """Return entries of an expression as a result, with the meaning of their symbols."""
    name, robot = shown(tree), workspace.equations
    return Formulas(title=name, label=name, entries=entries, symbols=meanings(robot), owners=owners(robot), plain=True)


def labelled(found: Formulas, tree: Tree) -> Formulas:
    """Return a result labelled by the expression that the user typed."""
    return dataclasses.replace(found, title=shown(tree), label=shown(tree), plain=True)


def forms_of(workspace: Workspace, tree: Tree) -> tuple[tuple[Form, ...], ...]:
    """Return the short form of an expression of numbers, symbols and results (SimplifyExpression); several forms for a
    matrix.

    C12 stands for Cos[q1 + q2] as in what is printed; symbols that were given a value are that number. Raises
    ExpressionError for what has no meaning.
    """
    reader = _Reader(workspace, tree)
    found = value(tree, reader.name, reader.call)
    rows = found.rows if isinstance(found, Grid) else [[found]]
    return tuple(tuple(reader.written(x) for x in row) for row in rows)


class _Reader:
    """Evaluates the names and calls of an expression in one ring."""

    def __init__(self, workspace: Workspace, tree: Tree) -> None:
        self.workspace = workspace
        self.fixed = workspace.fixed
        self.turning = _joint_digits(workspace)
        parts = list(_leaf_terms(tree))
        self.refers = any(isinstance(part, Call) or self._is_matrix(part) for part in parts)
        self.ring: Ring = workspace.equations.chain.ring if self.refers else self._own_ring(parts)

    def _own_ring(self, parts: list[Name | Call]) -> Ring:
        """Return a ring of the names that occur in the expression."""
        used: set[str] = set()
        for part in parts:
            name = part.name if isinstance(part, Name) else ""
            if name and name not in self.fixed:
                used |= set(self.angle(name) or (name,))
        return Ring(sorted(used), sorted(used))

    def _is_matrix(self, part: Name | Call) -> bool:
        return isinstance(part, Name) and part.name in WHOLE and part.name not in self.fixed

    def angle(self, name: str) -> tuple[str, ...]:
        """Return the joint angles summed in C12 or S12; () for any other name."""
        match = _PRINTED.fullmatch(name)
        if match is None or name in self.workspace.own_symbols:
            return ()
        found = tuple(self.turning.get(digit, "") for digit in match.group(2))
        return found if all(found) else ()

    def name(self, name: Name) -> Any:
        """Return a symbol, its value, or a whole matrix."""
        if name.primes:
            raise refused(name, f"'{said(name)}' has no meaning here.", "Use primes only in torque files.")
        if name.name in self.fixed:
            return self.fixed[name.name]
        if self._is_matrix(name):
            return Grid(list(exact_of(self.workspace, name) or []))
        angle = self.angle(name.name)
        if angle:
            sine, cosine = self.ring.sin_cos(sum((self.ring.symbol(a) for a in angle), start=self.ring.constant(0.0)))
            return sine if name.name[0] == "S" else cosine
        function = name.name in FUNCTION_NAMES and name.name not in self.workspace.own_symbols
        if function or name.name not in self.ring.plain:
            raise self._unknown_name_error(name)
        return self.ring.symbol(name.name)

    def _unknown_name_error(self, name: Name) -> ExpressionError:
        refuse_unknown_name(self.workspace, name)
        return refused(
            name, f"'{name.name}' is not a symbol of the robot.", "Use its parameters and joint coordinates."
        )

    def call(self, call: Call | Part) -> Any:
        """Return a result of the robot, an entry of a matrix, or a transpose."""
        if isinstance(call, Part):
            return self._entry(call)
        if call.head.name == "Transpose" and len(call.arguments) == 1:
            grid = value(call.arguments[0], self.name, self.call)
            return grid.transposed() if isinstance(grid, Grid) else grid
        rows = exact_of(self.workspace, call)
        if rows is None:
            refuse_unknown_name(self.workspace, call.head)
            raise refused(call, f"'{said(call)}' is not known.", "Use entries such as M[1,1] or c[1,1,1].")
        return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else Grid(rows)

    def _entry(self, part: Part) -> Any:
        """Return entry [[i,j]] of a matrix, counted from 1; for a column [[i]] suffices."""
        grid = value(part.of, self.name, self.call)
        indices = [self.workspace.index(each) for each in part.indices]
        rows, columns = grid.size if isinstance(grid, Grid) else (1, 1)
        if len(indices) == 1 and columns == 1:
            indices.append(1)
        if len(indices) != 2:
            raise refused(part, f"'{said(part)}' needs a row and a column.", f"Write {said(part.of)}[[1,1]].")
        if not (1 <= indices[0] <= rows and 1 <= indices[1] <= columns):
            raise refused(part, f"'{said(part)}' is outside of the {rows} × {columns} matrix.", "Count from 1.")
        return grid.rows[indices[0] - 1][indices[1] - 1] if isinstance(grid, Grid) else grid

    def written(self, x: Any) -> Form:
        """Write an entry as a form."""
        groups = self.workspace.equations.groups if self.refers else [self.ring.angles]
        return written(terms_of(x if isinstance(x, Element) else float(x), groups))


def is_printed_sine(workspace: Workspace, tree: Tree) -> bool:
    """Return True if a name is a printed sine or cosine such as C1 or S12."""
    return isinstance(tree, Name) and not tree.primes and bool(_Reader(workspace, tree).angle(tree.name))


def refuse_unknown_name(workspace: Workspace, name: Name) -> None:
    """Raise ExpressionError if an unknown name is a misspelt function, or a function without brackets."""
    if name.name in workspace.commands:
        raise refused(
            name,
            f"'{name.name}' is a function; its arguments go in square brackets.",
            f"Write {workspace.commands[name.name].usage}.",
        )
    if name.name in FUNCTION_NAMES:
        function = FUNCTION_NAMES[name.name]
        raise refused(
            name, f"'{name.name}' is a function; its argument goes in square brackets.", f"Write {function}[q1]."
        )
    if name.name in INDEXED:
        count = INDEXED[name.name][1]
        raise refused(
            name,
            f"'{name.name}' takes {count} ind{'ices' if count > 1 else 'ex'}.",
            f"Write {name.name}[{', '.join('1' * count)}].",
        )
    meant = next((each for each in workspace.commands if each.lower() == name.name.lower()), "")
    if meant:
        raise refused(name, f"There is no function '{name.name}'.", f"Did you mean {meant}?")


def _joint_digits(workspace: Workspace) -> dict[str, str]:
    """Return the digit of each revolute joint in printed sums → its symbol; empty if the robot is not serial."""
    try:
        variables = workspace.robot.chain.variables
    except KinetostatError:
        return {}
    return {digit: v.symbol for v in variables if v.turns and (digit := short_angle_digits(v.symbol))}


def _leaf_terms(tree: Tree) -> Iterator[Name | Call]:
    """Return the names and the calls of the robot's results in an expression."""
    if isinstance(tree, Name):
        yield from () if tree.name in CONSTANTS else (tree,)
    elif isinstance(tree, Call) and tree.head.name in (*WHOLE, *INDEXED):
        yield tree
    for inner in _subtrees(tree):
        yield from _leaf_terms(inner)


def _subtrees(tree: Tree) -> tuple[Tree, ...]:
    if isinstance(tree, Binary | Pair):
        return tree.left, tree.right
    if isinstance(tree, Negative):
        return (tree.operand,)
    if isinstance(tree, Part):
        return (tree.of,)
    if isinstance(tree, Call):
        return tree.arguments if tree.head.name in (*FUNCTIONS, "Transpose") else ()
    return tree.items if isinstance(tree, Items) else ()
