"""Evaluation of block tables by the interpreter or, once compiled, by machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from core.codegen import block_llvm_ir, direct_call, single_state
from core.codegen.blocks import Array, BlockTable
from core.codegen.direct_call import Path
from core.codegen.machine_code import evaluate_in_chunks
from core.codegen.single_state import FREE, Guard
from core.codegen.tiered_code import TieredLibrary


class BlockInterpreter:
    """Evaluates a block table row by row with CasADi's interpreter; see `evaluator.Code`."""

    interpreted: ClassVar[bool] = True

    def __init__(self, table: BlockTable, *, checked: bool) -> None:
        self.table, self.checked = table, checked

    def bind_buffers(self, p: Array) -> tuple[list[Array], Array, Callable[[], Any]]:
        """Return input buffers, output buffer and evaluating function for parameters p; see `single_state`."""
        table, memory = self.table, self.table.workspace()
        views = _argument_views(memory, table.inputs)
        views[-1][:] = p
        out = np.zeros(len(table.outputs))
        blocks = [_bind_buffers(block.function) for block in table.blocks]

        def call() -> bool:
            for number, *starts, first in table.rows:
                operands, results, trigger = blocks[number]
                at = 0
                for start, length in zip(starts, table.blocks[number].runs, strict=True):
                    operands[at : at + length] = memory[start : start + length]
                    at += length
                trigger()
                memory[first : first + len(results)] = results
            np.take(memory, table.outputs, out=out)
            return self.checked and not np.isfinite(out).all()

        return views[:-1], out, call

    def path(self, p: Array, shape: Sequence[int], fallback: Path, guard: Guard = FREE) -> Path:
        """Return a function for single states; see `Code.path`."""
        return single_state.build_buffered_function(*self.bind_buffers(p), shape, fallback, guard)

    def evaluate_batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """Evaluate an array of states; see `Code.batch`."""
        failures = 0
        states, result, call = self.bind_buffers(p if p.ndim == 1 else p[0])
        for k in range(len(out)):
            if p.ndim > 1 and k:
                states, result, call = self.bind_buffers(p[k])
            for state, array in zip(states, inputs, strict=True):
                state[:] = array[k]
            failures += bool(call())
            out[k] = result
        return failures

    def optimise(self) -> None:
        """Do nothing; see `Code.optimise`."""


def _bind_buffers(function: Any) -> tuple[Array, Array, Callable[[], None]]:
    buffer, trigger = function.buffer()
    operands: Any = np.zeros(function.numel_in(0))
    results: Any = np.zeros(function.numel_out(0))
    if operands.size:
        buffer.set_arg(0, memoryview(operands))
    if results.size:
        buffer.set_res(0, memoryview(results))

    def call(_: Any = buffer) -> None:
        trigger()

    return operands, results, call


def _argument_views(memory: Array, lengths: Sequence[int]) -> list[Array]:
    views, offset = [], 0
    for length in lengths:
        views.append(memory[offset : offset + length])
        offset += length
    return views


class BlockCode:
    """Evaluates a block table in machine code; see `evaluator.Code`."""

    interpreted: ClassVar[bool] = False

    def __init__(self, table: BlockTable, *, checked: bool) -> None:
        self.table = table
        self.words = table.packed_rows()
        self.places = np.array(table.outputs, dtype=np.int32)
        self.sizes, self.size = table.inputs, len(table.outputs)
        self.library = TieredLibrary(block_llvm_ir.build_module(table.blocks, table.inputs, checked=checked))
        self.operations = table.operation_count()
        self.batch_address = self.library.address("block_batch")
        pointer, integer = ctypes.c_void_p, ctypes.c_int64
        inputs = [pointer] * (len(table.inputs) + 1)
        self._batch = ctypes.CFUNCTYPE(integer, integer, integer, pointer, pointer, integer, pointer, integer, *inputs)(
            self.batch_address
        )

    def table_arguments(self) -> tuple[int, int, int, int]:
        """Return the table as the compiled function `run` takes it: address of the rows, number of rows, address of the
        result slots, number of results."""
        return self.words.ctypes.data, len(self.table.rows), self.places.ctypes.data, len(self.places)

    def path(self, p: Array, shape: Sequence[int], fallback: Path, guard: Guard = FREE) -> Path:
        """Return a function for single states; see `Code.path`."""
        memory = self.table.workspace()
        further = (memory.ctypes.data, *self.table_arguments())
        sizes, keep = self.table.inputs[:-1], (self, memory)
        return direct_call.build_direct_call(self.batch_address, further, sizes, p, shape, fallback, keep, guard)

    def evaluate_batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """Evaluate an array of states; see `Code.batch`."""
        stride = p.shape[-1] if p.ndim > 1 else 0
        arrays, strides = (*inputs, p, out), (*self.table.inputs[:-1], stride, len(self.places))

        def evaluate_chunk(first: int, count: int) -> int:
            memory = self.table.workspace()
            addresses = [array.ctypes.data + 8 * first * each for array, each in zip(arrays, strides, strict=True)]
            return int(self._batch(count, stride, memory.ctypes.data, *self.table_arguments(), *addresses))

        return evaluate_in_chunks(len(out), self.operations, evaluate_chunk)

    def optimise(self) -> None:
        """Optimise the code now; see `Code.optimise`."""
        self.library.optimise()
