"""Axis-aligned bounding boxes: (6,) arrays (xmin, xmax, ymin, ymax, zmin, zmax) in m, as used by VTK."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from viz.placement import Array


def around(boxes: ArrayLike) -> Array:
    """Return the box (6,) around boxes (n, 6)."""
    table = np.asarray(boxes, dtype=float)
    return np.column_stack([table[:, 0::2].min(axis=0), table[:, 1::2].max(axis=0)]).ravel()


def of_points(points: ArrayLike) -> Array:
    """Return the box (6,) around points (n, 3)."""
    table = np.asarray(points, dtype=float)
    return np.column_stack([table.min(axis=0), table.max(axis=0)]).ravel()


def corners(box: ArrayLike) -> Array:
    """Return the corners (8, 3) of a box; bit k of the index selects the end of axis k."""
    ends = np.asarray(box, dtype=float).reshape(3, 2)
    return np.array([[ends[k, (i >> k) & 1] for k in range(3)] for i in range(8)])


def extent(box: ArrayLike) -> float:
    """Return the longest edge of a box, m; 1 for an empty box."""
    return float(np.max(np.ptp(np.asarray(box, dtype=float).reshape(3, 2), axis=1))) or 1.0
