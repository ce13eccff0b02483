"""Columns of numbers that tell what rows with modes did (`core.simulation.equations.mode_rows`): of each row, one after
another, and of all together at the end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MODE, STOP, CLIPPED, BOUNCES, RESTS = range(5)
"""As `ModeRows` has them: mode, stop, the side at which the command of its motor is clipped, how often its stops were
hit, 1: it has bounced so low that it stays."""
FRICTION, STOP_FORCE, WITHHELD, CUT = range(5, 9)
"""N·m or N, along the coordinate: friction; its stop; what a speed limit takes off the force of the motor, what an
effort limit takes off."""
FRICTION_LOSS, STOP_WORK, STORED = range(9, 12)
"""J since the run began: lost by friction; taken by the stop, lost or stored; stored in it now."""
EACH_ROW = 12
"""Columns of a row."""
MOTOR_WORK = 0
"""J that joint forces did since the run began: the column behind all rows."""


def of_all_rows(width: int, *columns: int) -> list[int]:
    """Where these columns of every row stand among so many."""
    return [first + column for first in range(0, width - 1, EACH_ROW) for column in columns]


def summed(width: int) -> list[int]:
    """Columns that count or add up since the run began."""
    return [*of_all_rows(width, BOUNCES, FRICTION_LOSS, STOP_WORK), *([width - 1] if width else [])]


def modes_differ(one: Array, other: Array) -> bool:
    """Whether modes (…, m) of samples do."""
    at = of_all_rows(one.shape[-1], MODE, STOP, CLIPPED)
    return not np.array_equal(one[..., at], other[..., at])


def row_of(modes: Array, k: int) -> Array:
    """(n, `EACH_ROW`) what tells of one row."""
    return modes[:, EACH_ROW * k : EACH_ROW * (k + 1)]
