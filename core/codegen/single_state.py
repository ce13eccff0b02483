"""The quick path for one state: copy into buffers, call, copy out.

Assignment to a memoryview refuses anything but floats of the right number, so it is the check too; what it refuses
takes the general path, which converts or says what is wrong. The buffers belong to one thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

Path = Callable[..., Any]
_thread = threading.get_ident
_REFUSED = (TypeError, ValueError)


def path(
    views: Sequence[memoryview], run: Callable[[], Any], copy: Callable[[], Any], general: Path, owner: int
) -> Path:
    """A function of arrays; up to three of them are copied into the buffers at once, more take the general path.

    run : evaluates the buffers, true on failure; copy : gives the result; general : the path for everything else
    """
    if len(views) not in _PATHS:
        return lambda *arrays: general(arrays)
    return _PATHS[len(views)](*views, run, copy, general, owner)


def _one(first: memoryview, run: Callable[[], Any], copy: Callable[[], Any], general: Path, owner: int) -> Path:
    def call(a: Any) -> Any:
        try:
            if _thread() == owner:
                first[:] = a
                if not run():
                    return copy()
        except _REFUSED:
            pass
        return general((a,))

    return call


def _two(
    first: memoryview, second: memoryview, run: Callable[[], Any], copy: Callable[[], Any], general: Path, owner: int
) -> Path:
    def call(a: Any, b: Any) -> Any:
        try:
            if _thread() == owner:
                first[:] = a
                second[:] = b
                if not run():
                    return copy()
        except _REFUSED:
            pass
        return general((a, b))

    return call


def _three(
    first: memoryview,
    second: memoryview,
    third: memoryview,
    run: Callable[[], Any],
    copy: Callable[[], Any],
    general: Path,
    owner: int,
) -> Path:
    def call(a: Any, b: Any, c: Any) -> Any:
        try:
            if _thread() == owner:
                first[:] = a
                second[:] = b
                third[:] = c
                if not run():
                    return copy()
        except _REFUSED:
            pass
        return general((a, b, c))

    return call


_PATHS: dict[int, Path] = {1: _one, 2: _two, 3: _three}
