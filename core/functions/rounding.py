"""Rounding dust, taken off results before people see them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDING_FRACTION = 1e-14
"""Share of the largest entry (at least of the scale) below which an entry is rounding error and shown as zero."""
SOLVED_FRACTION = 1e-9
"""The same of what an iteration has solved."""
SOLVED_DECIMALS = 12
"""Decimals of a coordinate, in rad or parts of the machine's size, that an iteration decides."""


def without_dust(values: Any, fraction: float = ROUNDING_FRACTION, scale: float = 1.0) -> NDArray[np.float64]:
    """A copy of an array in which entries that are only rounding errors are zero, and no zero is negative. scale : what
    counts as a large entry, even if there is none."""
    array = np.array(values, dtype=float)
    finite = np.abs(array[np.isfinite(array)])
    array[np.abs(array) < fraction * max(scale, float(finite.max(initial=0.0)))] = 0.0
    return array + 0.0


def without_errors(mech: Any, values: Any, scale: float = 0.0) -> NDArray[np.float64]:
    """Numbers of a machine without rounding errors; where something holds it, without those of the iteration that
    closes it. scale : what counts as a large entry then."""
    return without_dust(values, SOLVED_FRACTION, scale) if mech.constrained else without_dust(values)


def pose_without_errors(mech: Any, q: Any, size: float) -> NDArray[np.float64]:
    """Coordinates (nq,) that an iteration has found, without its errors and the decimals that it does not decide;
    size of the machine, m."""
    scales = np.array([size if c.dimension == "length" else 1.0 for c in mech.coordinates])
    parts = np.round(np.divide(q, scales), SOLVED_DECIMALS)
    return np.where(np.abs(parts) < SOLVED_FRACTION, 0.0, parts * scales)
