"""One plot: curves on an axis per unit, the playhead, two measuring cursors, and the legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QFont, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QToolTip

from app.plain_text import escape_tip
from app.plotting.axes import WIDTH, Axes, AxisViewBox
from app.plotting.curves import LANES, Curve, Plot
from app.plotting.dragged_channels import CHANNELS, channels_from_mime_data
from app.plotting.legend import Legend, curve_pen
from app.plotting.lines import BESIDE, PlotLine, StateLaneLine
from app.preferences.theme import Colors
from app.widgets.label import Label

Array = NDArray[np.float64]


def clip_line(x: Array, y: Array, low: tuple[float, float], high: tuple[float, float]) -> tuple[Array, Array]:
    """Return the parts of the line through (x, y), each (n,), that lie within the rectangle from low to high, separated
    by NaN.

    Liang and Barsky's algorithm (1984): each segment p + s·d keeps the s for which it is inside of all four edges.
    """
    points = np.column_stack((x, y)).astype(float)
    start, delta = points[:-1], np.diff(points, axis=0)
    first, last = np.zeros(len(delta)), np.ones(len(delta))
    inside = np.isfinite(start).all(axis=1) & np.isfinite(delta).all(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(2):
            to_low, to_high = (low[k] - start[:, k]) / delta[:, k], (high[k] - start[:, k]) / delta[:, k]
            moves = delta[:, k] != 0.0
            first = np.where(moves, np.maximum(first, np.minimum(to_low, to_high)), first)
            last = np.where(moves, np.minimum(last, np.maximum(to_low, to_high)), last)
            inside &= moves | ((low[k] <= start[:, k]) & (start[:, k] <= high[k]))
    kept = np.flatnonzero(inside & (first <= last))
    if not len(kept):
        return np.empty(0), np.empty(0)
    ends = [start[kept] + share[kept, None] * delta[kept] for share in (first, last)]
    goes_on = np.zeros(len(kept), dtype=bool)
    goes_on[1:] = (np.diff(kept) == 1) & (last[kept[:-1]] == 1.0) & (first[kept[1:]] == 0.0)
    gap = np.full_like(ends[0], np.nan)
    rows = np.stack((gap, ends[0], ends[1]), axis=1)
    wanted = np.column_stack((~goes_on, ~goes_on, np.ones(len(kept), dtype=bool)))
    wanted[0, 0] = False
    result = rows[wanted]
    return result[:, 0], result[:, 1]


pg.setConfigOptions(antialias=False, useOpenGL=False, exitCleanup=False)

NARROW = 420
"""Width of the plot, in pixels, below which the legend is placed above the curves instead of next to them."""
LEGEND = 214
"""Width of the legend, in pixels, if there is enough space; for longer names it is wider, up to a third of the plot."""
EMPTY = "Nothing is plotted here yet. Check channels on the left, drag some here, or type a formula."
UNBOUNDED = (1 << 24) - 1
"""Qt's largest size of a widget, pixels."""
GRIP = 4.0
"""Distance from an event flag, in pixels, within which the pointer shows its text."""
SMOOTH = 20_000
"""Number of samples above which a curve is drawn without antialiasing."""


