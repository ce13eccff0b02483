"""Traced function in machine code, called with one state or with arrays of states."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.codegen import direct_call
from core.codegen.direct_call import Path
from core.codegen.guards import FREE, Guard
from core.codegen.object_code import Library
from core.codegen.pieces import in_pieces

Array = NDArray[np.float64]


class MachineCode:
    """Evaluates a function in machine code; see `evaluator.Code`.

    sizes : lengths of the arguments, the parameters last; size : length of the result
    operations : how many one evaluation takes, roughly
    """

    interpreted: ClassVar[bool] = False

    def __init__(self, library: Library, sizes: Sequence[int], size: int, operations: int) -> None:
        self.library = library
        self.sizes, self.size, self.operations = tuple(sizes), size, operations
        self.single_address = library.address("single")
        self.batch_address = library.address("batch")
        kinds = [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * (len(sizes) + 1)]
        # CFUNCTYPE releases the interpreter's lock: long arrays of states run beside the window, and on all cores
        self._batch = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(self.batch_address)

    def path(self, p: Array, shape: Sequence[int], general: Path, guard: Guard = FREE) -> Path:
        """Return a function for single states; see `Code.path`."""
        return direct_call.path(self.batch_address, (), self.sizes[:-1], p, shape, general, self, guard)

    def batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """Evaluate all states; returns the number of results that are not finite (if the function is checked)."""
        stride = p.shape[-1] if p.ndim > 1 else 0
        arrays, strides = (*inputs, p, out), (*self.sizes[:-1], stride, self.size)

        def piece(first: int, count: int) -> int:
            addresses = [array.ctypes.data + 8 * first * each for array, each in zip(arrays, strides, strict=True)]
            return int(self._batch(count, stride, *addresses))

        return in_pieces(len(out), self.operations, piece)
