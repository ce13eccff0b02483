"""A label that is cut where there is no room for all of it, instead of keeping the window wide."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QToolTip

LEGIBLE = "A few letters…"
"""So much is always shown."""


class ElidedLabel(QLabel):
    """One line of plain text; what is cut is marked by "…" and told by the tool tip. `text()` is always the whole."""

    def __init__(self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(text)
        self._mode = mode

    def minimumSizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        least = min(metrics.horizontalAdvance(LEGIBLE), metrics.horizontalAdvance(self.text()))
        return QSize(least, super().minimumSizeHint().height())

    @property
    def shown(self) -> str:
        """What there is room for."""
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.style().drawItemText(painter, self.contentsRect(), self.alignment().value, self.palette(),
                                  self.isEnabled(), self.shown, self.foregroundRole())  # fmt: skip
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and not self.toolTip() and self.shown != self.text():
            QToolTip.showText(event.globalPos(), self.text(), self)
            return True
        return super().event(event)
