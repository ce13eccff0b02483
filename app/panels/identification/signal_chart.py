"""Chart of measured and computed curves versus time, with their residual below."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPalette, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.document.run_tree import COLORS
from app.panels.identification.shown_results import SignalSheet
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import Label

Array = NDArray[np.float64]

MOST_POINTS = 4000
"""Largest number of points drawn per curve."""
MOST_NAMED = 8
"""Largest number of curves that are named above the chart."""


class _PlotArea(pg.PlotWidget):
    """Plot area without menus and buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        item = self.getPlotItem()
        item.hideButtons()
        item.setMenuEnabled(False)
        item.showGrid(x=True, y=True, alpha=0.25)
        item.getAxis("left").setWidth(58)
        item.getAxis("left").enableAutoSIPrefix(False)
        item.getAxis("bottom").enableAutoSIPrefix(False)


class SignalChart(QWidget):
    """Chart with a signal selector above the curves; the residual has its own scale."""

    def __init__(self) -> None:
        super().__init__()
        self.sheets: tuple[SignalSheet, ...] = ()
        self.choice, self.words = NarrowCombo(), Label()
        self.choice.setAccessibleName("Signal")
        self.choice.currentIndexChanged.connect(lambda _: self._paint())
        self.words.setProperty("muted", True)
        self.upper, self.lower = _PlotArea(), _PlotArea()
        self.lower.setXLink(self.upper)
        self.names = QHBoxLayout()
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 2)
        bar.addWidget(self.choice, 1)
        bar.addLayout(self.names)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.words)
        self.words.setContentsMargins(8, 0, 8, 2)
        column.addWidget(self.upper, 3)
        column.addWidget(self.lower, 2)
        self.show_sheets(())

    def show_sheets(self, sheets: Sequence[SignalSheet]) -> None:
        """Show these signals; the selected signal is kept if it still exists."""
        title = self.choice.currentText()
        self.sheets = tuple(sheets)
        self.choice.blockSignals(True)
        self.choice.clear()
        self.choice.addItems([sheet.title for sheet in sheets])
        self.choice.setCurrentIndex(max(0, self.choice.findText(title)) if sheets else -1)
        self.choice.blockSignals(False)
        self.choice.setVisible(len(sheets) > 1)
        self._paint()

    @property
    def current_sheet(self) -> SignalSheet | None:
        """Return the signal that is drawn."""
        at = self.choice.currentIndex()
        return self.sheets[at] if 0 <= at < len(self.sheets) else None

    def showEvent(self, event: QShowEvent) -> None:
        """Repaint, because the theme may have changed while the chart was hidden."""
        super().showEvent(event)
        self._paint()

    def changeEvent(self, event: QEvent) -> None:
        """Update the colours after a change of theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "names"):
            self._paint()

    def _paint(self) -> None:
        palette, sheet = self.palette(), self.current_sheet
        text, muted = palette.color(QPalette.ColorRole.Text), palette.color(QPalette.ColorRole.PlaceholderText)
        for area in (self.upper, self.lower):
            area.setBackground(palette.color(QPalette.ColorRole.Base))
            area.getPlotItem().clear()
            for side in ("left", "bottom"):
                axis = area.getPlotItem().getAxis(side)
                axis.setPen(muted)
                axis.setTextPen(text)
        self._show_curve_names(())
        self.words.setText("" if sheet is None else sheet.words)
        self.words.setVisible(bool(self.words.text()))
        self.lower.setVisible(sheet is not None and sheet.residual is not None)
        if sheet is None:
            return
        self.upper.getPlotItem().getAxis("left").setLabel(sheet.unit)
        self.lower.getPlotItem().getAxis("left").setLabel("residual")
        bottom = self.lower if sheet.residual is not None else self.upper
        bottom.getPlotItem().getAxis("bottom").setLabel("t, s")
        if bottom is self.lower:
            self.upper.getPlotItem().getAxis("bottom").setLabel("")
        words: list[tuple[str, str]] = []
        for k, (name, values) in enumerate(sheet.curves):
            color = COLORS[k % len(COLORS)]
            self._draw_curve(self.upper, sheet.time, values, color)
            words.append((name, color))
        if sheet.residual is not None:
            self._draw_curve(self.lower, sheet.time, sheet.residual, COLORS[len(sheet.curves) % len(COLORS)])
        self._show_curve_names(words[:MOST_NAMED])
        if sheet.held_from is not None:
            for area in (self.upper, self.lower):
                pen = pg.mkPen(muted, style=Qt.PenStyle.DashLine)
                area.getPlotItem().addItem(pg.InfiniteLine(sheet.held_from, 90, pen=pen), ignoreBounds=True)
        for area, every in ((self.upper, [y for _, y in sheet.curves]), (self.lower, [sheet.residual])):
            area.setXRange(float(sheet.time[0]), float(sheet.time[-1]), padding=0.02)
            finite = [y[np.isfinite(y)] for y in every if y is not None]
            shown = np.concatenate(finite) if finite else np.zeros(1)
            low, high = float(np.min(shown, initial=np.inf)), float(np.max(shown, initial=-np.inf))
            if low < high:
                area.setYRange(low, high, padding=0.06)

    def _show_curve_names(self, names: Sequence[tuple[str, str]]) -> None:
        """Show the names of the curves in their colours."""
        while (item := self.names.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for name, color in names:
            label = Label(f"━ {name}")
            palette = label.palette()
            palette.setColor(QPalette.ColorRole.WindowText, QColor(color))
            label.setPalette(palette)
            self.names.addWidget(label)

    @staticmethod
    def _draw_curve(area: pg.PlotWidget, time: Array, values: Array, color: str) -> None:
        every = max(1, len(time) // MOST_POINTS)
        pen = pg.mkPen(color, width=1.6)
        area.getPlotItem().plot(time[::every], values[::every], pen=pen, connect="finite", antialias=True)
