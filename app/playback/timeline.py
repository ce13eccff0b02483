"""The timeline below the 3-D view, for runs and sequences of poses; visible if there is something to play."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QHelpEvent,
    QMouseEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QSizePolicy, QToolButton, QToolTip, QVBoxLayout, QWidget

from app.background.signals import Lifetime
from app.plain_text import escape_tip
from app.playback.clock import SPEEDS
from app.playback.mode_lanes import StateLanes
from app.preferences.icons import icon
from app.widgets.label import Label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.document.run_tree import RunRecord
    from app.document.session import Session
    from app.playback.clock import Player
    from app.playback.sequence import PosePlayback
    from app.preferences.theme import Theme

BUTTONS = ("play.first", "play.back", "play.toggle", "play.forward", "play.last")
WIDE = 590
"""Width, in pixels, below which speed, jumps to both ends and the total time are hidden; shortcuts and the menu provide
these too."""
OPTIONAL = ("play.first", "play.last")
MORE = (
    "play.from_here",
    "play.to_here",
    "play.whole",
    "play.first",
    "play.last",
    "play.paced",
    "play.slower",
    "play.faster",
)
NARROW = 455
GRIP = 5.0
"""Distance from a mark, in pixels, within which the pointer can grab it."""
EDGE = 7.0
"""Margin at both ends of the track, in pixels, so that the playhead is always fully visible."""


class TrackMark(NamedTuple):
    """Mark at a fraction of the track: a branch of another run below the track, or the flag of an event above it."""

    share: float
    color: str
    text: str = ""

    @property
    def is_flag(self) -> bool:
        """True if the mark is the flag of an event."""
        return bool(self.text)


class TimeTrack(QWidget):
    """Track with the playhead. Emits `dragged(share)` while the user drags the playhead, `spanned(a, b)` while the user
    selects an interval with Shift (as fractions of the track), and `placed` when the position of the track changes."""

    dragged = Signal(float)
    spanned = Signal(float, float)
    placed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.share = 0.0
        self.color = ""
        self.growing = False
        self.span: tuple[float, float] | None = None
        self.marks: tuple[TrackMark, ...] = ()
        self._from: float | None = None
        self.setMinimumWidth(60)
        self.setFixedHeight(26)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(
            "Drag to any time · Shift+drag selects an interval, whose ends can be dragged · double-click: whole run"
        )
        self.setAccessibleName("Timeline")

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(320, 26)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Emit `placed`, because longer numbers next to the track may have changed its width."""
        super().resizeEvent(event)
        self.placed.emit()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Emit `placed`, because buttons before the track may have appeared or disappeared."""
        super().moveEvent(event)
        self.placed.emit()

    def _track_fraction_at(self, event: QMouseEvent) -> float:
        return min(max((event.position().x() - EDGE) / max(self.width() - 2 * EDGE, 1.0), 0.0), 1.0)

    def _fixed_end(self, event: QMouseEvent) -> float | None:
        """Return the end of the interval that stays fixed while the user moves the mark under the pointer; None if
        there is no mark."""
        if self.span is None:
            return None
        x, width = event.position().x() - EDGE, max(self.width() - 2 * EDGE, 1.0)
        near = [abs(x - share * width) for share in (*self.span, self.share)]
        if min(near[:2]) > GRIP or near[2] < min(near[:2]):
            return None
        return self.span[1] if near[0] <= near[1] else self.span[0]

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the playhead; with Shift begin an interval, or grab one of its ends."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        share, held = self._track_fraction_at(event), self._fixed_end(event)
        flag = self.event_flag_at(event.position())
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._from = share
        elif held is not None:
            self._from = held
        else:
            self.dragged.emit(share if flag is None else flag.share)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the playhead or the end of the interval."""
        if self._from is not None:
            self.spanned.emit(*sorted((self._from, self._track_fraction_at(event))))
        elif event.buttons() & Qt.MouseButton.LeftButton:
            self.dragged.emit(self._track_fraction_at(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag."""
        self._from = None

    def event_flag_at(self, position: QPointF) -> TrackMark | None:
        """Return the flag at a position above the track; None if there is none."""
        if position.y() > self.height() / 2 - 3.0:
            return None
        width = max(self.width() - 2 * EDGE, 1.0)
        near = [(abs(EDGE + mark.share * width - position.x()), mark) for mark in self.marks if mark.is_flag]
        gap, mark = min(near, key=lambda pair: pair[0], default=(GRIP + 1.0, None))
        return mark if gap <= GRIP else None

    def event(self, event: QEvent) -> bool:
        """Show the tool tip of a flag."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            flag = self.event_flag_at(QPointF(event.pos()))
            if flag is not None:
                QToolTip.showText(event.globalPos(), escape_tip(flag.text), self)
                return True
        return super().event(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Extend the interval to the whole track."""
        self.spanned.emit(0.0, 1.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint track, interval, branches, and playhead."""
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, middle = self.width() - 2 * EDGE, self.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.line))
        painter.drawRoundedRect(QRectF(EDGE, middle - 2.5, width, 5), 2.5, 2.5)
        accent = QColor(self.color or colors.accent)
        low, high = self.span or (0.0, 1.0)
        done = QColor(accent)
        painter.setBrush(done)
        painter.drawRoundedRect(
            QRectF(EDGE + low * width, middle - 2.5, max(self.share - low, 0.0) * width, 5), 2.5, 2.5
        )
        if self.span is not None:
            painter.setPen(QPen(QColor(colors.text), 1.5))
            for edge, turn in ((low, 1), (high, -1)):
                x = EDGE + edge * width
                painter.drawLine(QLineF(x, middle - 8, x, middle + 8))
                painter.drawLine(QLineF(x, middle - 8, x + 3 * turn, middle - 8))
                painter.drawLine(QLineF(x, middle + 8, x + 3 * turn, middle + 8))
        reached = -1.0
        for mark in self.marks:
            x = EDGE + mark.share * width
            if not mark.is_flag:
                painter.setPen(QPen(QColor(mark.color), 2.0))
                painter.drawLine(QLineF(x, middle + 5, x, middle + 11))
            elif x > reached + 1.0:  # many on one pixel are one
                reached = x
                painter.setPen(QPen(QColor(mark.color), 1.0))
                painter.setBrush(QColor(mark.color))
                painter.drawLine(QLineF(x, middle - 12, x, middle - 4))
                painter.drawPolygon([QPointF(x, middle - 12), QPointF(x + 5, middle - 10), QPointF(x, middle - 8)])
        painter.setPen(QPen(QColor(colors.window), 1.5))
        painter.setBrush(accent)
        painter.drawEllipse(QRectF(EDGE + self.share * width - 6, middle - 6, 12, 12))
        painter.end()


class Timeline(QWidget):
    """Timeline: buttons, track, time, and speed."""

    def __init__(self, session: Session, player: Player, sequence: PosePlayback, theme: Theme) -> None:
        super().__init__()
        self._session, self._player, self._sequence = session, player, sequence
        self._buttons: dict[str, QToolButton] = {}
        self.setObjectName("timeline")
        self.setMinimumWidth(NARROW)
        self.scrubber = TimeTrack(theme)
        self.label = Label()
        self.label.setMinimumWidth(100)
        self.label.setContentsMargins(0, 0, 4, 0)
        self.label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.speed = QComboBox(toolTip="Playback speed: simulated time per real time")
        self.speed.setAccessibleName("Speed")
        self.speed.setMaximumWidth(80)
        self.speed.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the arrow keys step
        for value in SPEEDS:
            self.speed.addItem(f"{value:g} ×", value)
        self.speed.activated.connect(lambda index: self._player.set_speed(SPEEDS[index]))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(8, 2, 8, 2)
        self._row.setSpacing(2)
        self.lanes = StateLanes(theme)
        whole.addLayout(self._row)
        whole.addWidget(self.lanes)
        self.lanes.sought.connect(lambda time: self._player.scrub(time))
        self._theme = theme
        self.scrubber.dragged.connect(lambda share: self._player.scrub(self._time_of_fraction(share)))
        self.scrubber.spanned.connect(self._set_interval)
        self.scrubber.placed.connect(self._align_lanes)
        self._life = Lifetime()
        self._life.listen(
            (player.changed, self.refresh_all),
            (sequence.changed, self.refresh_all),
            (session.runs.changed, self.refresh_all),
            (session.runs.moved, self._on_pose_changed),
            (session.moved, self._on_pose_changed),
        )
        self.hide()

    def create_buttons(self, actions: Mapping[str, QAction]) -> None:
        """Create the buttons of the playback commands."""
        self._actions = actions
        self._buttons = {name: self._create_button(actions[name]) for name in BUTTONS}
        for button in self._buttons.values():
            self._row.addWidget(button)
        self._row.addWidget(self.scrubber, 1)
        self._row.addWidget(self.label)
        self._row.addSpacing(6)
        self._row.addWidget(self.speed)
        for name in ("play.loop", "play.use_pose", "play.close"):
            self._row.addWidget(self._create_button(actions[name]))
        more = QToolButton(self, autoRaise=True, toolTip="More playback options", icon=icon("down"))
        more.setAccessibleName(more.toolTip())
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        menu = QMenu(more)
        for name in MORE:
            menu.addAction(actions[name])
        more.setMenu(menu)
        self._row.addWidget(more)
        self.refresh_all()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the parts that do not fit into the new width."""
        super().resizeEvent(event)
        wide = self.width() >= WIDE
        self.layout().activate()
        for part in (self.speed, *(self._buttons[name] for name in OPTIONAL if name in self._buttons)):
            part.setVisible(wide)
        self.label.setMinimumWidth(100 if wide else 0)
        self._on_pose_changed()

    def _create_button(self, action: QAction) -> QToolButton:
        button = QToolButton(self, autoRaise=True)
        button.setDefaultAction(action)
        button.setIconSize(QSize(18, 18))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    # ------------------------------------------------------------------------------- showing

    def refresh_all(self) -> None:
        """Update everything."""
        player, runs = self._player, self._session.runs
        self.setVisible(player.has_content or self._sequence.is_open or runs.current is not None)
        record = None if self._is_showing_sequence else runs.current
        self.scrubber.setVisible(player.has_content)
        self.scrubber.color = record.color if record is not None else ""
        self.speed.setCurrentIndex(min(range(len(SPEEDS)), key=lambda k: abs(SPEEDS[k] / player.speed - 1.0)))
        self.scrubber.span = None if player.span is None else tuple(map(self._fraction_of_time, player.time_range))  # type: ignore[assignment]
        self.scrubber.marks = self._find_marks(record)
        whole = record is not None and player.has_content and not player.playable.growing
        self.lanes.show_run(record.run if whole and record is not None else None, player.playable.time_range)
        self._update_play_icon()
        self._on_pose_changed()

    def _find_marks(self, record: RunRecord | None) -> tuple[TrackMark, ...]:
        """Return the marks of events and of the points of a motion, and of the points where other runs branch off."""
        if record is None:
            return ()
        branches = tuple(
            TrackMark(self._fraction_of_time(child.from_time), child.color)
            for child in self._session.runs.branches_of(record)
            if child.from_time is not None
        )
        if self._player.playable.growing:
            return branches
        color = self._theme.colors.muted
        at_once = itertools.groupby(record.run.events, key=lambda event: event.time)
        flags = (
            TrackMark(self._fraction_of_time(time), color, "\n".join([*map(str, events), f"at {time:.6g} s"]))
            for time, events in at_once
        )
        points = (
            TrackMark(self._fraction_of_time(time), self._theme.colors.accent, f"{name}\nat {time:.6g} s")
            for time, name in record.run.points
        )
        return (*branches, *flags, *points)

    @property
    def _is_showing_sequence(self) -> bool:
        """True if the timeline shows a sequence of poses. If there is a run, a sequence that is not being played gives
        way to it."""
        sequence = self._sequence
        return sequence.is_open and (self._player.playable is sequence or not self._player.has_content)

    def _update_play_icon(self) -> None:
        toggle = getattr(self, "_actions", {}).get("play.toggle")
        if toggle is not None:
            toggle.setIcon(icon("pause" if self._player.is_playing else "play"))

    def _align_lanes(self) -> None:
        """Align the lanes with the track."""
        left = self.scrubber.mapTo(self, QPoint(0, 0)).x()
        self.lanes.track = left + EDGE, left + self.scrubber.width() - EDGE
        self.lanes.update()

    def _on_pose_changed(self, *_: object) -> None:
        if not self.isVisible() and not self.isVisibleTo(self.parentWidget()):
            return
        strip = self._player.playable
        self.scrubber.share = self.lanes.share = self._fraction_of_time(strip.time)
        self.lanes.update()
        if self._is_showing_sequence:
            self.label.setText(self._sequence.description())
            self.label.setToolTip("")
            self.label.setEnabled(True)
        else:
            first, last = strip.time_range
            digits = 3 if last - first < 1000.0 else 1
            more = " …" if strip.growing else ""
            whole = f" / {last:.{digits}f}" if self.width() >= WIDE else ""
            self.label.setText(f"{strip.time:.{digits}f}{whole} s{more}")
            shown = self._session.shows_run_pose or self._session.runs.current is None
            self.label.setToolTip(
                escape_tip(strip.description() if shown else "The edited pose is shown. Play or scrub to show the run")
            )
            self.label.setEnabled(shown)
        self.scrubber.update()

    def _fraction_of_time(self, time: float) -> float:
        first, last = self._player.playable.time_range
        return min(max((time - first) / (last - first), 0.0), 1.0) if last > first else 0.0

    def _time_of_fraction(self, fraction: float) -> float:
        first, last = self._player.playable.time_range
        return first + fraction * (last - first)

    def _set_interval(self, low: float, high: float) -> None:
        whole = low <= 0.0 and high >= 1.0
        self._player.set_interval(None if whole else (self._time_of_fraction(low), self._time_of_fraction(high)))
