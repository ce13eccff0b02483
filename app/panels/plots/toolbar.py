"""The tools of the plots, in a column at their left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QMenu, QToolButton, QVBoxLayout

from app.panels.plots.export_menu import fill_exports
from app.plain_text import as_tip
from app.preferences.icons import icon

if TYPE_CHECKING:
    from app.panels.plots.panel import PlotsPanel


class PlotsBar(QFrame):
    """Buttons; those that only make sense with plots are grey without."""

    def __init__(self, panel: PlotsPanel) -> None:
        super().__init__()
        self._panel = panel
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(3, 3, 0, 3)
        self._column.setSpacing(0)
        self.channels = self._button("tree", "Channels to choose from", self._show_channels, checkable=True, on=True)
        self.add = self._button("add", "One more plot", lambda *_: panel.add_plot())
        self.fit = self._button("fit", "Show all of every curve (double-click in a plot)", lambda *_: panel.auto())
        self.zoom = self._button(
            "zoom_box",
            "Dragging draws a box to zoom into, instead of moving the curves",
            panel.box_zoom,
            checkable=True,
        )
        self.link = self._button(
            "link", "Plots over time show the same piece of it", lambda *_: panel.relink(), checkable=True, on=True
        )
        self.measure = self._button(
            "measure", "Measure times and values between two lines", panel.measure, checkable=True
        )
        self.export = self._button("export", "Copy or export all plots", None)
        menu = QMenu(self.export)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: fill_exports(panel, menu))
        self.export.setMenu(menu)
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._column.addStretch(1)

    def _button(
        self, drawing: str, words: str, action: object, checkable: bool = False, on: bool = False
    ) -> QToolButton:
        button = QToolButton(icon=icon(drawing), toolTip=as_tip(words), autoRaise=True, checkable=checkable)
        button.setChecked(on)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        if action is not None:
            (button.toggled if checkable else button.clicked).connect(action)
        self._column.addWidget(button)
        return button

    def _show_channels(self, on: bool) -> None:
        self._panel.picker.setVisible(on)

    def refresh(self) -> None:
        """Grey out what has nothing to act on."""
        some = bool(self._panel.sheet.plots)
        for button in (self.fit, self.zoom, self.measure, self.export):
            button.setEnabled(some)
        self.link.setEnabled(len(self._panel.sheet.plots) > 1)
