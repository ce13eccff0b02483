"""Results of a search: tables, and the picture of desired and achieved behaviour along a coordinate (a function, or
poses in a plane)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QTableWidget, QWidget

from app.widgets.panel_parts import read_only_cell
from app.widgets.picture_frame import Frame, Ink
from core.functions.subjects.design import TOPOLOGY_TITLES

if TYPE_CHECKING:
    from core.design.designed import Designed
    from core.design.path_synthesis import Linkage


Array = NDArray[np.float64]
ARM = 14.0
"""Length of the first axis of a pose, pixels; the second is half as long."""


class GenerationPicture(QWidget):
    """Picture of rows in display units: (n, 2) values of a coordinate and of an output, or (n, 4) with positions and
    angles in rad."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Desired and achieved values")
        self.setMinimumSize(180, 120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.wanted, self.found = np.zeros((0, 2)), np.zeros((0, 2))
        self._across = self._up = ""

    def show_desired(self, rows: Array, across: str, up: str) -> None:
        """Show the desired values with the titles of both axes, and remove the achieved ones."""
        self.wanted, self.found = rows, rows[:0]
        self._across, self._up = across, up
        self.update()

    def show_found(self, rows: Array) -> None:
        """Show the values that a machine achieves at the same coordinate values; an array of shape (0, n) clears
        them."""
        self.found = rows
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the frame, the achieved values, and the desired values on top."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = Ink.of(self.palette())
        painter.fillRect(self.rect(), ink.base)
        if not len(self.wanted):
            painter.setPen(ink.muted)
            words = "The desired points are shown here."
            painter.drawText(QRectF(self.rect()).adjusted(8, 8, -8, -8), Qt.AlignmentFlag.AlignCenter, words)
            return
        poses = self.wanted.shape[1] == 4
        everything = np.vstack([self.wanted, self.found])[:, 1:3] if poses else np.vstack([self.wanted, self.found])
        everything = everything[np.isfinite(everything).all(axis=1)]
        (x0, y0), (x1, y1) = everything.min(axis=0), everything.max(axis=0)
        x, y = (float(x0), float(x1)), (float(y0), float(y1))
        if poses:
            x, y = self._equal_scales(x, y)
        frame = Frame(QRectF(self.rect()), x, y)
        frame.draw(painter, ink, self._across, self._up)
        painter.setClipRect(frame.rect.adjusted(-ARM, -ARM, ARM, ARM))
        for rows, color, strong in ((self.found, ink.chosen, True), (self.wanted, ink.text, False)):
            self._draw_poses(painter, frame, rows, color, strong) if poses else self._draw_line(
                painter, frame, rows, color, strong
            )

    def _equal_scales(
        self, x: tuple[float, float], y: tuple[float, float]
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return axis ranges that give both axes the same scale."""
        inside = Frame(QRectF(self.rect()), (0.0, 1.0), (0.0, 1.0)).rect
        scale = max((x[1] - x[0]) / inside.width(), (y[1] - y[0]) / inside.height(), 1e-12) * 1.25
        middle = (x[0] + x[1]) / 2, (y[0] + y[1]) / 2
        half = scale * inside.width() / 2, scale * inside.height() / 2
        return (middle[0] - half[0], middle[0] + half[0]), (middle[1] - half[1], middle[1] + half[1])

    def _draw_line(self, painter: QPainter, frame: Frame, rows: Array, color: QColor, found: bool) -> None:
        """Draw a line through achieved values, or circles at desired ones."""
        if not len(rows):
            return
        order = np.argsort(rows[:, 0], kind="stable")
        points = [QPointF(*each) for each in frame.points(*rows[order].T)]
        if found:
            painter.setPen(QPen(color, 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolyline(QPolygonF(points))
            painter.setBrush(color)
            for point in points:
                painter.drawEllipse(point, 2.0, 2.0)
            return
        painter.setPen(QPen(color, 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for point in points:
            painter.drawEllipse(point, 4.0, 4.0)

    def _draw_poses(self, painter: QPainter, frame: Frame, rows: Array, color: QColor, found: bool) -> None:
        """Draw both axes of each pose, with numbers next to the desired ones."""
        if not len(rows):
            return
        painter.setPen(QPen(color, 2.2 if found else 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for k, ((x, y), angle) in enumerate(zip(frame.points(rows[:, 1], rows[:, 2]), rows[:, 3], strict=True)):
            along = QPointF(np.cos(angle), -np.sin(angle))
            aside = QPointF(-np.sin(angle), -np.cos(angle))
            origin = QPointF(x, y)
            painter.drawPolyline(QPolygonF([origin + ARM / 2 * aside, origin, origin + ARM * along]))
            if not found:
                painter.drawEllipse(origin, 2.5, 2.5)
                painter.drawText(origin + QPointF(4.0, 14.0), str(k + 1))


def fill_table(table: QTableWidget, heads: list[str], rows: list[list[str]]) -> None:
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
    fill_table(table, ["Start", "State", "Value", *heads, "Ended"], rows)


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
    fill_table(table, ["Linkage", "Off, mm", "Crank", "Defects"], rows)
