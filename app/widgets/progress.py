"""A bar of progress that is drawn with everything else."""

from __future__ import annotations

from PySide6.QtCore import QRect, QTimer
from PySide6.QtGui import QHideEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QStyle, QStyleOptionProgressBar, QStylePainter

BEAT = 400
"""Milliseconds for which a bar that only says "at work" stays as it is: each picture of the window takes what it shows
to be at work from the work, where the processor draws."""
PLACES = 6
"""Of the block on its way through the bar."""


class ProgressBar(QProgressBar):
    """Qt's own draws the whole window at once for every new value, and sixty times a second while it has none, which a
    window with a scene in it pays dearly for: this one waits for the next picture, asks for none where a person would
    see no difference, and its block for work without a measure moves in beats."""

    def __init__(self, *arguments: object, **properties: object) -> None:
        super().__init__(*arguments, **properties)  # type: ignore[call-overload]
        self.place = 0
        """Of the block, 0 … PLACES - 1 there and back."""
        self._beat = QTimer(self, interval=BEAT)
        self._beat.timeout.connect(self._move)

    @property
    def busy(self) -> bool:
        """Whether it only says that there is work."""
        return self.minimum() == self.maximum()

    def setRange(self, minimum: int, maximum: int) -> None:
        """As Qt's; no range means work without a measure."""
        super().setRange(minimum, maximum)
        self._watch()

    def setValue(self, value: int) -> None:
        """Show a value at the next picture."""
        if self._looks_like(value):
            return
        self.setUpdatesEnabled(False)
        super().setValue(value)
        self.setUpdatesEnabled(True)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._watch()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._beat.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's style is not asked for a bar without a measure: it would begin to move it."""
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

    def _watch(self) -> None:
        """Beat while there is somebody to see it."""
        if not (self.busy and self.isVisible()):
            self._beat.stop()
        elif not self._beat.isActive():
            self._beat.start()

    def _looks_like(self, value: int) -> bool:
        """Whether what is shown differs from a value by less than a pixel and a per cent; both ends are always told."""
        low, high, shown = self.minimum(), self.maximum(), self.value()
        if value == shown:
            return True
        if not low < value < high or not low < shown < high:
            return False
        same_words = not self.isTextVisible() or 100 * (value - low) // (high - low) == 100 * (shown - low) // (
            high - low
        )
        return same_words and abs(value - shown) * self.width() < high - low
