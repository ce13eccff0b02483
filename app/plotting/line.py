"""A drawn curve of a plot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QPaintEngine, QPainter, QPen

from app.plotting.levels import Levels

Array = NDArray[np.float64]


class _DrawnCurve(pg.PlotCurveItem):
    """Curve that is exported to SVG in device units. (Scaled in data units, its line width would be scaled too by
    programs that ignore `vector-effect`, such as librsvg, and six digits could be too few.)"""

    def paint(self, painter: QPainter, option: Any, widget: Any) -> None:
        """Draw the curve, see `pyqtgraph.PlotCurveItem`."""
        if painter.paintEngine().type() != QPaintEngine.Type.SVG or self.xData is None or not len(self.xData):
            super().paint(painter, option, widget)
            return
        placed = painter.transform().map(self.getPath())
        painter.save()
        painter.resetTransform()
        painter.setPen(self.opts["pen"])
        painter.drawPath(placed)
        painter.restore()


class Line(pg.PlotDataItem):
    """Curve whose bounds are those of its full data, even when thinned for the screen. (pyqtgraph uses the bounds of
    the thinned curve, which depend on the visible range, so that automatic ranges may never settle.)"""

    def __init__(self, unit: str, pen: QPen, thin: bool) -> None:
        """Create the line with all its style options, since each later change redraws it. `thin`: it may be thinned and
        clipped."""
        super().__init__(pen=pen, clipToView=thin, autoDownsample=thin, downsampleMethod="peak")
        self.style: Any = None
        self.unit = unit
        self.numbers: Array | None = None
        self.across: Array | None = None
        self._extents: list[tuple[float, float] | None] = [None, None]
        self._levels: Levels | None = None
        self._seen: tuple[int, int, int] | None = None
        """First sample, last sample, and blocks of what is drawn."""
        self.curve.setParentItem(None)
        self.curve: Any = _DrawnCurve()
        self.curve.setParentItem(self)
        self.curve.setClickable(False)

    def show_numbers(self, across: Array, numbers: Array, smooth: bool) -> None:
        """Draw other numbers, x and y (n,)."""
        self.numbers, self.across, self._levels = numbers, across, None
        self._extents = [_extent(across), _extent(numbers)]
        self.setData(across, numbers, antialias=smooth)

    def show_levels(self, across: Array, levels: Levels) -> None:
        """Draw a long curve over increasing x (n,), thinned to the pixels of the screen."""
        self.numbers, self.across, self._levels, self._seen = levels.rows, across, levels, None
        self._extents = [(float(across[0]), float(across[-1])), levels.extent]
        self._draw_thinned()

    def viewTransformChanged(self) -> None:
        """Update the thinned curve after a change of the visible range or size."""
        super().viewTransformChanged()
        self._draw_thinned()

    def _draw_thinned(self) -> None:
        """Draw the visible part of a long curve."""
        box, levels, across = self.getViewBox(), self._levels, self.across
        if box is None or levels is None or across is None:
            return
        count = max(round(box.width()), 1)
        first, last = np.searchsorted(across, box.viewRange()[0])
        seen = max(int(first) - 1, 0), min(int(last) + 1, len(across)), count
        if seen != self._seen:
            self._seen = seen
            places, lows, highs = levels.seen(*seen)
            self.setData(np.repeat(across[places], 2), np.column_stack((lows, highs)).ravel(), antialias=False)

    def expect(self, across: Array) -> None:
        """Reserve the x range of a curve whose numbers are still being computed."""
        self._extents[0] = _extent(across)
        self.informViewBoundsChanged()

    def dataBounds(self, ax: int, frac: float = 1.0, orthoRange: Any = None) -> Any:
        """Return the smallest and largest x (ax 0) or y (ax 1); (None, None) without numbers."""
        if frac < 1.0 or orthoRange is not None:
            return super().dataBounds(ax, frac, orthoRange)
        return self._extents[ax] or (None, None)


def _extent(values: Array) -> tuple[float, float] | None:
    finite = values if np.isfinite(values).all() else values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else None
