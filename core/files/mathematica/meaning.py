"""Evaluation of syntax trees with any kind of scalar, and reading of numbers, ranges and option lists."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from core.errors import ExpressionError, ModelError
from core.files.mathematica.algebra import dot
from core.files.mathematica.syntax import (
    FUNCTIONS,
    Binary,
    Call,
    IndexedPart,
    LeftRightPair,
    ListExpression,
    Name,
    Negative,
    Number,
    QuotedString,
    Tree,
    error_at,
    set_error_position,
)
from core.numerics.spatial.scalar import Scalar, apply

CONSTANTS = {"Pi": math.pi, "pi": math.pi, "E": math.e, "Degree": math.pi / 180.0}

MATRICES = ("M", "MU", "CM", "C", "G", "tau", "J")
"""Names of matrices, whose entries are written M[[1,2]] as in Robotica's output."""
MOST_DIVISIONS = 10_000
LONGEST = 80
"""Maximum number of characters of a formula quoted in a message."""

LookUp = Callable[[Name], Scalar]
Refer = Callable[[Call], Scalar]


def value(tree: Tree, look_up: LookUp, look_up_call: Refer) -> Scalar:
    """Evaluate a tree to a scalar. `look_up` returns the values of names, `look_up_call` those of calls such as q1[t]
    or M[1,2].

    Raises ExpressionError for anything that is no number.
    """
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        if tree.name in CONSTANTS and not tree.primes:
            return CONSTANTS[tree.name]
        return _look_up_with_position(tree, look_up)
    if isinstance(tree, Negative):
        return -value(tree.operand, look_up, look_up_call)
    if isinstance(tree, Binary):
        return _evaluate_binary(tree, value(tree.left, look_up, look_up_call), value(tree.right, look_up, look_up_call))
    if isinstance(tree, Call):
        ours = FUNCTIONS.get(tree.head.name)
        if ours is None or tree.head.primes:
            return _look_up_with_position(tree, look_up_call)
        return _evaluate_function(tree, ours, [value(argument, look_up, look_up_call) for argument in tree.arguments])
    if isinstance(tree, IndexedPart):
        return _look_up_with_position(tree, look_up_call)
    remedy = _REMEDIES.get(tree.operator, "") if isinstance(tree, LeftRightPair) else ""
    raise error_at(tree, f"'{format_for_message(tree)}' is not a number.", remedy or "Write a formula.")


_REMEDIES = {
    "==": "To give a name a value, write name = number.",
    "->": "Rules stand in lists of options; to give a name a value, write name = number.",
}


def _look_up_with_position(tree: Any, look_up: Callable[[Any], Scalar]) -> Scalar:
    """Return the value of a name or a call; an error gets the position in the text."""
    try:
        return look_up(tree)
    except ExpressionError as error:
        set_error_position(error, tree)
        raise


def _evaluate_binary(tree: Binary, left: Scalar, right: Scalar) -> Scalar:
    plain = isinstance(left, float) and isinstance(right, float)
    try:
        if tree.operator == ".":
            return dot(left, right)
        result = _OPERATIONS[tree.operator](left, right) if tree.operator != "^" else _evaluate_power(left, right)
        if plain and not math.isfinite(result):
            raise OverflowError
    except (ZeroDivisionError, OverflowError, ValueError):
        raise error_at(tree, f"'{format_for_message(tree)}' has no finite value.", "Change the formula.") from None
    except ModelError as error:
        raise error_at(
            tree, f"'{format_for_message(tree)}' is not a polynomial in the symbols.", error.remedy
        ) from None
    except ExpressionError as error:
        set_error_position(error, tree)
        raise
    return result


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _evaluate_power(left: Scalar, right: Scalar) -> Scalar:
    return math.pow(left, right) if isinstance(left, float) and isinstance(right, float) else left**right


def _evaluate_function(tree: Call, function: str, arguments: list[Scalar]) -> Scalar:
    if function == "atan" and len(arguments) == 2:
        function, arguments = "atan2", arguments[::-1]  # ArcTan[x, y]
    wanted = 2 if function in ("fmin", "fmax", "atan2") else 1
    if len(arguments) != wanted:
        raise error_at(tree, f"{tree.head.name} takes {wanted} argument{'s' * (wanted > 1)}, {len(arguments)} given.")
    try:
        return apply(function, *arguments)
    except ValueError:
        raise error_at(tree, f"'{format_for_message(tree)}' has no real value.", "Change the formula.") from None
    except ModelError as error:
        raise error_at(tree, f"'{format_for_message(tree)}' cannot be written exactly.", error.remedy) from None
    except ExpressionError as error:
        set_error_position(error, tree)
        raise


def format_tree(tree: Tree) -> str:
    """Format the tree in the language's own notation."""
    if isinstance(tree, Number):
        return f"{tree.value:g}"
    if isinstance(tree, QuotedString):
        return f'"{tree.value}"'
    if isinstance(tree, Name):
        return tree.name + "'" * tree.primes
    if isinstance(tree, Call):
        inside = ",".join(map(format_tree, tree.arguments))
        return (
            f"{format_tree(tree.head)}[[{inside}]]"
            if tree.head.name in MATRICES
            else f"{format_tree(tree.head)}[{inside}]"
        )
    if isinstance(tree, IndexedPart):
        return f"{_format_operand(tree.of, 9)}[[{','.join(map(format_tree, tree.indices))}]]"
    if isinstance(tree, ListExpression):
        return "{" + ", ".join(map(format_tree, tree.items)) + "}"
    if isinstance(tree, Negative):
        return f"-{_format_operand(tree.operand, _LEVELS['*'])}"
    if isinstance(tree, LeftRightPair):
        return f"{format_tree(tree.left)} {tree.operator} {format_tree(tree.right)}"
    return _format_binary(tree)


