"""Addresses of compiled functions, for loops that run in machine code around them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Code
from core.errors import SimulationError

Array = NDArray[np.float64]

ABSENT, SINGLE, TABLE = 0, 1, 2
"""Kinds of entry: none; `single(base)`; `run(workspace, table, rows, places, count, result)`."""


class Entry(NamedTuple):
    """A function and the memory it works in: arguments one behind the other, then (at `result`) what it gives."""

    record: NDArray[np.int64]
    """(kind, address, table, rows, places, count, result): result counts entries of `memory`."""
    memory: Array
    keep: Any
    """What must live as long as the addresses are used."""


def absent() -> Entry:
    """An entry that is never called."""
    return Entry(np.zeros(7, dtype=np.int64), np.zeros(1), None)


def single(address: int, sizes: tuple[int, ...], size: int, p: Array, keep: Any) -> Entry:
    """The entry of a function `single` with arguments of these sizes (the parameters last)."""
    memory = np.zeros(sum(sizes) + max(size, 1))
    result = sum(sizes)
    memory[result - len(p) : result] = p
    return Entry(np.array([SINGLE, address, 0, 0, 0, 0, result], dtype=np.int64), memory, keep)


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
        record = [TABLE, code.library.address("run"), table, rows, places, count, result]
        return Entry(np.array(record, dtype=np.int64), np.concatenate([workspace, np.zeros(max(count, 1))]), code)
    reason = failure or "unknown reason"
    raise SimulationError(f"There is no machine code of {function}: {reason}.", remedy="Report this with the model.")
