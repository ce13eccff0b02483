"""Tables of numbers in display units: rows that are typed, pasted from a spreadsheet or read from a CSV file, and the
machine's free parameters, of which the checked ones are varied between bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem

from app.widgets.panel_parts import LEAST_HEIGHT, ROW_HEIGHT, create_read_only_cell
from app.widgets.quantities.quantity_text import (
    Measure,
    SIUnits,
    Units,
    format_number,
    format_quantity,
    measure_of,
    read,
)
from core.errors import FileError, KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.model.fields import Value
from core.model.units import split_column_heading

NAME, NOW, FROM, TO = range(4)
VARY_HEADS = ("Vary", "Now", "From", "To")
VARY_SPREAD = (0.5, 1.5)
"""Default bounds of a parameter that has none, as factors of its value."""
VARY_DIGITS = 6


@dataclass
class DisplayedUnits:
    """Copy of the display units with which the numbers in a table were written."""

    degrees: bool
    millimetres: bool

    @classmethod
    def copy_from(cls, units: Units) -> DisplayedUnits:
        """Copy the user's present choice of units."""
        return cls(units.degrees, units.millimetres)


class VariedParametersTable(QTableWidget):
    """Table of parameters that can be varied; emits `edited` after every edit by the user. allow_unbounded : parameters
    without bounds have empty cells, meaning unbounded; otherwise default bounds around the value."""

    edited = Signal()

    def __init__(self, units: Units | None = None, *, allow_unbounded: bool = False) -> None:
        super().__init__(0, len(VARY_HEADS))
        self._units: Units = units or SIUnits()
        self._written = DisplayedUnits.copy_from(self._units)
        self._open_ends = allow_unbounded
        self._measures: dict[str, Measure] = {}
        self._values: Mapping[str, float] = {}
        self.setHorizontalHeaderLabels(list(VARY_HEADS))
        self.setAccessibleName("Parameters to vary")
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.setFrameShape(QTableWidget.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.setMinimumHeight(LEAST_HEIGHT)
        self.horizontalHeader().setMinimumSectionSize(44)
        self.horizontalHeader().setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in ((NOW, 74), (FROM, 60), (TO, 60)):
            self.setColumnWidth(column, width)
        self._quiet = False
        self.itemChanged.connect(lambda _: None if self._quiet else self.edited.emit())

    # --------------------------------------------------------------------------------------------- showing

    def show_parameters(self, model: Model, mech: Mechanism) -> None:
        """Show one row per free parameter; checked rows stay checked and keep their bounds."""
        kept, refused = self._typed_bounds(), self._refused_bounds()
        same = self._written == DisplayedUnits.copy_from(self._units)
        self._written = DisplayedUnits.copy_from(self._units)
        self._values = model.values()
        self._measures = {name: measure_of(model.expanded.find("parameters", name).dimension) for name in mech.p_names}
        self._quiet = True
        self.setRowCount(len(self._measures))
        for at, name in enumerate(self._measures):
            parameter = model.expanded.find("parameters", name)
            now = format_quantity(self._values[name], self._measures[name], self._written, VARY_DIGITS)
            head = create_read_only_cell(name, f"{name}: {parameter.description}" if parameter.description else name)
            head.setFlags(head.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            head.setCheckState(Qt.CheckState.Checked if name in kept else Qt.CheckState.Unchecked)
            own = [
                "" if end is None and self._open_ends else self._bound_text(end, factor, name)
                for end, factor in zip((parameter.minimum, parameter.maximum), VARY_SPREAD, strict=True)
            ]
            low, high = kept.get(name, own) if same else own
            low, high = (refused.get((name, column), text) for column, text in ((FROM, low), (TO, high)))
            for column, item in enumerate(
                (head, create_read_only_cell(now), QTableWidgetItem(low), QTableWidgetItem(high))
            ):
                self.setItem(at, column, item)
        self._quiet = False

    def _bound_text(self, bound: Value | None, factor: float, name: str) -> str:
        """Return a bound as text in display units."""
        if isinstance(bound, str):
            return bound
        return format_number(
            self._values[name] * factor if bound is None else bound, self._measures[name], self._written, VARY_DIGITS
        )

    def refresh_units(self) -> None:
        """Convert the numbers after a change of display units."""
        if self._written == DisplayedUnits.copy_from(self._units):
            return
        refused = self._refused_bounds()
        bounds = {
            (at, column): self._read_bound(at, name, column)
            for at, name in enumerate(self._measures)
            for column in (FROM, TO)
            if (name, column) not in refused  # such a text stays as it is typed
        }
        self._written = DisplayedUnits.copy_from(self._units)
        self._quiet = True
        for at, name in enumerate(self._measures):
            self.item(at, NOW).setText(
                format_quantity(self._values[name], self._measures[name], self._written, VARY_DIGITS)
            )
        for (at, column), end in bounds.items():
            self.item(at, column).setText("" if end is None else self._bound_text(end, 1.0, self.parameter_names[at]))
        self._quiet = False

    # ----------------------------------------------------------------------------------------------- asking

    def checked_count(self) -> int:
        """Return the number of checked parameters."""
        return sum(self._is_checked(at) for at in range(self.rowCount()))

    @property
    def parameter_names(self) -> list[str]:
        """Return the names of all rows."""
        return list(self._measures)

    def _is_checked(self, row: int) -> bool:
        return self.item(row, NAME).checkState() == Qt.CheckState.Checked

    def _typed_bounds(self) -> dict[str, list[str]]:
        """Return the typed bounds of the checked parameters."""
        rows = [(at, name) for at, name in enumerate(self._measures) if self._is_checked(at)]
        return {name: [self.item(at, column).text() for column in (FROM, TO)] for at, name in rows}

    def _refused_bounds(self) -> dict[tuple[str, int], str]:
        """Return the typed bounds that cannot be parsed, by parameter and column."""
        found = {}
        for at, name in enumerate(self._measures):
            for column in (FROM, TO):
                try:
                    self._read_bound(at, name, column)
                except KinetostatError:
                    found[name, column] = self.item(at, column).text()
        return found

    def check_cell(self, row: int, column: int) -> None:
        """Raise ModelError naming the cell if its bound cannot be parsed."""
        if column in (FROM, TO):
            self._read_bound(row, self.parameter_names[row], column)

    def bounds(self, *, all_rows: bool = False) -> dict[str, tuple[Value | None, Value | None]]:
        """Return name → (from, to) of the checked parameters (`all_rows`: of all rows), as SI numbers or formulas, None
        for empty cells. Raises ModelError naming the cell."""
        found = {}
        for at, name in enumerate(self._measures):
            if all_rows or self._is_checked(at):
                found[name] = (self._read_bound(at, name, FROM), self._read_bound(at, name, TO))
        return found

    def _read_bound(self, row: int, name: str, column: int) -> Value | None:
        text = self.item(row, column).text().strip()
        if not text:
            return None
        try:
            return read(text, self._measures[name], self._written, self._values)
        except KinetostatError as error:
            raise ModelError(error.what, where=f"row '{name}', {VARY_HEADS[column]}", remedy=error.remedy) from None

    def check_rows(self, *names: str) -> None:
        """Check the rows of these parameters, as a click of the user would."""
        for at, name in enumerate(self._measures):
            if name in names:
                self.item(at, NAME).setCheckState(Qt.CheckState.Checked)

    def show_bounds(self, bounds: Mapping[str, tuple[Value | None, Value | None]]) -> list[str]:
        """Check exactly these parameters and show their bounds where given; return the names that have no row."""
        self._quiet = True
        for at, name in enumerate(self._measures):
            self.item(at, NAME).setCheckState(Qt.CheckState.Checked if name in bounds else Qt.CheckState.Unchecked)
            for column, end in zip((FROM, TO), bounds.get(name, ()), strict=False):
                if end is not None:
                    self.item(at, column).setText(self._bound_text(end, 1.0, name))
        self._quiet = False
        return [name for name in bounds if name not in self._measures]


MOST_ROWS = 1000
CELL_DIGITS = 8
_DECIMAL_COMMA = re.compile(r"^[-+]?\d+,\d+([eE][-+]?\d+)?$")


class NumberColumn(NamedTuple):
    """A column: its title and physical dimension."""

    title: str
    measure: Measure


class NumberTable(QTableWidget):
    """Table whose last row is always empty, ready for a new entry; Ctrl+V pastes rows, Delete empties cells. Emits
    `edited` after every edit by the user."""

    edited = Signal()
    refused = Signal(str)
    """Emitted with the reason why pasted text is refused."""

    def __init__(self, name: str, units: Units | None = None) -> None:
        """Create the table. name : description of the rows, for messages and screen readers."""
        super().__init__(0, 0)
        self._name = name
        self._units: Units = units or SIUnits()
        self._written = DisplayedUnits.copy_from(self._units)
        self._columns: tuple[NumberColumn, ...] = ()
        self.setAccessibleName(name)
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.setFrameShape(QTableWidget.Shape.NoFrame)
        self.setMinimumHeight(LEAST_HEIGHT)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setMinimumSectionSize(40)
        self._quiet = False
        self.itemChanged.connect(lambda _: None if self._quiet else self._on_changed())

    # --------------------------------------------------------------------------------------------- showing

    def set_columns(self, columns: Sequence[NumberColumn]) -> None:
        """Set the column titles with units; typed numbers are kept if the number of columns stays the same."""
        if len(columns) != len(self._columns):
            self.setRowCount(0)
        self._columns = tuple(columns)
        self.setColumnCount(len(columns))
        self._write_column_titles()
        if columns:
            self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        if not self.rowCount():
            self.show_rows(())

    def _write_column_titles(self) -> None:
        heads = []
        for title, measure in self._columns:
            symbol = measure.display_unit(self._written).symbol
            heads.append(f"{title}, {symbol}" if symbol else title)
        self.setHorizontalHeaderLabels(heads)

    def show_rows(self, rows: Sequence[Sequence[Value]]) -> None:
        """Show rows of numbers (SI) or formulas."""
        self._written = DisplayedUnits.copy_from(self._units)
        self._write_column_titles()
        self._quiet = True
        self.setRowCount(0)
        self.setRowCount(len(rows) + 1)
        for at, row in enumerate(rows):
            for column, value in enumerate(row):
                self.setItem(at, column, QTableWidgetItem(self._number_text(value, column)))
        self._quiet = False

    def _number_text(self, value: Value, column: int) -> str:
        """Return a number as text in display units; formulas stay as they are."""
        if isinstance(value, str):
            return value
        return format_number(float(value), self._columns[column].measure, self._written, CELL_DIGITS)

    def refresh_units(self, values: Mapping[str, float]) -> None:
        """Convert the numbers after a change of display units."""
        if self._written == DisplayedUnits.copy_from(self._units):
            return
        held = {}
        for at in range(self.rowCount()):
            for column in range(len(self._columns)):
                try:
                    held[at, column] = self._parse_cell(self._cell_text(at, column), at, column, values)
                except KinetostatError:
                    continue  # what cannot be read stays as it is typed
        self._written = DisplayedUnits.copy_from(self._units)
        self._write_column_titles()
        self._quiet = True
        for (at, column), value in held.items():
            self.item(at, column).setText(self._number_text(value, column))
        self._quiet = False

    # ----------------------------------------------------------------------------------------------- asking

    def _cell_text(self, row: int, column: int) -> str:
        item = self.item(row, column)
        return item.text().strip() if item is not None else ""

    def filled_row_count(self) -> int:
        """Return the number of rows that are not empty."""
        return sum(any(self._cell_text(at, k) for k in range(self.columnCount())) for at in range(self.rowCount()))

    def read_rows(self, values: Mapping[str, float]) -> list[tuple[Value, ...]]:
        """Return the rows as numbers in SI, or as formulas over the parameters `values`; empty rows are left out.
        Raises ModelError naming the cell."""
        found = []
        for at in range(self.rowCount()):
            texts = [self._cell_text(at, column) for column in range(len(self._columns))]
            if any(texts):
                found.append(tuple(self._parse_cell(text, at, k, values) for k, text in enumerate(texts)))
        return found

    def check_cell(self, row: int, column: int, values: Mapping[str, float]) -> None:
        """Raise ModelError naming the cell if its text cannot be parsed."""
        if (text := self._cell_text(row, column)) and column < len(self._columns):
            self._parse_cell(text, row, column, values)

    def _parse_cell(self, text: str, row: int, column: int, values: Mapping[str, float]) -> Value:
        title, measure = self._columns[column]
        where = f"{self._name}, row {row + 1}, {title}"
        if not text:
            raise ModelError("A number is missing.", where=where, remedy="Enter a number, or clear the row.")
        try:
            return read(text, measure, self._written, values)
        except KinetostatError as error:
            raise ModelError(error.what, where=where, remedy=error.remedy) from None

    # ---------------------------------------------------------------------------------------------- editing

    def read_rows_from_text(self, text: str, name: str, *, first_row: int | None = None) -> int:
        """Read rows from text whose cells are separated by tabs, semicolons, commas or spaces. A title row may give
        units, "angle [deg]"; otherwise those of the columns apply. first_row : first row to overwrite; None: replace
        all rows. Returns the number of rows. Raises FileError naming the line."""
        rows = self._checked_cells(text, name)
        self._quiet = True
        if first_row is None:
            self.setRowCount(0)
            first_row = 0
        self.setRowCount(max(self.rowCount(), first_row + len(rows) + 1))
        for k, row in enumerate(rows):
            for column, cell in enumerate(row):
                self.setItem(first_row + k, column, QTableWidgetItem(cell))
        self._quiet = False
        self._on_changed()
        return len(rows)

    def _checked_cells(self, text: str, name: str) -> list[list[str]]:
        """Return the cells of a text after checking that each can be parsed."""
        rows: list[list[str]] = []
        units = [""] * len(self._columns)
        for line_number, line in enumerate(text.splitlines(), 1):
            cells = _split_cells(line)
            if not cells or line.lstrip().startswith("#"):
                continue
            where = f"{name}, line {line_number}"
            if not rows and not any(cell[:1] in "+-.0123456789" for cell in cells):
                units = [split_column_heading(cell)[1] for cell in cells]
                continue
            if len(cells) != len(self._columns) or len(rows) >= MOST_ROWS:
                titles = ", ".join(title for title, _ in self._columns)
                what = (
                    f"The row has {len(cells)} columns instead of {len(self._columns)}."
                    if len(rows) < MOST_ROWS
                    else f"The table has more than {MOST_ROWS} rows."
                )
                raise FileError(what, where=where, remedy=f"Each row must have the columns {titles}.")
            row = [f"{cell} {unit}".strip() for cell, unit in zip(cells, [*units, *[""] * len(cells)], strict=False)]
            for cell, column in zip(row, self._columns, strict=True):
                try:
                    read(cell, column.measure, self._written, {})
                except KinetostatError as error:
                    raise FileError(error.what, where=f"{where}, {column.title}", remedy=error.remedy) from None
            rows.append(row)
        if not rows:
            raise FileError("The text contains no rows of numbers.", where=name, remedy="Give one row per line.")
        return rows

    def paste_rows(self) -> int:
        """Paste rows from the clipboard, starting at the current row. Raises FileError."""
        return self.read_rows_from_text(
            QGuiApplication.clipboard().text(), "clipboard", first_row=max(self.currentRow(), 0)
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle paste and delete."""
        if event.matches(QKeySequence.StandardKey.Paste):
            try:
                self.paste_rows()
            except KinetostatError as error:
                self.refused.emit(str(error))
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.selectedIndexes():
            for index in self.selectedIndexes():
                self.setItem(index.row(), index.column(), QTableWidgetItem(""))
            self._on_changed()
        else:
            super().keyPressEvent(event)

    def _on_changed(self) -> None:
        last = self.rowCount() - 1
        if last < 0 or any(self._cell_text(last, column) for column in range(len(self._columns))):
            self.setRowCount(last + 2)
        self.edited.emit()


def _split_cells(line: str) -> list[str]:
    """Split a line into cells at the first kind of separator it contains; commas are decimal points if tabs or
    semicolons separate the cells."""
    for mark in ("\t", ";", ","):
        if mark in line:
            cells = [cell.strip() for cell in line.strip().split(mark)]
            return [cell.replace(",", ".") if _DECIMAL_COMMA.match(cell) else cell for cell in cells if cell]
    return line.split()
