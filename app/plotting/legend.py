"""Legend of a plot: curve names with their values at the playhead, or differences between the two measuring lines."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QScrollArea, QWidget

from app.plain_text import as_tip
from app.plotting.curves import Curve, shown_number, shown_value
from app.preferences.icons import icon
from app.widgets.label import ElidedLabel, Label

STYLES = {
    "solid": Qt.PenStyle.SolidLine,
    "dash": Qt.PenStyle.DashLine,
    "dot": Qt.PenStyle.DotLine,
    "dash_dot": Qt.PenStyle.DashDotLine,
}
WIDEST = "−0.88888"
"""Sample value whose width is always reserved, with its unit."""


WAITING = "…"
BUSY = "being computed …"
VOID = "no number"


def pen_of(curve: Curve, width: float = 1.0) -> QPen:
    """Return the pen of a curve."""
    color = QColor(curve.color)
    color.setAlphaF(curve.opacity)
    pen = QPen(color, width, STYLES[curve.dash])
    pen.setCosmetic(True)
    return pen


class _LineSample(QWidget):
    """Sample of a curve's line."""

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
    """Row of one curve; it can be reused for another curve."""

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
        """Show a curve; with `many_runs` its run is named too. The value has to be set again."""
        self.curve = curve
        self.swatch.pen = pen_of(curve, 2.0) if not curve.words else QPen(Qt.PenStyle.NoPen)
        self.swatch.update()
        if self.name.text() != curve.label:
            self.name.setText(curve.label)
        self.value.setText("")
        texts, advance = curve.words or (f"{WIDEST} {curve.unit_label}",), self.value.fontMetrics().horizontalAdvance
        self.value.setMinimumWidth(max(map(advance, texts)))
        self._name_run(curve.run if many_runs else "")
        self._about = f"{curve.label} of {curve.run}" + (f", {curve.unit_label}" if curve.unit_label else "")
        self.setToolTip(as_tip(self._about))

    def _name_run(self, name: str) -> None:
        if self.run is None:
            if name:
                self.run = ElidedLabel(name, Qt.TextElideMode.ElideMiddle)
                self.run.setProperty("muted", True)
                self._grid.addWidget(self.run, 1, 1, 1, 2)
        elif self.run.text() != name:
            self.run.setText(name)
            self.run.setVisible(bool(name))

    def say(self, text: str) -> None:
        if text != self.value.text():
            said = {WAITING: BUSY, VOID: self.curve.void}.get(text, "")
            self.setToolTip(as_tip(f"{self._about}: {said}" if said else self._about))
            self.value.setText(text)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.RightButton:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(icon("remove"), "Remove from the plot", lambda: self.removed.emit(self.curve.label))
            menu.popup(event.globalPosition().toPoint())


class Sizes(NamedTuple):
    """Space that the rows need, pixels."""

    wanted: int
    """Width that shows values in full and enough of the names."""
    whole: int
    """Width that shows names and values in full."""
    tallest: int
    """Height of a row."""


class Legend(QScrollArea):
    """Legend next to its plot or above it. `removed(channel)`: the user removed a channel."""

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

    def measure(self) -> Sizes:
        """Return the space that the rows need. Measuring takes long; call it once for each arrangement."""
        hints = [row.sizeHint() for row in self.rows]
        least = max((row.minimumSizeHint().width() for row in self.rows), default=0)
        widest = max((hint.width() for hint in hints), default=0)
        return Sizes(least + self._margin, widest + self._margin, max((hint.height() for hint in hints), default=0))

    def arrange(self, width: int | None, sizes: Sizes) -> int:
        """Place rows below one another (`None`), or next to one another as far as they fit in full into `width` pixels.

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
        """Make rows below one another as wide as the legend, and align rows next to one another at the left."""
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
        rows = [self._row(there.pop(curve.key, None), curve, many) for curve in wanted]
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

    def _row(self, row: _CurveRow | None, curve: Curve, many_runs: bool) -> _CurveRow:
        """Return the existing row for a curve, or a new one."""
        if row is None:
            row = _CurveRow(curve, many_runs)
            row.removed.connect(self.removed)
        elif (_displayed_properties(row.curve), self._many) == (_displayed_properties(curve), many_runs):
            row.curve = curve
        else:
            row.show_curve(curve, many_runs)
        return row

    def say(self, time: float | None, pair: tuple[float, float] | None = None) -> None:
        """Show the values at a time, or the differences between two times."""
        for row in self.rows:
            row.say(_value_text(row.curve, time, pair))


def _displayed_properties(curve: Curve) -> tuple[object, ...]:
    return curve.key, curve.run, curve.style, curve.unit


def _value_text(curve: Curve, time: float | None, pair: tuple[float, float] | None) -> str:
    if curve.waiting:
        return WAITING
    if curve.void:
        return VOID
    if pair is not None:
        ends = [curve.at(each) for each in pair]
        if ends[0] is None or ends[1] is None:
            return "–"
        if curve.words:
            return " → ".join(dict.fromkeys(shown_value(curve, end[1]) for end in ends if end is not None))
        return f"Δ {shown_number(ends[1][1] - ends[0][1])} {curve.unit}".rstrip()
    found = curve.at(time) if time is not None else None
    gap = "" if curve.unit.startswith("°") else "\u202f"
    return f"{shown_value(curve, found[1])}{gap}{curve.unit_label}".rstrip() if found is not None else "–"
