"""What is drawn of one signal, as plain values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Sheet(NamedTuple):
    """What is drawn for one signal: curves (name, y) over time (n,), residual (n,) or none, the time from which rows
    were held back, and words on it."""

    title: str
    unit: str
    time: Array
    curves: tuple[tuple[str, Array], ...]
    residual: Array | None = None
    held_from: float | None = None
    words: str = ""
