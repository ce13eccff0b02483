"""Loops in machine code: Numba's compiler, its cache on disk, and calls of code by its address.

What these functions hold in common with Python is their text; while they run no lock is held. They own no arrays: those
they see belong to the caller, room comes from `scratch`. Numba then counts no references, which would take longer than
the equations of motion of an arm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.core.ccallback import CFunc
from numba.extending import intrinsic as numba_intrinsic
from numba.np import arrayobj as numba_arrays

from core.simulation.stepping.loop_cache import KeptLoops

Function = TypeVar("Function", bound=Callable[..., Any])
config: Any = numba_config
intrinsic: Any = numba_intrinsic
jit: Any = numba.njit
callback: Any = CFunc
code_generation: Any = cgutils
arrays: Any = numba_arrays
"""Their types are made at run time."""
config.LOOP_VECTORIZE = config.SLP_VECTORIZE = 0
"""Loops here are a few rounds long: prepared for many they take three times as long, and longer to compile."""


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def _made(function: Any, **more: Any) -> Any:
    made = jit(**_OPTIONS, **more)(function)
    made._cache = KeptLoops(function)
    return made


def inserted(function: Function) -> Function:
    """A line that is put where it is called before types are known: it may give a view."""
    made: Function = jit(inline="always")(function)
    return made


def native(function: Function) -> Function:
    """The function in machine code, made when it is first called, or read from the cache."""
    made: Function = _made(function)
    return made


def merged(function: Function) -> Function:
    """The same, its machine code put where it is called: for a few lines that are called for each evaluation."""
    made: Function = _made(function, forceinline=True)
    return made


def address(function: Callable[..., Any]) -> int:
    """Address of i64 function(i64, f64, i64, i64) as C code calls it, made now or read from the cache.

    Callers that know the address only are neither linked with the function nor compiled anew when its text changes.
    """
    made = _addresses.get(function)
    if made is None:
        form = ((types.int64, types.float64, types.int64, types.int64), types.int64)
        made = callback(function, form, locals={}, options={"nopython": True, **_OPTIONS})
        made._cache = KeptLoops(function)
        made.compile()
        _addresses[function] = made
    return int(made.address)


_addresses: dict[Callable[..., Any], Any] = {}

_POINTER = ir.IntType(8).as_pointer()
_WORD = ir.IntType(64)


def _as_pointers(builder: Any, values: list[Any]) -> list[Any]:
    return [builder.inttoptr(value, _POINTER) for value in values]


@intrinsic  # type: ignore[untyped-decorator]
def call_single(_context: Any, _address: Any, _base: Any) -> Any:
    """i64 single(base) of `core.codegen.llvm_ir`, by address."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_POINTER])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.call(function, _as_pointers(builder, [arguments[1]]))

    return types.int64(types.int64, types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def call_table(
    _context: Any, _address: Any, _ws: Any, _table: Any, _rows: Any, _places: Any, _count: Any, _y: Any
) -> Any:
    """i64 run(ws, table, rows, places, count, y) of `core.codegen.block_llvm_ir`, by address."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_POINTER, _POINTER, _WORD, _POINTER, _WORD, _POINTER])
        address, ws, table, rows, places, count, y = arguments
        ws, table, places, y = _as_pointers(builder, [ws, table, places, y])
        function = builder.inttoptr(address, kind.as_pointer())
        return builder.call(function, [ws, table, rows, places, count, y])

    return types.int64(*[types.int64] * 7), code


@intrinsic  # type: ignore[untyped-decorator]
def address_of(_context: Any, array: Any) -> Any:
    """Address of the first entry of an array."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(view.data, cgutils.intp_t)

    return types.int64(array), code


@intrinsic  # type: ignore[untyped-decorator]
def call_entry(_context: Any, _address: Any, _handle: Any, _t: Any, _first: Any, _second: Any) -> Any:
    """i64 function(handle, t, first, second), by address; see `address`."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_WORD, ir.DoubleType(), _WORD, _WORD])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.call(function, arguments[1:])

    return types.int64(types.int64, types.int64, types.float64, types.int64, types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def store(_context: Any, value: Any, _place: Any) -> Any:
    """Put a tuple of numbers and arrays where an address points to; the arrays stay those of the caller, who keeps
    them alive."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole, kind = arguments[0], signature.args[0]
        for i, member in enumerate(kind.types):
            if isinstance(member, types.Array):
                view = context.make_array(member)(context, builder, builder.extract_value(whole, i))
                view.meminfo = code_generation.get_null_value(view.meminfo.type)
                view.parent = code_generation.get_null_value(view.parent.type)
                whole = builder.insert_value(whole, view._getvalue(), i)
        builder.store(whole, builder.inttoptr(arguments[1], whole.type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.none(value, types.int64), code


def loader(kind: Any) -> Any:
    """The function that reads back what `store` put: tuples of this Numba type."""

    @intrinsic  # type: ignore[untyped-decorator]
    def load(_context: Any, _place: Any) -> Any:
        def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            form = context.get_value_type(kind)
            return builder.load(builder.inttoptr(arguments[0], form.as_pointer()), align=8)

        return kind(types.int64), code

    return load


@intrinsic  # type: ignore[untyped-decorator]
def scratch(_context: Any, _count: Any) -> Any:
    """(count,) numbers on the stack, not set, until the function returns; not for loops, which would take ever more."""
    kind = types.Array(types.float64, 1, "C")

    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        data = builder.alloca(ir.DoubleType(), size=arguments[0])
        made, size = context.make_array(kind)(context, builder), context.get_constant(types.intp, 8)
        arrays.populate_array(made, data=data, shape=[arguments[0]], strides=[size], itemsize=size, meminfo=None)
        return made._getvalue()

    return kind(types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def view(_context: Any, _address: Any, _count: Any) -> Any:
    """The (count,) numbers from an address on."""
    kind = types.Array(types.float64, 1, "C")

    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        made = context.make_array(kind)(context, builder)
        size = context.get_constant(types.intp, 8)
        data = builder.inttoptr(arguments[0], made.data.type)
        arrays.populate_array(made, data=data, shape=[arguments[1]], strides=[size], itemsize=size, meminfo=None)
        return made._getvalue()

    return kind(types.int64, types.int64), code
