"""Diagram on a card: curves versus an axis, or poles and zeros in the complex plane; the nearest point to the pointer
is reported."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QPalette, QWheelEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QVBoxLayout, QWidget

from app.document.run_tree import COLORS
from app.panels.output.parts import CardContext
from app.plotting.axes import WIDTH
from app.widgets.label import Label
from core.functions.diagrams import Diagram, Series
from core.functions.text import format_number

HEIGHT, SQUARE = 210, 260
"""Heights of diagrams and of square diagrams, pixels."""
REACH = 14.0
"""Largest distance from the pointer at which a point is reported, pixels."""


class _PlotArea(pg.PlotWidget):
    """Plot area that leaves the mouse wheel to the list of cards."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Pass the wheel event on to the list of cards."""
        event.ignore()


class DiagramPart(QWidget):
    """Title, plot, and the names of the curves in their colours."""

    def __init__(self, part: Diagram, place: CardContext) -> None:
        super().__init__()
        self.part = part
        self._title, self.nearest = Label(part.title), Label()
        self.nearest.setProperty("muted", True)
        self._names = QGridLayout()
        self._names.setHorizontalSpacing(6)
        self._names.setColumnStretch(1, 1)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._title)
        column.addWidget(self.nearest)
        column.addLayout(self._names)
        self._left: deque[int] | None = None
        """Curves that are not drawn yet; None: nothing is."""

    def create_next_piece(self) -> bool:
        """Create the next piece of the widget: the plot, then its axes, then one curve at a time; return True when all
        is done."""
        if not hasattr(self, "area"):
            self._make_plot()
        elif self._left is None:
            self._draw_axes()
        elif self._left:
            k = self._left.popleft()
            self._draw_curve(self.part.series[k], COLORS[k % len(COLORS)])
        return self._left is not None and not self._left

    def _make_plot(self) -> None:
        self.area = _PlotArea()
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.item: pg.PlotItem = self.area.getPlotItem()
        self.item.hideButtons()
        self.item.setMenuEnabled(False)
        self.item.setMouseEnabled(False, False)
        self._column.insertWidget(1, self.area)
        self.area.scene().sigMouseMoved.connect(self._on_pointer_moved)

    def show_part(self, part: Diagram) -> None:
        """Show another diagram."""
        self.part = part
        self._title.setText(part.title)
        if not hasattr(self, "area"):  # drawn once it is
            return
        self._draw_all()

    def changeEvent(self, event: QEvent) -> None:
        """Update the colours after a change of theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._left is not None:
            self._draw_all()

    def _draw_all(self) -> None:
        """Draw everything."""
        self._draw_axes()
        while not self.create_next_piece():
            pass

    def _draw_axes(self) -> None:
        """Draw everything except the curves in the colours of the theme."""
        part = self.part
        self.area.setFixedHeight(SQUARE if part.square else HEIGHT)
        self.item.setLogMode(part.log_across, False)
        self.item.vb.setAspectLocked(part.square)
        self._left = deque(range(len(part.series)))
        palette = self.palette()
        text, muted = palette.color(QPalette.ColorRole.Text), palette.color(QPalette.ColorRole.PlaceholderText)
        self.area.setBackground(palette.color(QPalette.ColorRole.Base))
        self.item.clear()
        for side, title in (("bottom", self.part.across), ("left", self.part.up)):
            axis = self.item.getAxis(side)
            axis.setPen(muted)
            axis.setTextPen(text)
            axis.enableAutoSIPrefix(False)
            axis.setLabel(title)
            axis.setTicks(self._decade_ticks() if self.part.log_across and side == "bottom" else None)
        self.item.getAxis("left").setWidth(WIDTH)  # one below the other they begin at the same place
        self.item.showGrid(x=True, y=True, alpha=0.25)
        if self.part.square:
            for angle in (0, 90):
                self.item.addItem(pg.InfiniteLine(0.0, angle, pen=pg.mkPen(muted)), ignoreBounds=True)
        self._show_curve_names()

    def _decade_ticks(self) -> list[list[tuple[float, str]]]:
        """Return the ticks of a logarithmic axis at 1, 2 and 5 of each decade, labelled where labels do not overlap."""
        across = [x for series in self.part.series for x in (series.across[0], series.across[-1]) if x > 0.0]
        low, high = min(across), max(across)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        steps = (1, 2, 5) if len(powers) <= 5 else (1,)
        values = [step * 10.0**power for power in powers for step in steps]
        return [[(math.log10(value), f"{value:g}") for value in values if low <= value <= high]]

    def _draw_curve(self, series: Series, color: str) -> None:
        across, up = (np.array(each, dtype=float) for each in (series.across, series.up))
        up[~np.isfinite(up)] = np.nan
        if not series.mark:
            self.item.plot(across, up, pen=pg.mkPen(color, width=2), connect="finite", antialias=True)
            return
        brush = None if series.mark == "o" else pg.mkBrush(color)
        pen = pg.mkPen(color, width=2)
        self.item.plot(across, up, pen=None, symbol=series.mark, symbolSize=11, symbolPen=pen, symbolBrush=brush)

    def _show_curve_names(self) -> None:
        while (item := self._names.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for k, series in enumerate(self.part.series):
            swatch = QFrame()
            swatch.setFixedSize(14, 4 if not series.mark else 10)
            swatch.setAutoFillBackground(True)
            ground = swatch.palette()
            ground.setColor(swatch.backgroundRole(), COLORS[k % len(COLORS)])
            swatch.setPalette(ground)
            sign = {"x": " (×)", "o": " (○)"}.get(series.mark, "")
            self._names.addWidget(swatch, k, 0)
            self._names.addWidget(Label(f"{series.name}{sign}"), k, 1)

    def _on_pointer_moved(self, position: QPointF) -> None:
        """Show the values of the curve point nearest to the pointer."""
        box = self.item.vb
        best: tuple[float, str] | None = None
        for series in self.part.series:
            for x, y in zip(series.across, series.up, strict=True):
                if not math.isfinite(y) or (self.part.log_across and x <= 0.0):
                    continue
                shown = box.mapViewToScene(QPointF(math.log10(x) if self.part.log_across else x, y))
                distance = math.hypot(shown.x() - position.x(), shown.y() - position.y())
                if distance < REACH and (best is None or distance < best[0]):
                    best = distance, f"{series.name}: {self._cursor_text(x, y)}"
        self.nearest.setText(best[1] if best else "")

    def _cursor_text(self, x: float, y: float) -> str:
        if self.part.square:
            if not y:
                return f"λ = {format_number(x, 5)} 1/s"
            turning = f"{'+' if y >= 0 else '−'} {format_number(abs(y), 5)} i"
            return f"λ = {format_number(x, 5)} {turning} 1/s, {format_number(abs(y) / (2.0 * math.pi), 5)} Hz"
        return f"{self.part.up} {format_number(y, 5)} at {self.part.across} {format_number(x, 5)}"
