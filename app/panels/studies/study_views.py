"""Results of a study: a table of rows, and a picture whose kind and quantities are selected above it; a click selects a
row, a double click applies it to the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHBoxLayout, QSizePolicy, QTableView, QVBoxLayout, QWidget

from app.panels.studies.drawings import NO_POINTS, PICTURES, PictureContent, RowPoints
from app.plain_text import escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import severity_color
from app.widgets.picture_frame import PictureColors
from core.errors import KinetostatError

if TYPE_CHECKING:
    from core.studies.study_result import StudyResult


REACH = 9.0
"""Largest distance from a point at which a click selects its row, pixels; maps have no limit."""
EMPTY = "The results of the study are drawn here while it is running."


class PictureCanvas(QWidget):
    """Widget on which the picture is drawn."""

    chosen = Signal(int)
    opened = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Picture of the study")
        self.setMinimumSize(100, 80)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.kind = "scatter"
        self.shown: PictureContent | None = None
        self.points: RowPoints = NO_POINTS

    def show_picture(self, kind: str, content: PictureContent | None) -> None:
        """Show a picture; None if there are no results."""
        self.kind, self.shown = kind, content
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture, or the reason why there is none."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = PictureColors.from_palette(self.palette())
        painter.fillRect(self.rect(), ink.base)
        self.points = NO_POINTS
        said = EMPTY
        if self.shown is not None:
            said = "" if self.shown.result.good.any() else "No row has succeeded yet."
            if not said:
                try:
                    self.points = PICTURES[self.kind].draw(painter, QRectF(self.rect()), self.shown, ink)
                except KinetostatError as error:
                    said = str(error)
        if said:
            painter.setPen(ink.muted)
            words = QRectF(self.rect()).adjusted(12, 0, -12, 0)
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, said)

    def row_at(self, point: QPointF) -> int:
        """Return the row at a point; −1 for none."""
        if not len(self.points.rows):
            return -1
        away = np.hypot(*(self.points.pixels - [point.x(), point.y()]).T)
        nearest = int(np.nanargmin(away))
        return int(self.points.rows[nearest]) if self.kind == "map" or away[nearest] <= REACH else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a row."""
        if (row := self.row_at(event.position())) >= 0:
            self.chosen.emit(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the row under the pointer."""
        if (row := self.row_at(event.position())) >= 0:
            self.opened.emit(row)


class PictureView(QWidget):
    """Selectors for kind and quantities, and the picture below them."""

    def __init__(self) -> None:
        super().__init__()
        self.canvas = PictureCanvas()
        self._result: StudyResult | None = None
        self._row = -1
        self.kind, self.of, self.x, self.y = (NarrowCombo() for _ in range(4))
        for name, picture in PICTURES.items():
            self.kind.addItem(picture.title, name)
        bar = QHBoxLayout()
        bar.setContentsMargins(4, 0, 4, 4)
        for combo, words in (
            (self.kind, "Kind of picture"),
            (self.of, "Quantity shown"),
            (self.x, "Horizontal axis"),
            (self.y, "Vertical axis"),
        ):
            combo.setAccessibleName(words)
            combo.setToolTip(escape_tip(words))
            combo.setMinimumContentsLength(3)
            combo.activated.connect(self._on_kind_changed)
            bar.addWidget(combo, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.canvas, 1)
        self._on_kind_changed()

    def show_result(self, result: StudyResult | None) -> None:
        """Show the results computed so far, keeping the selected quantities."""
        another = result is None or self._result is None or result.declaration.hash != self._result.declaration.hash
        self._result = result
        if another and result is not None and len(result.varied) > 1 and result.declaration.axes[0].how == "grid":
            self.kind.setCurrentIndex(self.kind.findData("map"))
        elif another:
            self.kind.setCurrentIndex(self.kind.findData("scatter"))
        self._row = -1 if another else self._row
        self._on_kind_changed()

    def show_row(self, row: int) -> None:
        """Highlight a row."""
        self._row = row
        self._draw()

    def choose_picture(self, kind: str, of: str = "", x: str = "", y: str = "") -> None:
        """Select kind and quantities of the picture, as the user would."""
        self.kind.setCurrentIndex(self.kind.findData(kind))
        self._on_kind_changed()
        for combo, name in ((self.of, of), (self.x, x), (self.y, y)):
            if name:
                combo.setCurrentIndex(combo.findData(name))
        self._draw()

    def _on_kind_changed(self, _: int = 0) -> None:
        """Update the selectors after another kind of picture was selected."""
        result, picture = self._result, PICTURES[str(self.kind.currentData())]
        curves = list(result.declaration.curves) if result else []
        varied = list(result.varied) if result else []
        numbers = list(result.recorded) if result else []
        _fill_combo(self.of, curves if picture.of == "curves" else numbers)
        _fill_combo(self.x, varied, 0)
        _fill_combo(self.y, varied, 1)
        self.of.setVisible(result is not None)
        self.x.setVisible(picture.x and result is not None)
        self.y.setVisible(picture.y and result is not None)
        self._draw()

    def _draw(self) -> None:
        of, x, y = (str(each.currentData() or "") for each in (self.of, self.x, self.y))
        kind, result = str(self.kind.currentData()), self._result
        shown = PictureContent(result, of, x, y, self._row) if result is not None and of else None
        self.canvas.show_picture(kind, shown)


def _fill_combo(combo: NarrowCombo, names: list[str], first: int = 0) -> None:
    if [combo.itemData(k) for k in range(combo.count())] == names:
        return
    chosen = combo.currentData()
    combo.clear()
    for name in names:
        combo.addItem(name, name)
    at = combo.findData(chosen)
    combo.setCurrentIndex(at if at >= 0 else min(first, combo.count() - 1))


Index: TypeAlias = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class StudyRowModel(QAbstractTableModel):
    """Qt model of the computed rows, optionally of only the failed ones."""

    def __init__(self) -> None:
        super().__init__()
        self.result: StudyResult | None = None
        self.rows: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._names: list[str] = []
        self._columns: list[Any] = []
        self.palette = QPalette()

    def show_result(self, result: StudyResult | None, only_failed: bool) -> None:
        """Show the results computed so far."""
        names: list[str] = []
        rows = np.zeros(0, dtype=np.int64)
        if result is not None:
            names = [*result.varied, *result.recorded]
            rows = np.flatnonzero(result.rows.done & ~result.good) if only_failed else np.flatnonzero(result.rows.done)
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
            return ("Row", "Outcome")[section]
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
            return escape_tip(self.result.rows.messages.get(row, ("", ""))[0])
        if role == Qt.ItemDataRole.ForegroundRole and status != DONE and column == 1:
            return severity_color("error", self.palette)
        return None


class StudyRowTable(QTableView):
    """Table of rows; emits `opened` with the number of a row on a double click, and `chosen` when a row is selected."""

    opened = Signal(int)
    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.rows = StudyRowModel()
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

    def show_result(self, result: StudyResult | None, only_failed: bool) -> None:
        """Show the results computed so far."""
        self.rows.palette = self.palette()
        self.rows.show_result(result, only_failed)

    def select_row(self, row: int) -> None:
        """Select a row of the study if it is shown."""
        at = int(np.searchsorted(self.rows.rows, row))
        if at < len(self.rows.rows) and self.rows.rows[at] == row and self.currentIndex().row() != at:
            self.selectRow(at)

    @property
    def selected_row(self) -> int:
        """Return the selected row of the study; −1 if there is none."""
        at = self.currentIndex().row()
        return int(self.rows.rows[at]) if 0 <= at < len(self.rows.rows) else -1

    def _on_row_changed(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(int(self.rows.rows[now.row()]))
