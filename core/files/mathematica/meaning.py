"""Evaluation of syntax trees over any scalars, and reading of numbers, ranges and option lists."""

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
    Items,
    Name,
    Negative,
    Number,
    Pair,
    Part,
    Text,
    Tree,
    place,
    refused,
)
from core.numerics.spatial.scalar import Scalar, apply

CONSTANTS = {"Pi": math.pi, "pi": math.pi, "E": math.e, "Degree": math.pi / 180.0}

MATRICES = ("M", "MU", "CM", "C", "G", "tau", "J")
"""Names whose entries are written M[[1,2]], as Robotica prints them."""
MOST_DIVISIONS = 10_000
LONGEST = 80
"""Largest number of characters of a formula in a message."""

LookUp = Callable[[Name], Scalar]
Refer = Callable[[Call], Scalar]


def value(tree: Tree, look_up: LookUp, refer: Refer) -> Scalar:
    """Evaluate a tree to a scalar: `look_up` gives the values of names, `refer` those of calls such as q1[t] or M[1,2].

    Raises ExpressionError for anything that is no number.
    """
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        if tree.name in CONSTANTS and not tree.primes:
            return CONSTANTS[tree.name]
        return _looked_up(tree, look_up)
    if isinstance(tree, Negative):
        return -value(tree.operand, look_up, refer)
    if isinstance(tree, Binary):
        return _binary_value(tree, value(tree.left, look_up, refer), value(tree.right, look_up, refer))
    if isinstance(tree, Call):
        ours = FUNCTIONS.get(tree.head.name)
        if ours is None or tree.head.primes:
            return _looked_up(tree, refer)
        return _function_value(tree, ours, [value(argument, look_up, refer) for argument in tree.arguments])
    if isinstance(tree, Part):
        return _looked_up(tree, refer)
    remedy = _REMEDIES.get(tree.operator, "") if isinstance(tree, Pair) else ""
    raise refused(tree, f"'{said(tree)}' is not a number.", remedy or "Write a formula.")


_REMEDIES = {
    "==": "To give a name a value, write name = number.",
    "->": "Rules stand in lists of options; to give a name a value, write name = number.",
}


def _looked_up(tree: Any, look_up: Callable[[Any], Scalar]) -> Scalar:
    """Evaluate a name or a call; an error gets its position in the text."""
    try:
        return look_up(tree)
    except ExpressionError as error:
        place(error, tree)
        raise


def _binary_value(tree: Binary, left: Scalar, right: Scalar) -> Scalar:
    plain = isinstance(left, float) and isinstance(right, float)
    try:
        if tree.operator == ".":
            return dot(left, right)
        result = _OPERATIONS[tree.operator](left, right) if tree.operator != "^" else _power(left, right)
        if plain and not math.isfinite(result):
            raise OverflowError
    except (ZeroDivisionError, OverflowError, ValueError):
        raise refused(tree, f"'{said(tree)}' has no finite value.", "Change the formula.") from None
    except ModelError as error:
        raise refused(tree, f"'{said(tree)}' is not a polynomial in the symbols.", error.remedy) from None
    except ExpressionError as error:
        place(error, tree)
        raise
    return result


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _power(left: Scalar, right: Scalar) -> Scalar:
    return math.pow(left, right) if isinstance(left, float) and isinstance(right, float) else left**right


def _function_value(tree: Call, ours: str, arguments: list[Scalar]) -> Scalar:
    if ours == "atan" and len(arguments) == 2:
        ours, arguments = "atan2", arguments[::-1]  # ArcTan[x, y]
    wanted = 2 if ours in ("fmin", "fmax", "atan2") else 1
    if len(arguments) != wanted:
        raise refused(tree, f"{tree.head.name} takes {wanted} argument{'s' * (wanted > 1)}, {len(arguments)} given.")
    try:
        return apply(ours, *arguments)
    except ValueError:
        raise refused(tree, f"'{said(tree)}' has no real value.", "Change the formula.") from None
    except ModelError as error:
        raise refused(tree, f"'{said(tree)}' cannot be written exactly.", error.remedy) from None
    except ExpressionError as error:
        place(error, tree)
        raise


def shown(tree: Tree) -> str:
    """Write the tree as text in the language."""
    if isinstance(tree, Number):
        return f"{tree.value:g}"
    if isinstance(tree, Text):
        return f'"{tree.value}"'
    if isinstance(tree, Name):
        return tree.name + "'" * tree.primes
    if isinstance(tree, Call):
        inside = ",".join(map(shown, tree.arguments))
        return f"{shown(tree.head)}[[{inside}]]" if tree.head.name in MATRICES else f"{shown(tree.head)}[{inside}]"
    if isinstance(tree, Part):
        return f"{_operand_text(tree.of, 9)}[[{','.join(map(shown, tree.indices))}]]"
    if isinstance(tree, Items):
        return "{" + ", ".join(map(shown, tree.items)) + "}"
    if isinstance(tree, Negative):
        return f"-{_operand_text(tree.operand, _LEVELS['*'])}"
    if isinstance(tree, Pair):
        return f"{shown(tree.left)} {tree.operator} {shown(tree.right)}"
    return _binary_text(tree)


