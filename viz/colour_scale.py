"""Perceptually uniform colours for values: lightness grows with the value, readable with colour vision deficiency, too.

`EVEN` are colours of Viridis (S. van der Walt, N. Smith, 2015; CC0), of which light pictures leave out the lightest and
dark ones the darkest; `PARTED` goes from blue over grey to orange, for differences.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from viz.look import LookName, rgb
from viz.placement import Array

_EVEN = ("440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725")
_PARTED = ("1f5fa8", "5b93c7", "9dbad6", "b9bcc0", "d9b48f", "d1883f", "b35806")
EVEN = np.array([rgb(each) for each in _EVEN])
PARTED = np.array([rgb(each) for each in _PARTED])
SPAN: dict[LookName, tuple[float, float]] = {"light": (0.0, 0.9), "dark": (0.15, 1.0)}
"""Part of `EVEN` that contrasts with the background."""


def colours(values: ArrayLike, low: float, high: float, look: LookName, parted: bool = False) -> Array:
    """Map values (n,) between low and high to red, green, blue (n, 3) in 0 … 1; infinite values get the end colours.

    parted : colours of differences, grey at zero
    """
    x = np.asarray(values, dtype=float)
    if parted:
        reach = max(abs(low), abs(high), 1e-300)
        return _between(PARTED, 0.5 + 0.5 * np.clip(x / reach, -1.0, 1.0))
    width = high - low
    share = np.clip((x - low) / width, 0.0, 1.0) if width > 0.0 else np.full(x.shape, 0.5)
    first, last = SPAN[look]
    return _between(EVEN, first + (last - first) * np.nan_to_num(share))


def _between(table: Array, share: Array) -> Array:
    places = np.linspace(0.0, 1.0, len(table))
    return np.stack([np.interp(share, places, table[:, k]) for k in range(3)], axis=-1)
