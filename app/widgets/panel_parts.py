"""Building blocks of panels: buttons, bars, progress, notes, side-by-side parts, the placeholder of an empty panel, and
rows that highlight elements in the scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStyle,
    QStyleOptionProgressBar,
    QStylePainter,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.document.revision import ElementRef, is_present
from app.document.session import Session
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.label import Label, Note

NARROWEST = 110
"""Least width of a part, pixels."""
ROW_HEIGHT = 24
"""Height of a table row, pixels."""
LEAST_HEIGHT = 56
"""Least height of a table, pixels."""


def create_push_button(title: str, tip: str, on_press: Callable[[], Any], *, checkable: bool = False) -> QPushButton:
    """Create a push button with a text; `on_press()` is called without Qt's arguments."""
    button = QPushButton(title, toolTip=escape_tip(tip), checkable=checkable)
    button.clicked.connect(lambda: on_press())
    return button


def create_panel_note() -> Note:
    """Create the note below the button bar."""
    note = Note()
    note.setContentsMargins(8, 0, 8, 4)
    return note


def lay_side_by_side(
    panel: QWidget, bar: Sequence[QWidget | int], note: Note, parts: Sequence[QWidget], sizes: Sequence[int]
) -> QSplitter:
    """Fill a panel with a bar, the note, and parts side by side with the given initial widths in pixels.

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


def add_button_row(content: QWidget, buttons: Sequence[QWidget], *, stretch_first: bool = False) -> QWidget:
    """Return a widget with a row of right-aligned buttons below the content; stretch_first : the first button takes the
    remaining width."""
    part = QWidget()
    column, row = QVBoxLayout(part), QHBoxLayout()
    row.setContentsMargins(4, 4, 8, 6)
    if not stretch_first:
        row.addStretch(1)
    for k, button in enumerate(buttons):
        row.addWidget(button, int(stretch_first and k == 0))
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(content, 1)
    column.addLayout(row)
    return part


def wrap_in_scroll_area(page: QWidget) -> QScrollArea:
    """Return a scroll area for a page that may be taller than the space available."""
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(page)
    return area


def create_plain_table(column_titles: Sequence[str], name: str) -> QTableWidget:
    """Return an empty table without grid lines; name : description for screen readers."""
    table = QTableWidget(0, len(column_titles))
    table.setAccessibleName(name)
    table.setHorizontalHeaderLabels(list(column_titles))
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    return table


def create_read_only_cell(text: str, tip: str = "") -> QTableWidgetItem:
    """Return a read-only table cell."""
    item = QTableWidgetItem(text)
    item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
    item.setToolTip(escape_tip(tip or text))
    return item


class EmptyPanelPlaceholder(QWidget):
    """Placeholder for an empty panel; emits `wanted` when its button is pressed."""

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


class RowHighlighter(QObject):
    """Highlights in the scene the elements to which the row under the pointer refers, `elements_of(index)`; a click
    selects the first one."""

    def __init__(
        self, view: QAbstractItemView, session: Session, elements_of: Callable[[QModelIndex], Iterable[ElementRef]]
    ) -> None:
        super().__init__(view)
        self._view, self._session, self._elements_of = view, session, elements_of
        self._clicked_ones: tuple[ElementRef, ...] = ()
        view.setMouseTracking(True)
        view.viewport().installEventFilter(self)
        view.entered.connect(self._on_row_entered)
        view.clicked.connect(self._on_row_clicked)
        view.selectionModel().currentChanged.connect(lambda now, _: self._on_row_entered(now))

    def _on_row_entered(self, index: QModelIndex) -> None:
        self._session.highlight_elements(self._elements_of(index))

    def _on_row_clicked(self, index: QModelIndex) -> None:
        """Select the first of the row's elements that still exists."""
        self._clicked_ones = tuple(ref for ref in self._elements_of(index) if is_present(self._session.model, ref))
        if self._clicked_ones:
            self._session.select(self._clicked_ones[0])
            self._session.highlight_elements(self._clicked_ones)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remove the highlight when the pointer leaves the rows."""
        if event.type() == QEvent.Type.Leave:
            selected = self._session.selection
            self._session.highlight_elements(self._clicked_ones if selected in self._clicked_ones else ())
        return False


def create_icon_button(
    icon_name: str, tip: str, on_press: Callable[[], object] | None = None, *, flat: bool = False
) -> QToolButton:
    """Create a button with an icon; the part of the tip before ":" or " (" is its name for screen readers.

    flat : without a frame until the pointer is on it
    """
    button = QToolButton(icon=icon(icon_name), toolTip=escape_tip(tip), autoRaise=flat)
    button.setAccessibleName(tip.split(":")[0].split(" (")[0])
    if on_press is not None:
        button.clicked.connect(lambda: on_press())
    return button


PROGRESS_BEAT = 400
"""Interval between movements of an indeterminate bar, in ms; each redraw of the window takes processor time from the
work in progress."""
PROGRESS_PLACES = 6
"""Number of positions of the block that moves along the bar."""


class ProgressBar(QProgressBar):
    """Progress bar that redraws rarely. Qt's own bar redraws the whole window for every new value, and sixty times a
    second while indeterminate, which is slow with a scene in the window. This one waits for the next picture, skips
    invisible changes, and moves its block at fixed intervals."""

    def __init__(self, *arguments: object, **properties: object) -> None:
        super().__init__(*arguments, **properties)
        self.place = 0
        """Of the block, 0 … PLACES - 1 there and back."""
        self._beat = QTimer(self, interval=PROGRESS_BEAT)
        self._beat.timeout.connect(self._move_block)

    @property
    def is_indeterminate(self) -> bool:
        """True while the bar is indeterminate."""
        return self.minimum() == self.maximum()

    def setRange(self, minimum: int, maximum: int) -> None:
        """Set the range as in Qt; an empty range makes the bar indeterminate."""
        super().setRange(minimum, maximum)
        self._update_timer()

    def setValue(self, value: int) -> None:
        """Show a value with the next picture."""
        if self._looks_unchanged(value):
            return
        self.setUpdatesEnabled(False)
        super().setValue(value)
        self.setUpdatesEnabled(True)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._update_timer()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._beat.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint an indeterminate bar without Qt's style, which would animate it."""
        if not self.is_indeterminate:
            super().paintEvent(event)
            return
        option, painter = QStyleOptionProgressBar(), QStylePainter(self)
        self.initStyleOption(option)
        option.maximum = 1
        painter.drawControl(QStyle.ControlElement.CE_ProgressBarGroove, option)
        painter.fillRect(self._block_rectangle(), self.palette().highlight())

    def _block_rectangle(self) -> QRect:
        inside = self.rect().adjusted(1, 1, -1, -1)
        width = max(inside.width() // PROGRESS_PLACES, 1)
        step = min(self.place, 2 * (PROGRESS_PLACES - 1) - self.place)
        return QRect(
            inside.x() + step * (inside.width() - width) // (PROGRESS_PLACES - 1), inside.y(), width, inside.height()
        )

    def _move_block(self) -> None:
        self.place = (self.place + 1) % (2 * (PROGRESS_PLACES - 1))
        self.update()

    def _update_timer(self) -> None:
        """Start or stop the timer that moves the block, depending on whether the bar is visible and indeterminate."""
        if not (self.is_indeterminate and self.isVisible()):
            self._beat.stop()
        elif not self._beat.isActive():
            self._beat.start()

    def _looks_unchanged(self, value: int) -> bool:
        """Return True if showing this value would change the bar by less than a pixel and one per cent; both ends are
        always shown."""
        low, high, shown = self.minimum(), self.maximum(), self.value()
        if value == shown:
            return True
        if not low < value < high or not low < shown < high:
            return False
        same_words = not self.isTextVisible() or 100 * (value - low) // (high - low) == 100 * (shown - low) // (
            high - low
        )
        return same_words and abs(value - shown) * self.width() < high - low
