"""Where plots stand."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter

WIDE = 2.8
"""Width over height beyond which plots stand beside one another."""


class PlotArea(QSplitter):
    """Plots stand beside one another where there is much more width than height, else above one another."""

    turned = Signal()

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.setChildrenCollapsible(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn where the shape asks for it."""
        super().resizeEvent(event)
        wide = self.width() > WIDE * max(self.height(), 1)
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if wanted != self.orientation():
            QTimer.singleShot(0, self, lambda: self._turn(wanted))

    def _turn(self, wanted: Qt.Orientation) -> None:
        self.setOrientation(wanted)
        self.turned.emit()
