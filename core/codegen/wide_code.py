"""Code for long arrays of states, made in the background once many states of a function were evaluated."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from core.codegen.instructions import Instruction
from core.codegen.llvm_ir import VectorLanes, vector_lanes
from core.codegen.object_code import LoadedLibrary, is_optimisation_skipped, object_code
from core.codegen.processor import vector_width
from core.codegen.tiered_code import OPTIMISER
from core.codegen.wide_llvm_ir import build_wide_module

MANY_STATES = 20_000
"""Number of evaluated states after which the code is made: evaluating ten times as many takes as long as making it."""


class WideCode:
    """Function that evaluates several consecutive states of an array at a time, with the bits of single states.

    list_instructions : called when the code is made; sizes, size, checked: see `build_wide_module`
    """

    def __init__(
        self, list_instructions: Callable[[], Sequence[Instruction]], sizes: Sequence[int], size: int, *, checked: bool
    ) -> None:
        self._list_instructions = list_instructions
        self._sizes, self._size, self._checked = tuple(sizes), size, checked
        self._ir = ""
        self._states = 0
        self._library: LoadedLibrary | None = None
        self._batch: Any = None

    @property
    def lanes(self) -> VectorLanes:
        """Return the vectors that the processor computes with."""
        return vector_lanes(vector_width())

    @property
    def ir(self) -> str:
        """Return the IR of the code; it takes some milliseconds to write."""
        if not self._ir:
            self._ir = build_wide_module(
                self._list_instructions(), self._sizes, self._size, self.lanes, checked=self._checked
            )
        return self._ir

    @property
    def is_optimised(self) -> bool:
        """Return True once the code is there."""
        return self._library is not None

    @property
    def is_wanted(self) -> bool:
        """Return True once many states were evaluated."""
        return self._states >= MANY_STATES

    def optimise(self) -> None:
        """Make the code now, unless it is there."""
        if self._library is None:
            self.install(object_code(self.ir))

    def install(self, data: bytes) -> None:
        """Use object code of `ir`."""
        library = LoadedLibrary.from_object_code(data)
        kinds = [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * (len(self._sizes) + 1)]
        self._batch = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(library.address("batch"))
        self._library, self._ir = library, ""

    def find_batch(self, count: int) -> Callable[..., int] | None:
        """Return the function for arrays of `count` states that share their parameters; None if there is none for so
        few states, or not yet. Counts the states, and has the code made once they are many."""
        if self._batch is not None:
            return self._batch if count >= self.lanes.states else None
        before, self._states = self._states, self._states + count
        if before < MANY_STATES <= self._states and not is_optimisation_skipped():
            OPTIMISER.submit(self)
        return None
