"""The track of a motion with its points, and below it lanes of its quantities, on one axis of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.document.motion_plans import MotionPlans, PlannedMotion
from app.document.run_tree import COLORS
from app.panels.motions.lanes import Lane, lanes_of
from app.plain_text import escape_tip
from core.motions.keyframes import place_at

if TYPE_CHECKING:
    from app.preferences.theme import Theme

TRACK = 38.0
"""Height of the track, pixels."""
RIGHT, NARROW, LEFT_NARROW, LEFT_WIDE = 14.0, 440, 92.0, 138.0
"""Right margin of the axis of time; width below which the left margin is the narrow one; left margins. Pixels."""
LANE = 30.0
"""Least height of a lane, pixels."""
DIAMOND, GRIP = 6.0, 9.0
"""Half the size of a diamond, and the distance from its middle within which the pointer is on it, pixels."""
CURVES = 600
"""Most points of a curve."""


class MotionChart(QWidget):
    """Track and lanes of the shown motion.

    `sought(time)`: the user clicked at a time (s); `dragged(point, time, copies)`: a point was dropped at a time, with
    Shift; `named(point)`: a double click on a point; `menu_wanted(point, place)`: the right button on a point, or on
    the segment before it.
    """

    sought = Signal(float)
    dragged = Signal(int, float, bool)
    named = Signal(int)
    menu_wanted = Signal(int, QPoint)

    def __init__(self, plans: MotionPlans, theme: Theme) -> None:
        super().__init__()
        self._plans, self._theme = plans, theme
        self.lanes: tuple[Lane, ...] = ()
        self._of: PlannedMotion | None = None
        self.time: float | None = None
        """Time of the playhead, s; None: the motion is not played."""
        self._held: tuple[int, float] | None = None
        """Point that is dragged, and the time at the pointer, s."""
        self._pressed_at = QPointF()
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(round(TRACK))
        self.setAccessibleName("Points of the motion over time")

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(420, round(TRACK + 5 * LANE))

    def show_plan(self) -> None:
        """Show the present plan."""
        planned = self._plans.planned
        if planned is not self._of:
            self._of = planned
            self.lanes = lanes_of(planned) if planned is not None else ()
        self.update()

    def show_time(self, time: float | None) -> None:
        """Show the playhead at a time, s (None: nowhere)."""
        if time != self.time:
            self.time = time
            self.update()

    # ----------------------------------------------------------------------------- places

    @property
    def left(self) -> float:
        """Return the left margin of the axis of time, pixels."""
        return LEFT_NARROW if self.width() < NARROW else LEFT_WIDE

    @property
    def _duration(self) -> float:
        return self._of.trajectory.duration if self._of is not None else 0.0

    def x_of_time(self, time: float) -> float:
        """Return the place of a time (s), pixels."""
        width = max(self.width() - self.left - RIGHT, 1.0)
        return self.left + width * (time / self._duration if self._duration > 0.0 else 0.0)

    def time_of_x(self, x: float) -> float:
        """Return the time (s) at a place, pixels."""
        width = max(self.width() - self.left - RIGHT, 1.0)
        return min(max((x - self.left) / width, 0.0), 1.0) * self._duration

    def point_at(self, position: QPointF) -> int | None:
        """Return the point of the motion at a position; None if there is none. Of those at one place, the last."""
        if self._of is None or position.y() > TRACK:
            return None
        gaps = [(abs(self.x_of_time(time) - position.x()), -k) for k, time in enumerate(self._of.points)]
        gap, number = min(gaps)
        return -number if gap <= GRIP else None

    def segment_at(self, position: QPointF) -> int | None:
        """Return the point to which the segment at a position of the track leads; None outside of the motion."""
        if self._of is None or position.y() > TRACK or len(self._of.points) < 2:
            return None
        k = int(np.searchsorted(self._of.points, self.time_of_x(position.x()), side="right"))
        return min(max(k, 1), len(self._of.points) - 1)

    def _lane_rectangle(self, k: int) -> QRectF:
        height = max(self.height() - TRACK, 1.0) / max(len(self.lanes), 1)
        return QRectF(self.left, TRACK + k * height, max(self.width() - self.left - RIGHT, 1.0), height)

    # ----------------------------------------------------------------------------- the mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a point and hold it, or move the playhead."""
        place = event.position()
        if event.button() == Qt.MouseButton.RightButton:
            point = self.point_at(place)
            point = self.segment_at(place) if point is None else point
            if point is not None:
                self._plans.choose_point(point)
                self.menu_wanted.emit(point, event.globalPosition().toPoint())
            return
        if event.button() != Qt.MouseButton.LeftButton or self._of is None:
            return
        point = self.point_at(place)
        self._plans.choose_point(point)
        self._pressed_at = place
        if point is not None:
            self._held = point, float(self._of.points[point])
            self.sought.emit(float(self._of.points[point]))
        else:
            self.sought.emit(self.time_of_x(place.x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the point that is held, or the playhead."""
        place = event.position()
        on_point = self._held is not None or self.point_at(place) is not None
        self.setCursor(Qt.CursorShape.SizeHorCursor if on_point else Qt.CursorShape.ArrowCursor)
        if not event.buttons() & Qt.MouseButton.LeftButton:
            return
        if self._held is not None:
            self._held = self._held[0], self.time_of_x(place.x())
            self.update()
        elif self._of is not None:
            self.sought.emit(self.time_of_x(place.x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Drop the point that is held."""
        held, self._held = self._held, None
        if held is not None and abs(event.position().x() - self._pressed_at.x()) > GRIP:
            self.dragged.emit(*held, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Rename the pose of a point."""
        self._held = None
        point = self.point_at(event.position())
        if point is not None:
            self.named.emit(point)

    def event(self, event: QEvent) -> bool:
        """Show the tool tip of a point, a segment or a lane."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            words = self.describe(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), escape_tip(words), self) if words else QToolTip.hideText()
            return True
        return super().event(event)

    def describe(self, position: QPointF) -> str:
        """Return what is at a position, in words."""
        motion, planned = self._plans.motion, self._of
        if motion is None or planned is None:
            return ""
        point = self.point_at(position)
        if point is not None:
            name = place_at(motion, point) or ("start" if not point else "wait")
            return f"{name} at {planned.points[point]:.4g} s · drag: duration or order · double click: rename"
        segment = self.segment_at(position)
        if segment is not None:
            each, piece = motion.segments[segment - 1], planned.trajectory.pieces[segment - 1]
            law = f", {each.law}" if each.to else ""
            return f"{each.summary}{law}: {piece.law.duration:.4g} s · right button: path, law, duration"
        return self._describe_lane(position)

    def _describe_lane(self, position: QPointF) -> str:
        planned = self._of
        if planned is None:
            return ""
        time = self.time_of_x(position.x())
        at = int(np.argmin(np.abs(planned.run.time - time)))
        for k, lane in enumerate(self.lanes):
            if self._lane_rectangle(k).top() <= position.y() <= self._lane_rectangle(k).bottom():
                rows = [f"{lane.title} at {planned.run.time[at]:.3g} s"]
                for j, name in enumerate(planned.trajectory.mech.v_names):
                    share = f" ({100.0 * abs(lane.shares[at, j]):.0f} % of the limit)" if lane.has_limit[j] else ""
                    rows.append(f"{name}: {lane.values[at, j]:.4g} {lane.units[j]}{share}")
                return "\n".join(rows)
        return ""

    # ----------------------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint track, lanes and playhead."""
        planned = self._of
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if planned is None:
            return
        if self._plans.is_old:
            painter.setOpacity(0.5)
        for k, lane in enumerate(self.lanes):
            self._paint_lane(painter, self._lane_rectangle(k), lane, planned.run.time)
        self._paint_track(painter, planned)
        if self.time is not None:
            painter.setPen(QPen(QColor(self._theme.colors.accent), 1.5))
            x = self.x_of_time(self.time)
            painter.drawLine(QLineF(x, 2.0, x, self.height() - 1.0))
        painter.end()

    def _paint_lane(self, painter: QPainter, area: QRectF, lane: Lane, time: NDArray[np.float64]) -> None:
        colors = self._theme.colors
        middle, half = area.center().y(), 0.5 * area.height() - 2.0
        scale = half / lane.reach
        painter.setPen(QPen(QColor(colors.line), 1.0))
        painter.drawLine(QLineF(area.left(), area.bottom(), area.right(), area.bottom()))
        painter.drawLine(QLineF(area.left(), middle, area.right(), middle))
        if lane.has_limit.any():
            band = QColor(colors.error)
            band.setAlpha(70 if lane.is_exceeded else 26)
            bound = min(scale, half)
            for top, bottom in ((middle - half, middle - bound), (middle + bound, middle + half)):
                painter.fillRect(QRectF(area.left(), top, area.width(), bottom - top), band)
        step = max(1, len(time) // CURVES)
        xs = [self.x_of_time(float(t)) for t in time[::step]]
        painter.save()
        painter.setClipRect(area)
        for j in range(lane.shares.shape[1]):
            color = QColor(COLORS[j % len(COLORS)])
            style = Qt.PenStyle.SolidLine if lane.has_limit[j] else Qt.PenStyle.DashLine
            painter.setPen(QPen(color, 1.4, style))
            ys = middle - scale * lane.shares[::step, j]
            painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in zip(xs, ys.tolist(), strict=True)]))
        painter.restore()
        self._paint_title(painter, area, lane)

    def _paint_title(self, painter: QPainter, area: QRectF, lane: Lane) -> None:
        colors = self._theme.colors
        painter.setPen(QColor(colors.text))
        share = lane.note or (f"{100.0 * lane.largest:.0f} %" if lane.has_limit.any() else "")
        box = QRectF(4.0, area.top(), self.left - 12.0, area.height())
        title = lane.short if self.left == LEFT_NARROW else lane.title
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
        painter.setPen(QColor(colors.error if lane.is_exceeded else colors.muted))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, share)

    def _paint_track(self, painter: QPainter, planned: PlannedMotion) -> None:
        colors, motion = self._theme.colors, self._plans.motion
        middle, metrics = 12.0, QFontMetricsF(self.font())
        painter.setPen(QColor(colors.text))
        painter.drawText(
            QRectF(4.0, 0.0, self.left - 10.0, 2.0 * middle),
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            f"{self._duration:.4g} s",
        )
        xs = [self.x_of_time(float(t)) for t in planned.points]
        pieces = planned.trajectory.pieces
        for k, piece in enumerate(pieces):
            self._paint_segment(painter, xs[k], xs[k + 1], middle, piece.kind)
        painter.setPen(QColor(colors.muted))
        reached = -1.0
        for k, x in enumerate(xs):
            name = place_at(motion, k) if motion is not None and k <= len(motion.segments) else ""
            width = metrics.horizontalAdvance(name)
            left = min(max(x - 0.5 * width, 2.0), self.width() - width - 2.0)
            if name and left > reached:
                painter.drawText(QPointF(left, TRACK - 6.0), name)
                reached = left + width + 6.0
        for k, x in enumerate(xs):
            held = self._held is not None and self._held[0] == k
            at = self.x_of_time(self._held[1]) if held and self._held is not None else x
            chosen = k == self._plans.chosen
            painter.setPen(QPen(QColor(colors.text if chosen else colors.window), 1.5))
            painter.setBrush(QColor(colors.accent))
            size = DIAMOND + (2.0 if chosen else 0.0)
            corners = ((0.0, -size), (size, 0.0), (0.0, size), (-size, 0.0))
            painter.drawPolygon(QPolygonF([QPointF(at + dx, middle + dy) for dx, dy in corners]))

    def _paint_segment(self, painter: QPainter, left: float, right: float, y: float, kind: str) -> None:
        """Paint a segment between two points: lines straight, arcs round, joint motions as a wave, waits dotted."""
        color = QColor(self._theme.colors.accent)
        dots = Qt.PenStyle.DotLine if kind in ("wait", "set") else Qt.PenStyle.SolidLine
        painter.setPen(QPen(color, 3.0 if kind == "line" else 2.0, dots))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        path = QPainterPath(QPointF(left, y))
        width = right - left
        if kind == "arc":
            path.quadTo(QPointF(left + 0.5 * width, y - 14.0), QPointF(right, y))
        elif kind in ("joint", "spline", "formula"):
            dx, dy = 0.33 * width, 7.0
            path.cubicTo(QPointF(left + dx, y - dy), QPointF(right - dx, y + dy), QPointF(right, y))
        else:
            path.lineTo(QPointF(right, y))
        painter.drawPath(path)
