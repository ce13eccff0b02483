"""Axes with ticks for pictures in panels, with conversion from numbers to pixels and back."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPalette, QPen

Array = NDArray[np.float64]

LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 10.0, 34.0
"""Margins around a frame, pixels."""
SPARE = 0.04
"""Fraction of a range that is left free at its ends."""
SCALE = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
"""Colour scale from smallest to largest value: perceptually uniform, also in grey."""


class Ink(NamedTuple):
    """The colours of a theme."""

    base: QColor
    text: QColor
    muted: QColor
    line: QColor
    data: QColor
    chosen: QColor
    failed: QColor

    @staticmethod
    def of(palette: QPalette) -> Ink:
        """Return the colours of a widget's palette."""
        dark = palette.color(QPalette.ColorRole.Window).lightness() < 128
        return Ink(
            palette.color(QPalette.ColorRole.Base),
            palette.color(QPalette.ColorRole.Text),
            palette.color(QPalette.ColorRole.PlaceholderText),
            palette.color(QPalette.ColorRole.Mid),
            QColor("#4aa3ff" if dark else "#1f6fd0"),
            QColor("#ec8029"),
            QColor("#f0857d" if dark else "#c3342c"),
        )


def faint(color: QColor, alpha: int) -> QColor:
    """Return a colour with the given opacity."""
    found = QColor(color)
    found.setAlpha(alpha)
    return found


def color_of(part: float) -> QColor:
    """Return the colour of the scale at 0 … 1."""
    at = min(max(part, 0.0), 1.0) * (len(SCALE) - 1)
    k = min(int(at), len(SCALE) - 2)
    one, other, rest = QColor(SCALE[k]), QColor(SCALE[k + 1]), at - k
    parts = ((a + rest * (b - a)) for a, b in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True))
    return QColor(*(round(x) for x in parts))


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round numbers between two values."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low or most < 1:
        return []
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next((m * power for m in (1.0, 2.0, 5.0, 10.0) if (high - low) / (m * power) <= most), 10.0 * power)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


class Frame:
    """Axes in a rectangle, which map numbers to pixels."""

    def __init__(
        self, rect: QRectF, x: tuple[float, float], y: tuple[float, float], *, tight: bool = False, labels: bool = True
    ) -> None:
        """Create the axes. x, y : displayed ranges, smallest and largest; tight : no margin is left around the
        ranges."""
        room = (LEFT, TOP, -RIGHT, -BOTTOM) if labels else (3.0, 3.0, -3.0, -3.0)
        self.rect = rect.adjusted(*room)
        self.x, self.y = (_padded_range(*each, 0.0 if tight else SPARE) for each in (x, y))
        self.labels = labels

    def points(self, x: Array, y: Array) -> Array:
        """Return pixel positions, (n, 2)."""
        across = self.rect.left() + (np.asarray(x) - self.x[0]) / (self.x[1] - self.x[0]) * self.rect.width()
        up = self.rect.bottom() - (np.asarray(y) - self.y[0]) / (self.y[1] - self.y[0]) * self.rect.height()
        return np.column_stack([across, up])

    def point(self, x: float, y: float) -> QPointF:
        """Return the pixel position of a point."""
        across, up = self.points(np.array([x]), np.array([y]))[0]
        return QPointF(across, up)

    def at(self, point: QPointF) -> tuple[float, float]:
        """Return the numbers at a pixel position."""
        across = (point.x() - self.rect.left()) / self.rect.width()
        up = (self.rect.bottom() - point.y()) / self.rect.height()
        return self.x[0] + across * (self.x[1] - self.x[0]), self.y[0] + up * (self.y[1] - self.y[0])

    def draw(self, painter: QPainter, ink: Ink, across: str = "", up: str = "") -> None:
        """Draw the frame, its ticks, and the titles of its axes."""
        painter.setPen(QPen(ink.line, 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.rect)
        if not self.labels:
            return
        metrics = QFontMetricsF(painter.font())
        height = metrics.height()
        for value in ticks(*self.x, max(1, int(self.rect.width() // 64))):
            at = self.point(value, self.y[0])
            painter.setPen(QPen(ink.line, 1.0))
            painter.drawLine(at, QPointF(at.x(), at.y() + 3.0))
            painter.setPen(ink.muted)
            words = QRectF(at.x() - 40.0, at.y() + 3.0, 80.0, height)
            painter.drawText(words, Qt.AlignmentFlag.AlignHCenter, f"{value:.6g}")
        for value in ticks(*self.y, max(1, int(self.rect.height() // 30))):
            at = self.point(self.x[0], value)
            painter.setPen(QPen(ink.line, 1.0))
            painter.drawLine(at, QPointF(at.x() - 3.0, at.y()))
            painter.setPen(ink.muted)
            words = QRectF(at.x() - LEFT + 2.0, at.y() - height / 2.0, LEFT - 7.0, height)
            painter.drawText(words, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{value:.5g}")
        painter.setPen(ink.text)
        below = QRectF(self.rect.left(), self.rect.bottom() + 2.0 + height, self.rect.width(), height)
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, metrics.elidedText(across, ELIDED, below.width()))
        inside = QRectF(self.rect.left() + 5.0, self.rect.top() + 2.0, self.rect.width() - 10.0, height)
        words = metrics.elidedText(up, ELIDED, inside.width())
        if words:
            ground = metrics.boundingRect(inside, int(Qt.AlignmentFlag.AlignLeft), words).adjusted(-3, 0, 3, 0)
            painter.fillRect(ground, faint(ink.base, 190))
        painter.setPen(ink.text)
        painter.drawText(inside, Qt.AlignmentFlag.AlignLeft, words)


ELIDED = Qt.TextElideMode.ElideRight


def _padded_range(low: float, high: float, spare: float) -> tuple[float, float]:
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    if high <= low:
        spare, high, low = 0.0, low + (abs(low) or 1.0) * 0.5, low - (abs(low) or 1.0) * 0.5
    return low - spare * (high - low), high + spare * (high - low)
