"""One drawn curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QPen

Array = NDArray[np.float64]


class Line(pg.PlotDataItem):
    """Its bounds are those of its numbers, however it is thinned for the screen. (pyqtgraph takes those of the thinned
    curve, which depend on the range that is shown: ranges that are found anew for every picture may then never settle.)
    """

    def __init__(self, unit: str, pen: QPen, thin: bool) -> None:
        """With all of its looks: each that is set later draws it anew. `thin`: it may be thinned and clipped."""
        super().__init__(pen=pen, clipToView=thin, autoDownsample=thin, downsampleMethod="peak")
        self.style: Any = None
        self.unit = unit
        self.numbers: Array | None = None
        self.across: Array | None = None
        self._extents: list[tuple[float, float] | None] = [None, None]
        self.curve.setClickable(False)

    def show_numbers(self, across: Array, numbers: Array, smooth: bool) -> None:
        """Draw other numbers, x and y (n,)."""
        self.numbers, self.across = numbers, across
        self._extents = [_extent(across), _extent(numbers)]
        self.setData(across, numbers, antialias=smooth)

    def expect(self, across: Array) -> None:
        """Leave room for a curve over these x, whose numbers are still to come."""
        self._extents[0] = _extent(across)
        self.informViewBoundsChanged()

    def dataBounds(self, ax: int, frac: float = 1.0, orthoRange: Any = None) -> Any:
        """Least and largest x (ax 0) or y (ax 1); (None, None) without numbers."""
        if frac < 1.0 or orthoRange is not None:
            return super().dataBounds(ax, frac, orthoRange)
        return self._extents[ax] or (None, None)


def _extent(values: Array) -> tuple[float, float] | None:
    finite = values if np.isfinite(values).all() else values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else None
