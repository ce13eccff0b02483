"""Evaluating tables of blocks: by the interpreter at once, by machine code when it is compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.codegen import block_llvm_ir
from core.codegen.blocks import Array, Table
from core.codegen.object_code import Library


class BlockInterpreter:
    """Runs the rows one by one through CasADi's interpreter; see `evaluator.Code`."""

    def __init__(self, table: Table, *, checked: bool) -> None:
        self.table, self.checked = table, checked

    def bind(self, p: Array) -> tuple[list[Array], Array, Callable[[], Any]]:
        """See `Code.bind`."""
        table, memory = self.table, self.table.workspace()
        views = _views(memory, table.inputs)
        views[-1][:] = p
        out = np.zeros(len(table.outputs))
        blocks = [_bound(block.function) for block in table.blocks]

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

    def batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """See `Code.batch`."""
        failures = 0
        states, result, call = self.bind(p if p.ndim == 1 else p[0])
        for k in range(len(out)):
            if p.ndim > 1 and k:
                states, result, call = self.bind(p[k])
            for state, array in zip(states, inputs, strict=True):
                state[:] = array[k]
            failures += bool(call())
            out[k] = result
        return failures


def _bound(function: Any) -> tuple[Array, Array, Callable[[], None]]:
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


def _views(memory: Array, lengths: Sequence[int]) -> list[Array]:
    views, offset = [], 0
    for length in lengths:
        views.append(memory[offset : offset + length])
        offset += length
    return views


class BlockCode:
    """Runs a table in machine code; see `evaluator.Code`."""

    def __init__(self, table: Table, *, checked: bool) -> None:
        self.table = table
        self.words = table.words()
        self.places = np.array(table.outputs, dtype=np.int32)
        self.sizes, self.size = table.inputs, len(table.outputs)
        self.library = Library(block_llvm_ir.module(table.blocks, table.inputs, checked=checked))
        pointer, integer = ctypes.c_void_p, ctypes.c_int64
        self._run = ctypes.PYFUNCTYPE(integer, pointer, pointer, integer, pointer, integer, pointer)(
            self.library.address("run")
        )
        inputs = [pointer] * (len(table.inputs) + 1)
        self._batch = ctypes.CFUNCTYPE(integer, integer, integer, pointer, pointer, integer, pointer, integer, *inputs)(
            self.library.address("block_batch")
        )

    def table_arguments(self) -> tuple[int, int, int, int]:
        """(address of the words, how many rows, address of the places, how many) as `run` takes them."""
        return self.words.ctypes.data, len(self.table.rows), self.places.ctypes.data, len(self.places)

    def bind(self, p: Array) -> tuple[list[Array], Array, Callable[[], Any]]:
        """See `Code.bind`."""
        memory, out = self.table.workspace(), np.zeros(len(self.places))
        views = _views(memory, self.table.inputs)
        views[-1][:] = p
        words, rows, places, count = self.table_arguments()
        arguments = (
            ctypes.c_void_p(memory.ctypes.data),
            ctypes.c_void_p(words),
            ctypes.c_int64(rows),
            ctypes.c_void_p(places),
            ctypes.c_int64(count),
            ctypes.c_void_p(out.ctypes.data),
        )
        run = self._run
        return views[:-1], out, lambda: run(*arguments)

    def batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """See `Code.batch`."""
        memory = self.table.workspace()
        addresses = [array.ctypes.data for array in (*inputs, p, out)]
        stride = p.shape[-1] if p.ndim > 1 else 0
        return int(self._batch(len(out), stride, memory.ctypes.data, *self.table_arguments(), *addresses))
