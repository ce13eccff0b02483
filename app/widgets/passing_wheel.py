"""Mouse wheel handling for fields in a scrolling list: the wheel scrolls the list and does not change fields in
passing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QWheelEvent

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as _Widget
else:
    _Widget = object  # a Qt object has one base of Qt; its mixins are plain Python


class PassingWheel(_Widget):
    """Leaves the wheel to the surrounding widget unless focused. List it before the Qt base class."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step the value when focused, otherwise scroll the list."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
