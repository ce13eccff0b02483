"""The log: every message of the session with its time; messages can be filtered, copied, and traced to the element they
concern."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QBrush, QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.document.revision import ElementRef
from app.document.session import Session
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.label import Label, severity_color
from app.widgets.panel_parts import create_icon_button
from app.widgets.plain_keys import PlainKeyFilter, TextFieldKeyFilter
from core.model import WORDS, Model

if TYPE_CHECKING:
    from app.workbench import Workbench

EMPTY = "Messages of the program appear here with their time: hints, warnings, errors."
NONE_FITS = "No message matches the filter."
MOST = 2000
"""Largest number of messages kept; the oldest are deleted first."""
LEVELS = {
    "All messages": ("done", "hint", "warning", "error"),
    "Warnings and errors": ("warning", "error"),
    "Errors": ("error",),
}
ENTRY = Qt.ItemDataRole.UserRole
_COLLECTIONS = {word: collection for collection, word in WORDS.items()}
_NAMED = re.compile(rf"\b({'|'.join(_COLLECTIONS)}) '([^']+)'(?:, (\w+))?")


class LogEntry(NamedTuple):
    """A logged message with its time and severity."""

    time: datetime
    severity: str
    text: str

    @property
    def as_text(self) -> str:
        """Return the message as a line of text for the clipboard."""
        return f"{self.time:%H:%M:%S}  {self.severity:8} {self.text}"


class LogPanel(QWidget):
    """List of messages; a click selects the element that a message names, a double click goes to its field."""

    def __init__(
        self,
        session: Session,
        go_to: Callable[[str], object] = lambda _field: None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.session, self._go_to = session, go_to
        self.entries: list[LogEntry] = []
        self.level = QComboBox(self)
        self.level.addItems(list(LEVELS))
        self.level.setToolTip("Choose which messages are shown")
        self.level.currentIndexChanged.connect(self.refresh)
        self.search = QLineEdit(self, placeholderText="Filter by words or names", clearButtonEnabled=True)
        self.search.textChanged.connect(self.refresh)
        TextFieldKeyFilter(self.search, self.search.isUndoAvailable)
        self.copy_button = create_icon_button("copy", "Copy the messages shown", self.copy)
        self.clear_button = create_icon_button("clear", "Clear the log", self.clear)
        self.list = self._build_table()
        self._empty = Label("")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setProperty("muted", True)
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 4, 6, 4)
        bar.addWidget(self.level)
        bar.addWidget(self.search, 1)
        bar.addWidget(self.copy_button)
        bar.addWidget(self.clear_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.list, 1)
        column.addWidget(self._empty, 1)
        self.refresh()

    def _build_table(self) -> QTreeWidget:
        table = QTreeWidget(self)
        table.setColumnCount(2)
        table.setHeaderLabels(["Time", "Message"])
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setIconSize(QSize(16, 16))
        table.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        table.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        table.header().setStretchLastSection(True)
        table.itemClicked.connect(self._on_clicked)
        table.itemActivated.connect(self._on_double_clicked)
        PlainKeyFilter(table, typing=False)
        return table

    # ----------------------------------------------------------------------------- messages

    def add_message(self, severity: str, text: str) -> None:
        """Add a message with the current time."""
        entry = LogEntry(datetime.now(), severity, text)
        self.entries.append(entry)
        if len(self.entries) > MOST:
            del self.entries[0]
        if self._passes_filter(entry):
            self._append_row(entry)
            self._show_rows()

    def clear(self) -> None:
        """Delete all messages."""
        self.entries.clear()
        self.refresh()

    def copy(self) -> None:
        """Copy the selected messages, or all visible ones, as text, oldest first."""
        rows = self.list.selectedItems() or [self.list.topLevelItem(k) for k in range(self.list.topLevelItemCount())]
        chosen = sorted((row.data(0, ENTRY) for row in rows if row is not None), key=lambda entry: entry.time)
        QGuiApplication.clipboard().setText("\n".join(entry.as_text for entry in chosen))

    def refresh(self, *_: object) -> None:
        """Show the messages that pass the filter and scroll to the newest, at the bottom."""
        self.list.clear()
        for entry in filter(self._passes_filter, self.entries):
            self._append_row(entry)
        self._show_rows()

    def _show_rows(self) -> None:
        """Show the list, or a description of the log while it is empty."""
        rows = self.list.topLevelItemCount() > 0
        self.list.setVisible(rows)
        self._empty.setVisible(not rows)
        self._empty.setText(NONE_FITS if self.entries else EMPTY)

    def _passes_filter(self, entry: LogEntry) -> bool:
        words = self.search.text().casefold().split()
        return entry.severity in LEVELS[self.level.currentText()] and all(w in entry.text.casefold() for w in words)

    def _append_row(self, entry: LogEntry) -> None:
        item = QTreeWidgetItem([f"{entry.time:%H:%M:%S}", " ".join(entry.text.split())])
        item.setData(0, ENTRY, entry)
        item.setIcon(1, icon(entry.severity))
        item.setToolTip(1, escape_tip(f"{entry.severity}: {entry.text}"))
        item.setForeground(0, QBrush(severity_color("", QGuiApplication.palette())))
        if entry.severity in ("warning", "error"):
            item.setForeground(1, QBrush(severity_color(entry.severity, QGuiApplication.palette())))
        self.list.addTopLevelItem(item)
        while self.list.topLevelItemCount() > MOST:
            self.list.takeTopLevelItem(0)
        self.list.scrollToItem(item)

    def changeEvent(self, event: QEvent) -> None:
        """Update the colours of the rows after a change of theme."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            QTimer.singleShot(0, self, self.refresh)

    # ----------------------------------------------------------------------------- what they speak of

    def _on_clicked(self, item: QTreeWidgetItem) -> None:
        ref, _ = find_named_element(self.session.model, item.data(0, ENTRY).text)
        if ref is not None:
            self.session.select(ref)

    def _on_double_clicked(self, item: QTreeWidgetItem) -> None:
        ref, field = find_named_element(self.session.model, item.data(0, ENTRY).text)
        if ref is not None:
            self.session.select(ref)
            self._go_to(field)


def find_named_element(model: Model, text: str) -> tuple[ElementRef | None, str]:
    """Return the first element of the model that a message names, and the field it mentions ('' for none)."""
    for word, name, field in _NAMED.findall(text):
        ref = ElementRef(_COLLECTIONS[word], name)
        if any(each.name == name for holder in (model, model.expanded) for each in getattr(holder, ref.collection, ())):
            return ref, field
    return None, ""


def create_panel(bench: Workbench) -> LogPanel:
    """Create the Log panel of a window."""

    def go_to_field(field: str) -> None:
        bench.panels.show_panel("properties")
        if field:
            bench.panels.focus_property_field(field)

    return LogPanel(bench.session, go_to_field)
