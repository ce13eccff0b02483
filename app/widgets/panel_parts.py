"""Building blocks of panels: buttons, bars, notes, parts side by side, the placeholder of an empty panel, and rows that
highlight elements in the scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.document.revision import Ref, exists
from app.document.session import Session
from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.label import Label, Note

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


class EmptyPanel(QWidget):
    """Placeholder that emits `wanted` when its button is pressed."""

    wanted = Signal()

    def __init__(self, words: str, title: str) -> None:
        super().__init__()
        self.words = Label(words, wordWrap=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words.setProperty("muted", True)
        self.button = QPushButton(title)
        self.button.clicked.connect(self.wanted)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 10, 6)
        column.addStretch(1)
        column.addWidget(self.words)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(1)


class PointingRows(QObject):
    """Watches a view whose rows refer to the elements `elements_of(index)`."""

    def __init__(
        self, view: QAbstractItemView, session: Session, elements_of: Callable[[QModelIndex], Iterable[Ref]]
    ) -> None:
        super().__init__(view)
        self._view, self._session, self._elements_of = view, session, elements_of
        self._clicked_ones: tuple[Ref, ...] = ()
        view.setMouseTracking(True)
        view.viewport().installEventFilter(self)
        view.entered.connect(self._on_row_entered)
        view.clicked.connect(self._clicked)
        view.selectionModel().currentChanged.connect(lambda now, _: self._on_row_entered(now))

    def _on_row_entered(self, index: QModelIndex) -> None:
        self._session.point_out(self._elements_of(index))

    def _clicked(self, index: QModelIndex) -> None:
        """Select the first element that still exists."""
        self._clicked_ones = tuple(ref for ref in self._elements_of(index) if exists(self._session.model, ref))
        if self._clicked_ones:
            self._session.select(self._clicked_ones[0])
            self._session.point_out(self._clicked_ones)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remove the highlight when the pointer leaves the rows."""
        if event.type() == QEvent.Type.Leave:
            selected = self._session.selection
            self._session.point_out(self._clicked_ones if selected in self._clicked_ones else ())
        return False


def tool_button(
    drawing: str, tip: str, pressed: Callable[[], object] | None = None, *, flat: bool = False
) -> QToolButton:
    """Return a button with an icon; the tip's text before ":" or " (" is its name for screen readers.

    flat : without a frame until the pointer is on it
    """
    button = QToolButton(icon=icon(drawing), toolTip=as_tip(tip), autoRaise=flat)
    button.setAccessibleName(tip.split(":")[0].split(" (")[0])
    if pressed is not None:
        button.clicked.connect(lambda: pressed())
    return button
