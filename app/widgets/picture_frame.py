"""Axes with ticks for plots in panels, with conversion from numbers to pixels and back."""

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
"""Fraction of a range that is left free at each end."""
SCALE = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
"""Colour scale from the smallest to the largest value: perceptually uniform, also in greyscale."""


class PictureColors(NamedTuple):
    """Colours of a plot in the current theme."""

    base: QColor
    text: QColor
    muted: QColor
    line: QColor
    data: QColor
    chosen: QColor
    failed: QColor

    @staticmethod
    def from_palette(palette: QPalette) -> PictureColors:
        """Return the plot colours that match a widget's palette."""
        dark = palette.color(QPalette.ColorRole.Window).lightness() < 128
        return PictureColors(
            palette.color(QPalette.ColorRole.Base),
            palette.color(QPalette.ColorRole.Text),
            palette.color(QPalette.ColorRole.PlaceholderText),
            palette.color(QPalette.ColorRole.Mid),
            QColor("#4aa3ff" if dark else "#1f6fd0"),
            QColor("#ec8029"),
            QColor("#f0857d" if dark else "#c3342c"),
        )


def with_opacity(color: QColor, alpha: int) -> QColor:
    """Return a colour with the given opacity."""
    found = QColor(color)
    found.setAlpha(alpha)
    return found


def scale_color(fraction: float) -> QColor:
    """Return the colour of the scale at a fraction of 0 … 1."""
    at = min(max(fraction, 0.0), 1.0) * (len(SCALE) - 1)
    k = min(int(at), len(SCALE) - 2)
    one, other, rest = QColor(SCALE[k]), QColor(SCALE[k + 1]), at - k
    parts = ((a + rest * (b - a)) for a, b in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True))
    return QColor(*(round(x) for x in parts))


def tick_values(low: float, high: float, max_count: int) -> list[float]:
    """Return at most `max_count` round numbers between two values."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low or max_count < 1:
        return []
    power = 10.0 ** math.floor(math.log10((high - low) / max_count))
    step = next((m * power for m in (1.0, 2.0, 5.0, 10.0) if (high - low) / (m * power) <= max_count), 10.0 * power)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


class AxesFrame:
    """Axes in a rectangle that map numbers to pixels."""

    def __init__(
        self, rect: QRectF, x: tuple[float, float], y: tuple[float, float], *, tight: bool = False, labels: bool = True
    ) -> None:
        """Create the axes. x, y : displayed ranges, smallest and largest; tight : no margin is left around the
        ranges."""
        room = (LEFT, TOP, -RIGHT, -BOTTOM) if labels else (3.0, 3.0, -3.0, -3.0)
        self.rect = rect.adjusted(*room)
        self.x, self.y = (_padded_range(*each, 0.0 if tight else SPARE) for each in (x, y))
        self.labels = labels

    def to_pixels(self, x: Array, y: Array) -> Array:
        """Return the pixel positions (n, 2) of points."""
        across = self.rect.left() + (np.asarray(x) - self.x[0]) / (self.x[1] - self.x[0]) * self.rect.width()
        up = self.rect.bottom() - (np.asarray(y) - self.y[0]) / (self.y[1] - self.y[0]) * self.rect.height()
        return np.column_stack([across, up])

    def to_pixel(self, x: float, y: float) -> QPointF:
        """Return the pixel position of a point."""
        across, up = self.to_pixels(np.array([x]), np.array([y]))[0]
        return QPointF(across, up)

    def from_pixel(self, point: QPointF) -> tuple[float, float]:
        """Return the (x, y) values at a pixel position."""
        across = (point.x() - self.rect.left()) / self.rect.width()
        up = (self.rect.bottom() - point.y()) / self.rect.height()
        return self.x[0] + across * (self.x[1] - self.x[0]), self.y[0] + up * (self.y[1] - self.y[0])

    def draw(self, painter: QPainter, colors: PictureColors, x_title: str = "", y_title: str = "") -> None:
        """Draw the frame, its ticks, and the titles of its axes."""
        painter.setPen(QPen(colors.line, 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.rect)
        if not self.labels:
            return
        metrics = QFontMetricsF(painter.font())
        height = metrics.height()
        for value in tick_values(*self.x, max(1, int(self.rect.width() // 64))):
            at = self.to_pixel(value, self.y[0])
            painter.setPen(QPen(colors.line, 1.0))
            painter.drawLine(at, QPointF(at.x(), at.y() + 3.0))
            painter.setPen(colors.muted)
            words = QRectF(at.x() - 40.0, at.y() + 3.0, 80.0, height)
            painter.drawText(words, Qt.AlignmentFlag.AlignHCenter, f"{value:.6g}")
        for value in tick_values(*self.y, max(1, int(self.rect.height() // 30))):
            at = self.to_pixel(self.x[0], value)
            painter.setPen(QPen(colors.line, 1.0))
            painter.drawLine(at, QPointF(at.x() - 3.0, at.y()))
            painter.setPen(colors.muted)
            words = QRectF(at.x() - LEFT + 2.0, at.y() - height / 2.0, LEFT - 7.0, height)
            painter.drawText(words, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{value:.5g}")
        painter.setPen(colors.text)
        below = QRectF(self.rect.left(), self.rect.bottom() + 2.0 + height, self.rect.width(), height)
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, metrics.elidedText(x_title, ELIDED, below.width()))
        inside = QRectF(self.rect.left() + 5.0, self.rect.top() + 2.0, self.rect.width() - 10.0, height)
        words = metrics.elidedText(y_title, ELIDED, inside.width())
        if words:
            ground = metrics.boundingRect(inside, int(Qt.AlignmentFlag.AlignLeft), words).adjusted(-3, 0, 3, 0)
            painter.fillRect(ground, with_opacity(colors.base, 190))
        painter.setPen(colors.text)
        painter.drawText(inside, Qt.AlignmentFlag.AlignLeft, words)


ELIDED = Qt.TextElideMode.ElideRight


def _padded_range(low: float, high: float, fraction: float) -> tuple[float, float]:
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    if high <= low:
        fraction, high, low = 0.0, low + (abs(low) or 1.0) * 0.5, low - (abs(low) or 1.0) * 0.5
    return low - fraction * (high - low), high + fraction * (high - low)
