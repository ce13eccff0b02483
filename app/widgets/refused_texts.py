"""Checks of typed text in lines and tables of a panel: text that cannot be read stays and is marked with its message
until it is corrected or discarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QBrush, QGuiApplication, QPalette
from PySide6.QtWidgets import QLineEdit, QTableWidget, QTableWidgetItem

from app.plain_text import escape_tip
from app.widgets.label import severity_color
from core.errors import KinetostatError

REASON = Qt.ItemDataRole.UserRole + 7
"""Item data role that holds the reason why a cell's text cannot be read."""


class _CheckedLine(NamedTuple):
    """A checked line edit: the function that reads its text, and its normal tool tip."""

    read: Callable[[], object]
    tip: str

    def toolTip(self) -> str:
        """Return the tool tip that the line has while its text can be read."""
        return self.tip


class InputChecker(QObject):
    """Checks typed texts once they are finished. Emits `changed(words)` with the reasons of all refused texts, "" if
    there are none."""

    changed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lines: dict[QLineEdit, _CheckedLine] = {}
        self._reasons: dict[QLineEdit, str] = {}
        self._tables: list[tuple[QTableWidget, Callable[[int, int], object]]] = []
        self._words = ""

    # --------------------------------------------------------------------------------------------- watching

    def watch_line(self, line: QLineEdit, read_text: Callable[[], object]) -> None:
        """Check a line edit with a function that raises KinetostatError if its text cannot be read."""
        self._lines[line] = _CheckedLine(read_text, line.toolTip())
        line.editingFinished.connect(lambda: self._check_line(line))
        line.textChanged.connect(lambda _: self._check_line(line) if line in self._reasons else None)

    def watch_table(self, table: QTableWidget, read_cell: Callable[[int, int], object]) -> None:
        """Check the cells of a table with a function of row and column that raises KinetostatError."""
        self._tables.append((table, read_cell))
        table.itemChanged.connect(lambda item: self._check_cell(item, read_cell))
        table.model().rowsRemoved.connect(lambda *_: self._report_reasons())

    # --------------------------------------------------------------------------------------------- checking

    def recheck_refused_texts(self) -> None:
        """Check the refused texts again, as the machine may have changed."""
        for line in list(self._reasons):
            self._check_line(line)
        for table, read in self._tables:
            for item in _refused_cells(table):
                self._check_cell(item, read)

    def _check_line(self, line: QLineEdit) -> None:
        reason = _refusal_reason(self._lines[line].read)
        if reason:
            self._reasons[line] = reason
        else:
            self._reasons.pop(line, None)
        palette = QPalette()  # the parent's
        if reason:
            palette.setColor(QPalette.ColorRole.Text, severity_color("error", QGuiApplication.palette()))
        line.setPalette(palette)
        if reason:
            line.setToolTip(escape_tip(reason))
        else:
            line.setToolTip(self._lines[line].toolTip())
        self._report_reasons()

    def _check_cell(self, item: QTableWidgetItem, read_cell: Callable[[int, int], object]) -> None:
        table = item.tableWidget()
        if table is None:
            return
        reason = _refusal_reason(lambda: read_cell(item.row(), item.column()))
        if reason == (item.data(REASON) or ""):
            return
        blocked = table.blockSignals(True)
        item.setData(REASON, reason or None)
        item.setToolTip(escape_tip(reason))
        item.setForeground(QBrush(severity_color("error", QGuiApplication.palette())) if reason else QBrush())
        table.blockSignals(blocked)
        table.viewport().update()
        self._report_reasons()

    def _report_reasons(self) -> None:
        cells = [str(item.data(REASON)) for table, _ in self._tables for item in _refused_cells(table)]
        words = "\n".join([*self._reasons.values(), *cells])
        if words != self._words:
            self._words = words
            self.changed.emit(words)


def _refusal_reason(read_text: Callable[[], object]) -> str:
    try:
        read_text()
    except KinetostatError as error:
        return str(error)
    return ""


def _refused_cells(table: QTableWidget) -> list[QTableWidgetItem]:
    cells = (table.item(at, column) for at in range(table.rowCount()) for column in range(table.columnCount()))
    return [item for item in cells if item is not None and item.data(REASON)]
