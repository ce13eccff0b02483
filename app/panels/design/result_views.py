"""Results of a search: tables, and a picture of required and achieved behaviour versus a coordinate (a function, or
poses in a plane)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QTableWidget, QWidget

from app.widgets.panel_parts import create_read_only_cell
from app.widgets.picture_frame import AxesFrame, PictureColors
from core.functions.subjects.design import TOPOLOGY_TITLES

if TYPE_CHECKING:
    from core.design.designed import OptimisationResult
    from core.design.path_synthesis import Linkage


Array = NDArray[np.float64]
ARM = 14.0
"""Length of a pose's x axis in the picture, pixels; the y axis is half as long."""


class GenerationPicture(QWidget):
    """Picture of rows in display units: (n, 2) values of a coordinate and an output, or (n, 4) a coordinate, two
    positions and an angle in rad."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Desired and achieved values")
        self.setMinimumSize(180, 120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.wanted, self.found = np.zeros((0, 2)), np.zeros((0, 2))
        self._across = self._up = ""

    def show_desired(self, rows: Array, x_title: str, y_title: str) -> None:
        """Show the required values with titles for both axes, and remove the achieved values."""
        self.wanted, self.found = rows, rows[:0]
        self._across, self._up = x_title, y_title
        self.update()

    def show_achieved(self, rows: Array) -> None:
        """Show the values achieved by the machine at the same coordinate values; an array of shape (0, n) clears
        them."""
        self.found = rows
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the frame, the achieved values, and the desired values on top."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = PictureColors.from_palette(self.palette())
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
        frame = AxesFrame(QRectF(self.rect()), x, y)
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
        inside = AxesFrame(QRectF(self.rect()), (0.0, 1.0), (0.0, 1.0)).rect
        scale = max((x[1] - x[0]) / inside.width(), (y[1] - y[0]) / inside.height(), 1e-12) * 1.25
        middle = (x[0] + x[1]) / 2, (y[0] + y[1]) / 2
        half = scale * inside.width() / 2, scale * inside.height() / 2
        return (middle[0] - half[0], middle[0] + half[0]), (middle[1] - half[1], middle[1] + half[1])

    def _draw_line(self, painter: QPainter, frame: AxesFrame, rows: Array, color: QColor, achieved: bool) -> None:
        """Draw a line through achieved values, or circles at desired ones."""
        if not len(rows):
            return
        order = np.argsort(rows[:, 0], kind="stable")
        points = [QPointF(*each) for each in frame.to_pixels(*rows[order].T)]
        if achieved:
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

    def _draw_poses(self, painter: QPainter, frame: AxesFrame, rows: Array, color: QColor, achieved: bool) -> None:
        """Draw both axes of each pose, with numbers next to the desired ones."""
        if not len(rows):
            return
        painter.setPen(QPen(color, 2.2 if achieved else 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for k, ((x, y), angle) in enumerate(zip(frame.to_pixels(rows[:, 1], rows[:, 2]), rows[:, 3], strict=True)):
            along = QPointF(np.cos(angle), -np.sin(angle))
            aside = QPointF(-np.sin(angle), -np.cos(angle))
            origin = QPointF(x, y)
            painter.drawPolyline(QPolygonF([origin + ARM / 2 * aside, origin, origin + ARM * along]))
            if not achieved:
                painter.drawEllipse(origin, 2.5, 2.5)
                painter.drawText(origin + QPointF(4.0, 14.0), str(k + 1))


def fill_table(table: QTableWidget, headings: list[str], rows: list[list[str]]) -> None:
    """Fill a read-only table with the given rows."""
    table.clear()
    table.setRowCount(len(rows))
    table.setColumnCount(len(headings))
    table.setHorizontalHeaderLabels(headings)
    for k, row in enumerate(rows):
        for column, text in enumerate(row):
            table.setItem(k, column, create_read_only_cell(text))
    table.resizeColumnsToContents()
    if headings:
        table.horizontalHeader().setStretchLastSection(True)


def show_starts(
    table: QTableWidget,
    designed: OptimisationResult,
    format_value: Callable[[float], str],
    format_parameter: Callable[[str, float], str],
    symbols: Mapping[str, str],
) -> None:
    """Show the starts of a parameter search, best first. format_value(value), format_parameter(name, value) : texts in
    display units; symbols : units of the parameters."""
    names = tuple(designed.best.parameters)
    rows = []
    for row in designed.table:
        value = format_value(row.value) if row.state != "failed" else "—"
        rows.append(
            [
                str(row.number + 1),
                row.state,
                value,
                *(format_parameter(n, row.parameters[n]) for n in names),
                row.message,
            ]
        )
    heads = [f"{name}, {symbols[name]}" if symbols[name] else name for name in names]
    fill_table(table, ["Start", "State", "Value", *heads, "Outcome"], rows)


def show_linkages(table: QTableWidget, linkages: Sequence[Linkage]) -> None:
    """Show the linkages found for a curve in a table."""
    rows = [
        [
            TOPOLOGY_TITLES[each.topology],
            f"{1000 * each.error:.4g}",
            "turns" if each.has_full_crank_turn else "swings",
            " ".join(each.defects) or "none",
        ]
        for each in linkages
    ]
    fill_table(table, ["Linkage", "Deviation, mm", "Crank", "Defects"], rows)
