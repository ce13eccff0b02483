"""What loops in machine code are written in: marks for functions, and what Python has no words for.

A function with a mark is compiled when the program is built (`core.simulation.machine_code.compiler`), and runs here as
it stands, too, only slowly. Such functions hold nothing but their text in common with Python; while they run no lock is
held. They own no arrays: those they see belong to the caller, room comes from `scratch`. No references are counted
then, which would take longer than the equations of motion of an arm. Indices are not negative.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import numpy as np

from core.simulation.machine_code.records import AnyRecord, Array, array_at

Function = TypeVar("Function", bound=Callable[..., Any])
Mark = Literal["native", "merged", "inserted"]
marks: dict[Callable[..., Any], Mark] = {}
loaders: dict[Callable[[int], Any], type[Any]] = {}
"""The functions that the compiler knows, those of `loader` with the record that they load."""


def native(function: Function) -> Function:
    """A function in machine code."""
    marks[function] = "native"
    return function


def merged(function: Function) -> Function:
    """The same, its machine code put where it is called: for a few lines that are called for each evaluation."""
    marks[function] = "merged"
    return function


def inserted(function: Function) -> Function:
    """A line that is put where it is called before types are known: it may give a view."""
    marks[function] = "inserted"
    return function


def loader(kind: type[AnyRecord]) -> Callable[[int], AnyRecord]:
    """The function that finds a record by its address."""

    def load(place: int) -> AnyRecord:
        return kind.at(place)

    loaders[load] = kind
    return load


def call_entry(address: int, handle: int, t: float, first: int, second: int) -> int:
    """i64 function(handle, t, first, second), by address; see `core.simulation.machine_code.entry`."""
    form = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)
    return int(form(int(address))(int(handle), t, int(first), int(second)))


def call_single(address: int, base: int) -> int:
    """i64 single(base) of `core.codegen.llvm_ir`, by address."""
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(int(address))(int(base)))


def call_table(address: int, ws: int, table: int, rows: int, places: int, count: int, y: int) -> int:
    """i64 run(ws, table, rows, places, count, y) of `core.codegen.block_llvm_ir`, by address."""
    form = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6)
    return int(form(int(address))(*map(int, (ws, table, rows, places, count, y))))


def address_of(array: Array) -> int:
    """Address of the first number of an array."""
    return int(array.ctypes.data)


def scratch(count: int) -> Array:
    """(count,) numbers on the stack, not set, until the function returns; not for loops, which would take ever more."""
    return np.empty(count)


def view(address: int, count: int) -> Array:
    """The (count,) numbers from an address on."""
    return array_at(address, (count,), np.float64)


def view_rows(address: int, rows: int, columns: int) -> Array:
    """The (rows, columns) numbers from an address on, row by row."""
    return array_at(address, (rows, columns), np.float64)
