"""Lanes below the timeline that show the state of each joint's friction, stop or limit over time, with a legend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.plain_text import escape_tip
from app.preferences.theme import MODE_COLORS, state_color

if TYPE_CHECKING:
    from app.preferences.theme import Theme
    from core.simulation.run.contact_channels import StateInterval
    from core.simulation.run.run import Run

Array = NDArray[np.float64]
HEIGHT = 11.0
"""Height of a lane, pixels."""
LEGEND = 15.0
"""Height of the legend below the lanes, pixels."""
FEW = 4
"""Number of lanes that are visible while collapsed."""
MOST = 24
GRIP = 4.0
"""Distance, in pixels, within which a click snaps to a change of state."""


class StateLane(NamedTuple):
    """State of a joint's friction, stop or limit over time."""

    name: str
    stretches: tuple[StateInterval, ...]

    @property
    def has_no_events(self) -> bool:
        """True if all states are ordinary ones, which have no colour."""
        return not any(each.word in MODE_COLORS for each in self.stretches)


def get_state_lanes(run: Run) -> tuple[StateLane, ...]:
    """Return the lanes of a run; lanes with events come first."""
    found = (StateLane(*each) for each in run.computed_channels.modes.stretches.items())
    return tuple(sorted(found, key=lambda lane: lane.has_no_events))


