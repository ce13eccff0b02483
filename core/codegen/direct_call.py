"""Direct calls from Python to machine code through C-API functions written in LLVM IR.

Such a function reads its arrays where they lie (buffer protocol), has an empty array copied for the result and hands
both to the machine code: nothing is converted, nothing is copied, and every thread may call. Arguments that are not
rows of as many floats as are needed or that a guard does not let pass, and results that must be finite and are not,
take the general path.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from core.codegen.single_state import FREE, Guard
from core.codegen.tiered_code import TieredLibrary

Array = NDArray[np.float64]
Path = Callable[..., Any]
MOST = 6
"""Maximum number of arguments of a function (`core.codegen.evaluator`)."""
_FIRST = MOST + 5
"""Fixed length of a call record: number of arguments, bytes of each, function, parameters, begin and end of the guard's
checks."""
_TABLE = 5
"""Number of values that `block_batch` takes before the arguments: workspace, words, rows, places, number of places."""
_FLOATS = int.from_bytes(b"d\0", sys.byteorder)
"""Format string of doubles in the buffer protocol, read as one integer."""
_FASTCALL = 0x80
_INTERFACE = {
    "PyTuple_GetItem": "ptr @{}(ptr, i64)",
    "PyBytes_AsString": "ptr @{}(ptr)",
    "PyObject_CheckBuffer": "i32 @{}(ptr)",
    "PyObject_GetBuffer": "i32 @{}(ptr, ptr, i32)",
    "PyBuffer_Release": "void @{}(ptr)",
    "PyErr_Clear": "void @{}()",
    "PyObject_CallNoArgs": "ptr @{}(ptr)",
    "PyObject_Vectorcall": "ptr @{}(ptr, ptr, i64, ptr)",
    "Py_DecRef": "void @{}(ptr)",
}
"""Functions of Python's stable C API that the code calls."""
_once = threading.Lock()
"""Lock for the creation of objects shared by all paths."""

