"""Rounding dust, taken off results before people see them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDING_FRACTION = 1e-14
"""Share of the largest entry (at least of the scale) below which an entry is rounding error and shown as zero."""
SOLVED_FRACTION = 1e-9
"""The same of what an iteration has solved."""


def without_dust(values: Any, fraction: float = ROUNDING_FRACTION, scale: float = 1.0) -> NDArray[np.float64]:
    """A copy of an array in which entries that are only rounding errors are zero, and no zero is negative. scale : what
    counts as a large entry, even if there is none."""
    array = np.array(values, dtype=float)
    finite = np.abs(array[np.isfinite(array)])
    array[np.abs(array) < fraction * max(scale, float(finite.max(initial=0.0)))] = 0.0
    return array + 0.0