_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, ".": 3, "^": 4}
"""Precedence of operators."""


def _binary_text(tree: Binary) -> str:
    """Write a binary operation with the parentheses it needs, and in a loop the operations on its left, of which a text
    may have thousands in a row."""
    endings: list[str] = []
    while True:
        level = _LEVELS[tree.operator]
        endings.append(_ending_text(tree, level))
        least = level + (tree.operator == "^")
        left = tree.left
        if not isinstance(left, Binary) or _LEVELS[left.operator] < least:
            break
        tree = left
    signed = isinstance(left, Negative) and level < _LEVELS["^"]  # a leading sign needs no parentheses
    first = shown(left) if signed else _operand_text(left, least)
    return first + "".join(reversed(endings))


def _ending_text(tree: Binary, level: int) -> str:
    """Write the operator and the right operand of a binary operation of this precedence."""
    second = _operand_text(tree.right, level + (tree.operator in "-*/"))
    if second.startswith("-"):
        if tree.operator == "+":
            return f" - {second[1:]}"
        second = f"({second})"
    return {"+": " + ", "-": " - ", "*": " ", ".": " . "}.get(tree.operator, tree.operator) + second


def _operand_text(tree: Tree, level: int) -> str:
    """Write a tree as an operand, in parentheses if its operator binds less tightly than `level`."""
    own = _LEVELS[tree.operator] if isinstance(tree, Binary) else 0 if isinstance(tree, Negative | Pair) else 9
    return f"({shown(tree)})" if own < level else shown(tree)


def said(tree: Tree) -> str:
    """Write the tree for a message, shortened to one line."""
    text = shown(tree)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def number(tree: Tree, known: Callable[[str], float]) -> float:
    """Evaluate a tree without time-dependent parts to a number; `known(name)` gives the values of symbols."""

    def refuse(call: Call) -> Scalar:
        raise refused(call, f"'{said(call)}' is not a number here.", "Write a number or a formula.")

    def look_up(name: Name) -> Scalar:
        return refuse(Call(name, (), name.at)) if name.primes else known(name.name)

    result = value(tree, look_up, refuse)
    if not math.isfinite(result):
        raise refused(tree, f"'{said(tree)}' is not a finite number.", "Write a finite number.")
    return float(result)


def items(tree: Tree) -> Sequence[Tree]:
    """Return the items of a list; a single item counts as a list of one (Robotica adds the outer braces)."""
    return tree.items if isinstance(tree, Items) else (tree,)


DIVISIONS = 5
"""Default number of divisions of a range."""


def ranges(tree: Tree, known: Callable[[str], float]) -> list[tuple[str, float, float, int]]:
    """Read {{q1, 0, 90 Degree, 8}, …} as (name, start, stop, divisions); one list without outer braces is one range.

    A number of divisions behind the last range, or in the last range alone, is that of all.
    """
    rows = items(tree)
    if rows and not isinstance(rows[0], Items):
        rows = (Items(tuple(rows), tree.at),)
    common: Tree | None = None
    if len(rows) > 1 and not isinstance(rows[-1], Items):
        *rows, common = rows
    counts: list[Tree | None] = []
    for row in rows:
        parts = items(row)
        if not 3 <= len(parts) <= 4 or not isinstance(parts[0], Name):
            raise refused(row, f"'{said(row)}' is not a range.", "Write {variable, start, end, divisions}.")
        counts.append(parts[3] if len(parts) == 4 else None)
    if common is None and not any(counts[:-1]):
        common = counts[-1]
    found = []
    for row, count in zip(rows, counts, strict=True):
        name, start, stop = items(row)[:3]
        assert isinstance(name, Name)
        chosen = count or common
        divisions = DIVISIONS if chosen is None else _divisions(chosen, known)
        found.append((name.name, number(start, known), number(stop, known), divisions))
    return found


def _divisions(tree: Tree, known: Callable[[str], float]) -> int:
    """Read a number of divisions. Raises ExpressionError."""
    count = number(tree, known)
    if count != int(count) or not 1 <= count <= MOST_DIVISIONS:
        raise refused(
            tree, f"{count:g} is not a number of divisions.", f"Write a whole number from 1 to {MOST_DIVISIONS}."
        )
    return int(count)


def options(tree: Tree | None) -> dict[str, Any]:
    """Read {scale, file -> "m.txt", 0.2}: words become True, rules their value, a number is stored under "number"."""
    found: dict[str, Any] = {}
    for item in items(tree) if tree is not None else ():
        if isinstance(item, Name):
            found[item.name] = True
        elif isinstance(item, Pair) and item.operator == "->" and isinstance(item.left, Name):
            right = item.right
            found[item.left.name] = right.value if isinstance(right, Text | Number) else right
        elif isinstance(item, Number):
            found["number"] = item.value
        elif isinstance(item, Text):
            found["file"] = item.value
        else:
            raise refused(item, f"'{said(item)}' is not an option.", "Write words or name -> value.")
    return found
