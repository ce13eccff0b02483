"""A plot with one y axis per unit; all axes are panned and zoomed together."""

from __future__ import annotations

from html import escape
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from app.plotting.curves import LANES
from app.preferences.theme import Colors

WIDTH = 58
"""Width of each y axis, in pixels; the same for all, so that plots above one another are aligned."""
BELOW = 5.0
"""Height of the x axis without its tick labels, in pixels."""


class AxisViewBox(pg.ViewBox):
    """View box of the first y axis; passes vertical pan and zoom on to the other axes."""

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.others: list[pg.ViewBox] = []

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Zoom about the pointer."""
        before = self.viewRange()[1]
        super().wheelEvent(event, axis=axis)
        self._zoom_other_axes(before)

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Pan, or zoom to a dragged box."""
        before = self.viewRange()[1]
        super().mouseDragEvent(event, axis=axis)
        self._zoom_other_axes(before)

    def _zoom_other_axes(self, old_range: list[float]) -> None:
        after = self.viewRange()[1]
        span = old_range[1] - old_range[0]
        if after == old_range or not span:
            return
        for box in self.others:
            low, high = box.viewRange()[1]
            shares = (after[0] - old_range[0]) / span, (after[1] - old_range[1]) / span
            box.setYRange(low + shares[0] * (high - low), high + shares[1] * (high - low), padding=0.0)


class Axes:
    """View boxes of a plot, one per unit, in the order in which the units were first used."""

    def __init__(self, plot: pg.PlotItem, box: AxisViewBox) -> None:
        self.plot, self.box = plot, box
        self._extra: list[tuple[pg.ViewBox, pg.AxisItem]] = []
        self.units: tuple[str, ...] = ()
        self._reserved = 0.0
        self._spare = (0.0, 0.0)
        """Room left free at the right and above for the sake of proportions."""
        box.sigResized.connect(self._align_view_boxes)

    def set_units(self, units: tuple[str, ...]) -> tuple[str, ...]:
        """Create the view boxes for these units. Leading ones whose units have not changed are kept with their curves,
        and their units are returned; curves in the others must be drawn again."""
        units = units or ("",)
        kept = next(
            (k for k, pair in enumerate(zip(self.units, units, strict=False)) if pair[0] != pair[1]),
            min(len(self.units), len(units)),
        )
        self.units = units
        for box, axis in self._extra[max(kept - 1, 0) :]:
            self.plot.layout.removeItem(axis)
            self.plot.scene().removeItem(axis)
            self.plot.scene().removeItem(box)
            self.box.others.remove(box)
        del self._extra[max(kept - 1, 0) :]
        for k in range(len(self._extra), len(units) - 1):
            box, axis = pg.ViewBox(enableMenu=False), pg.AxisItem("right")
            self.plot.layout.addItem(axis, 2, 3 + k)
            self.plot.scene().addItem(box)
            box.setZValue(self.box.zValue() - (2 if units[k + 1] == LANES else 1))  # lanes behind curves
            axis.linkToView(box)
            box.setXLink(self.box)
            self._extra.append((box, axis))
            self.box.others.append(box)
        self._align_view_boxes()
        return units[:kept]

    def update_geometry(self) -> None:
        """Compute the positions and ranges of view boxes and axes now, so that they are painted only once."""
        self.plot.layout.activate()
        for box in (self.box, *self.box.others):
            box.prepareForPaint()

    def find_view_box(self, unit: str) -> pg.ViewBox:
        """Return the view box for the curves of a unit."""
        k = self.units.index(unit)
        return self.box if k == 0 else self._extra[k - 1][0]

    @property
    def all_axes(self) -> list[pg.AxisItem]:
        """All axes: x, the first y axis, further y axes."""
        return [self.plot.getAxis("bottom"), self.plot.getAxis("left"), *(axis for _, axis in self._extra)]

    def _align_view_boxes(self) -> None:
        place: QRectF = self.box.sceneBoundingRect()
        for box, _ in self._extra:
            box.setGeometry(place)
            box.linkedViewChanged(self.box, box.XAxis)

    def reserve_axes(self, count: int) -> None:
        """Reserve space on the right for a number of further y axes."""
        self._reserved = count * WIDTH
        self._set_margins()

    def keep_aspect(self, aspect: float) -> None:
        """Add a margin on the right or at the top so that the plotted area has this ratio of height to width (0: use
        all space)."""
        across, *upright = self.all_axes
        width = self.plot.size().width() - sum(axis.width() for axis in upright) - self._reserved - 5.0
        height = self.plot.size().height() - across.height() - 2.0
        beside, above = self._spare
        kept = min(width, height / aspect) if aspect > 0.0 else width
        wanted = (width - kept, height - kept * aspect if aspect > 0.0 else 0.0)
        if max(abs(wanted[0] - beside), abs(wanted[1] - above)) > 1.0:
            self._spare = wanted
            self._set_margins()

    def _set_margins(self) -> None:
        self.plot.layout.setContentsMargins(1, 1 + self._spare[1], 4 + self._reserved + self._spare[0], 1)

    def label_axes(self) -> None:
        """Label the y axes with their units."""
        for axis, unit in zip(self.all_axes[1:], self.units, strict=True):
            words = escape(unit)  # axes take HTML
            if axis.labelText == words:
                continue
            axis.setLabel(words, siPrefixEnableRanges=())
            axis.showLabel(bool(unit))
            axis.setStyle(showValues=unit != LANES)
        self._set_axis_widths()

    def _set_axis_widths(self) -> None:
        first, *others = self.all_axes[1:]
        first.setWidth(WIDTH)
        for axis, unit in zip(others, self.units[1:], strict=True):
            axis.setVisible(unit != LANES)
            axis.setWidth(WIDTH if unit != LANES else 0)

    def apply_theme(self, colors: Colors, font: QFont) -> None:
        """Apply the colours of a theme."""
        for axis in self.all_axes:
            axis.setSIPrefixEnableRanges(())  # else numbers are scaled even where that is not enabled
            axis.enableAutoSIPrefix(False)
            axis.setPen(pg.mkPen(colors.line))
            axis.setTextPen(pg.mkPen(colors.muted))
            axis.setTickFont(font)
            axis.label.setFont(font)
            axis.label.setDefaultTextColor(QColor(colors.muted))
            axis.setStyle(tickLength=-4, tickTextOffset=4, hideOverlappingLabels=True)
        self._set_axis_widths()
        self.all_axes[0].setHeight(QFontMetricsF(font).height() + BELOW)

    def fit_to_curves(self) -> None:
        """Fit all axes to their curves, now and whenever the curves change."""
        for box in (self.box, *self.box.others):
            box.enableAutoRange()
