"""Base class for forms of the Functions panel: bold title with a help button, scrolling rows of fields, a note, and the
buttons Run and Stop."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.label import Label, Note
from app.widgets.panel_parts import create_icon_button
from core.functions import Function

FORM_MARGIN = 12
"""Space left free below the last row, in pixels."""


class FormScrollArea(QScrollArea):
    """Scroll area with a help text, short or long, above the rows of fields."""

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

    def full_height(self, form: QWidget) -> int:
        """Return the height of the surrounding form, in pixels, at which all rows are visible without scrolling."""
        around = form.sizeHint().height() - self.sizeHint().height()
        return around + self._inside.sizeHint().height() + FORM_MARGIN


def build_form_header(title: str, tip: str, area: FormScrollArea) -> QHBoxLayout:
    """Build a bold title with a button that toggles the help text of the area."""
    label = Label(title)
    font = label.font()
    font.setBold(True)
    label.setFont(font)
    row = QHBoxLayout()
    row.addWidget(label, 1)
    row.addWidget(create_icon_button("help", tip, area.toggle_help))
    return row


def build_field_label(title: str, tip: str) -> QLabel:
    """Return the label of a field."""
    label = Label(title)
    label.setToolTip(escape_tip(tip))
    return label


class PanelForm(QWidget):
    """Form that emits `wanted` (run the function), `stopped` (stop it) and `edited` (its size may have changed)."""

    wanted = Signal()
    stopped = Signal()
    edited = Signal()
    area: FormScrollArea

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
        self.reset_button = create_icon_button("reset", "Reset all options to their defaults", self.reset)

    # ----------------------------------------------------------------------------- building

    def lay_out(
        self, title: str, tip: str, area: FormScrollArea, *below: QWidget, right_widgets: tuple[QWidget, ...] = ()
    ) -> None:
        """Lay out the title with its help button (`tip`), the fields, the widgets `below`, the note, and the buttons
        Run or Stop with the widgets `right_widgets` next to them."""
        self.area = area
        area.help_toggled.connect(self.edited)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 6, 2, 0)
        column.setSpacing(6)
        column.addLayout(build_form_header(title, tip, area))
        column.addWidget(area, 1)
        for widget in (*below, self.note):
            column.addWidget(widget)
        row = QHBoxLayout()
        for widget in (self.run_button, self.stop_button, *right_widgets):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.reset_button)
        column.addLayout(row)

    # ----------------------------------------------------------------------------- what it offers

    @property
    def live(self) -> bool:
        """True if the result is updated as the pose changes."""
        return False

    def reset(self) -> None:
        """Restore all defaults."""

    def refresh(self) -> None:
        """Update the form after a change of the machine or the units."""

    # ----------------------------------------------------------------------------- showing

    def full_height(self) -> int:
        """Return the height at which everything is visible without scrolling, pixels."""
        return self.area.full_height(self)

    def show_problem(self, text: str) -> None:
        """Show a problem with the fields below them; '' clears it."""
        self.note.show_text(text, "error" if text else "")

    def show_unavailable_reason(self, reason: str) -> None:
        """Show the reason why the function cannot be run; '' if it can."""

    def show_busy(self, busy: bool) -> None:
        """Show the Stop button while the function is running, otherwise the Run button."""
        self.run_button.setVisible(not busy)
        self.stop_button.setVisible(busy)
