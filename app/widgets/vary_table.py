"""Table of the machine's free parameters; the checked ones are varied between bounds in display units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem

from app.widgets.panel_parts import LEAST_HEIGHT, ROW_HEIGHT, read_only_cell
from app.widgets.quantities.quantity_text import Measure, SIUnits, Units, measure_of, number, quantity, read
from core.errors import KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.model.fields import Value

NAME, NOW, FROM, TO = range(4)
HEADS = ("Vary", "Now", "From", "To")
SPREAD = (0.5, 1.5)
"""Default bounds of a parameter without bounds, as factors of its value."""
DIGITS = 6


@dataclass
class ShownUnits:
    """Copy of the display units used when numbers were written."""

    degrees: bool
    millimetres: bool

    @classmethod
    def of(cls, units: Units) -> ShownUnits:
        """Copy the user's choice of units."""
        return cls(units.degrees, units.millimetres)


class VaryTable(QTableWidget):
    """Table that emits `edited` after every edit of the user. open_ends : parameters without bounds have empty cells,
    meaning unbounded; otherwise default bounds around the value."""

    edited = Signal()

    def __init__(self, units: Units | None = None, *, open_ends: bool = False) -> None:
        super().__init__(0, len(HEADS))
        self._units: Units = units or SIUnits()
        self._written = ShownUnits.of(self._units)
        self._open_ends = open_ends
        self._measures: dict[str, Measure] = {}
        self._values: Mapping[str, float] = {}
        self.setHorizontalHeaderLabels(list(HEADS))
        self.setAccessibleName("Parameters that are varied")
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
        """Show rows for the free parameters; checked ones stay checked with their bounds."""
        kept, refused = self._typed_bounds(), self._refused_bounds()
        same = self._written == ShownUnits.of(self._units)
        self._written = ShownUnits.of(self._units)
        self._values = model.values()
        self._measures = {name: measure_of(model.expanded.find("parameters", name).dimension) for name in mech.p_names}
        self._quiet = True
        self.setRowCount(len(self._measures))
        for at, name in enumerate(self._measures):
            parameter = model.expanded.find("parameters", name)
            now = quantity(self._values[name], self._measures[name], self._written, DIGITS)
            head = read_only_cell(name, f"{name}: {parameter.description}" if parameter.description else name)
            head.setFlags(head.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            head.setCheckState(Qt.CheckState.Checked if name in kept else Qt.CheckState.Unchecked)
            own = [
                "" if end is None and self._open_ends else self._text(end, factor, name)
                for end, factor in zip((parameter.minimum, parameter.maximum), SPREAD, strict=True)
            ]
            low, high = kept.get(name, own) if same else own
            low, high = (refused.get((name, column), text) for column, text in ((FROM, low), (TO, high)))
            for column, item in enumerate((head, read_only_cell(now), QTableWidgetItem(low), QTableWidgetItem(high))):
                self.setItem(at, column, item)
        self._quiet = False

    def _text(self, end: Value | None, factor: float, name: str) -> str:
        """Return a bound as text in display units."""
        if isinstance(end, str):
            return end
        return number(self._values[name] * factor if end is None else end, self._measures[name], self._written, DIGITS)

    def refresh_units(self) -> None:
        """Convert the numbers after a change of display units."""
        if self._written == ShownUnits.of(self._units):
            return
        refused = self._refused_bounds()
        bounds = {
            (at, column): self._bound(at, name, column)
            for at, name in enumerate(self._measures)
            for column in (FROM, TO)
            if (name, column) not in refused  # such a text stays as it is typed
        }
        self._written = ShownUnits.of(self._units)
        self._quiet = True
        for at, name in enumerate(self._measures):
            self.item(at, NOW).setText(quantity(self._values[name], self._measures[name], self._written, DIGITS))
        for (at, column), end in bounds.items():
            self.item(at, column).setText("" if end is None else self._text(end, 1.0, self.names[at]))
        self._quiet = False

    # ----------------------------------------------------------------------------------------------- asking

    def count(self) -> int:
        """Return the number of checked parameters."""
        return sum(self._is_checked(at) for at in range(self.rowCount()))

    @property
    def names(self) -> list[str]:
        """Return the names of all rows."""
        return list(self._measures)

    def _is_checked(self, at: int) -> bool:
        return self.item(at, NAME).checkState() == Qt.CheckState.Checked

    def _typed_bounds(self) -> dict[str, list[str]]:
        """Return the typed bounds of the checked parameters."""
        rows = [(at, name) for at, name in enumerate(self._measures) if self._is_checked(at)]
        return {name: [self.item(at, column).text() for column in (FROM, TO)] for at, name in rows}

    def _refused_bounds(self) -> dict[tuple[str, int], str]:
        """Return the typed bounds that cannot be read, by parameter and column."""
        found = {}
        for at, name in enumerate(self._measures):
            for column in (FROM, TO):
                try:
                    self._bound(at, name, column)
                except KinetostatError:
                    found[name, column] = self.item(at, column).text()
        return found

    def check_cell(self, at: int, column: int) -> None:
        """Raise ModelError naming the cell if it holds a bound that cannot be read."""
        if column in (FROM, TO):
            self._bound(at, self.names[at], column)

    def bounds(self, *, whole: bool = False) -> dict[str, tuple[Value | None, Value | None]]:
        """Return name → (from, to) of the checked parameters (whole : of all rows), SI or formulas, None for empty
        cells. Raises ModelError naming the cell."""
        found = {}
        for at, name in enumerate(self._measures):
            if whole or self._is_checked(at):
                found[name] = (self._bound(at, name, FROM), self._bound(at, name, TO))
        return found

    def _bound(self, at: int, name: str, column: int) -> Value | None:
        text = self.item(at, column).text().strip()
        if not text:
            return None
        try:
            return read(text, self._measures[name], self._written, self._values)
        except KinetostatError as error:
            raise ModelError(error.what, where=f"row '{name}', {HEADS[column]}", remedy=error.remedy) from None

    def check(self, *names: str) -> None:
        """Check rows, as the user would."""
        for at, name in enumerate(self._measures):
            if name in names:
                self.item(at, NAME).setCheckState(Qt.CheckState.Checked)

    def show_bounds(self, bounds: Mapping[str, tuple[Value | None, Value | None]]) -> list[str]:
        """Check exactly these parameters, with their bounds where given; return the names without a row."""
        self._quiet = True
        for at, name in enumerate(self._measures):
            self.item(at, NAME).setCheckState(Qt.CheckState.Checked if name in bounds else Qt.CheckState.Unchecked)
            for column, end in zip((FROM, TO), bounds.get(name, ()), strict=False):
                if end is not None:
                    self.item(at, column).setText(self._text(end, 1.0, name))
        self._quiet = False
        return [name for name in bounds if name not in self._measures]
