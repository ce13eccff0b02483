"""Python subset for machine code: decorators for compiled functions, and operations that Python has no syntax for.

A function with a mark is compiled when the program is built (`core.machine_code.compiler`), and runs here as
it stands, too, only slowly. Such functions hold nothing but their text in common with Python; while they run no lock is
held. They own no arrays: those they see belong to the caller, room comes from `scratch`. No references are counted
then, which would take longer than the equations of motion of an arm. Indices are not negative.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import numpy as np

from core.machine_code.records import AnyRecord, Array, array_at

Function = TypeVar("Function", bound=Callable[..., Any])
Mark = Literal["native", "merged", "inserted"]
BEGAN = time.time()
"""s: time before any function in this language was imported; source files changed later may differ from the imported
code."""
marks: dict[Callable[..., Any], Mark] = {}
loaders: dict[Callable[[int], Any], type[Any]] = {}
"""Functions known to the compiler; those made by `loader` with the record type that they load."""


def native(function: Function) -> Function:
    """Decorator for a function compiled to machine code."""
    marks[function] = "native"
    return function


def merged(function: Function) -> Function:
    """Decorator for a compiled function that LLVM always inlines: for a few lines called at every evaluation."""
    marks[function] = "merged"
    return function


def inserted(function: Function) -> Function:
    """Decorator for a single expression that is substituted at the call before types are inferred; it may return a
    view."""
    marks[function] = "inserted"
    return function


def loader(kind: type[AnyRecord]) -> Callable[[int], AnyRecord]:
    """Return the function that gives access to a record at an address."""

    def load(address: int) -> AnyRecord:
        return kind.at(address)

    loaders[load] = kind
    return load


def call_entry(address: int, handle: int, t: float, first: int, second: int) -> int:
    """Call i64 function(handle, t, first, second) at an address; see `core.machine_code.entry`."""
    form = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)
    return int(form(int(address))(int(handle), t, int(first), int(second)))


def call_single(address: int, base: int) -> int:
    """Call i64 single(base) of `core.codegen.llvm_ir` at an address."""
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(int(address))(int(base)))


def call_table(address: int, ws: int, table: int, rows: int, places: int, count: int, y: int) -> int:
    """Call i64 run(ws, table, rows, places, count, y) of `core.codegen.block_llvm_ir` at an address."""
    form = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6)
    return int(form(int(address))(*map(int, (ws, table, rows, places, count, y))))


def address_of(array: Array) -> int:
    """Return the address of an array's first number."""
    return int(array.ctypes.data)


def scratch(count: int) -> Array:
    """Return (count,) uninitialised numbers on the stack, valid until the function returns; not for use in loops, where
    the stack would grow."""
    return np.empty(count)


def view(address: int, count: int) -> Array:
    """Return the (count,) numbers at an address."""
    return array_at(address, (count,), np.float64)


def view_rows(address: int, rows: int, columns: int) -> Array:
    """Return the (rows, columns) numbers at an address, stored row by row."""
    return array_at(address, (rows, columns), np.float64)
