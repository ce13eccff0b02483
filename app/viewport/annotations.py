"""Flat drawings over the viewport: the value next to the pointer during a drag, measured distances, names and marks."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from numpy.typing import ArrayLike
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.preferences.icons import icon
from app.preferences.theme import Theme
from core.later import dataclass
from viz.scene.scene import Scene

YELLOW = "#f5b400"
BUTTONS = 84.0
"""Width in pixels at the right edge that labels avoid because of the toolbar."""


@dataclass(frozen=True)
class AnnotationLine:
    """A straight line between two points (3,) in m, world, with a label at its middle."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    text: str = ""


@dataclass(frozen=True)
class PointLabel:
    """A label next to a point (m, world); a quiet one is dimmed."""

    point: tuple[float, float, float]
    text: str
    quiet: bool = False


def annotation_line(start: ArrayLike, end: ArrayLike, text: str = "") -> AnnotationLine:
    """Return a line between two points, given as any arrays of three numbers."""
    (a, b, c), (d, e, f) = (map(float, point) for point in (start, end))  # type: ignore[arg-type]
    return AnnotationLine((a, b, c), (d, e, f), text)


class AnnotationOverlay(QWidget):
    """Overlay that ignores the mouse. Set `value`, `lines`, `points` …; it is repainted with every picture of the
    scene."""

    def __init__(self, scene: Scene, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._scene, self._theme = scene, theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.value = ""
        self.at: tuple[float, float] = (0.0, 0.0)
        self.lines: tuple[AnnotationLine, ...] = ()
        self.points: tuple[tuple[float, float, float], ...] = ()
        self.open: tuple[AnnotationLine, ...] = ()
        """From one frame to the other of joints that are apart, until they are set anew."""
        self.grips: tuple[tuple[float, float, float], ...] = ()
        """Places (m, world) that can be dragged, until they are set anew."""
        self.lit: int | None = None
        """Mark under the pointer."""
        self.locks: tuple[tuple[float, float, float], ...] = ()
        """Places (m, world) of parts that are locked, until they are set anew."""
        self.names: tuple[PointLabel, ...] = ()
        """Names beside points, until they are set anew."""
        self.curves: tuple[tuple[tuple[float, float, float], ...], ...] = ()
        """Curves (points in m, world), the first the strongest, until they are set anew."""
        self.sketch: Callable[[QPainter], None] | None = None
        """Draws below all this what is being drawn."""
        self.motion: Callable[[QPainter], None] | None = None
        """Draws the shown motion."""
        self._labels: list[QRectF] = []
        """Positions of the labels in the picture being drawn."""
        self.values: tuple[PointLabel, ...] = ()
        """Values at the tips of arrows, likewise."""

    def show_value_at_pointer(self, text: str, x: float, y: float) -> None:
        """Show a value next to the pointer (device pixels)."""
        ratio = self.devicePixelRatioF()
        self.value, self.at = text, (x / ratio, y / ratio)
        self.update()

    def clear(self) -> None:
        """Remove all annotations."""
        self.value, self.lines, self.points = "", (), ()
        self.update()

    def to_screen(self, point: tuple[float, float, float]) -> QPointF | None:
        """Return the screen position of a point (m, world); None if it is behind the camera."""
        x, y = self._scene.project(point)
        ratio = self.devicePixelRatioF()
        return QPointF(x / ratio, y / ratio) if isfinite(x) and isfinite(y) else None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint all annotations."""
        flat = (self.value, self.lines, self.points, self.names, self.values, self.grips, self.open, self.locks)
        if self.sketch is None and self.motion is None and not self.curves and not any(flat):
            return
        self._labels.clear()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_curves(painter)
        if self.motion is not None:
            self.motion(painter)
        if self.sketch is not None:
            self.sketch(painter)
        self._draw_names(painter)
        for each in self.open:
            self._draw_line(painter, each, QPen(QColor(self._theme.colors.error), 2.0, Qt.PenStyle.DashLine))
        for each in self.lines:
            self._draw_line(painter, each, QPen(QColor(YELLOW), 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        self._draw_grips(painter)
        self._draw_locks(painter)
        painter.setPen(QPen(QColor("#20262e"), 1.0))
        painter.setBrush(QColor(YELLOW))
        for point in self.points:
            place = self.to_screen(point)
            if place is not None:
                painter.drawEllipse(place, 4.0, 4.0)
        if self.value:
            self._draw_label(painter, self.value, QPointF(self.at[0] + 18.0, self.at[1] - 18.0))
        painter.end()

    def _draw_curves(self, painter: QPainter) -> None:
        """Draw the first curve dashed, as a target to follow, the others thin."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for k, curve in enumerate(self.curves):
            places = [self.to_screen(point) for point in curve]
            line = QPolygonF([place for place in places if place is not None])
            color = QColor(self._theme.colors.accent if k == 0 else YELLOW)
            style = Qt.PenStyle.DashLine if k == 0 else Qt.PenStyle.SolidLine
            painter.setPen(QPen(color, 2.2 if k == 0 else 1.6, style, Qt.PenCapStyle.RoundCap))
            painter.drawPolyline(line)

    def _draw_grips(self, painter: QPainter) -> None:
        """Draw a small square at each draggable point, yellow under the pointer."""
        colors = self._theme.colors
        for k, point in enumerate(self.grips):
            place = self.to_screen(point)
            if place is None:
                continue
            painter.setPen(QPen(QColor(colors.accent), 2.0))
            painter.setBrush(QColor(YELLOW if k == self.lit else colors.raised))
            painter.drawRoundedRect(QRectF(place.x() - 5.0, place.y() - 5.0, 10.0, 10.0), 2.0, 2.0)

    def _draw_locks(self, painter: QPainter) -> None:
        """Draw a padlock on a plate for each locked body."""
        for point in self.locks:
            place = self.to_screen(point)
            if place is None:
                continue
            plate = QColor(self._theme.colors.raised)
            plate.setAlphaF(0.85)
            painter.setPen(QPen(QColor(self._theme.colors.line), 1.0))
            painter.setBrush(plate)
            painter.drawEllipse(place, 11.0, 11.0)
            icon("lock").paint(painter, QRectF(place.x() - 7.5, place.y() - 8.0, 15.0, 15.0).toRect())

    def _draw_line(self, painter: QPainter, line: AnnotationLine, pen: QPen) -> None:
        start, end = self.to_screen(line.start), self.to_screen(line.end)
        if start is None or end is None:
            return
        painter.setPen(pen)
        painter.drawLine(start, end)
        if line.text:
            self._draw_label(painter, line.text, (start + end) / 2.0)

    def _draw_names(self, painter: QPainter) -> None:
        """Draw names above their points, moved up where they would overlap."""
        colors = self._theme.colors
        metrics = QFontMetricsF(painter.font())
        taken: list[QRectF] = []
        for name in sorted((*self.names, *self.values), key=lambda each: each.quiet):
            place = self.to_screen(name.point)
            if place is None:
                continue
            box = QRectF(
                place.x() + 7.0,
                place.y() - metrics.height() - 3.0,
                metrics.horizontalAdvance(name.text) + 8.0,
                metrics.height(),
            )
            while any(box.intersects(other) for other in taken):
                box.translate(0.0, -metrics.height())
            taken.append(box)
            back = QColor(colors.raised)
            back.setAlphaF(0.5 if name.quiet else 0.85)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(back)
            painter.drawRoundedRect(box, 4.0, 4.0)
            painter.setPen(QColor(colors.muted if name.quiet else colors.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name.text)

    def _place_label_box(self, box: QRectF) -> QRectF:
        """Return the rectangle of a label, moved up or down to avoid other labels, and reserve it."""
        inside = QRectF(self.rect())
        for step in (0.0, -1.0, 1.0, -2.0, 2.0):
            moved = box.translated(0.0, step * (box.height() + 2.0))
            if inside.contains(moved) and not any(moved.intersects(other) for other in self._labels):
                box = moved
                break
        self._labels.append(box)
        return box

    def _draw_label(self, painter: QPainter, text: str, position: QPointF) -> None:
        colors = self._theme.colors
        rows = text.split("\n")
        metrics = QFontMetricsF(painter.font())
        width = max(metrics.horizontalAdvance(row) for row in rows) + 16.0
        height = metrics.height() * len(rows) + 8.0
        x = min(max(position.x(), 4.0), self.width() - width - BUTTONS)
        y = min(max(position.y() - height / 2.0, 4.0), self.height() - height - 4.0)
        box = self._place_label_box(QRectF(x, y, width, height))
        painter.setPen(QPen(QColor(colors.line), 1.0))
        painter.setBrush(QColor(colors.raised))
        painter.drawRoundedRect(box, 6.0, 6.0)
        painter.setPen(QColor(colors.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