_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, ".": 3, "^": 4}
"""Precedence of operators."""


def _format_binary(tree: Binary) -> str:
    """Format a binary operation with the parentheses it needs. Left operands are handled in a loop, because a text may
    chain thousands of operations."""
    endings: list[str] = []
    while True:
        level = _LEVELS[tree.operator]
        endings.append(_format_right_side(tree, level))
        least = level + (tree.operator == "^")
        left = tree.left
        if not isinstance(left, Binary) or _LEVELS[left.operator] < least:
            break
        tree = left
    signed = isinstance(left, Negative) and level < _LEVELS["^"]  # a leading sign needs no parentheses
    first = format_tree(left) if signed else _format_operand(left, least)
    return first + "".join(reversed(endings))


def _format_right_side(tree: Binary, level: int) -> str:
    """Format the operator and the right operand of a binary operation with this precedence."""
    second = _format_operand(tree.right, level + (tree.operator in "-*/"))
    if second.startswith("-"):
        if tree.operator == "+":
            return f" - {second[1:]}"
        second = f"({second})"
    return {"+": " + ", "-": " - ", "*": " ", ".": " . "}.get(tree.operator, tree.operator) + second


def _format_operand(tree: Tree, level: int) -> str:
    """Format a tree as an operand, in parentheses if its operator binds less tightly than `level`."""
    own = _LEVELS[tree.operator] if isinstance(tree, Binary) else 0 if isinstance(tree, Negative | LeftRightPair) else 9
    return f"({format_tree(tree)})" if own < level else format_tree(tree)


def format_for_message(tree: Tree) -> str:
    """Format the tree for a message, shortened to one line."""
    text = format_tree(tree)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def evaluate_number(tree: Tree, symbol_value: Callable[[str], float]) -> float:
    """Evaluate a tree without time-dependent parts to a number. `symbol_value(name)` returns the value of a symbol."""

    def reject_call(call: Call) -> Scalar:
        raise error_at(
            call, f"'{format_for_message(call)}' cannot be used as a number here.", "Write a number or a formula."
        )

    def look_up(name: Name) -> Scalar:
        return reject_call(Call(name, (), name.at)) if name.primes else symbol_value(name.name)

    result = value(tree, look_up, reject_call)
    if not math.isfinite(result):
        raise error_at(tree, f"'{format_for_message(tree)}' is not a finite number.", "Write a finite number.")
    return float(result)


def list_items(tree: Tree) -> Sequence[Tree]:
    """Return the items of a list; a single item counts as a list of one (Robotica adds the outer braces)."""
    return tree.items if isinstance(tree, ListExpression) else (tree,)


DIVISIONS = 5
"""Default number of divisions of a range."""


def read_ranges(tree: Tree, symbol_value: Callable[[str], float]) -> list[tuple[str, float, float, int]]:
    """Read {{q1, 0, 90 Degree, 8}, …} as (name, start, stop, divisions); one list without outer braces is one range.

    A number of divisions behind the last range, or in the last range alone, is that of all.
    """
    rows = list_items(tree)
    if rows and not isinstance(rows[0], ListExpression):
        rows = (ListExpression(tuple(rows), tree.at),)
    common: Tree | None = None
    if len(rows) > 1 and not isinstance(rows[-1], ListExpression):
        *rows, common = rows
    counts: list[Tree | None] = []
    for row in rows:
        parts = list_items(row)
        if not 3 <= len(parts) <= 4 or not isinstance(parts[0], Name):
            raise error_at(
                row, f"'{format_for_message(row)}' is not a range.", "Write {variable, start, end, divisions}."
            )
        counts.append(parts[3] if len(parts) == 4 else None)
    if common is None and not any(counts[:-1]):
        common = counts[-1]
    found = []
    for row, count in zip(rows, counts, strict=True):
        name, start, stop = list_items(row)[:3]
        assert isinstance(name, Name)
        chosen = count or common
        divisions = DIVISIONS if chosen is None else _read_divisions(chosen, symbol_value)
        found.append((name.name, evaluate_number(start, symbol_value), evaluate_number(stop, symbol_value), divisions))
    return found


def _read_divisions(tree: Tree, symbol_value: Callable[[str], float]) -> int:
    """Read a number of divisions. Raises ExpressionError."""
    count = evaluate_number(tree, symbol_value)
    if count != int(count) or not 1 <= count <= MOST_DIVISIONS:
        raise error_at(
            tree, f"{count:g} is not a number of divisions.", f"Write a whole number from 1 to {MOST_DIVISIONS}."
        )
    return int(count)


def read_options(tree: Tree | None) -> dict[str, Any]:
    """Read {scale, file -> "m.txt", 0.2} as a dictionary: words become True, rules their value, and a number is stored
    under "number"."""
    found: dict[str, Any] = {}
    for item in list_items(tree) if tree is not None else ():
        if isinstance(item, Name):
            found[item.name] = True
        elif isinstance(item, LeftRightPair) and item.operator == "->" and isinstance(item.left, Name):
            right = item.right
            found[item.left.name] = right.value if isinstance(right, QuotedString | Number) else right
        elif isinstance(item, Number):
            found["number"] = item.value
        elif isinstance(item, QuotedString):
            found["file"] = item.value
        else:
            raise error_at(item, f"'{format_for_message(item)}' is not an option.", "Write words or name -> value.")
    return found
