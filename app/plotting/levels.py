"""Minimum and maximum of a long column in blocks, and in blocks of blocks, so that drawing a million samples takes as
long as a thousand. Does not use Qt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.simulation.run.growing_rows import BLOCK

Array = NDArray[np.float64]
LONG = 50_000
"""Number of samples from which a column has levels."""
FINEST, FACTOR = 32, 8
"""Samples per block of the finest level; blocks of a level combined into one of the next."""
FEW = 64
"""Largest number of blocks of the coarsest level."""


class Levels:
    """Minimum–maximum levels of a column that may grow at its end. NaN counts only in blocks that have nothing else."""

    def __init__(self) -> None:
        self.rows: Array = np.zeros(0)
        self._levels: list[tuple[Array, Array]] = []

    def grown(self, rows: Array) -> Levels:
        """Return the levels of an extended column, reusing those of its existing rows."""
        found, known = Levels(), len(self.rows)
        found.rows, size, lows, highs = rows, 1, rows, rows
        while len(lows) > FEW:
            k = len(found._levels)
            factor = FINEST if k == 0 else FACTOR
            size *= factor
            old = self._levels[k] if k < len(self._levels) else (rows[:0], rows[:0])
            whole = min(known // size, len(old[0]))
            lows = np.concatenate([old[0][:whole], _block_values(np.fmin, lows, factor, whole)])
            highs = np.concatenate([old[1][:whole], _block_values(np.fmax, highs, factor, whole)])
            found._levels.append((lows, highs))
        return found

    @property
    def extent(self) -> tuple[float, float] | None:
        """Return the smallest and largest finite number; None if there are none."""
        lows, highs = self._levels[-1] if self._levels else (self.rows, self.rows)
        ends = np.concatenate([lows, highs])
        if np.isinf(ends).any():  # a block with one may have others
            ends = self.rows
        finite = ends[np.isfinite(ends)]
        return (float(finite.min()), float(finite.max())) if len(finite) else None

    def seen(self, first: int, last: int, count: int) -> tuple[NDArray[np.intp], Array, Array]:
        """Return about `count` blocks, at most twice as many, that cover the samples from first to last (excluded):
        middle sample, minimum and maximum of each. Block limits do not depend on `first`."""
        wide = max((last - first) // max(count, 1), 1)
        k = max((k for k in range(len(self._levels)) if FINEST * FACTOR**k <= wide), default=-1)
        size = 1 if k < 0 else FINEST * FACTOR**k
        lows, highs = (self.rows, self.rows) if k < 0 else self._levels[k]
        group = max(wide // size, 1)
        start = first // (size * group) * group
        end = min(-(-last // size), len(lows))
        places = np.arange(start, end, group)
        low = np.fmin.reduceat(lows[:end], places) if len(places) else lows[:0]
        high = np.fmax.reduceat(highs[:end], places) if len(places) else highs[:0]
        middle = np.minimum(places * size + size * group // 2, len(self.rows) - 1)
        return middle, low, high


def _block_values(ufunc: np.ufunc, rows: Array, size: int, first: int) -> Array:
    """Return a number for each block of `size` rows, starting from block `first`."""
    parts = [
        ufunc.reduceat(part, np.arange(0, len(part), size))
        for begin in range(first * size, len(rows), BLOCK)
        if len(part := rows[begin : begin + BLOCK])
    ]
    return np.concatenate(parts) if parts else rows[:0]
