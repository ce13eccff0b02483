"""Table of estimates: one row each with the previous value, the estimate, its confidence interval, and a bar that shows
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
)

from app.plain_text import as_tip
from app.widgets.note import severity_color

NAME, ESTIMATE, BAR, INTERVAL, BEFORE, REMARK = range(6)
HEADS = ("Parameter", "Estimate", "", "95 % interval", "Model", "Remark")
MARGIN = 8.0


class Row(NamedTuple):
    """One estimate, SI. before : value in the model; low, high : bounds of the interval, None where there is none;
    remark : note for the user; doubt : True if the note is a warning."""

    name: str
    before: float | None
    value: float | None
    low: float | None
    high: float | None
    remark: str = ""
    doubt: bool = False


class _Bar(QStyledItemDelegate):
    """Delegate that draws the interval as a line, the estimate as a dot and the model's value as a tick, on a separate
    scale for each row."""

    def __init__(self, table: EstimateTable) -> None:
        super().__init__(table)
        self._table = table

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        row = self._table.rows[index.row()]
        values = [x for x in (row.before, row.low, row.high, row.value) if x is not None]
        if row.value is None or not values:
            return
        view: Any = option
        box = QRectF(view.rect).adjusted(MARGIN, 0.0, -MARGIN, 0.0)
        low, high = min(values), max(values)
        size = max(high - low, 1e-9 * max(abs(low), abs(high), 1e-12))
        middle = 0.5 * (low + high)

        def across(x: float) -> float:
            return box.center().x() + box.width() * 0.9 * (x - middle) / size

        palette = self._table.palette()
        muted = palette.color(QPalette.ColorRole.PlaceholderText)
        color = severity_color("warning", palette) if row.doubt else palette.color(QPalette.ColorRole.Highlight)
        y = box.center().y()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        faint = QColor(muted)
        faint.setAlpha(90)
        painter.setPen(QPen(faint, 1.0))
        painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        if row.before is not None:
            painter.setPen(QPen(muted, 1.6))
            painter.drawLine(QPointF(across(row.before), y - 7.0), QPointF(across(row.before), y + 7.0))
        if row.low is not None and row.high is not None:
            painter.setPen(QPen(color, 4.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            painter.drawLine(QPointF(across(row.low), y), QPointF(max(across(row.high), across(row.low) + 1.0), y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(across(row.value), y), 4.0, 4.0)
        painter.restore()


class EstimateTable(QTableWidget):
    """Read-only table of estimates."""

    def __init__(self) -> None:
        super().__init__(0, len(HEADS))
        self.rows: tuple[Row, ...] = ()
        self.setAccessibleName("Estimates")
        self.setHorizontalHeaderLabels(list(HEADS))
        self.horizontalHeaderItem(BAR).setToolTip(
            as_tip("Line: interval; dot: estimate; tick: value in the model; each row has its own scale")
        )
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(24)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.horizontalHeader()
        header.setMinimumSectionSize(44)
        for column, width in ((NAME, 130), (ESTIMATE, 72), (BAR, 100), (INTERVAL, 140), (BEFORE, 72)):
            self.setColumnWidth(column, width)
        header.setStretchLastSection(True)
        self.setItemDelegateForColumn(BAR, _Bar(self))

    def show_rows(self, rows: Sequence[Row], first: str = "Parameter") -> None:
        """Show these rows; `first` is the title of the column of names."""
        self.rows = tuple(rows)
        self.horizontalHeaderItem(NAME).setText(first)
        self.setRowCount(len(rows))
        for at, row in enumerate(rows):
            interval = "" if row.low is None or row.high is None else f"{row.low:.5g} … {row.high:.5g}"
            texts = {NAME: row.name, BEFORE: _number(row.before), ESTIMATE: _number(row.value) or "—",
                     INTERVAL: interval, BAR: "", REMARK: row.remark}  # fmt: skip
            for column, text in texts.items():
                item = QTableWidgetItem(text)
                item.setToolTip(as_tip(text))
                if column in (BEFORE, ESTIMATE, INTERVAL):
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                if column == REMARK and row.doubt:
                    item.setForeground(severity_color("warning", self.palette()))
                self.setItem(at, column, item)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"
