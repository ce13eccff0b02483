"""Rows that are added at the end, and a run that grows by pieces. Knows no Qt.

Memory is doubled when it is full, so that a thousand pieces cost as little as what they hold: nothing that is there
already is copied for each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.simulation.run.run import Run

Array = NDArray[np.float64]
STATES = ("time", "q", "v", "a", "tau", "x")
"""Of a run, with a row for each sample."""


class GrowingArray:
    """`rows` (n, …) is a view that stays as it is when more are added: later ones are other views."""

    def __init__(self, first: Array) -> None:
        self._memory = first
        self.rows = first

    def extend(self, *pieces: Array) -> Array:
        """Add rows, piece by piece; all there are now. Memory grows once at most."""
        begin, end = len(self.rows), len(self.rows) + sum(map(len, pieces))
        if end == begin:
            return self.rows
        if end > len(self._memory):
            larger = np.empty((2 * end, *self.rows.shape[1:]))
            larger[:begin] = self.rows
            self._memory = larger
        for piece in pieces:
            self._memory[begin : begin + len(piece)] = piece
            begin += len(piece)
        self.rows = self._memory[:end]
        return self.rows


class GrowingRun:
    """A run that is still computed; `run` is all there is of it."""

    def __init__(self, first: Run) -> None:
        self._arrays = {name: GrowingArray(getattr(first, name)) for name in STATES}
        self.run = first

    def extend(self, pieces: Iterable[Run]) -> Run:
        """Add pieces that follow; the run there is now."""
        known = list(pieces)
        rows: dict[str, Any] = {
            name: array.extend(*(getattr(piece, name) for piece in known)) for name, array in self._arrays.items()
        }
        self.run = dataclasses.replace(self.run, **rows)
        return self.run
