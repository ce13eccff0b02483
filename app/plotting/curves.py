"""Plots as immutable values, and the curves that they contain: data in display units, with a line style. Does not use
Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np

from app.document.run_tree import COLORS, RunRecord, RunTree
from app.plotting.series import LONG_COLUMN, Array, MinMaxLevels, PlotColumns, get_state_names
from app.widgets.quantities.quantity_text import Units
from core.later import dataclass
from core.model.formula.numerals import format_readable

TIME = "time"


@dataclass(frozen=True)
class Plot:
    """Contents of one plot: scalar channels or formulas against another channel (by default time).

    aspect : height over width of the plotted area; 0: as large as there is room.
    """

    channels: tuple[str, ...] = ()
    x: str = TIME
    aspect: float = 0.0

    @property
    def is_over_time(self) -> bool:
        """True if the x axis is time, so that the plot has a playhead."""
        return self.x in (TIME, "t")

    def with_channels(self, names: Iterable[str]) -> Plot:
        """Return the plot with further channels appended."""
        return replace(self, channels=tuple(dict.fromkeys((*self.channels, *names))))

    def without_channel(self, name: str) -> Plot:
        """Return the plot with a channel removed."""
        return replace(self, channels=tuple(each for each in self.channels if each != name))


@dataclass(frozen=True)
class PlotSheet:
    """All plots of a model; `active` is the index of the plot that receives the channels that the user chooses."""

    plots: tuple[Plot, ...] = ()
    active: int = 0

    def with_plot(self, index: int, plot: Plot) -> PlotSheet:
        """Return the sheet with one plot replaced; an index past the end appends the plot."""
        plots = (*self.plots[:index], plot, *self.plots[index + 1 :])
        return PlotSheet(plots, min(index, len(plots) - 1))

    def with_appended_plot(self, plot: Plot) -> PlotSheet:
        """Return the sheet with a plot appended and made active."""
        return PlotSheet((*self.plots, plot), len(self.plots))

    def without_plot_at(self, index: int) -> PlotSheet:
        """Return the sheet with the plot at an index removed."""
        plots = (*self.plots[:index], *self.plots[index + 1 :])
        return PlotSheet(plots, max(0, min(self.active, len(plots) - 1)))

    def without_plot(self, plot: Plot) -> PlotSheet:
        """Return the sheet with the first plot that equals this one removed."""
        return self.without_plot_at(self.plots.index(plot)) if plot in self.plots else self

    def with_inserted_plot(self, index: int, plot: Plot) -> PlotSheet:
        """Return the sheet with a plot inserted at an index and made active."""
        return PlotSheet((*self.plots[:index], plot, *self.plots[index:]), min(index, len(self.plots)))

    def with_active_plot(self, index: int) -> PlotSheet:
        """Return the sheet with the plot at an index made active."""
        return replace(self, active=max(0, min(index, len(self.plots) - 1)))

    @property
    def active_plot(self) -> Plot:
        """The active plot; an empty plot if there is none."""
        return self.plots[self.active] if self.plots else Plot()


LANES = "modes"
"""Pseudo-unit of state channels, which are drawn in a separate area."""
Dash = Literal["solid", "dash", "dot", "dash_dot"]
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dash_dot")
FAINT = 0.45
"""Opacity of the curves of runs that are displayed faintly."""
NOTHING: Array = np.zeros(0)


def axis_count(units: Iterable[str]) -> int:
    """Return the number of y axes that take up width; lanes below curves have no tick labels and need none."""
    return max(1, len({*units} - {LANES}))


@dataclass(frozen=True, eq=False)
class Curve:
    """One line: x and y (n,) in display units, with their units; `times` (n,) in s for the playhead."""

    key: tuple[int, str]
    """Id of the run, and name of the channel."""
    label: str
    run: str
    times: Array
    x: Array
    y: Array
    x_unit: str
    unit: str
    color: str
    dash: Dash = "solid"
    opacity: float = 1.0
    current: bool = False
    over_time: bool = False
    waiting: bool = False
    """True while the data are being computed for the first time."""
    void: str = ""
    """Reason why nothing can be drawn (no number is finite); "" if there are data."""
    levels: MinMaxLevels | None = None
    """Minimum–maximum levels of a long curve; None for a short one."""
    words: tuple[str, ...] = ()
    """State names of a state channel, indexed by y; () for a numeric channel."""

    @property
    def unit_label(self) -> str:
        """Unit to be shown after a value; "" for a state channel."""
        return "" if self.words else self.unit

    @property
    def pen_style(self) -> tuple[str, Dash, float]:
        """Properties that determine the pen of the curve."""
        return self.color, self.dash, self.opacity

    @cached_property
    def is_x_increasing(self) -> bool:
        """True if x is strictly increasing, so that the curve can be thinned and clipped."""
        if len(self.x) > LONG_COLUMN:
            return self.levels is not None
        return self.over_time or len(self.x) < 2 or bool(self.x[-1] > self.x[0] and (np.diff(self.x) > 0.0).all())

    def point_at_time(self, time: float) -> tuple[float, float] | None:
        """Return (x, y) at a time, interpolated linearly between samples; None outside the run."""
        if self.waiting or not len(self.times) or not self.times[0] - 1e-12 <= time <= self.times[-1] + 1e-12:
            return None
        last = min(int(np.searchsorted(self.times, time, side="right")), len(self.times) - 1)
        if self.words:
            before = max(last - 1, 0) if self.times[last] > time else last
            return float(self.x[before]), float(self.y[before])
        two = slice(max(last - 1, 0), last + 1)
        x, y = (float(np.interp(time, self.times[two], numbers[two])) for numbers in (self.x, self.y))
        return x, y


def build_curves(plot: Plot, runs: RunTree, series: PlotColumns, units: Units) -> list[Curve]:
    """Return the curves of a plot for all visible runs: faint ones first, those of the current run last, so that they
    are on top.

    With one run channels differ by colour; with several each run has its colour and channels differ by their dashes.
    """
    shown = [record for record in runs.items if len(record.run.time) and (record.visible or record is runs.current)]
    shown.sort(key=lambda record: (not record.faint, record is runs.current))
    several = sum(not record.faint for record in shown) > 1
    return [
        curve
        for record in shown
        for k, channel in enumerate(plot.channels)
        if (curve := _build_curve(plot, record, channel, k, several, runs, series, units)) is not None
    ]


def _build_curve(
    plot: Plot,
    record: RunRecord,
    channel: str,
    number: int,
    many_runs: bool,
    runs: RunTree,
    series: PlotColumns,
    units: Units,
) -> Curve | None:
    x_name = TIME if plot.is_over_time else plot.x
    across, up = (series.physical_dimension(record, name).display_unit(units) for name in (x_name, channel))
    factors = across.factor, up.factor
    pair, late = series.get_curve_columns(record, x_name, channel, factors)
    if pair is None and not late:
        return None
    times, x, y, void, levels = record.run.time, NOTHING, NOTHING, "", None
    if pair is not None:
        times = pair.run.time
        x, y, levels = pair.shown or series.get_display_numbers(record.id, pair, x_name, channel, factors)
        void = series.reason_empty(record, pair, x_name, channel)
    color = record.color if many_runs else COLORS[number % len(COLORS)]
    dash: Dash = "dash" if record.faint else DASHES[number % len(DASHES)] if many_runs else "solid"
    words = get_state_names(record.run, channel)
    return Curve(
        (record.id, channel),
        channel,
        record.name,
        times,
        x,
        y,
        across.symbol,
        LANES if words else up.symbol,
        color,
        dash,
        FAINT if record.faint else 1.0,
        record is runs.current,
        plot.is_over_time,
        pair is None,
        void,
        None if words else levels,
        words,
    )


def format_value(curve: Curve, value: float) -> str:
    """Format a value of a curve for the legend, as a number or a state name."""
    return curve.words[int(value)] if curve.words and np.isfinite(value) else format_number(value)


def format_number(value: float) -> str:
    """Format a number for the legend: five digits, with a true minus sign."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:.5g}"
    return format_readable(text if float(text) else "0")
