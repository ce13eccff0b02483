"""Base class for forms of the Functions panel: bold title with help, scrolling rows of fields, a note, Run and Stop."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.label import Label, Note
from app.widgets.panel_parts import tool_button
from core.functions import Function

FORM_MARGIN = 12
"""Space left free below the last row, pixels."""


class FormArea(QScrollArea):
    """Help text above rows of fields, scrolling if there is little room; the text is the short or the long help."""

    help_toggled = Signal()

    def __init__(self, short: str, long: str) -> None:
        super().__init__()
        self._short, self._long = short, long
        self._inside = QWidget()
        self.help = Label(short)
        self.help.setWordWrap(True)
        self.help.setTextFormat(Qt.TextFormat.PlainText)
        self.help.setProperty("muted", True)
        self.help.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.rows = QFormLayout()
        self.rows.setContentsMargins(0, 4, 0, 0)
        self.rows.setVerticalSpacing(5)
        self.rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self.rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        column = QVBoxLayout(self._inside)
        column.setContentsMargins(0, 0, 6, 0)
        column.addWidget(self.help)
        column.addLayout(self.rows)
        column.addStretch(1)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(self._inside)

    def toggle_help(self) -> None:
        """Switch between the short and the long help."""
        self.help.setText(self._long if self.help.text() == self._short else self._short)
        self.help_toggled.emit()

    def wanted_height(self, form: QWidget) -> int:
        """Return the height of the surrounding form at which every row is visible without scrolling, pixels."""
        around = form.sizeHint().height() - self.sizeHint().height()
        return around + self._inside.sizeHint().height() + FORM_MARGIN


def form_head(title: str, tip: str, area: FormArea) -> QHBoxLayout:
    """Return a bold title with a button that toggles the help of the area."""
    label = Label(title)
    font = label.font()
    font.setBold(True)
    label.setFont(font)
    row = QHBoxLayout()
    row.addWidget(label, 1)
    row.addWidget(tool_button("help", tip, area.toggle_help))
    return row


def row_label(title: str, tip: str) -> QLabel:
    """Return the label of a field."""
    label = Label(title)
    label.setToolTip(as_tip(tip))
    return label


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
        column.addLayout(form_head(title, tip, area))
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
