"""Evaluation of typed expressions: matrices that can be displayed (A[1], T[0,2], J, M, MU, CM, G, c[1,1,1], Jvc[1],
R[0,1], z[1], o[1]), numbers, symbols, printed sines (S12), entries and products, simplified."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from core.errors import ExpressionError, KinetostatError, ModelError
from core.files.mathematica.algebra import ScalarMatrix
from core.files.mathematica.meaning import CONSTANTS, format_for_message, format_tree, value
from core.files.mathematica.syntax import (
    FUNCTION_NAMES,
    FUNCTIONS,
    Binary,
    Call,
    IndexedPart,
    LeftRightPair,
    ListExpression,
    Name,
    Negative,
    Tree,
    error_at,
    set_error_position,
)
from core.functions.results import Formulas
from core.functions.subjects.robot_formulas import compute_formulas, symbol_meanings
from core.robotica.workspace import Workspace
from core.symbolic.conventions import symbol_owners
from core.symbolic.factoring import shortest_form
from core.symbolic.forms import Form
from core.symbolic.notation import short_angle_digit
from core.symbolic.ring import Ring, RingElement
from core.symbolic.terms import collect_terms

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


def exact_entries(workspace: Workspace, tree: Tree) -> Rows | None:
    """Return the entries named by an expression, as elements of the robot's ring; None if it is not a result of the
    robot."""
    if isinstance(tree, Name) and not tree.primes and tree.name in WHOLE:
        return list(workspace.equations.exact_entries(WHOLE[tree.name]))
    if not isinstance(tree, Call) or tree.head.primes:
        return None
    name = tree.head.name
    if name in INDEXED:
        return _indexed_entries(workspace, tree)
    if name in WHOLE:
        rows = workspace.equations.exact_entries(WHOLE[name])
        indices = _integer_indices(workspace, tree)
        if len(indices) == 1 and len(rows[0]) == 1:
            indices.append(1)
        if len(indices) != 2:
            raise error_at(tree, f"{name} takes 2 indices, {len(indices)} given.", f"Write {name}[1, 1].")
        if not (1 <= indices[0] <= len(rows) and 1 <= indices[1] <= len(rows[0])):
            raise error_at(
                tree,
                f"'{format_for_message(tree)}' is outside {name} ({len(rows)} × {len(rows[0])}).",
                "Indices count from 1.",
            )
        return [[rows[indices[0] - 1][indices[1] - 1]]]
    return None


def _indexed_entries(workspace: Workspace, tree: Call) -> Rows:
    name = tree.head.name
    what, count = INDEXED[name]
    indices = _integer_indices(workspace, tree)
    if len(indices) != count:
        raise error_at(
            tree,
            f"{name} takes {count} ind{'ices' if count > 1 else 'ex'}, {len(indices)} given.",
            f"Write {name}[{', '.join('1' * count)}].",
        )
    try:
        rows = workspace.equations.exact_entries(what, *((0, indices[0]) if name in ("z", "o") else indices))
    except ModelError as error:
        set_error_position(error, tree)
        raise
    if name in ("z", "o"):
        return [[row[2 if name == "z" else 3]] for row in rows[:3]]
    return [row[:3] for row in rows[:3]] if name == "R" else list(rows)


def _integer_indices(workspace: Workspace, tree: Call) -> list[int]:
    return [workspace.evaluate_integer(argument) for argument in tree.arguments]


def find_matrix(workspace: Workspace, tree: Tree) -> Formulas | None:
    """Return a matrix or an entry, checked against the compiled kernel; None if the expression names neither."""
    robot = workspace.equations
    if isinstance(tree, Name) and not tree.primes and tree.name in WHOLE:
        return with_label(compute_formulas(robot, WHOLE[tree.name]), tree)
    rows = exact_entries(workspace, tree)
    if rows is None:
        return None
    if isinstance(tree, Call) and INDEXED.get(tree.head.name, ("", 0))[0] == tree.head.name:
        return with_label(compute_formulas(robot, tree.head.name, *_integer_indices(workspace, tree)), tree)
    return build_formulas(workspace, tree, tuple(tuple(robot.written(x) for x in row) for row in rows))


def build_formulas(workspace: Workspace, tree: Tree, entries: tuple[tuple[Form, ...], ...]) -> Formulas:
    """Return the entries of an expression as a result, with the meaning of their symbols."""
    name, robot = format_tree(tree), workspace.equations
    return Formulas(
        title=name, label=name, entries=entries, symbols=symbol_meanings(robot), owners=symbol_owners(robot), plain=True
    )


def with_label(formulas: Formulas, tree: Tree) -> Formulas:
    """Return a result labelled with the expression that the user typed."""
    return dataclasses.replace(formulas, title=format_tree(tree), label=format_tree(tree), plain=True)


def short_forms(workspace: Workspace, tree: Tree) -> tuple[tuple[Form, ...], ...]:
    """Return the short form of an expression of numbers, symbols and results (SimplifyExpression); for a matrix, one
    form per entry.

    C12 stands for Cos[q1 + q2] as in what is printed; symbols that were given a value are that number. Raises
    ExpressionError for what has no meaning.
    """
    reader = _ExpressionEvaluator(workspace, tree)
    found = value(tree, reader.evaluate_name, reader.evaluate_call)
    rows = found.rows if isinstance(found, ScalarMatrix) else [[found]]
    return tuple(tuple(reader.format_entry(x) for x in row) for row in rows)


class _ExpressionEvaluator:
    """Evaluator of the names and calls of an expression in one ring."""

    def __init__(self, workspace: Workspace, tree: Tree) -> None:
        self.workspace = workspace
        self.fixed = workspace.fixed
        self.turning = _symbols_by_joint_digit(workspace)
        parts = list(_leaf_terms(tree))
        self.refers = any(isinstance(part, Call) or self._is_matrix(part) for part in parts)
        self.ring: Ring = workspace.equations.chain.ring if self.refers else self._build_ring(parts)

    def _build_ring(self, parts: list[Name | Call]) -> Ring:
        """Return a ring of the names that occur in the expression."""
        used: set[str] = set()
        for part in parts:
            name = part.name if isinstance(part, Name) else ""
            if name and name not in self.fixed:
                used |= set(self.joint_angles_in(name) or (name,))
        return Ring(sorted(used), sorted(used))

    def _is_matrix(self, part: Name | Call) -> bool:
        return isinstance(part, Name) and part.name in WHOLE and part.name not in self.fixed

    def joint_angles_in(self, name: str) -> tuple[str, ...]:
        """Return the joint angles whose sum appears in C12 or S12; () for any other name."""
        match = _PRINTED.fullmatch(name)
        if match is None or name in self.workspace.machine_symbols:
            return ()
        found = tuple(self.turning.get(digit, "") for digit in match.group(2))
        return found if all(found) else ()

    def evaluate_name(self, name: Name) -> Any:
        """Return a symbol, the value of a symbol, or a whole matrix."""
        if name.primes:
            raise error_at(
                name, f"'{format_for_message(name)}' has no meaning here.", "Use primes only in torque files."
            )
        if name.name in self.fixed:
            return self.fixed[name.name]
        if self._is_matrix(name):
            return ScalarMatrix(list(exact_entries(self.workspace, name) or []))
        angle = self.joint_angles_in(name.name)
        if angle:
            sine, cosine = self.ring.sin_cos(sum((self.ring.symbol(a) for a in angle), start=self.ring.to_element(0.0)))
            return sine if name.name[0] == "S" else cosine
        function = name.name in FUNCTION_NAMES and name.name not in self.workspace.machine_symbols
        if function or name.name not in self.ring.plain:
            raise self._unknown_name_error(name)
        return self.ring.symbol(name.name)

    def _unknown_name_error(self, name: Name) -> ExpressionError:
        check_misspelt_function(self.workspace, name)
        return error_at(
            name, f"'{name.name}' is not a symbol of the robot.", "Use its parameters and joint coordinates."
        )

    def evaluate_call(self, call: Call | IndexedPart) -> Any:
        """Return a result of the robot, an entry of a matrix, or a transpose."""
        if isinstance(call, IndexedPart):
            return self._matrix_entry(call)
        if call.head.name == "Transpose" and len(call.arguments) == 1:
            grid = value(call.arguments[0], self.evaluate_name, self.evaluate_call)
            return grid.transpose() if isinstance(grid, ScalarMatrix) else grid
        rows = exact_entries(self.workspace, call)
        if rows is None:
            check_misspelt_function(self.workspace, call.head)
            raise error_at(
                call, f"'{format_for_message(call)}' is not known.", "Use entries such as M[1,1] or c[1,1,1]."
            )
        return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else ScalarMatrix(rows)

    def _matrix_entry(self, part: IndexedPart) -> Any:
        """Return entry [[i,j]] of a matrix, counted from 1; for a column, [[i]] suffices."""
        grid = value(part.of, self.evaluate_name, self.evaluate_call)
        indices = [self.workspace.evaluate_integer(each) for each in part.indices]
        rows, columns = grid.size if isinstance(grid, ScalarMatrix) else (1, 1)
        if len(indices) == 1 and columns == 1:
            indices.append(1)
        if len(indices) != 2:
            raise error_at(
                part,
                f"'{format_for_message(part)}' needs a row and a column.",
                f"Write {format_for_message(part.of)}[[1,1]].",
            )
        if not (1 <= indices[0] <= rows and 1 <= indices[1] <= columns):
            raise error_at(
                part, f"'{format_for_message(part)}' is outside the {rows} × {columns} matrix.", "Indices count from 1."
            )
        return grid.rows[indices[0] - 1][indices[1] - 1] if isinstance(grid, ScalarMatrix) else grid

    def format_entry(self, x: Any) -> Form:
        """Write a matrix entry as a form."""
        groups = self.workspace.equations.parallel_angle_groups if self.refers else [self.ring.angles]
        return shortest_form(collect_terms(x if isinstance(x, RingElement) else float(x), groups))


def is_printed_sine(workspace: Workspace, tree: Tree) -> bool:
    """Return True if a name is a printed sine or cosine such as C1 or S12."""
    return (
        isinstance(tree, Name)
        and not tree.primes
        and bool(_ExpressionEvaluator(workspace, tree).joint_angles_in(tree.name))
    )


def check_misspelt_function(workspace: Workspace, name: Name) -> None:
    """Raise ExpressionError if an unknown name is a misspelt function, or a function without brackets."""
    if name.name in workspace.commands:
        raise error_at(
            name,
            f"'{name.name}' is a function; its arguments go in square brackets.",
            f"Write {workspace.commands[name.name].usage}.",
        )
    if name.name in FUNCTION_NAMES:
        function = FUNCTION_NAMES[name.name]
        raise error_at(
            name, f"'{name.name}' is a function; its argument goes in square brackets.", f"Write {function}[q1]."
        )
    if name.name in INDEXED:
        count = INDEXED[name.name][1]
        raise error_at(
            name,
            f"'{name.name}' takes {count} ind{'ices' if count > 1 else 'ex'}.",
            f"Write {name.name}[{', '.join('1' * count)}].",
        )
    meant = next((each for each in workspace.commands if each.lower() == name.name.lower()), "")
    if meant:
        raise error_at(name, f"There is no function '{name.name}'.", f"Did you mean {meant}?")


def _symbols_by_joint_digit(workspace: Workspace) -> dict[str, str]:
    """Return digit → symbol of each revolute joint, for reading printed sums such as C12; empty if the robot is not
    serial."""
    try:
        variables = workspace.robot.chain.variables
    except KinetostatError:
        return {}
    return {digit: v.symbol for v in variables if v.turns and (digit := short_angle_digit(v.symbol))}


def _leaf_terms(tree: Tree) -> Iterator[Name | Call]:
    """Yield the names, and the calls of the robot's results, in an expression."""
    if isinstance(tree, Name):
        yield from () if tree.name in CONSTANTS else (tree,)
    elif isinstance(tree, Call) and tree.head.name in (*WHOLE, *INDEXED):
        yield tree
    for inner in _subtrees(tree):
        yield from _leaf_terms(inner)


def _subtrees(tree: Tree) -> tuple[Tree, ...]:
    if isinstance(tree, Binary | LeftRightPair):
        return tree.left, tree.right
    if isinstance(tree, Negative):
        return (tree.operand,)
    if isinstance(tree, IndexedPart):
        return (tree.of,)
    if isinstance(tree, Call):
        return tree.arguments if tree.head.name in (*FUNCTIONS, "Transpose") else ()
    return tree.items if isinstance(tree, ListExpression) else ()
