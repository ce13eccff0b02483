"""Canvas on which a target curve is drawn with the mouse and the curves of found linkages are shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

Array = NDArray[np.float64]
WIDTH = 0.5
"""Width of an empty canvas, m."""
MARGIN = 14
LEAST_STEP = 3.0
"""Smallest distance between recorded points of a stroke, pixels."""
FOUND = QColor(236, 128, 41)


class CurveCanvas(QWidget):
    """Canvas for the target curve; emits `drawn` with points (n, 2), m, when a stroke has ended."""

    drawn = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Target curve")
        self.setMinimumSize(220, 160)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.target = np.zeros((0, 2))
        self.closed = True
        self.curves: tuple[Array, ...] = ()
        self._stroke: list[QPointF] = []

    def show_target(self, points: Array, closed: bool) -> None:
        """Show a target curve; an array of shape (0, 2) clears it."""
        self.target, self.closed = np.asarray(points, dtype=float), closed
        self.update()

    def show_curves(self, curves: Sequence[Array]) -> None:
        """Show curves, each (n, 2); the first one is highlighted."""
        self.curves = tuple(curves)
        self.update()

    # ---------------------------------------------------------------------------------------------- the sheet

    def _scale_and_centre(self) -> tuple[float, Array]:
        """Return the scale in pixels per metre and the point at the centre of the canvas."""
        parts = [part[np.isfinite(part).all(axis=1)] for part in (self.target, *self.curves[:1]) if len(part)]
        if self._stroke or not parts:
            return self.width() / WIDTH, np.zeros(2)
        points = np.concatenate(parts)
        low, high = points.min(axis=0), points.max(axis=0)
        size = np.maximum(high - low, 1e-9)
        room = np.array([self.width(), self.height()], dtype=float) - 2 * MARGIN
        return float(np.min(room / size)), (low + high) / 2

    def _to_pixels(self, points: Array) -> QPolygonF:
        scale, middle = self._scale_and_centre()
        x = self.width() / 2 + scale * (points[:, 0] - middle[0])
        y = self.height() / 2 - scale * (points[:, 1] - middle[1])
        return QPolygonF([QPointF(*each) for each in np.column_stack([x, y]) if np.isfinite(each).all()])

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the canvas."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        painter.fillRect(self.rect(), palette.color(QPalette.ColorRole.Base))
        ink = palette.color(QPalette.ColorRole.Text)
        for k, curve in reversed(list(enumerate(self.curves))):
            color = QColor(FOUND)
            color.setAlpha(255 if k == 0 else 90)
            painter.setPen(QPen(color, 2.0 if k == 0 else 1.2))
            painter.drawPolyline(self._to_pixels(curve))
        if len(self.target):
            painter.setPen(QPen(ink, 1.4, Qt.PenStyle.DashLine))
            line = self._to_pixels(self.target)
            painter.drawPolygon(line) if self.closed else painter.drawPolyline(line)
            painter.setPen(QPen(ink, 1.0))
            painter.setBrush(ink)
            painter.drawEllipse(line[0], 3.0, 3.0)
        if self._stroke:
            painter.setPen(QPen(ink, 1.6))
            painter.drawPolyline(QPolygonF(self._stroke))
        faint = QColor(ink)
        faint.setAlpha(150)
        painter.setPen(faint)
        if not len(self.target) and not self._stroke:
            words = "Draw a curve here with the mouse"
            painter.drawText(QRectF(self.rect()), int(Qt.AlignmentFlag.AlignCenter), words)
        self._draw_scale_bar(painter)

    def _draw_scale_bar(self, painter: QPainter) -> None:
        """Draw a scale bar whose length is a round number of millimetres."""
        scale, _ = self._scale_and_centre()
        length = 10.0 ** np.floor(np.log10(max(0.4 * self.width() / scale, 1e-9)))
        length *= 2.0 if 2.0 * length * scale < 0.4 * self.width() else 1.0
        y = self.height() - 7
        painter.drawLine(QPointF(8, y), QPointF(8 + length * scale, y))
        painter.drawText(QPointF(10, y - 4), f"{1000 * length:g} mm")

    # ----------------------------------------------------------------------------------------------- drawing

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a stroke."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.curves = ()
            self._stroke = [event.position()]
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Continue the stroke."""
        if self._stroke and (event.position() - self._stroke[-1]).manhattanLength() >= LEAST_STEP:
            self._stroke.append(event.position())
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the stroke; a click alone changes nothing."""
        stroke, scale = self._stroke, self.width() / WIDTH
        self._stroke = []
        if len(stroke) >= 4:
            x = np.array([each.x() - self.width() / 2 for each in stroke])
            y = np.array([self.height() / 2 - each.y() for each in stroke])
            self.target = np.column_stack([x, y]) / scale
            self.drawn.emit()
        self.update()


class ConvergenceChart(QWidget):
    """Chart of the best value of each start versus the number of improvements; lower is better."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Convergence")
        self.setMinimumSize(180, 120)
        self.values: dict[int, list[float]] = {}

    def clear(self) -> None:
        """Remove all curves."""
        self.values = {}
        self.update()

    def add_value(self, start: int, value: float) -> None:
        """Add an improved value to the curve of a start."""
        self.values.setdefault(start, []).append(value)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the curves of all starts, the current one most prominently."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = self.palette().color(QPalette.ColorRole.Text)
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.Base))
        everything = [value for each in self.values.values() for value in each]
        faint = QColor(ink)
        faint.setAlpha(150)
        painter.setPen(faint)
        if not everything:
            painter.drawText(QRectF(self.rect()), int(Qt.AlignmentFlag.AlignCenter), "Convergence")
            return
        low, high = min(everything), max(everything)
        span = (high - low) or 1.0
        most = max(map(len, self.values.values()))
        painter.drawText(QPointF(6, 14), f"{high:.4g}")
        painter.drawText(QPointF(6, self.height() - 5), f"{low:.4g}")
        width, height = self.width() - 24, self.height() - 44
        for start, own in self.values.items():
            last = start == max(self.values)
            color = QColor(FOUND)
            color.setAlpha(255 if last else 90)
            painter.setPen(QPen(color, 2.0 if last else 1.2))
            line = [
                QPointF(12 + width * k / max(most - 1, 1), 20 + height * (1.0 - (value - low) / span))
                for k, value in enumerate(own)
            ]
            painter.drawPolyline(QPolygonF(line)) if len(line) > 1 else painter.drawEllipse(line[0], 2.0, 2.0)
