"""Plots as immutable values, and the curves that they contain: numbers in display units, and the style of each. Does
not use Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np

from app.document.run_tree import COLORS, Record, Runs
from app.plotting.series import LONG_COLUMN, Array, Levels, Series, words_of
from app.widgets.quantities.quantity_text import Units
from core.later import dataclass
from core.model.formula.numerals import readable

TIME = "time"


@dataclass(frozen=True)
class Plot:
    """Contents of one plot: scalar channels or formulas, against another channel (default: time).

    aspect : height over width of the plotted area; 0: as large as there is room.
    """

    channels: tuple[str, ...] = ()
    x: str = TIME
    aspect: float = 0.0

    @property
    def over_time(self) -> bool:
        """True if the x axis is time, so that a playhead can be shown."""
        return self.x in (TIME, "t")

    def with_channels(self, names: Iterable[str]) -> Plot:
        """Return the plot with further channels appended."""
        return replace(self, channels=tuple(dict.fromkeys((*self.channels, *names))))

    def without(self, name: str) -> Plot:
        """Return the plot without a channel."""
        return replace(self, channels=tuple(each for each in self.channels if each != name))


@dataclass(frozen=True)
class Sheet:
    """All plots of a model; `active` is the index of the plot that receives chosen channels."""

    plots: tuple[Plot, ...] = ()
    active: int = 0

    def put(self, index: int, plot: Plot) -> Sheet:
        """Return the sheet with a plot replaced; an index after the last one appends it."""
        plots = (*self.plots[:index], plot, *self.plots[index + 1 :])
        return Sheet(plots, min(index, len(plots) - 1))

    def added(self, plot: Plot) -> Sheet:
        """Return the sheet with a plot appended, which becomes the active one."""
        return Sheet((*self.plots, plot), len(self.plots))

    def removed(self, index: int) -> Sheet:
        """Return the sheet without the plot at an index."""
        plots = (*self.plots[:index], *self.plots[index + 1 :])
        return Sheet(plots, max(0, min(self.active, len(plots) - 1)))

    def without(self, plot: Plot) -> Sheet:
        """Return the sheet without the first plot equal to this one."""
        return self.removed(self.plots.index(plot)) if plot in self.plots else self

    def inserted(self, index: int, plot: Plot) -> Sheet:
        """Return the sheet with a plot inserted at an index, which becomes the active one."""
        return Sheet((*self.plots[:index], plot, *self.plots[index:]), min(index, len(self.plots)))

    def activated(self, index: int) -> Sheet:
        """Return the sheet with another active plot."""
        return replace(self, active=max(0, min(index, len(self.plots) - 1)))

    @property
    def current(self) -> Plot:
        """Return the active plot; an empty one if there is none."""
        return self.plots[self.active] if self.plots else Plot()


LANES = "modes"
"""Pseudo-unit of state channels, which have a separate area."""
Dash = Literal["solid", "dash", "dot", "dash_dot"]
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dash_dot")
FAINT = 0.45
"""Opacity of the curves of faint runs."""
NOTHING: Array = np.zeros(0)


def axis_count(units: Iterable[str]) -> int:
    """Return the number of y axes that take up width; lanes next to curves have no numbers and need none."""
    return max(1, len({*units} - {LANES}))


@dataclass(frozen=True, eq=False)
class Curve:
    """One line: displayed x and y (n,) with their units; `times` (n,) s for the playhead."""

    key: tuple[int, str]
    """Id of the run, and channel."""
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
    """True while the numbers are being computed and there are none yet."""
    void: str = ""
    """Reason why nothing can be drawn: none of the numbers is finite."""
    levels: Levels | None = None
    """Minimum–maximum levels of a long curve."""
    words: tuple[str, ...] = ()
    """State names of a state channel, indexed by y."""

    @property
    def unit_label(self) -> str:
        """Return the unit to show with a value; state channels have none."""
        return "" if self.words else self.unit

    @property
    def style(self) -> tuple[str, Dash, float]:
        """Return the properties that its pen depends on."""
        return self.color, self.dash, self.opacity

    @cached_property
    def increasing(self) -> bool:
        """True if x only increases, so that the curve can be thinned and clipped."""
        if len(self.x) > LONG_COLUMN:
            return self.levels is not None
        return self.over_time or len(self.x) < 2 or bool(self.x[-1] > self.x[0] and (np.diff(self.x) > 0.0).all())

    def at(self, time: float) -> tuple[float, float] | None:
        """Return (x, y) at a time, linear between samples; None outside of the run."""
        if self.waiting or not len(self.times) or not self.times[0] - 1e-12 <= time <= self.times[-1] + 1e-12:
            return None
        last = min(int(np.searchsorted(self.times, time, side="right")), len(self.times) - 1)
        if self.words:
            before = max(last - 1, 0) if self.times[last] > time else last
            return float(self.x[before]), float(self.y[before])
        two = slice(max(last - 1, 0), last + 1)
        x, y = (float(np.interp(time, self.times[two], numbers[two])) for numbers in (self.x, self.y))
        return x, y


def curves(plot: Plot, runs: Runs, series: Series, units: Units) -> list[Curve]:
    """Return the curves of a plot for all visible runs: faint ones first, those of the current run last, on top.

    With one run channels differ by colour; with several each run has its colour and channels differ by their dashes.
    """
    shown = [record for record in runs.items if len(record.run.time) and (record.visible or record is runs.current)]
    shown.sort(key=lambda record: (not record.faint, record is runs.current))
    several = sum(not record.faint for record in shown) > 1
    return [
        curve
        for record in shown
        for k, channel in enumerate(plot.channels)
        if (curve := _curve(plot, record, channel, k, several, runs, series, units)) is not None
    ]


def _curve(
    plot: Plot, record: Record, channel: str, k: int, several: bool, runs: Runs, series: Series, units: Units
) -> Curve | None:
    x_name = TIME if plot.over_time else plot.x
    across, up = (series.measure(record, name).display(units) for name in (x_name, channel))
    factors = across.factor, up.factor
    pair, late = series.pair(record, x_name, channel, factors)
    if pair is None and not late:
        return None
    times, x, y, void, levels = record.run.time, NOTHING, NOTHING, "", None
    if pair is not None:
        times = pair.run.time
        x, y, levels = pair.shown or series.shown(record.id, pair, x_name, channel, factors)
        void = series.void(record, pair, x_name, channel)
    color = record.color if several else COLORS[k % len(COLORS)]
    dash: Dash = "dash" if record.faint else DASHES[k % len(DASHES)] if several else "solid"
    words = words_of(record.run, channel)
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
        plot.over_time,
        pair is None,
        void,
        None if words else levels,
        words,
    )


def shown_value(curve: Curve, value: float) -> str:
    """Format a value of a curve for the legend: a number, or a state name."""
    return curve.words[int(value)] if curve.words and np.isfinite(value) else shown_number(value)


def shown_number(value: float) -> str:
    """Format a number for the legend: five digits, with a true minus sign."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:.5g}"
    return readable(text if float(text) else "0")
