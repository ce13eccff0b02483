"""Fixed points x = φ(x) with x ≥ 0 of a continuous, mostly smooth φ that need not be a contraction (Broyden's
method)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

ROUNDS = 60
SETTLED_FRACTION = 1e-12
"""Largest difference between x and φ(x), relative to the largest entry of x, at which the iteration has converged."""
WELL_FRACTION = 1e-8
"""Relative difference that is accepted if no iteration comes closer."""
LEAST_SIZE = 1e-9
"""Lower limit of the largest entry to which tolerances refer."""


class FixedPoint(NamedTuple):
    """Result of the search: x (n,), and found, True if x is a fixed point without negative entries."""

    x: Array
    found: bool


def fixed_point(phi: Map, x: Array) -> FixedPoint:
    """Search for a fixed point from x with Broyden's first method (Mathematics of Computation 19, 1965, update of the
    inverse); the first step is x ← φ(x)."""
    B, best, least = np.eye(len(x)), x, np.inf
    r = phi(x) - x
    for _ in range(ROUNDS):
        gap = float(np.max(np.abs(r), initial=0.0) / max(float(np.max(np.abs(x), initial=0.0)), LEAST_SIZE))
        if gap < least:
            best, least = x, gap
        if not gap > SETTLED_FRACTION:
            break
        step = np.maximum(x + B @ r, 0.0) - x
        if not step.any():
            break
        x = x + step
        after = phi(x) - x
        moved = B @ (r - after)
        across = float(step @ moved)
        if abs(across) > 1e-12 * float(step @ step):
            B += np.outer(step - moved, step @ B) / across
        else:
            B = np.eye(len(x))
        r = after
    return FixedPoint(best, least <= WELL_FRACTION)


def slope_spectral_radius(phi: Map, x: Array) -> float:
    """Return the spectral radius of ∂φ/∂x at x; if it is below 1 everywhere, the fixed point is unique."""
    here, J = phi(x), np.zeros((len(x), len(x)))
    for k in range(len(x)):
        step = 1e-6 * max(float(np.max(np.abs(x))), LEAST_SIZE)
        ahead = x.copy()
        ahead[k] += step
        J[:, k] = (phi(ahead) - here) / step
    return float(np.max(np.abs(np.linalg.eigvals(J)), initial=0.0))
