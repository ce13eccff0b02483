"""Layout of the recorded columns of contact rows (`core.simulation.equations.contact_rows`): row by row, with the
columns for the whole machine at the end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MODE, STOP, CLIPPED, BOUNCES, RESTS = range(5)
"""As in `ModeRows`: contact state, stop state, side on which the motor command is clipped, number of impacts, 1:
bouncing has ended."""
FRICTION, STOP_FORCE, WITHHELD, CUT = range(5, 9)
"""N·m or N, along the coordinate: friction; stop force; part of the motor force removed by a speed limit; part removed
by an effort limit."""
FRICTION_LOSS, STOP_WORK, STORED = range(9, 12)
"""J: energy lost by friction since the beginning of the run; work absorbed by the stop; energy stored in the stop now.
"""
EACH_ROW = 12
"""Number of columns of a row."""
MOTOR_WORK = 0
"""Work of joint forces since the beginning of the run, J: the column after all rows."""


def columns_of_all_rows(width: int, *columns: int) -> list[int]:
    """Return the indices of these columns of every row, in an array of the given width."""
    return [first + column for first in range(0, width - 1, EACH_ROW) for column in columns]


def cumulative_columns(width: int) -> list[int]:
    """Return the indices of the columns that count or accumulate since the beginning of the run."""
    return [*columns_of_all_rows(width, BOUNCES, FRICTION_LOSS, STOP_WORK), *([width - 1] if width else [])]


def modes_differ(first_sample: Array, second_sample: Array) -> bool:
    """Return True if the contact states of two samples (…, m) differ."""
    at = columns_of_all_rows(first_sample.shape[-1], MODE, STOP, CLIPPED)
    return not np.array_equal(first_sample[..., at], second_sample[..., at])


def row_columns(modes: Array, k: int) -> Array:
    """Return the columns (n, `EACH_ROW`) of row k."""
    return modes[:, EACH_ROW * k : EACH_ROW * (k + 1)]
