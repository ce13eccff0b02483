"""Entry points of compiled functions, for loops in machine code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Code
from core.errors import SimulationError

Array = NDArray[np.float64]


class Entry(NamedTuple):
    """Compiled function and its memory: consecutive arguments, then the result."""

    address: int
    memory: Array
    result: int
    """Offset of the result in the memory."""
    keep: Any
    """Objects that must stay alive while the addresses are used."""
    table: int = 0
    """Address of the block table; 0 if the function is called as `single(base)`, otherwise as `run(workspace, table,
    rows, places, count, result)`."""
    rows: int = 0
    places: int = 0
    size: int = 0

    def parameters(self, count: int) -> Array:
        """Return a view (count,) of the parameters in the memory."""
        end = self.result if self.table == 0 else sum(self.keep.table.inputs[:-1]) + count
        return self.memory[end - count : end]


def build_single_entry(address: int, sizes: tuple[int, ...], size: int, p: Array, keep: Any) -> Entry:
    """Return the entry of a compiled function `single` whose arguments have these sizes, parameters last."""
    memory = np.zeros(sum(sizes) + max(size, 1))
    result = sum(sizes)
    memory[result - len(p) : result] = p
    return Entry(address, memory, result, keep)


def build_entry(function: str, code: Code, p: Array, failure: str) -> Entry:
    """Return the entry of a compiled function with parameter values p (n_p,).

    Raises SimulationError if it has no machine code. failure : why, if that is known
    """
    from core.codegen.block_code import BlockCode
    from core.codegen.machine_code import MachineCode

    if isinstance(code, MachineCode):
        return build_single_entry(code.single_address, code.sizes, code.size, p, code)
    if isinstance(code, BlockCode):
        workspace = code.table.workspace()
        result = len(workspace)
        before = sum(code.table.inputs[:-1])
        workspace[before : before + len(p)] = p
        table, rows, places, count = code.table_arguments()
        memory = np.concatenate([workspace, np.zeros(max(count, 1))])
        return Entry(code.library.address("run"), memory, result, code, table, rows, places, count)
    reason = failure or "unknown reason"
    raise SimulationError(
        f"The function {function} could not be compiled: {reason}.",
        remedy="Please report this problem together with the model.",
    )
