"""Addresses of compiled functions, for loops that run in machine code around them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Code
from core.errors import SimulationError

Array = NDArray[np.float64]


class Entry(NamedTuple):
    """A function and the memory it works in: arguments one behind the other, then what it gives."""

    address: int
    memory: Array
    result: int
    """Where in the memory its result begins."""
    keep: Any
    """What must live as long as the addresses are used."""
    table: int = 0
    """0: it is called as `single(base)`; else as `run(workspace, table, rows, places, count, result)`."""
    rows: int = 0
    places: int = 0
    size: int = 0

    def parameters(self, count: int) -> Array:
        """(count,) where the parameters stand in the memory; a view."""
        end = self.result if self.table == 0 else sum(self.keep.table.inputs[:-1]) + count
        return self.memory[end - count : end]


def single(address: int, sizes: tuple[int, ...], size: int, p: Array, keep: Any) -> Entry:
    """The entry of a function `single` with arguments of these sizes (the parameters last)."""
    memory = np.zeros(sum(sizes) + max(size, 1))
    result = sum(sizes)
    memory[result - len(p) : result] = p
    return Entry(address, memory, result, keep)


def entry_of(function: str, code: Code, p: Array, failure: str) -> Entry:
    """A function that is compiled, with parameter values p (n_p,).

    Raises SimulationError if it has no machine code. failure : why, if that is known
    """
    from core.codegen.block_code import BlockCode
    from core.codegen.machine_code import MachineCode

    if isinstance(code, MachineCode):
        return single(code.single_address, code.sizes, code.size, p, code)
    if isinstance(code, BlockCode):
        workspace = code.table.workspace()
        result = len(workspace)
        before = sum(code.table.inputs[:-1])
        workspace[before : before + len(p)] = p
        table, rows, places, count = code.table_arguments()
        memory = np.concatenate([workspace, np.zeros(max(count, 1))])
        return Entry(code.library.address("run"), memory, result, code, table, rows, places, count)
    reason = failure or "unknown reason"
    raise SimulationError(f"There is no machine code of {function}: {reason}.", remedy="Report this with the model.")
