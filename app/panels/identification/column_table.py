"""Table of a trace's columns: the signal of the machine assigned to each column, and its unit."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableWidget, QTableWidgetItem

from app.background.slices import shared_slices
from app.plain_text import escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from core.errors import ModelError

if TYPE_CHECKING:
    from core.mechanism import Mechanism

Array = NDArray[np.float64]

COLUMN, IS, UNIT = range(3)
HEADS = ("Column", "Signal", "Unit")
TIPS = (
    "Name of the column in the file",
    "Signal of the machine, initially guessed from the column name; — means not used",
    "Unit of the column: deg, rad/s, N·mm …; empty: SI",
)
UNUSED, CLOCK = "—", "time"


class ColumnTable(QTableWidget):
    """Table with one row per column of a trace. Emits `edited` whenever the user changes an assignment."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(HEADS))
        self.setAccessibleName("Columns of the trace")
        self.setHorizontalHeaderLabels(list(HEADS))
        for k, tip in enumerate(TIPS):
            self.horizontalHeaderItem(k).setToolTip(escape_tip(tip))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.horizontalHeader().setSectionResizeMode(COLUMN, QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setMinimumSectionSize(48)
        self.setColumnWidth(IS, 124)
        self.setColumnWidth(UNIT, 62)
        self._names: tuple[str, ...] = ()
        self._numbers: Array = np.zeros((0, 0))
        self._choices = QStringListModel(self)
        self._said: list[str] = []
        """Texts of rows that have no field."""
        self._without: list[int] = []
        """Rows that have none yet: fields are made in slices."""
        self._quiet = False
        self.itemChanged.connect(self._on_changed)

    def show_columns(self, mech: Mechanism, names: Sequence[str], numbers: Array) -> None:
        """Show the columns of a trace with their most likely signals."""
        from core.identification.measured_trace import TIME, guess_signals, si_unit

        self._quiet = True
        self._names, self._numbers = tuple(names), numbers
        self.offer_signals(mech)
        guesses = guess_signals(mech, names)
        clock = next((k for k, name in enumerate(names) if name.split("[")[0].strip().lower() in TIME), 0)
        self.setRowCount(0)
        self.setRowCount(len(guesses))  # one by one each would lay out all fields above it
        for at, (name, (signal, unit)) in enumerate(zip(names, guesses, strict=True)):
            head = QTableWidgetItem(name)
            head.setFlags(head.flags() & ~Qt.ItemFlag.ItemIsEditable)
            head.setToolTip(escape_tip(name))
            self.setItem(at, COLUMN, head)
            self.setItem(at, UNIT, QTableWidgetItem(unit or ("s" if at == clock else si_unit(mech, signal))))
        self._quiet = False
        self._said = self._selectable_signals(
            [CLOCK if at == clock else signal for at, (signal, _) in enumerate(guesses)]
        )
        self._without = list(range(len(guesses)))
        shared_slices().add(self, self._create_fields)

    def _create_fields(self, seconds: float) -> bool:
        """Create input fields for the given time, at least one; return True once every row has its field."""
        until = monotonic() + seconds
        while self._without:
            self._field_of_row(self._without[0])
            if monotonic() > until:
                break
        return not self._without

    def _field_of_row(self, row: int) -> NarrowCombo:
        """Return the input field of a row, creating it if needed."""
        combo: Any = self.cellWidget(row, IS)
        if combo is None:
            combo = NarrowCombo()
            combo.setModel(self._choices)
            combo.setAccessibleName(f"Signal of column {self._names[row]}")
            combo.setCurrentText(self._said[row])
            combo.activated.connect(lambda _: self._on_chosen(row))
            self.setCellWidget(row, IS, combo)
            self._without.remove(row)
        return combo

    def clear_columns(self) -> None:
        """Remove all columns."""
        self._names, self._numbers, self._said, self._without = (), np.zeros((0, 0)), [], []
        self.setRowCount(0)

    def offer_signals(self, mech: Mechanism) -> None:
        """List the signals of a machine for selection."""
        from core.identification.measured_trace import signal_names

        self._mech = mech
        frames = [frame.name for frame in mech.model.expanded.frames]
        places = [f"{name}.position.{axis}" for name in frames for axis in "xyz"]
        sensors = [sensor.name for sensor in mech.model.expanded.sensors]
        self._choices.setStringList([UNUSED, CLOCK, *dict.fromkeys([*signal_names(mech).values(), *sensors, *places])])
        self._said = self._selectable_signals(self._said)

    def _selectable_signals(self, signals: Sequence[str]) -> list[str]:
        """Return those of the given signals that can be selected."""
        known = set(self._choices.stringList())
        return [each if each in known else UNUSED for each in signals]

    def signal(self, row: int) -> str:
        """Return the signal assigned to a row."""
        combo: Any = self.cellWidget(row, IS)
        return self._said[row] if combo is None else str(combo.currentText())

    def assign_signal(self, column: str, signal: str, unit: str = "") -> None:
        """Assign a signal and unit to a column, as the user would."""
        at = self._names.index(column)
        self._field_of_row(at).setCurrentText(signal)
        self._on_chosen(at)
        if unit:
            self.item(at, UNIT).setText(unit)

    def assigned_signals(self) -> tuple[str, ...]:
        """Return the signals that are assigned to a column."""
        return tuple(s for at in range(self.rowCount()) if (s := self.signal(at)) not in (UNUSED, CLOCK))

    def check_cell(self, row: int, column: int) -> None:
        """Raise KinetostatError naming the column if its unit is not known."""
        from core.mechanics.elements.recorded_signals import unit_factor

        if column == UNIT and row < len(self._names) and (unit := self.item(row, UNIT).text().strip()):
            unit_factor(unit, "", self._names[row])

    def read_columns(self) -> dict[str, Array]:
        """Return the columns as arrays by assigned signal, converted to SI from the selected units. Raises
        ModelError."""
        if not self.rowCount():
            raise ModelError("No trace has been read.", where="trace", remedy="Open a file, or choose a run.")
        found: dict[str, Array] = {}
        taken: dict[str, str] = {}
        for at, name in enumerate(self._names):
            signal, unit = self.signal(at), self.item(at, UNIT).text().strip()
            if signal == UNUSED:
                continue
            self.check_cell(at, UNIT)
            if signal in taken:
                raise ModelError(
                    f"'{name}' and '{taken[signal]}' are both assigned to {signal}.",
                    where="columns",
                    remedy="Choose — for one of them.",
                )
            taken[signal] = name
            found[f"{signal} [{unit}]" if unit else signal] = self._numbers[:, at]
        if CLOCK not in taken:
            raise ModelError(
                "No column is assigned to the time.", where="columns", remedy="Choose 'time' for one of them."
            )
        if len(taken) < 2:
            raise ModelError(
                "No column is assigned to a signal of the machine.",
                where="columns",
                remedy=("Choose the signals of the columns."),
            )
        return found

    def _on_chosen(self, row: int) -> None:
        """Update the unit after another signal was selected."""
        from core.identification.measured_trace import si_unit

        quiet, self._quiet = self._quiet, True
        signal = self.signal(row)
        self.item(row, UNIT).setText("s" if signal == CLOCK else si_unit(self._mech, signal))
        self._quiet = quiet
        self.edited.emit()

    def _on_changed(self) -> None:
        if not self._quiet:
            self.edited.emit()
