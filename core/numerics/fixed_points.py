"""x = φ(x) with x ≥ 0, where φ is continuous, mostly smooth, and may grow quicker than x (Broyden's method)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

ROUNDS = 60
SETTLED_FRACTION = 1e-12
"""Part of the largest entry up to which x and φ(x) may differ."""
WELL_FRACTION = 1e-8
"""The same where no round comes nearer any more."""
LEAST_SIZE = 1e-9
"""What counts as the largest entry at least."""


class FixedPoint(NamedTuple):
    """x : (n,); found : whether it is one, and nothing of it is negative"""

    x: Array
    found: bool


def fixed_point(phi: Map, x: Array) -> FixedPoint:
    """From x on, first by φ itself (Broyden, Mathematics of Computation 19, 1965, his first update of the inverse)."""
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


def steepest(phi: Map, x: Array) -> float:
    """The largest eigenvalue of ∂φ/∂x in size: everywhere below 1 there is one fixed point only."""
    here, J = phi(x), np.zeros((len(x), len(x)))
    for k in range(len(x)):
        step = 1e-6 * max(float(np.max(np.abs(x))), LEAST_SIZE)
        ahead = x.copy()
        ahead[k] += step
        J[:, k] = (phi(ahead) - here) / step
    return float(np.max(np.abs(np.linalg.eigvals(J)), initial=0.0))
