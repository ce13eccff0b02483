"""The table of an operating point: a quantity a row, what is asked of it, and what was found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableWidget, QTableWidgetItem

from app.plain_text import as_tip
from app.widgets.fields.choice_editors import Combo
from app.widgets.note import severity_color
from core.errors import ModelError
from core.model import TrimRow
from core.model.fields import Value
from core.model.formula.text import number_text

QUANTITY, ROLE, VALUE, LOW, HIGH, WEIGHT, FOUND, OFF = range(8)
HEADS = ("Quantity", "Role", "Value", "Minimum", "Maximum", "Weight", "Found", "Off by")
TIPS = (
    "joint.q, joint.v, joint.a; inputs as joint.tau; parameters; any channel, or a formula of channels",
    "Fixed: has this value. Free: is found. Target: as near as can be. Steady: does not change. —: as it is",
    "SI, or with a unit: 30 deg, 50 mm, 2*l1",
    "Of what is free",
    "Of what is free",
    "Of targets that compete; empty: 1",
    "What Solve found, SI",
    "Found − asked, SI",
)
ROLES = ("", "fixed", "free", "target", "steady")
TITLES = {"": "—", "fixed": "Fixed", "free": "Free", "target": "Target", "steady": "Steady"}
TEXTS = {"fixed": (VALUE,), "free": (LOW, HIGH), "target": (VALUE, WEIGHT), "steady": (), "": ()}
"""Which cells a role reads."""
_COLUMNS = (VALUE, LOW, HIGH, WEIGHT)


class Asked(NamedTuple):
    """A row as it was typed."""

    name: str
    role: str
    value: str
    low: str
    high: str
    weight: str


def as_element(row: Asked) -> TrimRow:
    """A row as the document holds it. Raises ModelError naming it."""
    read = {column: text or None for column, text in zip(_COLUMNS, row[2:], strict=True) if column in TEXTS[row.role]}
    weight = read.get(WEIGHT) or 1.0
    value, low, high = read.get(VALUE), read.get(LOW), read.get(HIGH)
    try:
        return TrimRow(quantity=row.name, role=row.role, value=value, minimum=low, maximum=high, weight=weight)
    except ModelError as error:
        raise ModelError(error.what, where=f"row '{row.name}'", remedy=error.remedy) from None


def as_asked(row: TrimRow) -> Asked:
    """A row of the document as it is typed."""
    weight = "" if row.weight == 1.0 else row.weight
    texts = ("" if value is None else _typed(value) for value in (row.value, row.minimum, row.maximum, weight))
    return Asked(row.quantity, row.role, *texts)


def _typed(value: Value) -> str:
    return value if isinstance(value, str) else number_text(value)


class RowTable(QTableWidget):
    """Rows of quantities. `edited` after every edit of the person."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(HEADS))
        self.setHorizontalHeaderLabels(list(HEADS))
        for k, tip in enumerate(TIPS):
            self.horizontalHeaderItem(k).setToolTip(as_tip(tip))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setAlternatingRowColors(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.horizontalHeader().setSectionResizeMode(QUANTITY, QHeaderView.ResizeMode.Stretch)
        for column in range(ROLE, len(HEADS)):
            self.setColumnWidth(column, 78)
        self._quiet = False
        self.itemChanged.connect(self._changed)

    def show_rows(self, rows: list[Asked]) -> None:
        """Show these rows."""
        self._quiet = True
        self.setRowCount(0)
        for row in rows:
            self.add(row)
        self._quiet = False

    def add(self, row: Asked) -> None:
        """A further row."""
        quiet, self._quiet = self._quiet, True
        at = self.rowCount()
        self.insertRow(at)
        texts = {QUANTITY: row.name, VALUE: row.value, LOW: row.low, HIGH: row.high, WEIGHT: row.weight}
        for column in range(len(HEADS)):
            item = QTableWidgetItem(texts.get(column, ""))
            if column in (QUANTITY, FOUND, OFF):
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
            self.setItem(at, column, item)
        self.item(at, QUANTITY).setToolTip(as_tip(row.name))
        combo = Combo()
        for role in ROLES:
            if role != "steady" or row.name.endswith(".v"):
                combo.addItem(TITLES[role], role)
        combo.setCurrentIndex(max(0, combo.findData(row.role)))
        combo.setAccessibleName(f"Role of {row.name}")
        combo.activated.connect(self._role_chosen)
        self.setCellWidget(at, ROLE, combo)
        self._enable(at)
        self._quiet = quiet

    def rows(self) -> list[Asked]:
        """As they stand."""
        return [self._row(at) for at in range(self.rowCount())]

    def role(self, at: int) -> str:
        """What is asked of a row."""
        combo = self.cellWidget(at, ROLE)
        return str(combo.currentData()) if isinstance(combo, Combo) else ""

    def choose(self, name: str, role: str, value: str = "") -> None:
        """Ask something of a row, as a person does."""
        at = next(k for k in range(self.rowCount()) if self.item(k, QUANTITY).text() == name)
        combo: Any = self.cellWidget(at, ROLE)
        combo.setCurrentIndex(combo.findData(role))
        self.item(at, VALUE).setText(value)
        self._enable(at)
        self.edited.emit()

    def show_found(self, found_of: Callable[[str], tuple[str, str, bool]]) -> None:
        """Write what was found: of a name (found, off by, whether it holds)."""
        self._quiet = True
        for at in range(self.rowCount()):
            found, off, holds = found_of(self.item(at, QUANTITY).text())
            self.item(at, FOUND).setText(found)
            self.item(at, OFF).setText(off)
            color = self.palette().text().color() if holds else severity_color("error", self.palette())
            self.item(at, OFF).setForeground(QBrush(color))
        self._quiet = False

    def _row(self, at: int) -> Asked:
        name, value, low, high, weight = (self.item(at, k).text().strip() for k in (QUANTITY, VALUE, LOW, HIGH, WEIGHT))
        return Asked(name, self.role(at), value, low, high, weight)

    def _role_chosen(self) -> None:
        for at in range(self.rowCount()):
            self._enable(at)
        self.edited.emit()

    def _enable(self, at: int) -> None:
        """Cells that the role does not read are shown as such."""
        quiet, self._quiet = self._quiet, True
        read = TEXTS[self.role(at)]
        for column in (VALUE, LOW, HIGH, WEIGHT):
            item, flag = self.item(at, column), Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsEnabled
            item.setFlags(item.flags() | flag if column in read else item.flags() & ~flag)
            item.setBackground(self.palette().alternateBase() if column in read else QBrush())
        self._quiet = quiet

    def _changed(self) -> None:
        if not self._quiet:
            self.edited.emit()
