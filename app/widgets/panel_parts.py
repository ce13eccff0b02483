"""Building blocks of panels that run long computations: a bar of buttons, a note, parts side by side, and buttons below
a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.plain_text import as_tip
from app.widgets.note import Note

NARROWEST = 110
"""Least width of a part, pixels."""
ROW_HEIGHT = 24
"""Height of a table row, pixels."""
LEAST_HEIGHT = 56
"""Least height of a table, pixels."""


def push_button(title: str, tip: str, pressed: Callable[[], Any], *, checkable: bool = False) -> QPushButton:
    """Return a button with a text; pressed() is called without Qt's arguments."""
    button = QPushButton(title, toolTip=as_tip(tip), checkable=checkable)
    button.clicked.connect(lambda: pressed())
    return button


def panel_note() -> Note:
    """Return the note below the button bar."""
    note = Note()
    note.setContentsMargins(8, 0, 8, 4)
    return note


def lay_side_by_side(
    panel: QWidget, bar: Sequence[QWidget | int], note: Note, parts: Sequence[QWidget], sizes: Sequence[int]
) -> QSplitter:
    """Fill a panel: a bar, the note, and the parts side by side with initial widths in pixels.

    bar : widgets in a row; a number is the stretch of the widget before it
    """
    row = QHBoxLayout()
    row.setContentsMargins(8, 6, 8, 6)
    for each in bar:
        if isinstance(each, int):
            row.setStretch(row.count() - 1, each)
        else:
            row.addWidget(each)
    split = QSplitter(Qt.Orientation.Horizontal)
    for part in parts:
        part.setMinimumWidth(NARROWEST)
        split.addWidget(part)
    split.setSizes(list(sizes))
    column = QVBoxLayout(panel)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addLayout(row)
    column.addWidget(note)
    column.addWidget(split, 1)
    return split


def with_buttons(content: QWidget, buttons: Sequence[QWidget], *, first_wide: bool = False) -> QWidget:
    """Return a part with a row of right-aligned buttons below it; first_wide : the first one takes the remaining
    width."""
    part = QWidget()
    column, row = QVBoxLayout(part), QHBoxLayout()
    row.setContentsMargins(4, 4, 8, 6)
    if not first_wide:
        row.addStretch(1)
    for k, button in enumerate(buttons):
        row.addWidget(button, int(first_wide and k == 0))
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(content, 1)
    column.addLayout(row)
    return part


def scrolled(page: QWidget) -> QScrollArea:
    """Return a scroll area for a page that may be higher than its place."""
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(page)
    return area


def plain_table(heads: Sequence[str], name: str) -> QTableWidget:
    """Return an empty table without grid lines; name : description for screen readers."""
    table = QTableWidget(0, len(heads))
    table.setAccessibleName(name)
    table.setHorizontalHeaderLabels(list(heads))
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    return table


def read_only_cell(text: str, tip: str = "") -> QTableWidgetItem:
    """Return a read-only table cell."""
    item = QTableWidgetItem(text)
    item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
    item.setToolTip(as_tip(tip or text))
    return item
