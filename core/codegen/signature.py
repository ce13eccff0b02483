"""What a compiled function takes and gives."""

from __future__ import annotations

from typing import NamedTuple


class Signature(NamedTuple):
    """What a function takes of q, v, u (joint forces or accelerations), l (multipliers of what holds), c (forces
    along coordinates of joints that close loops), x (states of force elements, then their rates) and t
    (`core.elements.time_argument`), and the shape of its result."""

    arguments: tuple[str, ...]
    shape: tuple[int, ...]
    checked: bool = False
    """True if a result that is not finite is a failure."""
    wide: bool = False
    """True if its machine code takes several states of an array at a time (`core.codegen.llvm_ir`)."""
