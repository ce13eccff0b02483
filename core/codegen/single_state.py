"""Evaluation of one state through buffers (copy in, evaluate, copy out) by interpreted code.

Assignment to a memoryview refuses anything but floats of the right number, so it is the check too; what it refuses
takes the general path, which converts or says what is wrong. The buffers belong to the first thread that calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.codegen.guards import FREE, Guard

Array = NDArray[np.float64]
Path = Callable[..., Any]
_thread = threading.get_ident


def path(
    inputs: Sequence[Array],
    out: Array,
    run: Callable[[], Any],
    shape: Sequence[int],
    general: Path,
    guard: Guard = FREE,
) -> Path:
    """Return a function that evaluates one state, given as arrays with the lengths of the input buffers.

    run : evaluates the buffers `inputs` into `out`, true on failure; general : the path for everything else; guard :
    which numbers the function takes
    """
    views: list[Any] = [memoryview(array) for array in inputs]  # type: ignore[arg-type]
    copy = out.reshape(shape).copy
    owner: list[int] = []

    def call(*arrays: Any) -> Any:
        try:
            if not owner:
                owner.append(_thread())
            if owner[0] == _thread():
                for view, array in zip(views, arrays, strict=True):
                    view[:] = array
                if (not guard.checks or guard.passes(views)) and not run():
                    return copy()
        except (TypeError, ValueError):
            pass
        return general(*arrays)

    return call
