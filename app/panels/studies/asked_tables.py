"""Tables of a study's settings: quantities to vary with small pictures of their distributions, and quantities to
record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPalette, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCompleter,
    QFrame,
    QHeaderView,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.plain_text import escape_tip
from app.widgets.options.signal_options import LastNameCompleter
from app.widgets.picture_frame import PictureColors, with_opacity
from core.errors import KinetostatError, ModelError
from core.model.formula.expression import evaluate, parse
from core.simulation.measures.reductions import FURTHER
from core.studies.declaration import parse_distribution
from core.studies.study_text import is_distribution, parse_recorded_quantity, parse_values

NAME, NOW, VALUES, PICTURE = range(4)
NARROW = 320
"""Table width below which present values are hidden, pixels."""
LEAST_NAME, MOST_NAME, NOW_WIDTH, PICTURE_WIDTH = 52, 84, 64, 36
AROUND = 12
"""Horizontal margin of a cell around its text, pixels."""
HEADS = ("Vary", "Present value", "Values", "")
TIPS = (
    "Varied quantities: parameters of the machine, initial positions and speeds of its joints",
    "Present value, SI",
    "normal(mean, deviation), lognormal(median, deviation), uniform(low, high), triangular(low, peak, high); "
    "0.3:0.5:21 (from:to:count); 0, 5, 10",
    "Distribution",
)
FORMULAS = (
    "Of runs: rms, mean, integral, max, min, span of a channel, at(channel, end) or at a time; a curve: "
    "channel every 0.01. Of poses: formulas of channels, FRAME.manipulability."
)


class DistributionDelegate(QStyledItemDelegate):
    """Delegate that draws the density of a distribution, or the values of a grid, in a cell."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the distribution described by the text in the adjacent cell."""
        text = str(index.siblingAtColumn(VALUES).data() or "")
        widget: Any = option.widget
        ink = PictureColors.from_palette(widget.palette() if widget is not None else QPalette())
        on = index.siblingAtColumn(NAME).data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked.value
        rect = QRectF(option.rect).adjusted(4, 4, -4, -4)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_distribution(painter, rect, text, ink, 255 if on else 90)
        painter.restore()


