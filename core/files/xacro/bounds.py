"""What an expression of a Xacro file may not do, and how large its values may grow."""

from __future__ import annotations

from typing import Any

MAX_WEIGHT = 1_000_000
"""Items and characters of one value; a robot's tables have some thousand."""
MAX_BITS = 14_000
"""Binary digits of a whole number: Python writes no longer ones."""
MAX_DEPTH = 50
"""Lists within lists."""
MAX_STEPS = 5_000_000
"""Steps in all expressions of a file, and items and characters made on the way; a humanoid takes some ten thousand."""


class BarredError(Exception):
    """Only Python itself could evaluate this; the person may allow it."""


class TooLargeError(Exception):
    """A value grows beyond its bounds, or finding it takes too long."""


class Budget:
    """Steps that may still be made."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises TooLargeError when none are left."""
        self._left -= steps
        if self._left < 0:
            raise TooLargeError("the expressions of the file take too many steps")


def weight(value: object, depth: int = 0) -> int:
    """How large the text of a value would be, about. Raises TooLargeError as soon as it is known to be too large."""
    if isinstance(value, str):
        return 1 + len(value)
    if isinstance(value, int):
        return 1 + value.bit_length() // 3
    if isinstance(value, dict):
        return _sum((part for pair in value.items() for part in pair), depth)
    if isinstance(value, list | tuple | set | frozenset):
        return _sum(list.__iter__(value) if isinstance(value, list) else value, depth)
    return 1


def _sum(parts: Any, depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise TooLargeError("it makes lists that are nested too deeply")
    total = 1
    for part in parts:
        total += weight(part, depth + 1)
        require_size(total)
    return total


def require_size(size: float) -> None:
    """Raises TooLargeError if a value of this weight is too large."""
    if size > MAX_WEIGHT:
        raise TooLargeError(f"it makes a value of more than {MAX_WEIGHT:,} items or characters")


def require_bits(bits: float) -> None:
    """Raises TooLargeError if a whole number of this many binary digits is too large."""
    if bits > MAX_BITS:
        raise TooLargeError(f"it makes a whole number of more than {MAX_BITS:,} binary digits")


def bounded(value: Any, budget: Budget) -> Any:
    """A value that was made, if it is not too large: making it counts. Raises TooLargeError."""
    kind = type(value)
    if kind is float or kind is bool or value is None:
        return value
    if kind is int:
        require_bits(value.bit_length())
        return value
    size = weight(value)
    require_size(size)
    budget.spend(size)
    return value
