"""Removal of rounding errors from results before they are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDING_FRACTION = 1e-14
"""Fraction of the largest entry (at least of the scale) below which an entry is rounding error and shown as zero."""
SOLVED_FRACTION = 1e-9
"""Same fraction for values found by iteration."""
SOLVED_DECIMALS = 12
"""Significant decimals of a coordinate found by iteration, in rad or fractions of the machine's size."""


def without_rounding_errors(
    values: Any, fraction: float = ROUNDING_FRACTION, scale: float = 1.0
) -> NDArray[np.float64]:
    """Return a copy of an array with rounding errors set to zero and no negative zeros. scale : least size that counts
    as a large entry."""
    array = np.array(values, dtype=float)
    finite = np.abs(array[np.isfinite(array)])
    array[np.abs(array) < fraction * max(scale, float(finite.max(initial=0.0)))] = 0.0
    return array + 0.0


def without_solver_errors(mech: Any, values: Any, scale: float = 0.0) -> NDArray[np.float64]:
    """Return values of a machine without rounding errors, and without iteration errors if the machine has constraints.
    scale : least size that counts as a large entry then."""
    return (
        without_rounding_errors(values, SOLVED_FRACTION, scale) if mech.constrained else without_rounding_errors(values)
    )


def pose_without_solver_errors(mech: Any, q: Any, size: float) -> NDArray[np.float64]:
    """Round coordinates (nq,) found by iteration to the decimals that the iteration determines. size : of the machine,
    m."""
    scales = np.array([size if c.dimension == "length" else 1.0 for c in mech.coordinates])
    parts = np.round(np.divide(q, scales), SOLVED_DECIMALS)
    return np.where(np.abs(parts) < SOLVED_FRACTION, 0.0, parts * scales)
