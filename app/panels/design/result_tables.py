"""Result tables of the Design panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QTableWidget

from app.widgets.panel_parts import read_only_cell
from core.functions.subjects.design import TOPOLOGY_TITLES

if TYPE_CHECKING:
    from core.design.designed import Designed
    from core.design.path_synthesis import Linkage


def fill(table: QTableWidget, heads: list[str], rows: list[list[str]]) -> None:
    """Fill a read-only table with these rows."""
    table.clear()
    table.setRowCount(len(rows))
    table.setColumnCount(len(heads))
    table.setHorizontalHeaderLabels(heads)
    for k, row in enumerate(rows):
        for column, text in enumerate(row):
            table.setItem(k, column, read_only_cell(text))
    table.resizeColumnsToContents()
    if heads:
        table.horizontalHeader().setStretchLastSection(True)


def show_designed(
    table: QTableWidget,
    found: Designed,
    worth: Callable[[float], str],
    shown: Callable[[str, float], str],
    symbols: Mapping[str, str],
) -> None:
    """Show the starts of a parameter search, the best first. worth(value), shown(parameter, value) : texts in display
    units; symbols : units of the parameters."""
    names = tuple(found.best.parameters)
    rows = []
    for row in found.table:
        value = worth(row.value) if row.state != "failed" else "—"
        rows.append([str(row.number + 1), row.state, value, *(shown(n, row.parameters[n]) for n in names), row.message])
    heads = [f"{name}, {symbols[name]}" if symbols[name] else name for name in names]
    fill(table, ["Start", "State", "Value", *heads, "Ended"], rows)


def show_linkages(table: QTableWidget, found: Sequence[Linkage]) -> None:
    """Show the linkages found for a curve."""
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
