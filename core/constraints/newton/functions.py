"""Functions of a machine for loops in machine code: by their addresses, or through the interpreter until compiled."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Code, Evaluator
from core.programs.compiled import CompiledModel
from core.programs.native_entry import Entry, build_entry
from core.programs.native_function import Function

Array = NDArray[np.float64]
_SINGLE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def _build_interpreted_entry(evaluator: Evaluator, code: Code) -> Entry:
    """Return an entry that has the interpreter evaluate the function, while machine code is not ready."""
    sizes, size = (*evaluator.sizes, len(evaluator.p)), evaluator.size
    memory = np.zeros(sum(sizes) + max(size, 1))
    *parts, out = np.split(memory, np.cumsum(sizes))
    inputs, out = [part[None] for part in parts[:-1]], out[None, :size]

    def single(_: int) -> int:
        try:
            return int(bool(code.evaluate_batch(inputs, parts[-1], out)))
        except Exception:  # cannot be raised through machine code: the residual is no number
            out[:] = np.nan
            return 1

    call = _SINGLE(single)
    address = ctypes.cast(call, ctypes.c_void_p).value or 0
    return Entry(address, memory, sum(sizes), (call, code))


class MachineFunction:
    """Function of a machine with memory of its own, for one thread at a time.

    It is looked up again when better code is there: `refresh` before each use.
    """

    def __init__(self, compiled: CompiledModel, name: str) -> None:
        self._name = name
        self._evaluator = compiled.evaluator(name)
        self._time_at = compiled.nq if "t" in self._evaluator.signature.arguments else -1
        self._code: Code | None = None
        self._parameters = self._memory = np.zeros(0)

    def refresh(self) -> None:
        """Use the code that is there by now."""
        code = self._evaluator.code
        if code is self._code:
            return
        self._code, p = code, self._evaluator.p
        entry = (
            _build_interpreted_entry(self._evaluator, code)
            if code.interpreted
            else build_entry(self._name, code, p, "")
        )
        self._parameters = (
            entry.memory[entry.result - len(p) : entry.result] if code.interpreted else entry.parameters(len(p))
        )
        self._entry, self._memory = entry, entry.memory
        self.record = Function(
            address=entry.address,
            table=entry.table,
            rows=entry.rows,
            places=entry.places,
            count=entry.size,
            result=entry.result,
            states=-1,
            time=self._time_at,
            memory=entry.memory,
        )

    @property
    def is_compiled(self) -> bool:
        """Return True if machine code is ready."""
        return not self._evaluator.code.interpreted

    def set_arguments(self, p: Array, time: Array) -> None:
        """Set parameters (n_p,) and the time argument (nt,), where the function takes it."""
        self._parameters[:] = p
        if self._time_at >= 0:
            self._memory[self._time_at : self._time_at + len(time)] = time
