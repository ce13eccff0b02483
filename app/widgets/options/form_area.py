"""Parts shared by all forms of the Functions panel: a bold title with help, and scrolling rows of fields."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.widgets.label import Label
from app.widgets.tool_button import tool_button

MARGIN = 12
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
        return around + self._inside.sizeHint().height() + MARGIN


def head(title: str, tip: str, area: FormArea) -> QHBoxLayout:
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
