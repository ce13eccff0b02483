"""Operators of Xacro expressions: those of Python, with the size of the result checked before it is computed."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from core.files.xacro.bounds import BarredError, TooLargeError, check_integer_size, check_size, text_size

_WIDE = re.compile(r"%(?:\([^)]*\))?[-#0 +]*(?:\*|\d{4,}|\d*\.(?:\*|\d{4,}))")
_SEQUENCES = (str, list, tuple)


def multiply(a: Any, b: Any) -> Any:
    """Return a · b."""
    if isinstance(a, int) and isinstance(b, int):
        check_integer_size(a.bit_length() + b.bit_length())
    for sequence, count in ((a, b), (b, a)):
        if isinstance(sequence, _SEQUENCES) and isinstance(count, int):
            check_size(text_size(sequence) * max(count, 0))
    return a * b


def power(a: Any, b: Any) -> Any:
    """Return a to the power of b."""
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and b > 0:
        check_integer_size((abs(a).bit_length() - 1) * b)
    return a**b


def shift_left(a: Any, b: Any) -> Any:
    """Return a · 2ᵇ."""
    if isinstance(a, int) and isinstance(b, int):
        check_integer_size(a.bit_length() + max(b, 0) if a else 0)
        return a << b if a or b < 0 else 0
    return a << b


def remainder_or_format(a: Any, b: Any) -> Any:
    """Return a modulo b for numbers, or the string a formatted with b."""
    if isinstance(a, str):
        if _WIDE.search(a):
            raise TooLargeError("the expression formats very wide text")
        check_size((a.count("%") * text_size(b) + len(a)) / 10)
    return a % b


BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: multiply,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: remainder_or_format,
    ast.Pow: power,
    ast.LShift: shift_left,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
COMPARISON: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def find_operator(table: Mapping[Any, Callable[..., Any]], operator: ast.AST) -> Callable[..., Any]:
    """Return the function of an operator. Raises BarredError."""
    found = table.get(type(operator))
    if found is None:
        raise BarredError("the expression contains an unsupported operator")
    return found