class StateLanes(QWidget):
    """Lanes below the track of the timeline. `sought(time)` is emitted when the user clicks at a time, s."""

    sought = Signal(float)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lanes: tuple[StateLane, ...] = ()
        self._of: Run | None = None
        self.ends = (0.0, 1.0)
        self.share = 0.0
        self.track = (0.0, 1.0)
        """Pixels between which time runs."""
        self.folded = True
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Friction and contact states of joints")
        self.hide()

    def show_run(self, run: Run | None, ends: tuple[float, float]) -> None:
        """Show the lanes of a run (None: no lanes) over a time interval."""
        self.ends = ends
        if run is not self._of:
            self._of = run
            self._lanes = get_state_lanes(run) if run is not None and len(run.time) > 1 else ()
            self._update_height()
        self.update()

    @property
    def visible_lanes(self) -> tuple[StateLane, ...]:
        """Visible lanes; while collapsed, a few of those with events."""
        if not self.folded:
            return self._lanes[:MOST]
        return tuple(lane for lane in self._lanes if not lane.has_no_events)[:FEW]

    @property
    def legend_states(self) -> tuple[str, ...]:
        """State names in the legend."""
        return tuple(
            word for word in MODE_COLORS if any(s.word == word for lane in self.visible_lanes for s in lane.stretches)
        )

    def set_collapsed(self, collapsed: bool) -> None:
        """Collapse the lanes to a few, or show all of them."""
        self.folded = collapsed
        self._update_height()

    def _update_height(self) -> None:
        self.setVisible(bool(self._lanes) and (bool(self.visible_lanes) or not self.folded))
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size required by the visible lanes."""
        return QSize(320, round(HEIGHT * len(self.visible_lanes) + LEGEND + 2.0) if self.visible_lanes else 0)

    # ------------------------------------------------------------------------------- drawing

    def _x_of_time(self, time: float) -> float:
        first, last = self.ends
        left, right = self.track
        return left + (right - left) * ((time - first) / (last - first) if last > first else 0.0)

    def visible_bars(self, row: int) -> Iterator[tuple[QRectF, StateInterval]]:
        """Yield the visible bars of a lane; if several bars fall on one pixel, only the first."""
        reached = -1.0
        for stretch in self.visible_lanes[row].stretches:
            left, right = self._x_of_time(stretch.begin), self._x_of_time(stretch.end)
            if right >= reached + 0.5:
                reached = right
                yield QRectF(left, row * HEIGHT + 1.5, max(right - left, 1.0), HEIGHT - 3.0), stretch

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint names, bars, the playhead, and the legend."""
        colors = self._theme.colors
        painter = QPainter(self)
        font = QFont(self.font())
        font.setPixelSize(10)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        for row, lane in enumerate(self.visible_lanes):
            painter.setPen(QColor(colors.muted))
            name = metrics.elidedText(lane.name, Qt.TextElideMode.ElideMiddle, self.track[0] - 14.0)
            place = QRectF(4.0, row * HEIGHT, self.track[0] - 12.0, HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
            for bar, stretch in self.visible_bars(row):
                painter.fillRect(bar, QColor(state_color(stretch.word, colors)))
        x = self.track[0] + self.share * (self.track[1] - self.track[0])
        painter.fillRect(QRectF(x - 0.5, 0.0, 1.5, HEIGHT * len(self.visible_lanes)), QColor(colors.text))
        self._paint_legend(painter, metrics)
        painter.end()

    def _paint_legend(self, painter: QPainter, metrics: QFontMetricsF) -> None:
        colors, x, y = self._theme.colors, self.track[0], HEIGHT * len(self.visible_lanes)
        for word in self.legend_states:
            painter.fillRect(QRectF(x, y + 4.0, 8.0, 8.0), QColor(state_color(word, colors)))
            painter.setPen(QColor(colors.muted))
            wide = metrics.horizontalAdvance(word)
            painter.drawText(QRectF(x + 11.0, y, wide + 2.0, LEGEND), Qt.AlignmentFlag.AlignVCenter, word)
            x += wide + 24.0
        painter.setPen(QColor(colors.accent))
        painter.drawText(
            self.collapse_link_rect,
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            self.collapse_link_text,
        )

    @property
    def collapse_link_text(self) -> str:
        """Text of the link that collapses or expands the lanes."""
        hidden = len(self._lanes) - len(self.visible_lanes)
        if self.folded:
            return f"{hidden} more" if hidden else ""
        return "fewer" if len(self._lanes) > FEW or any(lane.has_no_events for lane in self._lanes) else ""

    @property
    def collapse_link_rect(self) -> QRectF:
        """Rectangle of the link that collapses or expands the lanes, below the names."""
        return QRectF(4.0, HEIGHT * len(self.visible_lanes), max(self.track[0] - 12.0, 0.0), LEGEND)

    # ------------------------------------------------------------------------------- the hand

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the time at the pointer, or to a nearby change of state; a click on the link collapses or expands the
        lanes."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        at = event.position()
        if self.collapse_link_text and self.collapse_link_rect.contains(at):
            self.set_collapsed(not self.folded)
        elif at.y() < HEIGHT * len(self.visible_lanes):
            self.sought.emit(self._time_at(at))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the playhead while dragging; over a lane, change the cursor to show that the lane can be clicked."""
        at = event.position()
        inside = at.y() < HEIGHT * len(self.visible_lanes) or (
            bool(self.collapse_link_text) and self.collapse_link_rect.contains(at)
        )
        self.setCursor(Qt.CursorShape.PointingHandCursor if inside else Qt.CursorShape.ArrowCursor)
        if event.buttons() & Qt.MouseButton.LeftButton and at.y() < HEIGHT * len(self.visible_lanes):
            self.sought.emit(self._time_at(at))

    def _time_at(self, position: QPointF) -> float:
        left, right = self.track
        share = min(max((position.x() - left) / max(right - left, 1.0), 0.0), 1.0)
        row = min(int(position.y() // HEIGHT), len(self.visible_lanes) - 1)
        changes = [stretch.begin for stretch in self.visible_lanes[row].stretches]
        nearest = min(changes, key=lambda time: abs(self._x_of_time(time) - position.x()))
        if abs(self._x_of_time(nearest) - position.x()) <= GRIP:
            return nearest
        return self.ends[0] + share * (self.ends[1] - self.ends[0])

    def event(self, event: QEvent) -> bool:
        """Show the tool tip of a bar."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), escape_tip(self._tool_tip_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)

    def _tool_tip_at(self, position: QPointF) -> str:
        row = int(position.y() // HEIGHT)
        if not 0 <= row < len(self.visible_lanes):
            return ""
        lane = self.visible_lanes[row]
        for bar, stretch in self.visible_bars(row):
            if bar.left() <= position.x() <= bar.right():
                return f"{lane.name}: {stretch.word}, {stretch.begin:.4g} to {stretch.end:.4g} s"
        return lane.name
