"""Legend of a plot: names of the curves with their values at the playhead, or their differences between the two
measuring cursors."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QScrollArea, QWidget

from app.plain_text import escape_tip
from app.plotting.curves import Curve, format_number, format_value
from app.preferences.icons import icon
from app.widgets.label import ElidedLabel, Label

STYLES = {
    "solid": Qt.PenStyle.SolidLine,
    "dash": Qt.PenStyle.DashLine,
    "dot": Qt.PenStyle.DotLine,
    "dash_dot": Qt.PenStyle.DashDotLine,
}
WIDEST = "−0.88888"
"""Sample value whose width is always reserved for values, in addition to the unit."""


WAITING = "…"
BUSY = "being computed …"
VOID = "no number"


def curve_pen(curve: Curve, width: float = 1.0) -> QPen:
    """Return the pen of a curve."""
    color = QColor(curve.color)
    color.setAlphaF(curve.opacity)
    pen = QPen(color, width, STYLES[curve.dash])
    pen.setCosmetic(True)
    return pen


class _LineSample(QWidget):
    """Short sample of a curve's line."""

    def __init__(self) -> None:
        super().__init__()
        self.pen = QPen()
        self.setFixedSize(QSize(22, 14))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.pen)
        painter.drawLine(QPointF(1.0, 7.0), QPointF(21.0, 7.0))
        painter.end()


class _CurveRow(QFrame):
    """Row of one curve; it can be reused to show another curve."""

    removed = Signal(str)

    def __init__(self, curve: Curve, many_runs: bool) -> None:
        super().__init__()
        self.swatch = _LineSample()
        self.name = ElidedLabel("", Qt.TextElideMode.ElideMiddle)
        self.value = Label()
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.run: ElidedLabel | None = None
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(4, 1, 4, 1)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(0)
        grid.addWidget(self.swatch, 0, 0)
        grid.addWidget(self.name, 0, 1)
        grid.addWidget(self.value, 0, 2)
        grid.setColumnStretch(1, 1)
        self.show_curve(curve, many_runs)

    def show_curve(self, curve: Curve, many_runs: bool) -> None:
        """Show a curve, with the name of its run if there are several runs. The value must be set afterwards."""
        self.curve = curve
        self.swatch.pen = curve_pen(curve, 2.0) if not curve.words else QPen(Qt.PenStyle.NoPen)
        self.swatch.update()
        if self.name.text() != curve.label:
            self.name.setText(curve.label)
        self.value.setText("")
        texts, advance = curve.words or (f"{WIDEST} {curve.unit_label}",), self.value.fontMetrics().horizontalAdvance
        self.value.setMinimumWidth(max(map(advance, texts)))
        self._show_run_name(curve.run if many_runs else "")
        self._about = f"{curve.label} of {curve.run}" + (f", {curve.unit_label}" if curve.unit_label else "")
        self.setToolTip(escape_tip(self._about))

    def _show_run_name(self, name: str) -> None:
        if self.run is None:
            if name:
                self.run = ElidedLabel(name, Qt.TextElideMode.ElideMiddle)
                self.run.setProperty("muted", True)
                self._grid.addWidget(self.run, 1, 1, 1, 2)
        elif self.run.text() != name:
            self.run.setText(name)
            self.run.setVisible(bool(name))

    def show_value(self, text: str) -> None:
        if text != self.value.text():
            said = {WAITING: BUSY, VOID: self.curve.void}.get(text, "")
            self.setToolTip(escape_tip(f"{self._about}: {said}" if said else self._about))
            self.value.setText(text)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.RightButton:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(icon("remove"), "Remove from the plot", lambda: self.removed.emit(self.curve.label))
            menu.popup(event.globalPosition().toPoint())


class RowSizes(NamedTuple):
    """Space required by the rows, in pixels."""

    wanted: int
    """Width that shows values in full and enough of the names."""
    whole: int
    """Width that shows names and values in full."""
    tallest: int
    """Height of a row."""


