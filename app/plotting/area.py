"""Area that arranges the plots."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter

WIDE = 2.8
"""Ratio of width to height above which plots are placed next to one another."""


class PlotArea(QSplitter):
    """Splitter that places plots side by side when it is much wider than high, otherwise above one another."""

    turned = Signal()

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.setChildrenCollapsible(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Change the orientation if the new shape requires it."""
        super().resizeEvent(event)
        wide = self.width() > WIDE * max(self.height(), 1)
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if wanted != self.orientation():
            QTimer.singleShot(0, self, lambda: self._set_orientation(wanted))

    def _set_orientation(self, wanted: Qt.Orientation) -> None:
        self.setOrientation(wanted)
        self.turned.emit()
