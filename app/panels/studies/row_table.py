"""Rows of a study as a table: varied quantities, recorded quantities, and outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QAbstractItemView, QFrame, QTableView

from app.plain_text import as_tip
from app.widgets.note import severity_color

if TYPE_CHECKING:
    from core.studies.study_result import StudyResult

Index: TypeAlias = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class RowModel(QAbstractTableModel):
    """Qt model of the computed rows, optionally of the failed ones only."""

    def __init__(self) -> None:
        super().__init__()
        self.result: StudyResult | None = None
        self.rows: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._names: list[str] = []
        self._columns: list[Any] = []
        self.palette = QPalette()

    def show_result(self, result: StudyResult | None, failed_alone: bool) -> None:
        """Show the results computed so far."""
        names: list[str] = []
        rows = np.zeros(0, dtype=np.int64)
        if result is not None:
            names = [*result.varied, *result.recorded]
            rows = np.flatnonzero(result.rows.done & ~result.good) if failed_alone else np.flatnonzero(result.rows.done)
        same = (
            names == self._names and len(rows) >= len(self.rows) and np.array_equal(rows[: len(self.rows)], self.rows)
        )
        if same and len(rows) > len(self.rows):
            self.beginInsertRows(NO_PARENT, len(self.rows), len(rows) - 1)
        elif not same:
            self.beginResetModel()
        grown, self.rows, self.result, self._names = same and len(rows) > len(self.rows), rows, result, names
        self._columns = [] if result is None else [result.column(name) for name in names]
        if grown:
            self.endInsertRows()
        elif not same:
            self.endResetModel()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        """Return the number of rows shown."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        """Return the number of columns: row number, outcome, and the quantities."""
        return 0 if parent.isValid() or self.result is None else 2 + len(self._names)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the names of the columns."""
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole or self.result is None:
            return None
        if section < 2:
            return ("Row", "Ended")[section]
        name = self._names[section - 2]
        unit = self.result.unit(name)
        return f"{name}, {unit}" if unit else name

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return numbers with six digits; the reason of a failure as a tool tip."""
        from core.studies.sample_rows import DONE, WORDS

        if self.result is None or not index.isValid():
            return None
        row, column = int(self.rows[index.row()]), index.column()
        status = int(self.result.rows.status[row])
        if role == Qt.ItemDataRole.DisplayRole:
            if column < 2:
                return str(row) if column == 0 else WORDS[status]
            value = float(self._columns[column - 2][row])
            return f"{value:.6g}" if np.isfinite(value) else ""
        if role == Qt.ItemDataRole.ToolTipRole and status != DONE:
            return as_tip(self.result.rows.messages.get(row, ("", ""))[0])
        if role == Qt.ItemDataRole.ForegroundRole and status != DONE and column == 1:
            return severity_color("error", self.palette)
        return None


class RowTable(QTableView):
    """Table of rows; emits `opened` with the number of a row on a double click, `chosen` when it is selected."""

    opened = Signal(int)
    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.rows = RowModel()
        self.setModel(self.rows)
        self.setAccessibleName("Rows")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(22)
        self.horizontalHeader().setDefaultSectionSize(84)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.doubleClicked.connect(lambda index: self.opened.emit(int(self.rows.rows[index.row()])))
        self.selectionModel().currentRowChanged.connect(self._on_row_changed)

    def show_result(self, result: StudyResult | None, failed_alone: bool) -> None:
        """Show the results computed so far."""
        self.rows.palette = self.palette()
        self.rows.show_result(result, failed_alone)

    def choose(self, row: int) -> None:
        """Select a row of the study, if it is shown."""
        at = int(np.searchsorted(self.rows.rows, row))
        if at < len(self.rows.rows) and self.rows.rows[at] == row and self.currentIndex().row() != at:
            self.selectRow(at)

    @property
    def row(self) -> int:
        """Return the selected row of the study; −1 for none."""
        at = self.currentIndex().row()
        return int(self.rows.rows[at]) if 0 <= at < len(self.rows.rows) else -1

    def _on_row_changed(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(int(self.rows.rows[now.row()]))
