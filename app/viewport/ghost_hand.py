"""Animated hand over the scene that demonstrates a tool for two seconds when the tool is first chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.preferences.icons import icon

if TYPE_CHECKING:
    from app.viewport.gestures import MouseTool
    from app.viewport.stage import Stage

LASTS = 2000
"""Duration of the demonstration in ms."""
STEP = 33
RING, HAND = 11.0, 26
STROKE = 3.0


class DemonstrationHand(QWidget):
    """Overlay with the animated hand that plays when a tool is chosen; a mouse press or another tool ends it."""

    def __init__(self, view: Stage) -> None:
        super().__init__(view.widget)
        self._view = view
        self._tool: MouseTool[Stage] | None = None
        self._clock = QElapsedTimer()
        self._timer = QTimer(self, interval=STEP)
        self._timer.timeout.connect(self._show_next_frame)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        view.gestures.chosen.connect(self._on_tool_chosen)
        view.widget.installEventFilter(self)

    def close(self) -> None:
        """Disconnect from the gesture controller."""
        self.end_demonstration()
        self._view.gestures.chosen.disconnect(self._on_tool_chosen)

    @property
    def is_playing(self) -> bool:
        """True while the demonstration is visible."""
        return self._tool is not None

    def _on_tool_chosen(self, tool: MouseTool[Stage]) -> None:
        self.end_demonstration()
        settings = self._view.settings
        if tool.hand and settings.shows_hands and not settings.value(f"hands/{tool.id}", False):
            settings.remember(f"hands/{tool.id}", True)
            self.demonstrate_tool(tool)

    def demonstrate_tool(self, tool: MouseTool[Stage]) -> None:
        """Demonstrate a tool."""
        self._tool = tool
        self.setGeometry(self._view.widget.rect())
        self.raise_()
        self.show()
        self._clock.start()
        self._timer.start()

    def end_demonstration(self) -> None:
        """End the demonstration."""
        self._tool = None
        self._timer.stop()
        self.hide()

    def _show_next_frame(self) -> None:
        if self._clock.elapsed() > LASTS:
            self.end_demonstration()
        else:
            self.update()

    def eventFilter(self, host: QObject, event: QEvent) -> bool:
        """End the demonstration when the user presses a mouse button."""
        if event.type() == QEvent.Type.Resize:
            self.setGeometry(self._view.widget.rect())
        elif self.is_playing and event.type() == QEvent.Type.MouseButtonPress:
            self.end_demonstration()
        return False

    def position_at(self, fraction: float) -> tuple[QPointF, bool, int]:
        """Return the position of the hand after a fraction of the time, True if it presses the button there, and the
        number of points it has passed."""
        assert self._tool is not None
        places = self._tool.hand
        along = min(max(fraction, 0.0), 1.0) * (len(places) - 1)
        k = min(int(along), len(places) - 2)
        (x0, y0, _), (x1, y1, pressed) = places[k], places[k + 1]
        part = min(1.0, 1.4 * (along - k))  # it rests where it presses
        x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
        return QPointF(x * self.width(), y * self.height()), pressed and (part == 1.0 or places[k][2]), k

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the path so far, a ring while the hand presses the button, and the hand."""
        if self._tool is None:
            return
        place, pressed, left = self.position_at(self._clock.elapsed() / LASTS)
        accent = QColor(self.palette().highlight().color())
        accent.setAlpha(170)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(accent, STROKE, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        been = [QPointF(x * self.width(), y * self.height()) for x, y, _ in self._tool.hand[: left + 1]]
        painter.drawPolyline([*been, place])
        for point in (*been, *([place] if pressed else [])):
            painter.drawEllipse(point, RING, RING)
        painter.drawPixmap(place.toPoint(), icon("select").pixmap(HAND, HAND))
        painter.end()
