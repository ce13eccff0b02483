"""The wheel passes over fields in a list that scrolls, and changes none in passing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QWheelEvent

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as _Widget
else:
    _Widget = object  # a Qt object has one base of Qt; what stands beside it is plain Python


class PassingWheel(_Widget):
    """Leaves the wheel to what the widget stands in, unless it has the focus. To be named before the Qt class."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step when focused, else scroll the list."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
