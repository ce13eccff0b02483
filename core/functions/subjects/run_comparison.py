"""Comparison of two runs, channel by channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.functions.results import Table
from core.functions.text import Cell, Column
from core.simulation import Run

Array = NDArray[np.float64]

SAMPLES = 2000
"""Number of times at which runs are compared."""


def compared(first: Run, second: Run, names: tuple[str, str] = ("first", "second")) -> Table:
    """Tabulate the differences second − first of every usual channel over the common time of both runs: largest
    difference and its time, root mean square, and difference at the end, SI. Values between samples are interpolated
    linearly.

    Raises ModelError if the runs have no time, or no channel, in common.
    """
    start, end = max(first.time[0], second.time[0]), min(first.time[-1], second.time[-1])
    if not start < end:
        raise ModelError(
            f"The runs {names[0]} and {names[1]} have no time in common.",
            where="runs",
            remedy="Compare runs that overlap.",
        )
    times = np.linspace(start, end, SAMPLES)
    one, two = dict(first.table()), dict(second.table())
    rows: list[tuple[Cell, ...]] = []
    for channel in (name for name in one if name in two):
        difference = np.interp(times, second.time, two[channel]) - np.interp(times, first.time, one[channel])
        worst = int(np.argmax(np.abs(difference)))
        rms = float(np.sqrt(np.mean(difference**2)))
        rows.append((channel, float(difference[worst]), float(times[worst]), rms, float(difference[-1])))
    if not rows:
        raise ModelError(
            f"The runs {names[0]} and {names[1]} have no channel in common.",
            where="runs",
            remedy="Compare runs of the same machine.",
        )
    columns = (
        Column("Channel"),
        Column("Largest difference"),
        Column("at t", "time"),
        Column("RMS"),
        Column("At the end"),
    )
    return Table(
        title=f"{names[1]} − {names[0]}",
        columns=columns,
        rows=tuple(rows),
        note=f"From {start:.6g} s to {end:.6g} s, in SI units.",
    )
