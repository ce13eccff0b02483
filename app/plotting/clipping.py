"""Clipping of lines to a rectangle, because SVG drawings are not clipped otherwise. Does not use Qt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def clipped(x: Array, y: Array, low: tuple[float, float], high: tuple[float, float]) -> tuple[Array, Array]:
    """Return the parts of the line through (x, y), each (n,), inside of low … high, separated by NaN.

    Liang and Barsky's algorithm (1984): each segment p + s·d keeps the s for which it is inside of all four edges.
    """
    points = np.column_stack((x, y)).astype(float)
    start, delta = points[:-1], np.diff(points, axis=0)
    first, last = np.zeros(len(delta)), np.ones(len(delta))
    inside = np.isfinite(start).all(axis=1) & np.isfinite(delta).all(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(2):
            to_low, to_high = (low[k] - start[:, k]) / delta[:, k], (high[k] - start[:, k]) / delta[:, k]
            moves = delta[:, k] != 0.0
            first = np.where(moves, np.maximum(first, np.minimum(to_low, to_high)), first)
            last = np.where(moves, np.minimum(last, np.maximum(to_low, to_high)), last)
            inside &= moves | ((low[k] <= start[:, k]) & (start[:, k] <= high[k]))
    kept = np.flatnonzero(inside & (first <= last))
    if not len(kept):
        return np.empty(0), np.empty(0)
    ends = [start[kept] + share[kept, None] * delta[kept] for share in (first, last)]
    goes_on = np.zeros(len(kept), dtype=bool)
    goes_on[1:] = (np.diff(kept) == 1) & (last[kept[:-1]] == 1.0) & (first[kept[1:]] == 0.0)
    gap = np.full_like(ends[0], np.nan)
    rows = np.stack((gap, ends[0], ends[1]), axis=1)
    wanted = np.column_stack((~goes_on, ~goes_on, np.ones(len(kept), dtype=bool)))
    wanted[0, 0] = False
    result = rows[wanted]
    return result[:, 0], result[:, 1]
