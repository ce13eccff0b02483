"""Table of an operating point: one quantity per row, with its requirement and its solution, in display units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableWidget, QTableWidgetItem

from app.plain_text import escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import severity_color
from app.widgets.number_table import DisplayedUnits
from app.widgets.quantities.quantity_text import PLAIN, Measure, Units, format_quantity, read
from core.errors import KinetostatError, ModelError
from core.model import TrimRow
from core.model.fields import Value

QUANTITY, ROLE, VALUE, LOW, HIGH, WEIGHT, FOUND, OFF = range(8)
HEADS = ("Quantity", "Role", "Value", "Minimum", "Maximum", "Weight", "Solution", "Deviation")
TIPS = (
    "joint.q, joint.v, joint.a; inputs as joint.tau; parameters; any channel, or a formula of channels",
    "Fixed: held at this value. Free: solved for. Target: as close to this value as possible. Steady: constant in "
    "time. —: no requirement",
    "In the chosen units, or with a unit: 30 deg, 50 mm; formulas in SI: 2*l1",
    "Bound of a free quantity",
    "Bound of a free quantity",
    "Weight of competing targets; empty: 1",
    "Value found by Solve",
    "Solution minus required value",
)
ROLES = ("", "fixed", "free", "target", "steady")
TITLES = {"": "—", "fixed": "Fixed", "free": "Free", "target": "Target", "steady": "Steady"}
TEXTS = {"fixed": (VALUE,), "free": (LOW, HIGH), "target": (VALUE, WEIGHT), "steady": (), "": ()}
"""Columns that each role uses."""
_COLUMNS = (VALUE, LOW, HIGH, WEIGHT)


class QuantityRowText(NamedTuple):
    """Texts in the cells of one row, from quantity to weight."""

    name: str
    role: str
    value: str = ""
    low: str = ""
    high: str = ""
    weight: str = ""


class QuantitySolution(NamedTuple):
    """Solution for one quantity, SI: its value, its deviation from the requirement, and whether the requirement is
    met."""

    value: float | None
    off: float | None
    holds: bool


NOTHING = QuantitySolution(None, None, True)
DIGITS, FOUND_DIGITS, OFF_DIGITS = 8, 6, 4
_FIELDS = {VALUE: "value", LOW: "minimum", HIGH: "maximum", WEIGHT: "weight"}
_WRITTEN = Qt.ItemDataRole.UserRole
"""Item role of cells filled by the program: their text and the value of the document that it stands for."""


class QuantityTable(QTableWidget):
    """Table of quantities. Emits `edited` after every edit of the user."""

    edited = Signal()

    def __init__(self, units: Units, measure_of: Callable[[str], Measure]) -> None:
        """Create the table. measure_of(name) : physical dimension of a quantity."""
        super().__init__(0, len(HEADS))
        self._units, self._measure_of = units, measure_of
        self._shown = DisplayedUnits.copy_from(units)
        self._found_of: Callable[[str], QuantitySolution] = lambda _: NOTHING
        self.setHorizontalHeaderLabels(list(HEADS))
        for k, tip in enumerate(TIPS):
            self.horizontalHeaderItem(k).setToolTip(escape_tip(tip))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setAlternatingRowColors(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.horizontalHeader().setSectionResizeMode(QUANTITY, QHeaderView.ResizeMode.Stretch)
        for column in range(ROLE, len(HEADS)):
            self.setColumnWidth(column, 100 if column == FOUND else 78)
        self._quiet = False
        self.itemChanged.connect(self._on_item_changed)

    def show_rows(self, names: Iterable[str], rows: Iterable[TrimRow] = ()) -> None:
        """List these quantities with the requirements of the document, then further quantities that have
        requirements."""
        self._shown = DisplayedUnits.copy_from(self._units)
        asked = {row.quantity: row for row in rows}
        self._quiet = True
        self.setRowCount(0)
        for name in names:
            self.add_quantity(name, asked.pop(name, None))
        for name, row in asked.items():
            self.add_quantity(name, row)
        self._quiet = False

    def add_quantity(self, name: str, row: TrimRow | None = None) -> None:
        """Add a row for a quantity, with its requirement if it has one."""
        quiet, self._quiet = self._quiet, True
        at = self.rowCount()
        self.insertRow(at)
        for column in range(len(HEADS)):
            item = QTableWidgetItem(name if column == QUANTITY else "")
            if column in (QUANTITY, FOUND, OFF):
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
            self.setItem(at, column, item)
            if row is not None and column in TEXTS[row.role]:
                value = getattr(row, _FIELDS[column])
                self._write_cell(at, column, None if column == WEIGHT and value == 1.0 else value)
        self.item(at, QUANTITY).setToolTip(escape_tip(name))
        combo = NarrowCombo()
        for role in ROLES:
            if role != "steady" or name.endswith(".v"):
                combo.addItem(TITLES[role], role)
        combo.setCurrentIndex(max(0, combo.findData(row.role if row is not None else "")))
        combo.setAccessibleName(f"Role of {name}")
        combo.activated.connect(self._on_role_chosen)
        self.setCellWidget(at, ROLE, combo)
        self._enable_cells(at)
        self._quiet = quiet

    def row_texts(self) -> list[QuantityRowText]:
        """Return the texts of all rows."""
        return [self._row_text(at) for at in range(self.rowCount())]

    def role(self, row: int) -> str:
        """Return the role (fixed, free, target …) of a row."""
        combo = self.cellWidget(row, ROLE)
        return str(combo.currentData()) if isinstance(combo, NarrowCombo) else ""

    def set_role(self, name: str, role: str, value: str = "") -> None:
        """Set the role and value of a quantity, as the user would."""
        at = next(k for k in range(self.rowCount()) if self.item(k, QUANTITY).text() == name)
        combo: Any = self.cellWidget(at, ROLE)
        combo.setCurrentIndex(combo.findData(role))
        self.item(at, VALUE).setText(value)
        self._enable_cells(at)
        self.edited.emit()

    def show_solution(self, find_solution: Callable[[str], QuantitySolution]) -> None:
        """Show the solution; the function returns it for a quantity's name."""
        self._found_of = find_solution
        self._quiet = True
        for at in range(self.rowCount()):
            name = self._cell_text(at, QUANTITY)
            found, measure = find_solution(name), self._measure_of(name)
            off = 0.0 if found.holds and found.off is not None else found.off
            for column, value, digits in ((FOUND, found.value, FOUND_DIGITS), (OFF, off, OFF_DIGITS)):
                self.item(at, column).setText(
                    "" if value is None else format_quantity(value, measure, self._shown, digits)
                )
            color = self.palette().text().color() if found.holds else severity_color("error", self.palette())
            self.item(at, OFF).setForeground(QBrush(color))
        self._quiet = False

    def refresh_units(self, values: Mapping[str, float]) -> None:
        """Convert the numbers after a change of display units. values : parameter values."""
        if self._shown == DisplayedUnits.copy_from(self._units):
            return
        held = {}
        for at in range(self.rowCount()):
            for column in _COLUMNS:
                try:
                    held[at, column] = self._cell_value(at, column, values)
                except KinetostatError:
                    continue  # what cannot be read stays as it is typed, and is told when it is asked for
        self._shown = DisplayedUnits.copy_from(self._units)
        self._quiet = True
        for (at, column), value in held.items():
            self._write_cell(at, column, value)
        self._quiet = False
        self.show_solution(self._found_of)

    def build_trim_rows(self, values: Mapping[str, float]) -> list[TrimRow]:
        """Return the requirements as elements for the document. values : parameter values. Raises ModelError naming the
        row."""
        return [self._build_trim_row(at, values) for at in range(self.rowCount()) if self.role(at)]

    def _build_trim_row(self, row: int, values: Mapping[str, float]) -> TrimRow:
        name, role = self._cell_text(row, QUANTITY), self.role(row)
        try:
            read = {_FIELDS[column]: self._cell_value(row, column, values) for column in TEXTS[role]}
            return TrimRow(quantity=name, role=role, **{field: x for field, x in read.items() if x is not None})
        except KinetostatError as error:
            raise _error_of_row(name, error) from None

    def check_cell(self, row: int, column: int, values: Mapping[str, float]) -> None:
        """Raise ModelError naming the row if a cell that the role uses cannot be read."""
        if column in TEXTS[self.role(row)]:
            try:
                self._cell_value(row, column, values)
            except KinetostatError as error:
                raise _error_of_row(self._cell_text(row, QUANTITY), error) from None

    def _cell_dimension(self, row: int, column: int) -> Measure:
        return PLAIN if column == WEIGHT else self._measure_of(self._cell_text(row, QUANTITY))

    def _write_cell(self, row: int, column: int, value: Value | None) -> None:
        """Write a value of the document into a cell; formulas stay as they are."""
        text = "" if value is None else value
        if not isinstance(text, str):
            text = format_quantity(text, self._cell_dimension(row, column), self._shown, DIGITS)
        self.item(row, column).setText(text)
        self.item(row, column).setData(_WRITTEN, (text, value))

    def _cell_value(self, row: int, column: int, values: Mapping[str, float]) -> Value | None:
        """Return the value of a cell, SI or a formula; None if the cell is empty."""
        text, written = self._cell_text(row, column), self.item(row, column).data(_WRITTEN)
        if written is not None and text == written[0]:
            return written[1]
        return read(text, self._cell_dimension(row, column), self._shown, values) if text else None

    def _cell_text(self, row: int, column: int) -> str:
        return self.item(row, column).text().strip()

    def _row_text(self, row: int) -> QuantityRowText:
        name, value, low, high, weight = (self._cell_text(row, k) for k in (QUANTITY, *_COLUMNS))
        return QuantityRowText(name, self.role(row), value, low, high, weight)

    def _on_role_chosen(self) -> None:
        for at in range(self.rowCount()):
            self._enable_cells(at)
        self.edited.emit()

    def _enable_cells(self, row: int) -> None:
        """Grey out the cells that the role does not use."""
        quiet, self._quiet = self._quiet, True
        read = TEXTS[self.role(row)]
        for column in (VALUE, LOW, HIGH, WEIGHT):
            item, flag = self.item(row, column), Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsEnabled
            item.setFlags(item.flags() | flag if column in read else item.flags() & ~flag)
            item.setBackground(self.palette().alternateBase() if column in read else QBrush())
        self._quiet = quiet

    def _on_item_changed(self, item: QTableWidgetItem) -> None:
        """Append the unit to a typed number; a formula or unreadable text stays as typed."""
        if self._quiet:
            return
        if item.column() in _COLUMNS:
            try:
                value = self._cell_value(item.row(), item.column(), {})
            except KinetostatError:
                value = None
            if isinstance(value, float):
                self._quiet = True
                self._write_cell(item.row(), item.column(), value)
                self._quiet = False
        self.edited.emit()


def _error_of_row(name: str, error: KinetostatError) -> ModelError:
    remedy = error.remedy or "Enter a number, optionally with a unit."
    return ModelError(error.what, where=f"row '{name}'", remedy=remedy)