def draw_distribution(painter: QPainter, rect: QRectF, text: str, ink: PictureColors, alpha: int) -> None:
    """Draw the density of a distribution, or ticks for values; nothing if the text cannot be read."""
    color = with_opacity(ink.data, alpha)
    painter.setPen(QPen(with_opacity(ink.line, alpha), 1.0))
    painter.drawLine(rect.bottomLeft(), rect.bottomRight())
    if is_distribution(text):
        try:
            found = parse_distribution(text)
        except KinetostatError:
            return
        u = np.linspace(0.002, 0.998, 200)
        values = found.quantile(u)
        x = 0.5 * (values[1:] + values[:-1])
        density = np.diff(u) / np.maximum(np.diff(values), 1e-300)
        across = rect.left() + (x - x[0]) / ((x[-1] - x[0]) or 1.0) * rect.width()
        up = rect.bottom() - density / density.max() * rect.height()
        points = [QPointF(rect.left(), rect.bottom()), *map(QPointF, across, up), QPointF(rect.right(), rect.bottom())]
        painter.setPen(QPen(color, 1.2))
        painter.setBrush(with_opacity(ink.data, alpha // 4))
        painter.drawPolygon(QPolygonF(points))
        return
    count = _grid_size(text)
    painter.setPen(QPen(color, 1.6))
    for k in range(min(count, 24)):
        x = rect.left() + (k + 0.5) / min(count, 24) * rect.width()
        painter.drawLine(QPointF(x, rect.bottom()), QPointF(x, rect.top() + 3.0))


def _grid_size(text: str) -> int:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 3 and parts[2].isdigit():
        return int(parts[2][:9])
    return 11 if len(parts) == 2 else len([part for part in text.split(",") if part.strip()])


def _read_number(text: str) -> float:
    """Return a number typed with or without a unit. Raises KinetostatError."""
    return float(evaluate(parse(text), {}))


class VariedTable(QTableWidget):
    """Table of all quantities that can be varied; the checked ones are varied. Emits `edited` after every edit of the
    user."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(HEADS))
        self.setHorizontalHeaderLabels(list(HEADS))
        self.setAccessibleName("Varied quantities")
        for k, tip in enumerate(TIPS):
            self.horizontalHeaderItem(k).setToolTip(escape_tip(tip))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(24)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setItemDelegateForColumn(PICTURE, DistributionDelegate(self))
        self.horizontalHeader().setSectionResizeMode(VALUES, QHeaderView.ResizeMode.Stretch)
        for column, width in ((NAME, MOST_NAME), (NOW, NOW_WIDTH), (PICTURE, PICTURE_WIDTH)):
            self.setColumnWidth(column, width)
        self._quiet = False
        self.itemChanged.connect(lambda _: None if self._quiet else self._on_changed())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the columns to the width; in a narrow table the column of distributions has priority."""
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Give names the width they need; hide present values and pictures where distributions would be cut off."""
        self.setColumnHidden(NOW, self.width() < NARROW)
        self.setColumnWidth(NAME, min(max(self.sizeHintForColumn(NAME) + AROUND, LEAST_NAME), MOST_NAME))
        texts = [self.item(k, VALUES).text() for k in range(self.rowCount())]
        wanted = max(map(self.fontMetrics().horizontalAdvance, texts), default=0) + AROUND
        room = self.viewport().width() - self.columnWidth(NAME) - (0 if self.isColumnHidden(NOW) else NOW_WIDTH)
        self.setColumnHidden(PICTURE, room - PICTURE_WIDTH < wanted)

    def show_rows(self, rows: list[tuple[str, float, str]]) -> None:
        """Show rows of (name, present value, distribution); texts already shown for a name are kept."""
        known = {self.item(k, NAME).text(): k for k in range(self.rowCount())}
        kept = {name: (self.item(k, NAME).checkState(), self.item(k, VALUES).text()) for name, k in known.items()}
        refused = {name for name, k in known.items() if self._is_refused(k)}
        self._quiet = True
        self.setRowCount(0)
        for at, (name, now, values) in enumerate(rows):
            checked, text = kept.get(name, (Qt.CheckState.Unchecked, values))
            if checked == Qt.CheckState.Unchecked and name not in refused:
                text = values
            self.insertRow(at)
            head, shown = QTableWidgetItem(name), QTableWidgetItem(f"{now:.6g}")
            head.setFlags((head.flags() | Qt.ItemFlag.ItemIsUserCheckable) & ~Qt.ItemFlag.ItemIsEditable)
            head.setCheckState(checked)
            head.setToolTip(escape_tip(name))
            shown.setFlags(shown.flags() & ~Qt.ItemFlag.ItemIsEditable)
            picture = QTableWidgetItem()
            picture.setFlags(Qt.ItemFlag.ItemIsEnabled)
            wanted = QTableWidgetItem(text)
            wanted.setToolTip(escape_tip(text))
            for column, item in enumerate((head, shown, wanted, picture)):
                self.setItem(at, column, item)
        self._fit_columns()
        self._quiet = False

    def varied_distributions(self) -> dict[str, str]:
        """Return the distributions of the checked quantities by name."""
        return {
            self.item(k, NAME).text(): self.item(k, VALUES).text().strip()
            for k in range(self.rowCount())
            if self.item(k, NAME).checkState() == Qt.CheckState.Checked
        }

    def _is_refused(self, row: int) -> bool:
        try:
            self.check_cell(row, VALUES)
        except KinetostatError:
            return True
        return False

    def check_cell(self, row: int, column: int) -> None:
        """Raise ModelError naming the quantity if its values or its distribution cannot be read."""
        if column != VALUES or self.item(row, NAME) is None:
            return
        text = self.item(row, VALUES).text().strip()
        try:
            if is_distribution(text):
                parse_distribution(text, _read_number)
            elif not parse_values(text, _read_number):
                raise ModelError("Values are missing.", remedy="Write from:to:count, a list, or a distribution.")
        except KinetostatError as error:
            raise error.at(where=f"'{self.item(row, NAME).text()}'") from None

    def show_varied(self, varied: Mapping[str, str]) -> list[str]:
        """Check these quantities and no others; return the names that have no row."""
        self._quiet = True
        for k in range(self.rowCount()):
            name = self.item(k, NAME).text()
            self.item(k, NAME).setCheckState(Qt.CheckState.Checked if name in varied else Qt.CheckState.Unchecked)
            if name in varied:
                self.item(k, VALUES).setText(varied[name])
                self.item(k, VALUES).setToolTip(escape_tip(varied[name]))
        self._fit_columns()
        self._quiet = False
        self.viewport().update()
        return [name for name in varied if name not in {self.item(k, NAME).text() for k in range(self.rowCount())}]

    def check_quantity(self, name: str, values: str = "") -> None:
        """Check a quantity with a distribution, as the user would."""
        at = next(k for k in range(self.rowCount()) if self.item(k, NAME).text() == name)
        if values:
            self.item(at, VALUES).setText(values)
        self.item(at, NAME).setCheckState(Qt.CheckState.Checked)

    def _on_changed(self) -> None:
        self._fit_columns()
        self.viewport().update()
        self.edited.emit()


class _FormulaDelegate(QStyledItemDelegate):
    """Delegate whose editor completes names in formulas."""

    def __init__(self, names: Callable[[], tuple[str, ...]], parent: QWidget) -> None:
        super().__init__(parent)
        self._names = names

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        """Create a line edit with completion."""
        line = QLineEdit(parent)
        completer = LastNameCompleter(list(self._names()), line)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.popup().setObjectName("completions")
        line.setCompleter(completer)
        return line


class RecordTable(QTableWidget):
    """Table of names and formulas to record; the last row is always empty for a new entry. Emits `edited` after every
    edit of the user."""

    edited = Signal()

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        """Create the table. names : returns the names that formulas may use."""
        super().__init__(0, 2)
        self.setHorizontalHeaderLabels(["Record", "Formula"])
        self.setAccessibleName("Recorded quantities")
        self.horizontalHeaderItem(1).setToolTip(escape_tip(FORMULAS))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(24)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setItemDelegateForColumn(1, _FormulaDelegate(names, self))
        self.setColumnWidth(0, 104)
        self.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self._quiet = False
        self.itemChanged.connect(lambda _: None if self._quiet else self._on_changed())
        self.show_formulas({})

    def recorded_formulas(self) -> dict[str, str]:
        """Return formulas by name; rows without a name are named by their number."""
        found: dict[str, str] = {}
        for k in range(self.rowCount()):
            name, formula = (self.item(k, column).text().strip() for column in (0, 1))
            if formula:
                found[name or f"r{k + 1}"] = formula
        return found

    def check_cell(self, row: int, column: int) -> None:
        """Raise KinetostatError naming the row if its formula cannot be parsed."""
        if column != 1 or not (text := self.item(row, 1).text().strip()):
            return
        name = self.item(row, 0).text().strip() or f"r{row + 1}"
        try:
            meant = parse_recorded_quantity(name, text)
            parse(meant if isinstance(meant, str) else meant[0], "native", FURTHER)
        except KinetostatError as error:
            raise error.at(where=f"record '{name}'") from None

    def show_formulas(self, record: Mapping[str, str]) -> None:
        """Show these formulas, and an empty row."""
        self._quiet = True
        self.setRowCount(0)
        for name, formula in (*record.items(), ("", "")):
            self._add_row(name, formula)
        self._quiet = False

    def _add_row(self, name: str, formula: str) -> None:
        at = self.rowCount()
        self.insertRow(at)
        self.setItem(at, 0, QTableWidgetItem(name))
        self.setItem(at, 1, QTableWidgetItem(formula))

    def _on_changed(self) -> None:
        last = self.rowCount() - 1
        if self.item(last, 1).text().strip():
            self._quiet = True
            self._add_row("", "")
            self._quiet = False
        self.edited.emit()
