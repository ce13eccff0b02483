"""The small toolbar in the viewport: looks, fit, projection, what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QMenu, QToolButton, QVBoxLayout

from app.icons import icon

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.viewport import Viewport

BUTTONS = ("view.fit", "view.iso", "view.front", "view.right", "view.top", "view.ortho", "-",
           "view.show_grid", "view.show_frames", "view.show_labels", "view.show_joints", "view.show_com",
           "view.show_inertia", "-", "view.trace", "view.ellipsoid")  # fmt: skip
"""Commands in the toolbar; "-" is a gap."""
MARGIN = 12
TOP = 126
"""Below the orientation cube."""


class Overlay(QFrame):
    """Stands at the right edge of the viewport; filled by the window from the table of commands."""

    def __init__(self, view: Viewport) -> None:
        super().__init__(view)
        self.setObjectName("overlay")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(3, 3, 3, 3)
        self._column.setSpacing(0)
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def fill(self, actions: Mapping[str, QAction], ellipsoids: QMenu) -> None:
        """Make the buttons."""
        for name in BUTTONS:
            if name == "-":
                self._column.addSpacing(8)
                continue
            button = QToolButton(autoRaise=True)
            button.setDefaultAction(actions[name])
            button.setIconSize(QSize(18, 18))
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
            self._column.addWidget(button)
        more = QToolButton(autoRaise=True, toolTip="Which ellipsoid", icon=icon("down"))
        more.setIconSize(QSize(12, 12))
        more.setMenu(ellipsoids)
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._column.addWidget(more, 0, Qt.AlignmentFlag.AlignHCenter)
        self.place()

    def place(self) -> None:
        """Stay at the right edge, in the middle."""
        self.adjustSize()
        host = self.parentWidget()
        self.move(
            host.width() - self.width() - MARGIN,
            max(min(TOP, host.height() - self.height() - MARGIN), (host.height() - self.height()) // 2, MARGIN),
        )

    def close_overlay(self) -> None:
        """Drop the buttons (they refer to actions of the window)."""
        while self._column.count():
            widget = self._column.takeAt(0).widget()
            if widget is not None:
                widget.deleteLater()
