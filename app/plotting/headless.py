"""Plots of runs written to files without a window, drawn off-screen with the charts of the Plots panel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from app.document.run_tree import RunTree
from app.platforms import PLATFORM, unknown_platforms
from app.plotting.channels import build_channel_tree, iterate_channel_rows
from app.plotting.curves import TIME, Plot
from app.plotting.formats import save
from app.plotting.series import PlotColumns, compute_column, get_scalar_names
from core.errors import KinetostatError, suggest_names
from core.functions.results import Motion
from core.later import dataclass
from core.simulation.run.run import Run

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.plotting.chart import Chart

SIZE = (960, 420)
"""Width and height of a plot, in screen pixels."""


@dataclass
class PlotDisplayUnits:
    """Units in which numbers are displayed."""

    degrees: bool = True
    millimetres: bool = False


@dataclass(frozen=True)
class PlotSettings:
    """Settings of a plot: channels, components or formulas, against the channel `x`; with `apart` each is drawn in a
    separate plot.

    start, end : time range shown, s (None: all); size : of one plot, pixels
    units : display units of angles and lengths, as in the settings of the window
    """

    channels: tuple[str, ...]
    x: str = TIME
    apart: bool = False
    size: tuple[int, int] = SIZE
    start: float | None = None
    end: float | None = None
    dark: bool = False
    units: PlotDisplayUnits = field(default_factory=PlotDisplayUnits)
    aspect: float = 0.0
    """Ratio of height to width of the plotted area; 0: use all space."""


def write_plots(runs: Sequence[tuple[str, Run]], plot_settings: PlotSettings, path: str | Path) -> int:
    """Draw runs, given as (name, run), to a file of any plot format; return the number of curves. Raises
    KinetostatError."""
    plots = _build_plots([run for _, run in runs], plot_settings)
    application = _application()
    from app.plotting.chart import Chart
    from app.plotting.curves import build_curves
    from app.preferences.theme import DARK, LIGHT

    records, series = RunTree(), PlotColumns()
    for name, run in runs:
        records.add(run, name, select=not records.items)
    charts = []
    for plot in plots:
        chart = Chart(DARK if plot_settings.dark else LIGHT)
        chart.resize(*plot_settings.size)
        chart.show_curves(plot, build_curves(plot, records, series, plot_settings.units))
        chart.legend.hide()  # the file has its own
        chart.grab()  # widgets find their places, though none is shown
        _set_time_range(chart, plot, plot_settings)
        charts.append(chart)
    application.processEvents()  # the axes find their places
    save(charts, path)
    return sum(len(chart.curves) for chart in charts)


def _build_plots(runs: Sequence[Run], plot_settings: PlotSettings) -> list[Plot]:
    """Return the plots after checking that every run has all channels."""
    if (
        plot_settings.start is not None
        and plot_settings.end is not None
        and not plot_settings.end > plot_settings.start
    ):
        raise KinetostatError(
            f"The plot ends at {plot_settings.end:g} s, before it starts.", remedy="Give a later end time."
        )
    names = tuple(part for name in plot_settings.channels for part in _component_names(runs, name))
    _component_names(runs, plot_settings.x)
    if plot_settings.apart:
        return [Plot((name,), plot_settings.x, plot_settings.aspect) for name in names]
    return [Plot(names, plot_settings.x, plot_settings.aspect)]


def _component_names(runs: Sequence[Run], name: str) -> tuple[str, ...]:
    """Return the components of a channel, after checking that all runs have it. Raises KinetostatError."""
    for run in runs:
        if name in run.channels:
            continue
        try:
            compute_column(run, name)
        except (KinetostatError, KeyError, ValueError) as error:
            every = [leaf.channel for leaf in iterate_channel_rows(build_channel_tree(run))]
            words = error.what if isinstance(error, KinetostatError) else f"There is no channel '{name}'."
            raise KinetostatError(words, where=run.model.name, remedy=suggest_names(name, every)) from None
    return get_scalar_names(runs[0], name)


def _set_time_range(chart: Chart, plot: Plot, plot_settings: PlotSettings) -> None:
    """Show the requested time range."""
    if plot.is_over_time and (plot_settings.start is not None or plot_settings.end is not None) and chart.curves:
        first = min(float(curve.times[0]) for curve in chart.curves)
        last = max(float(curve.times[-1]) for curve in chart.curves)
        low = first if plot_settings.start is None else plot_settings.start
        high = last if plot_settings.end is None else plot_settings.end
        for box in (chart.box, *chart.box.others):
            box.setAutoVisible(y=True)
        chart.box.setXRange(low, high, padding=0.0)
        for box in (chart.box, *chart.box.others):
            box.prepareForPaint()


def _application() -> QApplication:
    """Return the Qt application; if there is none, create one without a screen."""
    from PySide6.QtWidgets import QApplication

    if QApplication.instance() is None:
        if problem := unknown_platforms():
            raise KinetostatError(problem)
        os.environ.setdefault(PLATFORM, "offscreen")
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    return application


def write_motion_plots(motion: Motion) -> None:
    """Write the picture files of curves that a motion requests; call this in Qt's thread. Raises KinetostatError."""
    for path in motion.files:
        for x in dict.fromkeys(along for along, _ in motion.curves):
            channels = tuple(y for along, y in motion.curves if along == x)
            write_plots([(motion.title, motion.run)], PlotSettings(channels, x, aspect=motion.aspect), path)
