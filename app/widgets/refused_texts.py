"""Texts in lines and tables of a panel that cannot be read: each stays, marked, with its message, until it is mended or
taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QBrush, QGuiApplication, QPalette
from PySide6.QtWidgets import QLineEdit, QTableWidget, QTableWidgetItem

from app.plain_text import as_tip
from app.widgets.label import severity_color
from core.errors import KinetostatError

REASON = Qt.ItemDataRole.UserRole + 7
"""Item role of a cell whose text cannot be read: the reason."""


class _Line(NamedTuple):
    """A line that is checked: its reader, and its tool tip while it can be read."""

    read: Callable[[], object]
    tip: str

    def toolTip(self) -> str:
        """Return the tool tip while the text can be read."""
        return self.tip


class RefusedTexts(QObject):
    """Checks typed texts when they are finished. Emits `changed(words)`, the reasons of all refused texts, "" for
    none."""

    changed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lines: dict[QLineEdit, _Line] = {}
        self._reasons: dict[QLineEdit, str] = {}
        self._tables: list[tuple[QTableWidget, Callable[[int, int], object]]] = []
        self._words = ""

    # --------------------------------------------------------------------------------------------- watching

    def watch_line(self, line: QLineEdit, read: Callable[[], object]) -> None:
        """Check a line by a function that raises KinetostatError when its text cannot be read."""
        self._lines[line] = _Line(read, line.toolTip())
        line.editingFinished.connect(lambda: self._check_line(line))
        line.textChanged.connect(lambda _: self._check_line(line) if line in self._reasons else None)

    def watch_table(self, table: QTableWidget, read: Callable[[int, int], object]) -> None:
        """Check the cells of a table by a function of row and column that raises KinetostatError."""
        self._tables.append((table, read))
        table.itemChanged.connect(lambda item: self._check_cell(item, read))
        table.model().rowsRemoved.connect(lambda *_: self._tell())

    # --------------------------------------------------------------------------------------------- checking

    def recheck(self) -> None:
        """Check the refused texts again: their machine may have changed."""
        for line in list(self._reasons):
            self._check_line(line)
        for table, read in self._tables:
            for item in _refused_cells(table):
                self._check_cell(item, read)

    def _check_line(self, line: QLineEdit) -> None:
        reason = _reason(self._lines[line].read)
        if reason:
            self._reasons[line] = reason
        else:
            self._reasons.pop(line, None)
        palette = QPalette()  # the parent's
        if reason:
            palette.setColor(QPalette.ColorRole.Text, severity_color("error", QGuiApplication.palette()))
        line.setPalette(palette)
        if reason:
            line.setToolTip(as_tip(reason))
        else:
            line.setToolTip(self._lines[line].toolTip())
        self._tell()

    def _check_cell(self, item: QTableWidgetItem, read: Callable[[int, int], object]) -> None:
        table = item.tableWidget()
        if table is None:
            return
        reason = _reason(lambda: read(item.row(), item.column()))
        if reason == (item.data(REASON) or ""):
            return
        blocked = table.blockSignals(True)
        item.setData(REASON, reason or None)
        item.setToolTip(as_tip(reason))
        item.setForeground(QBrush(severity_color("error", QGuiApplication.palette())) if reason else QBrush())
        table.blockSignals(blocked)
        table.viewport().update()
        self._tell()

    def _tell(self) -> None:
        cells = [str(item.data(REASON)) for table, _ in self._tables for item in _refused_cells(table)]
        words = "\n".join([*self._reasons.values(), *cells])
        if words != self._words:
            self._words = words
            self.changed.emit(words)


def _reason(read: Callable[[], object]) -> str:
    try:
        read()
    except KinetostatError as error:
        return str(error)
    return ""


def _refused_cells(table: QTableWidget) -> list[QTableWidgetItem]:
    cells = (table.item(at, column) for at in range(table.rowCount()) for column in range(table.columnCount()))
    return [item for item in cells if item is not None and item.data(REASON)]
