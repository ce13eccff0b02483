"""Curves of one signal as plain data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Sheet(NamedTuple):
    """Curves of one signal: (name, y) over time (n,), residual (n,) or None, the time from which rows were held out for
    validation, and a caption."""

    title: str
    unit: str
    time: Array
    curves: tuple[tuple[str, Array], ...]
    residual: Array | None = None
    held_from: float | None = None
    words: str = ""
