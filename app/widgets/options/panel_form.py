"""Base class for forms of the Functions panel: a title with help, rows of fields, a note, Run and Stop."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.note import Note
from app.widgets.options.form_area import FormArea, head
from app.widgets.tool_button import tool_button
from core.functions import Function


class PanelForm(QWidget):
    """Form with the signals `wanted` (run), `stopped` (stop the running function), `edited` (its size may have
    changed)."""

    wanted = Signal()
    stopped = Signal()
    edited = Signal()
    area: FormArea

    def __init__(self, function: Function, settings: Settings, stop: str) -> None:
        super().__init__()
        self.function = function
        self.settings = settings
        self.note = Note()
        self.run_button = QPushButton(icon("play"), "Run")
        self.run_button.clicked.connect(self.wanted)
        self.stop_button = QPushButton(icon("stop"), stop)
        self.stop_button.clicked.connect(self.stopped)
        self.stop_button.hide()
        self.reset_button = tool_button("reset", "Reset all options to their defaults", self.reset)

    # ----------------------------------------------------------------------------- building

    def lay_out(
        self, title: str, tip: str, area: FormArea, *below: QWidget, at_right: tuple[QWidget, ...] = ()
    ) -> None:
        """Lay out the title with its help button (`tip`), the fields, the widgets `below`, the note, and Run or Stop
        with the widgets `at_right` of them."""
        self.area = area
        area.help_toggled.connect(self.edited)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 6, 2, 0)
        column.setSpacing(6)
        column.addLayout(head(title, tip, area))
        column.addWidget(area, 1)
        for widget in (*below, self.note):
            column.addWidget(widget)
        row = QHBoxLayout()
        for widget in (self.run_button, self.stop_button, *at_right):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.reset_button)
        column.addLayout(row)

    # ----------------------------------------------------------------------------- what it offers

    @property
    def live(self) -> bool:
        """True if the result follows the pose."""
        return False

    def reset(self) -> None:
        """Restore all defaults."""

    def refresh(self) -> None:
        """Update the form after a change of machine or units."""

    # ----------------------------------------------------------------------------- showing

    def wanted_height(self) -> int:
        """Return the height at which everything is visible without scrolling, pixels."""
        return self.area.wanted_height(self)

    def show_problem(self, text: str) -> None:
        """Show below the fields what is wrong with them; '' for nothing."""
        self.note.say(text, "error" if text else "")

    def show_reason(self, reason: str) -> None:
        """Show why the function cannot be run; '' if it can."""

    def show_busy(self, busy: bool) -> None:
        """Show whether the function is running."""
        self.run_button.setVisible(not busy)
        self.stop_button.setVisible(busy)