_TEXT = """
define ptr @{name}(ptr %self, ptr %arrays, i64 %count) nounwind {{
  %buffers = alloca %buffer, i64 {most}
  %result = alloca %buffer
  %bytes = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %record = call ptr @PyBytes_AsString(ptr %bytes)
  %wanted = load i64, ptr %record
  %right = icmp eq i64 %count, %wanted
  br i1 %right, label %arguments, label %general

arguments:
  %i = phi i64 [0, %0], [%after, %accepted]
  %taken = icmp eq i64 %i, %count
  br i1 %taken, label %guard, label %argument
argument:
  %at = getelementptr ptr, ptr %arrays, i64 %i
  %array = load ptr, ptr %at
  %has = call i32 @PyObject_CheckBuffer(ptr %array)
  %none = icmp eq i32 %has, 0
  br i1 %none, label %refused, label %take
take:
  %view = getelementptr %buffer, ptr %buffers, i64 %i
  %status = call i32 @PyObject_GetBuffer(ptr %array, ptr %view, i32 12)  ; a shape and a format, contiguous
  %got = icmp eq i32 %status, 0
  br i1 %got, label %axes, label %unsuited
unsuited:
  call void @PyErr_Clear()
  br label %refused
axes:
  %after = add i64 %i, 1
  %axes_at = getelementptr %buffer, ptr %view, i32 0, i32 5
  %number = load i32, ptr %axes_at
  %row = icmp eq i32 %number, 1
  br i1 %row, label %length, label %refused
length:
  %length_at = getelementptr %buffer, ptr %view, i32 0, i32 2
  %size = load i64, ptr %length_at
  %needed_at = getelementptr i64, ptr %record, i64 %after
  %needed = load i64, ptr %needed_at
  %fits = icmp eq i64 %size, %needed
  br i1 %fits, label %format, label %refused
format:
  %format_at = getelementptr %buffer, ptr %view, i32 0, i32 6
  %letters = load ptr, ptr %format_at
  %named = icmp ne ptr %letters, null
  br i1 %named, label %letter, label %refused
letter:
  %code = load i16, ptr %letters, align 1
  %accepted_format = icmp eq i16 %code, {floats}
  br i1 %accepted_format, label %accepted, label %refused
accepted:
  br label %arguments

refused:
  %begun = phi i64 [%i, %argument], [%i, %unsuited], [%after, %axes], [%after, %length], [%after, %format],
    [%after, %letter]
  call void @release(ptr %buffers, i64 %begun)
  br label %general

guard:
  %checks_at = getelementptr ptr, ptr %record, i64 {checks}
  %checks = load ptr, ptr %checks_at
  %end_at = getelementptr ptr, ptr %record, i64 {end}
  %end = load ptr, ptr %end_at
  br label %look
look:
  %check = phi ptr [%checks, %guard], [%next, %test]
  %passed = icmp eq ptr %check, %end
  br i1 %passed, label %results, label %test
test:
  %which = load i64, ptr %check
  %entry_at = getelementptr %check, ptr %check, i32 0, i32 1
  %entry = load i64, ptr %entry_at
  %low_at = getelementptr %check, ptr %check, i32 0, i32 2
  %low = load double, ptr %low_at
  %high_at = getelementptr %check, ptr %check, i32 0, i32 3
  %high = load double, ptr %high_at
  %outside_at = getelementptr %check, ptr %check, i32 0, i32 4
  %outside = load i64, ptr %outside_at
  %looked_at = getelementptr %buffer, ptr %buffers, i64 %which
  %numbers = load ptr, ptr %looked_at
  %x_at = getelementptr double, ptr %numbers, i64 %entry
  %x = load double, ptr %x_at
  %above = fcmp ole double %low, %x
  %below = fcmp ole double %x, %high
  %between = and i1 %above, %below
  %wanted_outside = trunc i64 %outside to i1
  %passes = xor i1 %between, %wanted_outside
  %next = getelementptr %check, ptr %check, i64 1
  br i1 %passes, label %look, label %beyond
beyond:
  call void @release(ptr %buffers, i64 %count)
  br label %general

results:
  %copy = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %made = call ptr @PyObject_CallNoArgs(ptr %copy)
  %some = icmp ne ptr %made, null
  br i1 %some, label %fill, label %failed
fill:
  %ready = call i32 @PyObject_GetBuffer(ptr %made, ptr %result, i32 1)  ; writable
  %open = icmp eq i32 %ready, 0
  br i1 %open, label %evaluate, label %lost
lost:
  call void @Py_DecRef(ptr %made)
  br label %failed
failed:
  call void @release(ptr %buffers, i64 %count)
  ret ptr null
evaluate:
  %y = load ptr, ptr %result
  %function_at = getelementptr ptr, ptr %record, i64 {function}
  %function = load ptr, ptr %function_at
  %p_at = getelementptr ptr, ptr %record, i64 {parameters}
  %p = load ptr, ptr %p_at
{further}
  switch i64 %count, label %never [{cases}]
{calls}
never:
  unreachable
evaluated:
  %bad = phi i64 {evaluated}
  call void @PyBuffer_Release(ptr %result)
  call void @release(ptr %buffers, i64 %count)
  %finite = icmp eq i64 %bad, 0
  br i1 %finite, label %good, label %wrong
good:
  ret ptr %made
wrong:
  call void @Py_DecRef(ptr %made)
  br label %general

general:
  %way = call ptr @PyTuple_GetItem(ptr %self, i64 2)
  %answer = call ptr @PyObject_Vectorcall(ptr %way, ptr %arrays, i64 %count, ptr null)
  ret ptr %answer
}}
"""

_RELEASE = """
%buffer = type {ptr, ptr, i64, i64, i32, i32, ptr, ptr, ptr, ptr, ptr}
%check = type {i64, i64, double, double, i64}

define internal void @release(ptr %buffers, i64 %count) nounwind {
  br label %next
next:
  %i = phi i64 [0, %0], [%after, %one]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %end, label %one
one:
  %view = getelementptr %buffer, ptr %buffers, i64 %i
  call void @PyBuffer_Release(ptr %view)
  %after = add i64 %i, 1
  br label %next
end:
  ret void
}
"""


