"""Evaluation of one state through buffers (copy in, evaluate, copy out) by interpreted code.

Assignment to a memoryview refuses anything but floats of the right number, so it is the check too; what it refuses
takes the general path, which converts or says what is wrong. The buffers belong to the first thread that calls.

A function may be valid for some states only, e.g. equations of motion without stops between the limits of the joints:
its `Guard` bounds the arguments, and other states take the general path. Machine code checks these bounds in passing.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class RangeCheck(NamedTuple):
    """Condition that one entry of an argument lies between two bounds or, with `outside`, outside them."""

    argument: int
    entry: int
    low: float
    high: float
    outside: bool = False

    def is_met(self, arrays: Sequence[Any]) -> bool:
        """Return True if arrays of one state meet the condition; a NaN is outside all bounds."""
        return bool(self.low <= arrays[self.argument][self.entry] <= self.high) != self.outside


class Guard(NamedTuple):
    """Set of checks that a state must all pass."""

    checks: tuple[RangeCheck, ...] = ()

    def is_met(self, arrays: Sequence[Any]) -> bool:
        """Return True if arrays of one state pass all checks."""
        return all(check.is_met(arrays) for check in self.checks)

    def pack_checks(self) -> bytes:
        """Pack the checks for `core.codegen.direct_call`: argument, entry, low, high, outside, 8 bytes each."""
        return b"".join(struct.pack("qqddq", *check) for check in self.checks)


FREE = Guard()


Array = NDArray[np.float64]
Path = Callable[..., Any]
_thread = threading.get_ident


def build_buffered_function(
    inputs: Sequence[Array],
    out: Array,
    run: Callable[[], Any],
    shape: Sequence[int],
    fallback: Path,
    guard: Guard = FREE,
) -> Path:
    """Return a function that evaluates one state, given as arrays with the lengths of the input buffers.

    run : evaluates the buffers `inputs` into `out`, true on failure; fallback : the path for everything else; guard :
    which numbers the function takes
    """
    views: list[Any] = [memoryview(array) for array in inputs]  # type: ignore[arg-type]
    copy = out.reshape(shape).copy
    owner: list[int] = []

    def call(*arrays: Any) -> Any:
        try:
            if not owner:
                owner.append(_thread())
            if owner[0] == _thread():
                for view, array in zip(views, arrays, strict=True):
                    view[:] = array
                if (not guard.checks or guard.is_met(views)) and not run():
                    return copy()
        except (TypeError, ValueError):
            pass
        return fallback(*arrays)

    return call