class Legend(QScrollArea):
    """Legend next to its plot or above it. `removed(channel)` is emitted when the user removes a channel."""

    removed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        self._grid = QGridLayout(inside)
        self._grid.setContentsMargins(0, 2, 4, 2)
        self._grid.setSpacing(0)
        self._columns = 0  # none: below one another
        self.setWidget(inside)
        inside.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        self.rows: list[_CurveRow] = []
        self._many = False

    def measure_rows(self) -> RowSizes:
        """Return the space required by the rows. This is slow; call it once per arrangement."""
        hints = [row.sizeHint() for row in self.rows]
        least = max((row.minimumSizeHint().width() for row in self.rows), default=0)
        widest = max((hint.width() for hint in hints), default=0)
        return RowSizes(least + self._margin, widest + self._margin, max((hint.height() for hint in hints), default=0))

    def arrange_rows(self, width: int | None, sizes: RowSizes) -> int:
        """Stack the rows (width None), or lay out as many side by side as fit in full within `width` pixels; return the
        height.

        Returns:
            The height in which all are seen, pixels.
        """
        margin = self._margin
        columns = 0 if width is None else max(1, (width - margin) // max(sizes.whole - margin, 1))
        if columns != self._columns:
            self._columns = columns
            self._fit_rows()
        return -(-len(self.rows) // max(columns, 1)) * sizes.tallest + 4

    @property
    def _margin(self) -> int:
        return self.verticalScrollBar().sizeHint().width() + 6

    def _fit_rows(self) -> None:
        """Make stacked rows as wide as the legend, and align rows that are side by side to the left."""
        columns, grid = max(self._columns, 1), self._grid
        for k, row in enumerate(self.rows):
            place = k // columns, k % columns
            there = grid.itemAtPosition(*place)
            if there is None or there.widget() is not row:
                grid.addWidget(row, *place)
        for column in range(grid.columnCount() + 1):
            grid.setColumnStretch(column, column == self._columns)
        for line in range(grid.rowCount() + 1):
            grid.setRowStretch(line, line == -(-len(self.rows) // columns))

    def show_curves(self, curves: list[Curve]) -> None:
        """Show a row for each curve that is not faint."""
        order = {label: k for k, label in enumerate(dict.fromkeys(curve.label for curve in curves))}
        wanted = [curve for curve in curves if curve.opacity >= 1.0]
        wanted.sort(key=lambda curve: (not curve.current, curve.run, order[curve.label]))
        many = len({curve.run for curve in wanted}) > 1
        there = {row.curve.key: row for row in self.rows}
        rows = [self._reuse_or_create_row(there.pop(curve.key, None), curve, many) for curve in wanted]
        self._many = many
        if rows == self.rows:
            return
        for row in self.rows:
            if row not in rows:
                row.hide()
                self._grid.removeWidget(row)
                row.deleteLater()
        self.rows = rows
        self._fit_rows()

    def _reuse_or_create_row(self, row: _CurveRow | None, curve: Curve, many_runs: bool) -> _CurveRow:
        """Return the existing row for a curve, or a new one."""
        if row is None:
            row = _CurveRow(curve, many_runs)
            row.removed.connect(self.removed)
        elif (_displayed_properties(row.curve), self._many) == (_displayed_properties(curve), many_runs):
            row.curve = curve
        else:
            row.show_curve(curve, many_runs)
        return row

    def show_values(self, time: float | None, interval: tuple[float, float] | None = None) -> None:
        """Show the values at a time, or the differences of the values between two times."""
        for row in self.rows:
            row.show_value(_value_text(row.curve, time, interval))


def _displayed_properties(curve: Curve) -> tuple[object, ...]:
    return curve.key, curve.run, curve.pen_style, curve.unit


def _value_text(curve: Curve, time: float | None, interval: tuple[float, float] | None) -> str:
    if curve.waiting:
        return WAITING
    if curve.void:
        return VOID
    if interval is not None:
        ends = [curve.point_at_time(each) for each in interval]
        if ends[0] is None or ends[1] is None:
            return "–"
        if curve.words:
            return " → ".join(dict.fromkeys(format_value(curve, end[1]) for end in ends if end is not None))
        return f"Δ {format_number(ends[1][1] - ends[0][1])} {curve.unit}".rstrip()
    found = curve.point_at_time(time) if time is not None else None
    gap = "" if curve.unit.startswith("°") else "\u202f"
    return f"{format_value(curve, found[1])}{gap}{curve.unit_label}".rstrip() if found is not None else "–"
