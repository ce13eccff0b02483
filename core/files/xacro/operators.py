"""Operators of Xacro expressions: Python's, with the size of the result checked before it is computed."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from core.files.xacro.bounds import BarredError, TooLargeError, require_bits, require_size, weight

_WIDE = re.compile(r"%(?:\([^)]*\))?[-#0 +]*(?:\*|\d{4,}|\d*\.(?:\*|\d{4,}))")
_SEQUENCES = (str, list, tuple)


def times(a: Any, b: Any) -> Any:
    """Return a · b."""
    if isinstance(a, int) and isinstance(b, int):
        require_bits(a.bit_length() + b.bit_length())
    for sequence, count in ((a, b), (b, a)):
        if isinstance(sequence, _SEQUENCES) and isinstance(count, int):
            require_size(weight(sequence) * max(count, 0))
    return a * b


def power(a: Any, b: Any) -> Any:
    """Return a to the power of b."""
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and b > 0:
        require_bits((abs(a).bit_length() - 1) * b)
    return a**b


def shifted(a: Any, b: Any) -> Any:
    """Return a · 2ᵇ."""
    if isinstance(a, int) and isinstance(b, int):
        require_bits(a.bit_length() + max(b, 0) if a else 0)
        return a << b if a or b < 0 else 0
    return a << b


def remainder(a: Any, b: Any) -> Any:
    """Return a modulo b, or the text a formatted with b."""
    if isinstance(a, str):
        if _WIDE.search(a):
            raise TooLargeError("it formats very wide text")
        require_size((a.count("%") * weight(b) + len(a)) / 10)
    return a % b


BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: times,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: remainder,
    ast.Pow: power,
    ast.LShift: shifted,
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


def operator_of(table: Mapping[Any, Callable[..., Any]], sign: ast.AST) -> Callable[..., Any]:
    """Return the function of an operator. Raises BarredError."""
    found = table.get(type(sign))
    if found is None:
        raise BarredError("it contains an unsupported operator")
    return found
