"""Bounds on the arguments of a quick call: what is beyond them takes another path.

A function may hold for some states only, e.g. equations of motion without stops between the limits of the joints. To
look at the states in Python takes longer than evaluating; machine code looks at them in passing.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple


class Check(NamedTuple):
    """A number of an argument must lie between bounds, or (`outside`) not between them."""

    argument: int
    entry: int
    low: float
    high: float
    outside: bool = False

    def passes(self, arrays: Sequence[Any]) -> bool:
        """Whether it does; a NaN is between no bounds."""
        return bool(self.low <= arrays[self.argument][self.entry] <= self.high) != self.outside


class Guard(NamedTuple):
    """Checks that all must pass."""

    checks: tuple[Check, ...] = ()

    def passes(self, arrays: Sequence[Any]) -> bool:
        """Whether arrays of one state pass."""
        return all(check.passes(arrays) for check in self.checks)

    def packed(self) -> bytes:
        """As `core.codegen.direct_call` reads them: argument, entry, low, high, outside, 8 bytes each."""
        return b"".join(struct.pack("qqddq", *check) for check in self.checks)


FREE = Guard()
