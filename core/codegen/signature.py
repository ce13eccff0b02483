"""Signature of a compiled function: arguments and result."""

from __future__ import annotations

from typing import NamedTuple


class Signature(NamedTuple):
    """Lengths of a function's arguments q, v, u (joint forces or accelerations), l (constraint multipliers), c (forces
    along coordinates of joints that close loops), x (states of force elements, then their rates) and t
    (`core.mechanics.elements.time_argument`), and the shape of its result."""

    arguments: tuple[str, ...]
    shape: tuple[int, ...]
    checked: bool = False
    """True if a result that is not finite is an error."""
    wide: bool = False
    """True if the machine code evaluates several states of an array at a time (`core.codegen.llvm_ir`)."""
