"""State channels drawn as lanes: a coloured bar for each interval in which the state does not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QTransform

from app.plotting.curves import LANES
from app.plotting.line import Line
from app.preferences.mode_colors import mode_color
from app.preferences.theme import Colors

Array = NDArray[np.float64]
HALF = 0.36
"""Half the height of a lane; lanes are 1 apart."""
BESIDE = 3.0
"""Height of the curves' area in a plot with lanes, as a multiple of the height of its lanes."""
LEAST = 6.0
"""Width below which no text is written into a bar, and margin between text and bar ends, pixels."""


def stretches(codes: Array) -> Iterator[tuple[int, int, int]]:
    """Yield (state, first sample, last sample) of each interval in which the state stays the same; it ends where the
    next begins."""
    if not len(codes):
        return
    begins = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
    ends = [*begins[1:], len(codes) - 1]
    for begin, end in zip(begins, ends, strict=True):
        yield int(codes[begin]), begin, end


class _LaneBars(pg.GraphicsObject):
    """Graphics item of one lane's bars, in axis coordinates."""

    def __init__(self, lane: Lane) -> None:
        super().__init__()
        self._lane = lane

    def boundingRect(self) -> QRectF:
        """Return the rectangle in which the bars are drawn."""
        lane = self._lane
        if lane.across is None or not len(lane.across):
            return QRectF()
        left, right = float(lane.across[0]), float(lane.across[-1])
        return QRectF(left, lane.place - HALF, right - left, 2.0 * HALF)

    def paint(self, painter: QPainter, *_: Any) -> None:
        """Draw bars, with text where there is room; at most one bar per pixel."""
        lane, to_screen = self._lane, painter.transform()
        if lane.across is None or lane.numbers is None:
            return
        view = self.viewRect()
        pixel = 1.0 / max(abs(to_screen.m11()), 1e-300)
        reached = -np.inf
        for code, begin, end in stretches(lane.numbers):
            left, right = float(lane.across[begin]), float(lane.across[end])
            if right < view.left() or left > view.right() or right < reached + 0.5 * pixel:
                continue
            reached = right
            left, right = max(left, view.left()), min(max(right, left + pixel), view.right())
            bar = QRectF(left, lane.place - HALF, right - left, 2.0 * HALF)
            self._paint_bar(painter, to_screen.mapRect(bar), lane.words[code])

    def _paint_bar(self, painter: QPainter, place: QRectF, word: str) -> None:
        painter.save()
        painter.setTransform(QTransform())
        color = QColor(mode_color(word, self._lane.colors))
        quiet = color == QColor(self._lane.colors.line)
        painter.fillRect(place, color)
        font = QFont(painter.font())
        font.setPixelSize(max(round(min(0.7 * place.height(), 12.0)), 1))
        if place.height() >= 2 * LEAST and QFontMetricsF(font).horizontalAdvance(word) < place.width() - LEAST:
            painter.setFont(font)
            painter.setPen(QColor(self._lane.colors.muted if quiet else "#ffffff"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, word)
        painter.restore()


class Lane(Line):
    """One state channel as it is drawn."""

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

    def arrange(self, place: int, count: int, alone: bool) -> None:
        """Set the lane's place among `count` lanes, from above, and whether the plot has lanes only."""
        self.place, self.below, self.alone = float(count - 1 - place), count, alone
        self._bars.prepareGeometryChange()
        self.informViewBoundsChanged()
        self._bars.update()

    def show_numbers(self, across: Array, numbers: Array, smooth: bool) -> None:
        """Draw new states, as indices (n,), over x (n,)."""
        self.numbers, self.across = numbers, across
        self._extents[0] = (float(across[0]), float(across[-1])) if len(across) else None
        self._bars.prepareGeometryChange()
        self._bars.update()
        self.informViewBoundsChanged()

    def dataBounds(self, ax: int, frac: float = 1.0, orthoRange: Any = None) -> Any:
        """Return the smallest and largest x (ax 0) or y (ax 1)."""
        if ax == 0:
            return self._extents[0] or (None, None)
        top = self.below - 0.5
        return -0.5, top if self.alone else top + BESIDE * self.below
