"""Progress bar that is drawn together with the rest of the window."""

from __future__ import annotations

from PySide6.QtCore import QRect, QTimer
from PySide6.QtGui import QHideEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QStyle, QStyleOptionProgressBar, QStylePainter

BEAT = 400
"""Interval between movements of an indeterminate bar, ms; each redraw of the window takes processor time from the work
it shows."""
PLACES = 6
"""Number of positions of the block that moves through the bar."""


class ProgressBar(QProgressBar):
    """Progress bar with few redraws. Qt's own redraws the whole window for every new value, and sixty times a second
    while indeterminate, which is slow with a scene in the window; this one waits for the next picture, skips invisible
    changes, and moves its block in beats."""

    def __init__(self, *arguments: object, **properties: object) -> None:
        super().__init__(*arguments, **properties)
        self.place = 0
        """Of the block, 0 … PLACES - 1 there and back."""
        self._beat = QTimer(self, interval=BEAT)
        self._beat.timeout.connect(self._move)

    @property
    def busy(self) -> bool:
        """True while the bar is indeterminate."""
        return self.minimum() == self.maximum()

    def setRange(self, minimum: int, maximum: int) -> None:
        """Set the range as in Qt; an empty range makes the bar indeterminate."""
        super().setRange(minimum, maximum)
        self._update_timer()

    def setValue(self, value: int) -> None:
        """Show a value with the next picture."""
        if self._looks_the_same_as(value):
            return
        self.setUpdatesEnabled(False)
        super().setValue(value)
        self.setUpdatesEnabled(True)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._update_timer()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._beat.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint an indeterminate bar without Qt's style, which would animate it."""
        if not self.busy:
            super().paintEvent(event)
            return
        option, painter = QStyleOptionProgressBar(), QStylePainter(self)
        self.initStyleOption(option)
        option.maximum = 1
        painter.drawControl(QStyle.ControlElement.CE_ProgressBarGroove, option)
        painter.fillRect(self._block(), self.palette().highlight())

    def _block(self) -> QRect:
        inside = self.rect().adjusted(1, 1, -1, -1)
        width = max(inside.width() // PLACES, 1)
        step = min(self.place, 2 * (PLACES - 1) - self.place)
        return QRect(inside.x() + step * (inside.width() - width) // (PLACES - 1), inside.y(), width, inside.height())

    def _move(self) -> None:
        self.place = (self.place + 1) % (2 * (PLACES - 1))
        self.update()

    def _update_timer(self) -> None:
        """Move the block while the bar is visible."""
        if not (self.busy and self.isVisible()):
            self._beat.stop()
        elif not self._beat.isActive():
            self._beat.start()

    def _looks_the_same_as(self, value: int) -> bool:
        """Return True if the shown value differs from a value by less than a pixel and a per cent; both ends are always
        shown."""
        low, high, shown = self.minimum(), self.maximum(), self.value()
        if value == shown:
            return True
        if not low < value < high or not low < shown < high:
            return False
        same_words = not self.isTextVisible() or 100 * (value - low) // (high - low) == 100 * (shown - low) // (
            high - low
        )
        return same_words and abs(value - shown) * self.width() < high - low
