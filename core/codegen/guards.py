"""Bounds on the arguments of a fast call; states outside them are evaluated by another function.

A function may hold for some states only, e.g. equations of motion without stops between the limits of the joints. To
look at the states in Python takes longer than evaluating; machine code looks at them in passing.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple


class Check(NamedTuple):
    """Condition that one entry of an argument is between bounds or, with `outside`, not between them."""

    argument: int
    entry: int
    low: float
    high: float
    outside: bool = False

    def passes(self, arrays: Sequence[Any]) -> bool:
        """Return True if arrays of one state meet the condition; a NaN is outside all bounds."""
        return bool(self.low <= arrays[self.argument][self.entry] <= self.high) != self.outside


class Guard(NamedTuple):
    """Set of checks that a state must all pass."""

    checks: tuple[Check, ...] = ()

    def passes(self, arrays: Sequence[Any]) -> bool:
        """Return True if arrays of one state pass all checks."""
        return all(check.passes(arrays) for check in self.checks)

    def packed(self) -> bytes:
        """Pack the checks for `core.codegen.direct_call`: argument, entry, low, high, outside, 8 bytes each."""
        return b"".join(struct.pack("qqddq", *check) for check in self.checks)


FREE = Guard()
