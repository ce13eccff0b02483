"""The small toolbar in the viewport: camera presets, fit, projection, and visible items."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QToolButton, QWidget

from app.preferences.icons import icon
from viz.scene.cube import has_room_for_cube

if TYPE_CHECKING:
    from collections.abc import Mapping

BUTTONS = (
    "view.fit",
    "view.iso",
    "view.front",
    "view.right",
    "view.top",
    "view.ortho",
    "-",
    "view.show_grid",
    "view.show_frames",
    "view.show_labels",
    "view.show_joints",
    "view.show_forces",
    "view.show_sensors",
    "view.show_com",
    "view.show_inertia",
    "view.show_mobility",
    "-",
    "view.trace",
    "view.ellipsoid",
)
"""Commands in the toolbar; "-" is a gap."""
VIEWS = ("view.iso", "view.front", "view.right", "view.top")
"""Commands omitted if the buttons do not fit into one column, because the orientation cube offers them too."""
MARGIN = 12
TOP = 126
"""Top of the toolbar in pixels, below the orientation cube."""
GAP = 8
EDGES = 6
MOST = 3
"""Largest number of columns below the cube."""


class ViewportToolbar(QFrame):
    """Toolbar at the right edge of the viewport; the window fills it from the table of commands. In a low viewport the
    buttons are in several columns without camera presets (which the cube offers), or in a row at the bottom."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("overlay")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(EDGES // 2, EDGES // 2, EDGES // 2, EDGES // 2)
        self._grid.setSpacing(0)
        self._buttons: list[QToolButton | None] = []
        self._views: list[QToolButton] = []
        """Buttons for what the cube does, too."""
        self._laid_out = 0, 0
        """Columns and number of buttons."""
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def create_buttons(self, actions: Mapping[str, QAction], ellipsoids: QMenu) -> None:
        """Create the buttons."""
        for name in BUTTONS:
            if name == "-":
                self._buttons.append(None)
                continue
            button = QToolButton(self, autoRaise=True)
            button.setDefaultAction(actions[name])
            button.setIconSize(QSize(18, 18))
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
            self._buttons.append(button)
            if name in VIEWS:
                self._views.append(button)
        more = QToolButton(self, autoRaise=True, toolTip="Choose the ellipsoid", icon=icon("down"))
        more.setAccessibleName(more.toolTip())
        more.setIconSize(QSize(12, 12))
        more.setMenu(ellipsoids)
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._buttons.append(more)
        self.move_to_edge()

    def move_to_edge(self) -> None:
        """Move the toolbar to the right edge, below the orientation cube and centred if there is room; in a viewport
        too low for that, to the bottom."""
        host = self.parentWidget()
        room = max(host.height() - TOP - MARGIN, MARGIN)
        cube = has_room_for_cube(host.width(), host.height())
        buttons, wanted = self._buttons, self._columns_needed(room, self._buttons)
        if wanted > 1 and cube:
            buttons = [button for button in self._buttons if button not in self._views]
            wanted = self._columns_needed(room, buttons)
        low = wanted > MOST
        if low:
            widths = [button.sizeHint().width() for button in buttons if button is not None]
            side_by_side = max((host.width() - 2 * MARGIN - EDGES) // max(widths, default=1), 1)
            wanted = ceil(len(widths) / ceil(len(widths) / side_by_side))
        self._arrange_buttons(buttons, wanted)
        self.adjustSize()
        middle = max(TOP, (host.height() - self.height()) // 2)
        top = host.height() - self.height() - MARGIN // 2 if low else middle
        self.move(max(host.width() - self.width() - MARGIN, MARGIN), top)

    @staticmethod
    def _columns_needed(height: int, buttons: list[QToolButton | None]) -> int:
        """Return the number of columns that the buttons need in the given height in pixels."""
        heights = [GAP if button is None else button.sizeHint().height() for button in buttons]
        if sum(heights) + EDGES <= height:
            return 1
        count = sum(button is not None for button in buttons)
        return ceil(count / max((height - EDGES) // max(heights), 1))

    def _arrange_buttons(self, buttons: list[QToolButton | None], columns: int) -> None:
        """Arrange the buttons in columns; gaps are kept only in a single column."""
        if (columns, len(buttons)) == self._laid_out or not self._buttons:
            return
        self._laid_out = columns, len(buttons)
        for row in range(self._grid.rowCount()):
            self._grid.setRowMinimumHeight(row, 0)
        for button in self._buttons:
            if button is not None:
                self._grid.removeWidget(button)
                button.setVisible(button in buttons)
        shown = buttons if columns == 1 else [button for button in buttons if button is not None]
        rows = ceil(len(shown) / columns)
        for number, button in enumerate(shown):
            if button is None:
                self._grid.setRowMinimumHeight(number, GAP)
            else:
                self._grid.addWidget(button, number % rows, number // rows, Qt.AlignmentFlag.AlignCenter)
        self._grid.invalidate()

    def close(self) -> None:
        """Remove the buttons (they refer to actions of the window)."""
        for button in self._buttons:
            if button is not None:
                button.deleteLater()
        self._buttons = []
