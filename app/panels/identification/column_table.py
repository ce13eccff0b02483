"""Table of a trace's columns: for each column the signal of the machine that it holds and its unit."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableWidget, QTableWidgetItem

from app.background.slices import slices
from app.plain_text import as_tip
from app.widgets.fields.choice_editors import Combo
from core.errors import ModelError

if TYPE_CHECKING:
    from core.mechanism import Mechanism

Array = NDArray[np.float64]

COLUMN, IS, UNIT = range(3)
HEADS = ("Column", "Signal", "Unit")
TIPS = (
    "Name of the column in the file",
    "Signal of the machine, guessed at first; — means not used",
    "Unit of the column: deg, rad/s, N·mm …; empty: SI",
)
UNUSED, CLOCK = "—", "time"


class ColumnTable(QTableWidget):
    """Table with one row per column of a trace. Emits `edited` after every choice of the user."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(HEADS))
        self.setAccessibleName("Columns of the trace")
        self.setHorizontalHeaderLabels(list(HEADS))
        for k, tip in enumerate(TIPS):
            self.horizontalHeaderItem(k).setToolTip(as_tip(tip))
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
        self.offer(mech)
        guesses = guess_signals(mech, names)
        clock = next((k for k, name in enumerate(names) if name.split("[")[0].strip().lower() in TIME), 0)
        self.setRowCount(0)
        self.setRowCount(len(guesses))  # one by one each would lay out all fields above it
        for at, (name, (signal, unit)) in enumerate(zip(names, guesses, strict=True)):
            head = QTableWidgetItem(name)
            head.setFlags(head.flags() & ~Qt.ItemFlag.ItemIsEditable)
            head.setToolTip(as_tip(name))
            self.setItem(at, COLUMN, head)
            self.setItem(at, UNIT, QTableWidgetItem(unit or ("s" if at == clock else si_unit(mech, signal))))
        self._quiet = False
        self._said = self._selectable([CLOCK if at == clock else signal for at, (signal, _) in enumerate(guesses)])
        self._without = list(range(len(guesses)))
        slices().add(self, self._fill)

    def _fill(self, seconds: float) -> bool:
        """Create fields for the given time, at least one; return True once every row has one."""
        until = monotonic() + seconds
        while self._without:
            self._field_of_row(self._without[0])
            if monotonic() > until:
                break
        return not self._without

    def _field_of_row(self, at: int) -> Combo:
        """Return the field of a row, created when needed."""
        combo: Any = self.cellWidget(at, IS)
        if combo is None:
            combo = Combo()
            combo.setModel(self._choices)
            combo.setAccessibleName(f"What {self._names[at]} is")
            combo.setCurrentText(self._said[at])
            combo.activated.connect(lambda _: self._on_chosen(at))
            self.setCellWidget(at, IS, combo)
            self._without.remove(at)
        return combo

    def clear_columns(self) -> None:
        """Remove all columns."""
        self._names, self._numbers, self._said, self._without = (), np.zeros((0, 0)), [], []
        self.setRowCount(0)

    def offer(self, mech: Mechanism) -> None:
        """Offer the signals of a machine for choice."""
        from core.identification.measured_trace import signal_names

        self._mech = mech
        frames = [frame.name for frame in mech.model.expanded.frames]
        places = [f"{name}.position.{axis}" for name in frames for axis in "xyz"]
        sensors = [sensor.name for sensor in mech.model.expanded.sensors]
        self._choices.setStringList([UNUSED, CLOCK, *dict.fromkeys([*signal_names(mech).values(), *sensors, *places])])
        self._said = self._selectable(self._said)

    def _selectable(self, signals: Sequence[str]) -> list[str]:
        """Return those of the signals that can be chosen."""
        known = set(self._choices.stringList())
        return [each if each in known else UNUSED for each in signals]

    def signal(self, at: int) -> str:
        """Return the signal assigned to a row."""
        combo: Any = self.cellWidget(at, IS)
        return self._said[at] if combo is None else str(combo.currentText())

    def choose(self, column: str, signal: str, unit: str = "") -> None:
        """Assign a signal and unit to a column, as the user would."""
        at = self._names.index(column)
        self._field_of_row(at).setCurrentText(signal)
        self._on_chosen(at)
        if unit:
            self.item(at, UNIT).setText(unit)

    def signals(self) -> tuple[str, ...]:
        """Return the signals that are assigned to a column."""
        return tuple(s for at in range(self.rowCount()) if (s := self.signal(at)) not in (UNUSED, CLOCK))

    def check_cell(self, at: int, column: int) -> None:
        """Raise KinetostatError naming the column if its unit is not known."""
        from core.mechanics.elements.recorded_signals import factor_of

        if column == UNIT and at < len(self._names) and (unit := self.item(at, UNIT).text().strip()):
            factor_of(unit, "", self._names[at])

    def columns(self) -> dict[str, Array]:
        """Return the columns as arrays by assigned signal, converted from the chosen units. Raises ModelError."""
        if not self.rowCount():
            raise ModelError("There is no trace yet.", where="trace", remedy="Open a file, or choose a run.")
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

    def _on_chosen(self, at: int) -> None:
        """Update the unit after another signal was chosen."""
        from core.identification.measured_trace import si_unit

        quiet, self._quiet = self._quiet, True
        signal = self.signal(at)
        self.item(at, UNIT).setText("s" if signal == CLOCK else si_unit(self._mech, signal))
        self._quiet = quiet
        self.edited.emit()

    def _on_changed(self) -> None:
        if not self._quiet:
            self.edited.emit()
