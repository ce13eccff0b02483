"""Validation of states given by callers: one state, or arrays of states."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


def one_state(compiled: Compiled, q: Any) -> Array:
    """A copy of q as one state (nq,). Raises ModelError if it is not one state."""
    array = states_of(q, compiled.nq, "q")
    if array.ndim > 1:
        raise ModelError(f"q has shape {array.shape}; one state is needed.", remedy="Give the states one by one.")
    return array.copy()


def states_of(given: Any, size: int, word: str) -> Array:
    """(…, size) one state or an array of states as floats. Raises ModelError if the size differs. word : "q" or "v"."""
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


def broadcast_to_states(array: Array, leading: tuple[int, ...]) -> Array:
    """(n, size) the array broadcast to all states."""
    size = array.shape[-1]
    return np.broadcast_to(array, (*leading, size)).reshape(math.prod(leading), size)
