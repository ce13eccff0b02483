"""Loops in machine code: Numba's compiler, its cache on disk, and calls of code by its address.

What these functions hold in common with Python is their text; while they run no lock is held.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic as numba_intrinsic

from core.kernel import code_cache

Function = TypeVar("Function", bound=Callable[..., Any])
config: Any = numba_config
intrinsic: Any = numba_intrinsic
jit: Any = numba.njit
"""Their types are made at run time."""


@cache
def _folder() -> str:
    """Where compiled loops are kept: one folder for each version of their text, since Numba does not see that a
    function called from another file has changed. Empty: nowhere."""
    place = code_cache.folder()
    if place is None:
        return ""
    text = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    target = place / f"loops-{hashlib.sha256(text).hexdigest()[:16]}"
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    return str(target)


def native(function: Function) -> Function:
    """The function in machine code, made when it is first called, or read from the cache."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    before = config.CACHE_DIR
    config.CACHE_DIR = _folder()
    try:
        made: Function = jit(cache=bool(config.CACHE_DIR), **options)(function)
    except RuntimeError:  # the folder cannot be written
        made = jit(**options)(function)
    finally:
        config.CACHE_DIR = before
    return made


_POINTER = ir.IntType(8).as_pointer()
_WORD = ir.IntType(64)


def _as_pointers(builder: Any, values: list[Any]) -> list[Any]:
    return [builder.inttoptr(value, _POINTER) for value in values]


@intrinsic  # type: ignore[untyped-decorator]
def call_single(_context: Any, _address: Any, _base: Any) -> Any:
    """i64 single(base) of `core.kernel.ir`, by address."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_POINTER])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.call(function, _as_pointers(builder, [arguments[1]]))

    return types.int64(types.int64, types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def call_table(
    _context: Any, _address: Any, _ws: Any, _table: Any, _rows: Any, _places: Any, _count: Any, _y: Any
) -> Any:
    """i64 run(ws, table, rows, places, count, y) of `core.kernel.block_ir`, by address."""

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