class Chart(QFrame):
    """Widget that shows a `Plot`; its owner provides the curves and the times of the cursors."""

    seeked = Signal(float)
    """Emitted with the time (s) to which the user moved the playhead."""
    measured = Signal(float, float)
    """Emitted with the times (s) to which the user moved the measuring cursors."""
    dropped = Signal(list)
    removed = Signal(str)
    activated = Signal()
    menu_wanted = Signal(QPointF)

    def __init__(self, colors: Colors) -> None:
        super().__init__()
        self.setObjectName("chart")
        self.setAcceptDrops(True)
        self.setMinimumHeight(96)
        self.colors, self.plot = colors, Plot()
        self.setAutoFillBackground(True)
        self.curves: list[Curve] = []
        self.box = AxisViewBox()
        self.view = pg.PlotWidget(viewBox=self.box)
        self.view.viewport().setAcceptDrops(False)
        self.view.setAcceptDrops(False)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.item: pg.PlotItem = self.view.getPlotItem()
        self.item.hideButtons()
        self.item.setMenuEnabled(False)
        self.axes = Axes(self.item, self.box)
        self.legend = Legend()
        self._create_labels()
        self.box.sigResized.connect(self._on_resized)
        self._lines: dict[tuple[int, str], PlotLine] = {}
        self._create_cursors()
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, 2, 0, 2)
        grid.setSpacing(0)
        self._mark = QFrame()
        self._mark.setFixedWidth(2)
        self._mark.setAutoFillBackground(True)
        grid.addWidget(self._mark, 0, 0, 2, 1)
        grid.addWidget(self.view, 1, 1)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(1, 1)
        self._narrow: bool | None = None
        self._place_legend()
        self.legend.removed.connect(self.removed)
        self.view.scene().sigMouseClicked.connect(self._on_clicked)
        self.axes.set_units(("",))
        self.apply_theme(colors)

    def _create_labels(self) -> None:
        """Create the labels over the curves: time between the measuring cursors, name of the x axis, hint of an empty
        plot."""
        self.note = Label(parent=self.view)
        self.note.setObjectName("chartNote")
        self.note.move(WIDTH + 6, 4)
        self.note.hide()
        self.across = Label(parent=self.view)
        self.across.setObjectName("chartTitle")  # legible over the playhead
        self.hint = Label(EMPTY, self.view, wordWrap=True)
        self.hint.setObjectName("chartHint")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for label in (self.across, self.hint):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def _create_cursors(self) -> None:
        """Create the playhead, the two measuring cursors, and the point markers of plots whose x axis is not time."""
        self._quiet = False
        self.head = pg.InfiniteLine(angle=90, movable=True)
        self.pair = [
            pg.InfiniteLine(angle=90, movable=True, label=name, labelOpts={"position": 0.92}) for name in ("A", "B")
        ]
        self.points = pg.ScatterPlotItem(size=9, pxMode=True)
        self.points.setZValue(30)
        for line in (self.head, *self.pair):
            line.setZValue(20)
            line.setVisible(False)
            self.item.addItem(line, ignoreBounds=True)
        self.item.addItem(self.points, ignoreBounds=True)
        self._ticks = pg.VTickGroup([], yrange=[0.95, 1.0])
        self._ticks.setZValue(15)
        self.item.addItem(self._ticks, ignoreBounds=True)
        self.flags: tuple[tuple[float, str], ...] = ()
        self._told = ""
        self.view.scene().sigMouseMoved.connect(self._on_pointer_moved)
        self.head.sigDragged.connect(lambda line: self.seeked.emit(float(line.value())))
        for line in self.pair:
            line.sigDragged.connect(lambda _: self.measured.emit(*(float(each.value()) for each in self.pair)))

    # ----------------------------------------------------------------------------- showing

    def show_curves(self, plot: Plot, curves: list[Curve]) -> None:
        """Draw curves; existing lines are reused if only their data change."""
        another = plot.x != self.plot.x
        self.plot, self.curves = plot, curves
        # lanes last: they need no axis of their own where there are curves
        chosen = sorted(curves, key=lambda c: (bool(c.words), plot.channels.index(c.label)))
        units = tuple(dict.fromkeys(curve.unit for curve in chosen))
        if (units or ("",)) != self.axes.units or another:
            kept = self.axes.set_units(units)
            self._apply_theme_to_axes()
            self.fit_to_curves()
            for key in [key for key, line in self._lines.items() if another or line.unit not in kept]:
                self._remove_line(key)
        shown = {curve.key: curve.unit for curve in curves}
        for key in [key for key, line in self._lines.items() if shown.get(key) != line.unit]:
            self._remove_line(key)
        for depth, curve in enumerate(curves):
            self._draw_curve(curve, depth)
        self._arrange_lanes()
        self.axes.label_axes()
        self.axes.keep_aspect(plot.aspect)
        self.across.setText(self._x_title())
        self._place_title()
        self.legend.show_curves(curves)
        self._place_legend()
        self._grid.activate()
        self.axes.update_geometry()
        self.axes.keep_aspect(plot.aspect)

    def _arrange_lanes(self) -> None:
        """Stack the lanes of state channels in the order in which the channels were chosen."""
        chosen = [curve for curve in self.curves if curve.words]
        chosen.sort(key=lambda curve: (self.plot.channels.index(curve.label), curve.key[0]))
        for place, curve in enumerate(chosen):
            lane = self._lines[curve.key]
            assert isinstance(lane, StateLaneLine)
            lane.set_position(place, len(chosen), len(self.axes.units) == 1)

    def _on_resized(self) -> None:
        self.view.viewport().update()  # numbers at the axes would stay where they stood before
        self.axes.keep_aspect(self.plot.aspect)
        self._place_title()

    def _place_title(self) -> None:
        """Place the title of the x axis at its right end, above any lanes; in an empty plot place the hint."""
        self.across.adjustSize()
        inside = self.view.mapFromScene(self.box.sceneBoundingRect()).boundingRect()
        lanes = round(inside.height() / (1.0 + BESIDE)) if LANES in self.axes.units[1:] else 0
        corner = inside.right() - self.across.width() - 3, inside.bottom() - self.across.height() - 1
        self.across.move(corner[0], corner[1] - lanes)
        self.across.setVisible(bool(self.curves))
        self.hint.setGeometry(inside.adjusted(8, 4, -8, -4))
        empty = [curve.void for curve in self.curves if curve.opacity >= 1.0]
        self.hint.setText("\n".join(dict.fromkeys(empty)) if empty and all(empty) else EMPTY)
        self.hint.setVisible(not self.curves or self.hint.text() != EMPTY)

    def _x_title(self) -> str:
        unit = self.curves[0].x_unit if self.curves else "s"
        name = "t" if self.plot.is_over_time else self.plot.x
        return f"{name}, {unit}" if unit else name

    def _draw_curve(self, curve: Curve, depth: int) -> None:
        line = self._lines.get(curve.key)
        if line is None:
            line = self._lines[curve.key] = (
                StateLaneLine(curve.words, self.colors)
                if curve.words
                else PlotLine(curve.unit, curve_pen(curve), curve.is_x_increasing)
            )
            line.style = curve.pen_style
            line.setZValue(depth)
            self.axes.find_view_box(curve.unit).addItem(line)
        if line.style != curve.pen_style and not curve.words:
            line.style = curve.pen_style
            line.setPen(curve_pen(curve))
        if line.zValue() != depth:
            line.setZValue(depth)
        if line.numbers is not curve.y or line.across is not curve.x:
            thin = curve.is_x_increasing and curve.levels is None and not curve.words
            if (line.opts["clipToView"], line.opts["autoDownsample"]) != (thin, thin):
                line.setClipToView(thin)
                line.setDownsampling(auto=thin, method="peak")
            self._set_line_data(line, curve)
            if curve.waiting and curve.over_time:
                line.reserve_x_range(curve.times)

    @staticmethod
    def _set_line_data(line: PlotLine, curve: Curve) -> None:
        """Set the data of a line."""
        if curve.levels is not None:
            line.show_levels(curve.x, curve.levels)
        else:
            line.show_data(curve.x, curve.y, len(curve.y) <= SMOOTH)

    def _remove_line(self, key: tuple[int, str]) -> None:
        line = self._lines.pop(key)
        box = line.getViewBox()
        if box is not None:
            box.removeItem(line)

    # ----------------------------------------------------------------------------- times

    def set_cursor_times(self, time: float | None, interval: tuple[float, float] | None = None) -> None:
        """Set the time of the playhead and the times of the measuring cursors, s."""
        over_time = self.plot.is_over_time and bool(self.curves)
        self.head.setVisible(over_time and time is not None)
        if time is not None:
            self.head.setValue(time)
        for line, place in zip(self.pair, interval or (0.0, 0.0), strict=True):
            line.setVisible(over_time and interval is not None)
            line.setValue(place)
        self._mark_current_points(None if over_time else time)
        self._show_interval(interval if over_time else None)
        self.legend.show_values(time, interval)

    def _mark_current_points(self, time: float | None) -> None:
        """Mark the points of the current time on the curves of a plot whose x axis is not time."""
        spots = []
        for curve in self.curves:
            place = (
                curve.point_at_time(time)
                if time is not None and curve.opacity >= 1.0 and curve.unit == self.axes.units[0]
                else None
            )
            if place is not None:
                spots.append({"pos": place, "brush": pg.mkBrush(curve.color), "pen": pg.mkPen(self.colors.base)})
        if spots or len(self.points.data):  # emptying what is empty would draw the plot anew
            self.points.setData(spots)

    def show_event_flags(self, flags: Sequence[tuple[float, str]]) -> None:
        """Mark the times (s) of events with flags, on plots over time."""
        self.flags = tuple(flags) if self.plot.is_over_time and self.curves else ()
        times = [time for time, _ in self.flags]
        if times != list(self._ticks.xvals):
            self._ticks.setXVals(times)
        self._ticks.setVisible(bool(times))

    def event_at(self, position: QPointF) -> str:
        """Return the event whose flag is at a position, in coordinates of the plot; "" if there is none."""
        across = self.box.viewPixelSize()[0]
        time = self.box.mapSceneToView(position).x()
        near = [(abs(each - time), words) for each, words in self.flags if abs(each - time) <= GRIP * across]
        return min(near)[1] if near and self.box.sceneBoundingRect().contains(position) else ""

    def _on_pointer_moved(self, position: QPointF) -> None:
        words = self.event_at(position)
        if words != self._told:
            self._told = words
            at = self.view.viewport().mapToGlobal(self.view.mapFromScene(position))
            QToolTip.showText(at, escape_tip(words), self.view)

    def _show_interval(self, interval: tuple[float, float] | None) -> None:
        self.note.setVisible(interval is not None)
        if interval is not None:
            gap = abs(interval[1] - interval[0])
            rate = f"    1/Δt = {1.0 / gap:.5g} Hz" if gap > 0.0 else ""
            self.note.setText(f"Δt = {gap:.5g} s{rate}")
            self.note.adjustSize()

    @property
    def visible_range(self) -> tuple[float, float]:
        """Visible range of the x axis."""
        low, high = self.box.viewRange()[0]
        return float(low), float(high)

    # ----------------------------------------------------------------------------- looks and views

    def apply_theme(self, colors: Colors) -> None:
        """Apply the colours of a theme."""
        self.colors = colors
        self.view.setBackground(colors.base)
        ground = self.palette()
        ground.setColor(self.backgroundRole(), QColor(colors.base))
        self.setPalette(ground)
        font = self._apply_theme_to_axes()
        self.head.setPen(pg.mkPen(colors.accent, width=1))
        self.head.setHoverPen(pg.mkPen(colors.accent, width=3))
        for each in self._lines.values():
            if isinstance(each, StateLaneLine):
                each.colors = colors
                each.update()
        for line in self.pair:
            line.setPen(pg.mkPen(colors.warning, width=1, style=Qt.PenStyle.DashLine))
            line.setHoverPen(pg.mkPen(colors.warning, width=3))
            line.label.setColor(QColor(colors.warning))
        self.across.setFont(font)
        self._ticks.setPen(pg.mkPen(colors.muted, width=2))

    def _apply_theme_to_axes(self) -> QFont:
        """Apply the theme's colours to the axes; return the font of their labels."""
        font = self.font()
        font.setPointSizeF(max(self.font().pointSizeF() * 0.88, 7.0))
        self.axes.apply_theme(self.colors, font)
        self.item.showGrid(x=True, y=len(self.axes.units) == 1, alpha=0.28)
        return font

    def set_line_width(self, width: float = 1.0) -> None:
        """Set the width of the curves in pixels; one pixel would be too thin on a printer."""
        for curve in self.curves:
            if curve.words:
                continue
            self._lines[curve.key].setPen(curve_pen(curve, width))

    @contextmanager
    def clip_curves_to_axes(self) -> Iterator[None]:
        """Clip curves to the axes while the context is active. Used for vector graphics, which are not clipped
        otherwise."""
        boxes = (self.box, *self.box.others)
        following = [box.autoRangeEnabled() for box in boxes]
        for box in boxes:
            box.disableAutoRange()
        for curve in self.curves:
            x, y = self._lines[curve.key].curve.getData()
            if x is not None and len(x):
                (left, right), (low, high) = self.axes.find_view_box(curve.unit).viewRange()
                self._lines[curve.key].curve.setData(*clip_line(x, y, (left, low), (right, high)), connect="finite")
        try:
            yield
        finally:
            for curve in self.curves:
                self._set_line_data(self._lines[curve.key], curve)
            for box, (across, up) in zip(boxes, following, strict=True):
                box.enableAutoRange(x=across, y=up)

    def mark_as_active(self, on: bool) -> None:
        """Set whether the plot is marked as active, i.e. receives the channels that the user chooses."""
        color = QColor(self.colors.accent if on else self.colors.base)
        ground = self._mark.palette()
        if ground.color(self._mark.backgroundRole()) != color:
            ground.setColor(self._mark.backgroundRole(), color)
            self._mark.setPalette(ground)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the legend above the curves in narrow plots."""
        super().resizeEvent(event)
        self._place_legend()

    def _place_legend(self) -> None:
        narrow, legend = self.width() < NARROW, self.legend
        if narrow != self._narrow:
            self._narrow = narrow
            self._grid.addWidget(legend, 0 if narrow else 1, 1 if narrow else 2)
        sizes = legend.measure_rows()
        height = legend.arrange_rows(self.width() if narrow else None, sizes)
        if narrow:
            legend.setMinimumWidth(0)
            legend.setMaximumWidth(UNBOUNDED)
            legend.setFixedHeight(min(height, round(0.4 * self.height())))
        else:
            wanted = min(sizes.wanted, 0.5 * self.width())
            legend.setFixedWidth(round(max(min(max(LEGEND, sizes.whole), 0.34 * self.width()), wanted)))
            legend.setMinimumHeight(0)
            legend.setMaximumHeight(UNBOUNDED)

    def fit_to_curves(self) -> None:
        """Fit all axes to their curves."""
        self.axes.fit_to_curves()

    def set_box_zoom(self, on: bool) -> None:
        """Switch dragging with the left button between a zoom box and panning."""
        self.box.setMouseMode(self.box.RectMode if on else self.box.PanMode)

    # ----------------------------------------------------------------------------- hands

    def _on_clicked(self, event: Any) -> None:
        self.activated.emit()
        inside = self.box.sceneBoundingRect().contains(event.scenePos())
        if event.button() == Qt.MouseButton.RightButton:
            self.menu_wanted.emit(QPointF(event.screenPos()))
        elif inside and event.double():
            self.fit_to_curves()
        elif inside and self.plot.is_over_time and event.button() == Qt.MouseButton.LeftButton and self.curves:
            self.seeked.emit(float(self.box.mapSceneToView(event.scenePos()).x()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Make this plot the active one."""
        self.activated.emit()
        super().mousePressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept dragged channels."""
        if event.mimeData().hasFormat(CHANNELS):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Add the dropped channels."""
        names = channels_from_mime_data(event.mimeData())
        if names:
            event.acceptProposedAction()
            self.dropped.emit(names)

    def nearest_sample_time(self, time: float) -> float:
        """Return the time of the current run's sample that is nearest to a given time, s."""
        times = next((curve.times for curve in self.curves if curve.current), np.zeros(0))
        if not len(times):
            return time
        last = min(int(np.searchsorted(times, time)), len(times) - 1)
        return min((float(each) for each in times[max(last - 1, 0) : last + 1]), key=lambda each: abs(each - time))
