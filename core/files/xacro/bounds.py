"""Limits on expressions in Xacro files: forbidden operations, and the size of values."""

from __future__ import annotations

from typing import Any

MAX_WEIGHT = 1_000_000
"""Maximum items and characters of one value; tables in robot files have a few thousand."""
MAX_BITS = 14_000
"""Maximum binary digits of an integer; Python does not print longer ones."""
MAX_DEPTH = 50
"""Maximum nesting depth of lists."""
MAX_STEPS = 5_000_000
"""Maximum steps in all expressions of a file, and items and characters created on the way; a humanoid takes some ten
thousand."""


class BarredError(Exception):
    """Raised for an expression that only Python itself could evaluate, which the user has to allow."""


class TooLargeError(Exception):
    """Raised for a value that exceeds its size limit or takes too long to compute."""


class EvaluationBudget:
    """Number of evaluation steps still allowed."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises TooLargeError if none are left."""
        self._left -= steps
        if self._left < 0:
            raise TooLargeError("the expressions of the file take too many steps")


def text_size(value: object, depth: int = 0) -> int:
    """Return the approximate length of a value written as text. Raises TooLargeError as soon as the limit is
    exceeded."""
    if isinstance(value, str):
        return 1 + len(value)
    if isinstance(value, int):
        return 1 + value.bit_length() // 3
    if isinstance(value, dict):
        return _total_text_size((part for pair in value.items() for part in pair), depth)
    if isinstance(value, list | tuple | set | frozenset):
        return _total_text_size(list.__iter__(value) if isinstance(value, list) else value, depth)
    return 1


def _total_text_size(parts: Any, depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise TooLargeError("the expression creates lists that are nested too deeply")
    total = 1
    for part in parts:
        total += text_size(part, depth + 1)
        check_size(total)
    return total


def check_size(size: float) -> None:
    """Raise TooLargeError if a value of this weight is too large."""
    if size > MAX_WEIGHT:
        raise TooLargeError(f"the expression creates a value of more than {MAX_WEIGHT:,} items or characters")


def check_integer_size(bits: float) -> None:
    """Raise TooLargeError if an integer of this many binary digits is too large."""
    if bits > MAX_BITS:
        raise TooLargeError(f"the expression computes an integer of more than {MAX_BITS:,} binary digits")


def charge_value(value: Any, budget: EvaluationBudget) -> Any:
    """Charge the size of a newly created value to the budget and return the value. Raises TooLargeError."""
    kind = type(value)
    if kind is float or kind is bool or value is None:
        return value
    if kind is int:
        check_integer_size(value.bit_length())
        return value
    size = text_size(value)
    check_size(size)
    budget.spend(size)
    return value
