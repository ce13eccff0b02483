"""States as callers give them: one, or arrays of states."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.traces.compiled import Compiled

Array = NDArray[np.float64]


def one_state(compiled: Compiled, q: Any) -> Array:
    """q as one state (nq,), a copy, or a ModelError."""
    array = states_of(q, compiled.nq, "q")
    if array.ndim > 1:
        raise ModelError(f"q has shape {array.shape}; one state is needed.", remedy="Give the states one by one.")
    return array.copy()


def states_of(given: Any, size: int, word: str) -> Array:
    """(…, size) one state or an array of states as floats, or a ModelError. word : "q" or "v"."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{word} is not an array of numbers.", remedy="Give numbers in SI units.") from None
    if array.shape[-1:] != (size,):
        raise ModelError(
            f"{word} has shape {array.shape}; {size} numbers are needed.",
            remedy=f"mech.{word}_names lists them in order.",
        )
    return array


def per_state(array: Array, leading: tuple[int, ...]) -> Array:
    """The array once for every state, (n, size)."""
    size = array.shape[-1]
    return np.broadcast_to(array, (*leading, size)).reshape(math.prod(leading), size)
