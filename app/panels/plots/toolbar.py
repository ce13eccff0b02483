"""Toolbar of the plots, in a column on their left."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QMenu, QToolButton, QVBoxLayout

from app.plain_text import as_tip
from app.preferences.icons import icon


class PlotsBar(QFrame):
    """Buttons for the plots; those that need plots are disabled without any.

    fill_exports : puts the entries into the menu of exports
    """

    def __init__(self, fill_exports: Callable[[QMenu], None]) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(3, 3, 0, 3)
        self._column.setSpacing(0)
        self.channels = self._button("tree", "Show the list of channels", checkable=True, on=True)
        self.add = self._button("add", "Add a plot")
        self.fit = self._button("fit", "Fit the axes to all curves (double-click in a plot)")
        self.zoom = self._button("zoom_box", "Drag to draw a zoom box instead of panning", checkable=True)
        self.link = self._button("link", "Link the time axes of all plots", checkable=True, on=True)
        self.measure = self._button("measure", "Measure time and value differences between two lines", checkable=True)
        self.export = self._button("export", "Copy or export all plots")
        menu = QMenu(self.export)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: fill_exports(menu))
        self.export.setMenu(menu)
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._column.addStretch(1)

    def _button(self, drawing: str, words: str, checkable: bool = False, on: bool = False) -> QToolButton:
        button = QToolButton(icon=icon(drawing), toolTip=as_tip(words), autoRaise=True, checkable=checkable)
        button.setChecked(on)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._column.addWidget(button)
        return button

    def refresh(self, plots: int) -> None:
        """Disable the buttons that have nothing to act on for this number of plots."""
        for button in (self.fit, self.zoom, self.measure, self.export):
            button.setEnabled(plots > 0)
        self.link.setEnabled(plots > 1)