class _Definition(ctypes.Structure):
    """Mirror of Python's C structure PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


def build_direct_call(
    batch: int,
    table_arguments: Sequence[int],
    sizes: Sequence[int],
    p: Array,
    shape: Sequence[int],
    fallback: Path,
    kept_objects: Any,
    guard: Guard = FREE,
) -> Path:
    """Return a Python function that calls machine code for single states, given as arrays of these sizes.

    batch : address of a function of (1, 0, further…, arguments…, p, result), which gives the number of failures;
    table_arguments : none, or what `block_batch` takes before the arguments; shape : of the result; fallback : the path
    for everything else; kept_objects : what must live as long as the addresses are used; guard : which numbers the
    function takes
    """
    if len(sizes) > MOST:
        raise ValueError(f"{len(sizes)} arguments exceed the maximum of {MOST}")
    wanted = [8 * size for size in sizes] + [0] * (MOST - len(sizes))
    checks = np.frombuffer(guard.pack_checks(), dtype=np.uint8)
    bounds = checks.ctypes.data, checks.ctypes.data + checks.size
    record = struct.pack(
        f"{_FIRST + len(table_arguments)}q", len(sizes), *wanted, batch, p.ctypes.data, *bounds, *table_arguments
    )
    own = (record, np.empty(shape).copy, fallback, p, kept_objects, checks)
    with _once:
        new, definition = _new_function_type(), _method_definition(bool(table_arguments))
    return new(ctypes.addressof(definition), own, None)


@cache
def _method_definition(table: bool) -> _Definition:
    """Return the PyMethodDef of the function for straight-line code or for tables."""
    return _Definition(
        b"evaluate", _build_library().address("call_table" if table else "call_straight"), _FASTCALL, None
    )


@cache
def _new_function_type() -> Callable[..., Any]:
    address = ctypes.cast(ctypes.pythonapi.PyCFunction_NewEx, ctypes.c_void_p).value
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(address or 0)


@cache
def _build_library() -> TieredLibrary:
    for name in _INTERFACE:
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    declarations = [f"declare {text.format(name)}" for name, text in _INTERFACE.items()]
    return TieredLibrary(
        "\n".join([*declarations, _RELEASE, _function_ir("call_straight", 0), _function_ir("call_table", _TABLE)])
    )


def _function_ir(name: str, further: int) -> str:
    """Return the IR of the function for machine code with a given number of further arguments."""
    loads = [
        f"  %further{k}_at = getelementptr i64, ptr %record, i64 {_FIRST + k}\n"
        f"  %further{k} = load i64, ptr %further{k}_at"
        for k in range(further)
    ]
    return _TEXT.format(
        name=name,
        most=MOST,
        floats=_FLOATS,
        function=MOST + 1,
        parameters=MOST + 2,
        checks=MOST + 3,
        end=MOST + 4,
        further="\n".join(loads),
        cases=" ".join(f"i64 {n}, label %call{n}" for n in range(MOST + 1)),
        calls="\n".join(_call_ir(n, further) for n in range(MOST + 1)),
        evaluated=", ".join(f"[%failures{n}, %call{n}]" for n in range(MOST + 1)),
    )


def _call_ir(count: int, further: int) -> str:
    """Return the IR that evaluates one state with a given number of arguments."""
    lines = [f"call{count}:"]
    for k in range(count):
        lines += [
            f"  %view{count}_{k} = getelementptr %buffer, ptr %buffers, i64 {k}",
            f"  %input{count}_{k} = load ptr, ptr %view{count}_{k}",
        ]
    numbers = ["i64 1", "i64 0", *(f"i64 %further{k}" for k in range(further))]
    arrays = [*(f"ptr %input{count}_{k}" for k in range(count)), "ptr %p", "ptr %y"]
    lines += [
        f"  %failures{count} = call i64 %function({', '.join([*numbers, *arrays])})",
        "  br label %evaluated",
    ]
    return "\n".join(lines)
