"""Lines of a plot: curves, and lanes of state channels (a coloured bar for each interval in which the state is
constant)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPaintEngine, QPainter, QPen, QTransform

from app.plotting.curves import LANES
from app.plotting.series import MinMaxLevels
from app.preferences.theme import Colors, state_color

Array = NDArray[np.float64]


class _ExportableCurve(pg.PlotCurveItem):
    """Curve that is exported to SVG in device units. (Scaled in data units, its line width would be scaled as well by
    programs that ignore `vector-effect`, such as librsvg, and six digits might be too few.)"""

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


class PlotLine(pg.PlotDataItem):
    """Curve whose bounds are those of its full data, even while it is thinned for the screen. (pyqtgraph uses the
    bounds of the thinned curve, which depend on the visible range, so that automatic ranges may never settle.)"""

    def __init__(self, unit: str, pen: QPen, thin: bool) -> None:
        """Create the line with all of its style options, because each later change would redraw it. `thin`: the curve
        may be thinned and clipped."""
        super().__init__(pen=pen, clipToView=thin, autoDownsample=thin, downsampleMethod="peak")
        self.style: Any = None
        self.unit = unit
        self.numbers: Array | None = None
        self.across: Array | None = None
        self._extents: list[tuple[float, float] | None] = [None, None]
        self._levels: MinMaxLevels | None = None
        self._seen: tuple[int, int, int] | None = None
        """First sample, last sample, and blocks of what is drawn."""
        self.curve.setParentItem(None)
        self.curve: Any = _ExportableCurve()
        self.curve.setParentItem(self)
        self.curve.setClickable(False)

    def show_data(self, x: Array, y: Array, smooth: bool) -> None:
        """Draw new data x, y (n,)."""
        self.numbers, self.across, self._levels = y, x, None
        self._extents = [_finite_range(x), _finite_range(y)]
        self.setData(x, y, antialias=smooth)

    def show_levels(self, x: Array, levels: MinMaxLevels) -> None:
        """Draw a long curve over increasing x (n,), thinned to the resolution of the screen."""
        self.numbers, self.across, self._levels, self._seen = levels.rows, x, levels, None
        self._extents = [(float(x[0]), float(x[-1])), levels.value_range]
        self._draw_thinned()

    def viewTransformChanged(self) -> None:
        """Update the thinned curve after a change of the visible range or size."""
        super().viewTransformChanged()
        self._draw_thinned()

    def _draw_thinned(self) -> None:
        """Draw the visible part of a long curve, thinned."""
        box, levels, across = self.getViewBox(), self._levels, self.across
        if box is None or levels is None or across is None:
            return
        count = max(round(box.width()), 1)
        first, last = np.searchsorted(across, box.viewRange()[0])
        seen = max(int(first) - 1, 0), min(int(last) + 1, len(across)), count
        if seen != self._seen:
            self._seen = seen
            places, lows, highs = levels.visible_blocks(*seen)
            self.setData(np.repeat(across[places], 2), np.column_stack((lows, highs)).ravel(), antialias=False)

    def reserve_x_range(self, x: Array) -> None:
        """Reserve the x range of a curve whose data are still being computed."""
        self._extents[0] = _finite_range(x)
        self.informViewBoundsChanged()

    def dataBounds(self, ax: int, frac: float = 1.0, orthoRange: Any = None) -> Any:
        """Return the smallest and largest x (ax 0) or y (ax 1); (None, None) without numbers."""
        if frac < 1.0 or orthoRange is not None:
            return super().dataBounds(ax, frac, orthoRange)
        return self._extents[ax] or (None, None)


def _finite_range(values: Array) -> tuple[float, float] | None:
    finite = values if np.isfinite(values).all() else values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else None


HALF_LANE_HEIGHT = 0.36
"""Half the height of a lane; the spacing of lanes is 1."""
BESIDE = 3.0
"""Height of the area of the curves in a plot with lanes, as a multiple of the height of all lanes."""
LEAST = 6.0
"""Width, in pixels, below which a bar has no text, and margin between the text and the ends of the bar."""


def constant_intervals(codes: Array) -> Iterator[tuple[int, int, int]]:
    """Yield (state, first sample, last sample) for each interval in which the state is constant; each interval ends
    where the next begins."""
    if not len(codes):
        return
    begins = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
    ends = [*begins[1:], len(codes) - 1]
    for begin, end in zip(begins, ends, strict=True):
        yield int(codes[begin]), begin, end


class _LaneBars(pg.GraphicsObject):
    """Graphics item that draws the bars of a lane, in axis coordinates."""

    def __init__(self, lane: StateLaneLine) -> None:
        super().__init__()
        self._lane = lane

    def boundingRect(self) -> QRectF:
        """Return the rectangle in which the bars are drawn."""
        lane = self._lane
        if lane.across is None or not len(lane.across):
            return QRectF()
        left, right = float(lane.across[0]), float(lane.across[-1])
        return QRectF(left, lane.place - HALF_LANE_HEIGHT, right - left, 2.0 * HALF_LANE_HEIGHT)

    def paint(self, painter: QPainter, *_: Any) -> None:
        """Draw the bars, with text where it fits; at most one bar per pixel."""
        lane, to_screen = self._lane, painter.transform()
        if lane.across is None or lane.numbers is None:
            return
        view = self.viewRect()
        pixel = 1.0 / max(abs(to_screen.m11()), 1e-300)
        reached = -np.inf
        for code, begin, end in constant_intervals(lane.numbers):
            left, right = float(lane.across[begin]), float(lane.across[end])
            if right < view.left() or left > view.right() or right < reached + 0.5 * pixel:
                continue
            reached = right
            left, right = max(left, view.left()), min(max(right, left + pixel), view.right())
            bar = QRectF(left, lane.place - HALF_LANE_HEIGHT, right - left, 2.0 * HALF_LANE_HEIGHT)
            self._paint_bar(painter, to_screen.mapRect(bar), lane.words[code])

    def _paint_bar(self, painter: QPainter, rect: QRectF, label: str) -> None:
        painter.save()
        painter.setTransform(QTransform())
        color = QColor(state_color(label, self._lane.colors))
        quiet = color == QColor(self._lane.colors.line)
        painter.fillRect(rect, color)
        font = QFont(painter.font())
        font.setPixelSize(max(round(min(0.7 * rect.height(), 12.0)), 1))
        if rect.height() >= 2 * LEAST and QFontMetricsF(font).horizontalAdvance(label) < rect.width() - LEAST:
            painter.setFont(font)
            painter.setPen(QColor(self._lane.colors.muted if quiet else "#ffffff"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, label)
        painter.restore()


class StateLaneLine(PlotLine):
    """Line that draws a state channel as a lane of bars."""

    def __init__(self, words: tuple[str, ...], colors: Colors) -> None:
        super().__init__(LANES, pg.mkPen(None), False)
        self.words, self.colors = words, colors
        self.place = 0.0
        """Height of its middle."""
        self.below = 1
        """Number of lanes."""
        self.alone = True
        self._bars = _LaneBars(self)
        self._bars.setParentItem(self)

    def set_position(self, index: int, lane_count: int, lanes_only: bool) -> None:
        """Set the index of this lane among all lanes, from the top, and whether the plot consists of lanes only."""
        self.place, self.below, self.alone = float(lane_count - 1 - index), lane_count, lanes_only
        self._bars.prepareGeometryChange()
        self.informViewBoundsChanged()
        self._bars.update()

    def show_data(self, x: Array, y: Array, smooth: bool) -> None:
        """Draw new states, given as indices (n,), over x (n,)."""
        self.numbers, self.across = y, x
        self._extents[0] = (float(x[0]), float(x[-1])) if len(x) else None
        self._bars.prepareGeometryChange()
        self._bars.update()
        self.informViewBoundsChanged()

    def dataBounds(self, ax: int, frac: float = 1.0, orthoRange: Any = None) -> Any:
        """Return the smallest and largest x (ax 0) or y (ax 1)."""
        if ax == 0:
            return self._extents[0] or (None, None)
        top = self.below - 0.5
        return -0.5, top if self.alone else top + BESIDE * self.below
