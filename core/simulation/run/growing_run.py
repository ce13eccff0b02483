"""A run that grows piece by piece while it is computed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from core.simulation.run.growing_rows import GrowingRows
from core.simulation.run.run import Run, Statistics

STATES = ("time", "q", "v", "a", "tau", "x", "modes")
"""Arrays of a run with a row for each sample."""


class GrowingRun:
    """Growing run. `run` holds all samples so far; a run taken from it does not change when it grows."""

    def __init__(self, first: Run) -> None:
        self._rows: dict[str, GrowingRows] = {}
        """Once there is a second piece."""
        self.run = dataclasses.replace(first, time=np.array(first.time))

    def extend(self, piece: Run) -> Run:
        """Append the piece that follows and return the run so far. Raises OSError, with the run unchanged, if there is
        no space for it."""
        self._rows = self._rows or {name: GrowingRows(getattr(self.run, name)) for name in STATES}
        rows: Any = {name: rows.extend(getattr(piece, name)) for name, rows in self._rows.items()}
        self.run = dataclasses.replace(self.run, **rows)
        return self.run

    def settled(self, statistics: Statistics) -> Run:
        """Return the final run."""
        rows: Any = {name: rows.settled()[: len(self.run)] for name, rows in self._rows.items()}
        return dataclasses.replace(self.run, statistics=statistics, **rows)


def part(run: Run, samples: slice) -> Run:
    """Return a run with some of the samples."""
    count = len(run.time)
    cut: dict[str, Any] = {name: rows[samples] for name in STATES if len(rows := getattr(run, name)) == count}
    return dataclasses.replace(run, **cut)
