"""Sortable tables of results, shown in display units."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, QSortFilterProxyModel, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app.plain_text import escape_tip
from core.functions.results import Table
from core.functions.text import Cell, Column, cell_number_and_dimension, column_heading, format_cell

MOST_ROWS = 14
"""Number of rows shown before the table scrolls."""
MOST_MEASURED = 1000
"""Number of rows measured to determine the column widths."""
MARGIN = 6
"""Margin on either side of a text when a column has its minimum width, pixels."""
Index: TypeAlias = QModelIndex | QPersistentModelIndex


class ResultTableModel(QAbstractTableModel):
    """Qt model of a result table."""

    def __init__(self, table: Table, units: Any) -> None:
        super().__init__()
        self.table, self._units = table, units

    def show_table(self, table: Table) -> None:
        """Show another table; the view's state (sorting, widths) is kept if the shape is the same."""
        old, self.table = self.table, table
        if old.columns == table.columns and len(old.rows) == len(table.rows):
            if table.rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(table.rows) - 1, len(table.columns) - 1))
        else:
            self.beginResetModel()
            self.endResetModel()

    def refresh(self) -> None:
        """Format all numbers again after a change of units."""
        self.beginResetModel()
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.table.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return text, alignment, or the number to sort by."""
        cell, column = self.table.rows[index.row()][index.column()], self.table.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell_text(cell, column)
        if role == Qt.ItemDataRole.UserRole:
            amount = cell_number_and_dimension(cell, column)[0]
            return math.inf if amount is None and not isinstance(cell, str) else cell if amount is None else amount
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            amount = cell_number_and_dimension(cell, column)[0]
            return None if amount is None else escape_tip(f"{amount!r} (SI)")
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return column titles with units."""
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Horizontal:
            return self._alignment(section)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation == Qt.Orientation.Vertical:
            return section + 1
        return column_heading(
            self.table.columns[section], degrees=self._units.degrees, millimetres=self._units.millimetres
        )

    def _alignment(self, index: int) -> Qt.AlignmentFlag:
        """Return the alignment of a column: right if it contains any number, otherwise left."""
        words = all(isinstance(row[index], str) for row in self.table.rows)
        side = Qt.AlignmentFlag.AlignLeft if words else Qt.AlignmentFlag.AlignRight
        return side | Qt.AlignmentFlag.AlignVCenter

    def _cell_text(self, cell: Cell, column: Column) -> str:
        return format_cell(cell, column, degrees=self._units.degrees, millimetres=self._units.millimetres)


class TableView(QTableView):
    """Table as tall as its rows, up to a limit; a click on a column title sorts it. In narrow panels columns shrink to
    their texts before the table scrolls horizontally."""

    def __init__(self, table: Table, units: Any) -> None:
        super().__init__()
        self.content = ResultTableModel(table, units)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSortRole(Qt.ItemDataRole.UserRole)
        self._sorted.setSourceModel(self.content)
        self.setModel(self._sorted)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        head = self.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        head.setHighlightSections(False)
        head.setStretchLastSection(False)
        self._sorted.sort(-1)
        self.setSortingEnabled(True)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.sortIndicatorChanged.connect(lambda *_: self._distribute_width())
        self._natural: list[int] = []
        self._given: list[int] = []
        self._least: list[int] = []
        self._fit_size()

    def sizeHint(self) -> QSize:
        """Return the size at which all columns are visible."""
        return QSize(self.maximumWidth(), self.maximumHeight())

    def show_table(self, table: Table) -> None:
        """Show another table."""
        same = self.content.table.columns == table.columns and len(self.content.table.rows) == len(table.rows)
        self.content.show_table(table)
        if not same:
            self._fit_size()

    def source_row(self, index: Index) -> int:
        """Return the row of the table for an index of the sorted view; −1 if there is none."""
        return self._sorted.mapToSource(index).row()

    def refresh(self) -> None:
        """Update all numbers after a change of units."""
        self.content.refresh()
        self._fit_size()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the column widths to the available width."""
        super().resizeEvent(event)
        self._distribute_width()

    def _column_widths(self) -> list[int]:
        return [self.columnWidth(k) for k in range(self.content.columnCount())]

    def _distribute_width(self) -> None:
        """Distribute the width among columns that the user has not resized, none narrower than its texts; the sorted
        column keeps room for the sort arrow."""
        natural, available = self._natural, self.viewport().width()
        if self._column_widths() != self._given:
            return
        wanted = natural if sum(natural) <= available else self._fitting_widths(natural, available)
        if wanted != self._given:
            for k, width in enumerate(wanted):
                self.setColumnWidth(k, width)
            self._given = self._column_widths()

    def _fitting_widths(self, natural: list[int], available: int) -> list[int]:
        """Return column widths in pixels that fit the available width as far as the texts allow."""
        self._least = self._least or [self._text_width(k) for k in range(len(natural))]
        arrow = self.horizontalHeader().sortIndicatorSection()
        least = [width if k == arrow else min(width, self._least[k]) for k, width in enumerate(natural)]
        slack = sum(natural) - sum(least)
        share = max(0.0, available - sum(least)) / slack if slack else 0.0
        return [low + math.floor(share * (width - low)) for low, width in zip(least, natural, strict=True)]

    def _text_width(self, column: int) -> int:
        """Return the width that a column's title and the texts of its first rows need, pixels."""
        content, rows = self.content, range(min(MOST_MEASURED, self.content.rowCount()))
        title = (
            self.horizontalHeader()
            .fontMetrics()
            .horizontalAdvance(content.headerData(column, Qt.Orientation.Horizontal))
        )
        advance = self.fontMetrics().horizontalAdvance
        return max([title, *(advance(str(content.data(content.index(row, column)))) for row in rows)]) + 2 * MARGIN

    def _fit_size(self) -> None:
        self.resizeColumnsToContents()
        self._natural = self._given = self._column_widths()
        self._least = []
        rows = min(MOST_ROWS, len(self.content.table.rows))
        height = self.horizontalHeader().sizeHint().height() + rows * self.verticalHeader().defaultSectionSize()
        length = self.horizontalHeader().length()
        self.setMaximumWidth(length + 4 + (self.verticalScrollBar().sizeHint().width() if rows == MOST_ROWS else 0))
        wide = length > 320
        self.setFixedHeight(height + 4 + (self.horizontalScrollBar().sizeHint().height() if wide else 0))
        self._distribute_width()
