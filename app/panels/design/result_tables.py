"""Tables and pages of the panel Design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHeaderView, QScrollArea, QTableWidget, QTableWidgetItem, QWidget

from app.plain_text import as_tip
from core.functions.subjects.design import TOPOLOGY_TITLES

if TYPE_CHECKING:
    from core.design.design import Designed
    from core.design.path_synthesis import Linkage


def scrolled(page: QWidget) -> QScrollArea:
    """A page that may be higher than its place."""
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(page)
    return area


def table(heads: list[str]) -> QTableWidget:
    """An empty table, the first column the widest."""
    made = QTableWidget(0, len(heads))
    made.setHorizontalHeaderLabels(heads)
    made.verticalHeader().hide()
    made.verticalHeader().setDefaultSectionSize(24)
    made.setShowGrid(False)
    if heads:
        made.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        made.horizontalHeader().setMinimumSectionSize(56)
        for column in range(1, len(heads)):
            made.setColumnWidth(column, 64)
    return made


def fill(table: QTableWidget, heads: list[str], rows: list[list[str]]) -> None:
    """Show these rows, which nobody edits."""
    table.clear()
    table.setRowCount(len(rows))
    table.setColumnCount(len(heads))
    table.setHorizontalHeaderLabels(heads)
    for k, row in enumerate(rows):
        for column, text in enumerate(row):
            item = QTableWidgetItem(text)
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
            item.setToolTip(as_tip(text))
            table.setItem(k, column, item)
    table.resizeColumnsToContents()
    if heads:
        table.horizontalHeader().setStretchLastSection(True)


def show_designed(table: QTableWidget, found: Designed) -> None:
    """Starts of a search for parameters, the best first."""
    names = tuple(found.best.parameters)
    rows = []
    for row in found.table:
        value = f"{row.value:.6g}" if row.state != "failed" else "—"
        rows.append([str(row.number), row.state, value, *(f"{row.parameters[n]:.6g}" for n in names), row.message])
    fill(table, ["Start", "State", "Value", *names, "Ended"], rows)


def show_linkages(table: QTableWidget, found: Sequence[Linkage]) -> None:
    """Linkages for a curve."""
    rows = [
        [
            TOPOLOGY_TITLES[each.topology],
            f"{1000 * each.error:.4g}",
            "turns" if each.turns else "swings",
            " ".join(each.defects) or "none",
        ]
        for each in found
    ]
    fill(table, ["Linkage", "Off, mm", "Crank", "Defects"], rows)
