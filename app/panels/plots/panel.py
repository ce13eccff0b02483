"""The Plots panel: several plots next to or above one another, with cursors linked to the timeline and curves of every
visible run."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.background.jobs import Jobs
from app.background.signals import Lifetime
from app.background.slices import shared_slices
from app.document.revision import DocumentState, UndoableAction
from app.document.session import Session
from app.panels.plots.plot_area import PlotArea, PlotsPlaceholder
from app.panels.plots.plot_controls import (
    PlotActions,
    PlotsBar,
    add_export_entries,
    ask_export,
    create_plot_menu,
    write_plots,
)
from app.plotting.channels import plain_number_notes
from app.plotting.column_work import BackgroundColumnWorker
from app.plotting.curves import TIME, Curve, Plot, PlotSheet, axis_count, build_curves
from app.plotting.dragged_channels import CHANNELS, channels_from_mime_data
from app.plotting.loading import load_chart_modules
from app.plotting.picker import ChannelPicker
from app.plotting.series import PlotColumns, get_scalar_names
from app.preferences.settings import Settings
from app.preferences.theme import Theme
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.plotting.chart import Chart
    from app.workbench import Workbench

EVERY = 33
"""Shortest interval between redraws while runs grow or change, ms."""
QUICK = 0.01
"""Time for which a redraw waits for channels being computed, s."""
MANY = 12
"""Number of new curves above which drawing is split into time slices (one curve takes about 2 ms)."""


class PlotsPanel(QWidget):
    """Plots of a session's runs; the plots selected for each model are remembered while the program runs."""

    def __init__(self, session: Session, settings: Settings, theme: Theme, jobs: Jobs) -> None:
        super().__init__()
        self.session, self.settings, self.theme, self._jobs = session, settings, theme, jobs
        self.runs = session.runs
        self.sheet = PlotSheet()
        self.pair: tuple[float, float] | None = None
        self.charts: list[Chart] = []
        self._work = BackgroundColumnWorker(self)
        self._series = PlotColumns(self._work)
        self._unproved: dict[str, str] = {}
        """Channels that were just chosen, and against what: why one cannot be computed is still to be said."""
        self._sheets: dict[tuple[str, str], PlotSheet] = {}
        self._model = _model_key(session.state)
        self._left: deque[tuple[Chart, Plot, list[Curve]]] = deque()
        """Plots that are still to be drawn."""
        self._drawn = 0.0
        self._charts_loaded = False
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._draw_runs)
        self._build()
        self._life = Lifetime()
        self._life.listen(
            (self.runs.changed, self._on_runs_changed),
            (self.runs.moved, self._on_playhead_moved),
            (session.changed, self._on_document_changed),
            (settings.changed, self._on_setting_changed),
            (theme.changed, self._on_theme_changed),
            (self._work.came, self._on_runs_changed),
        )
        self.show_sheet(self.sheet)

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()
        self._soon.stop()
        self._left.clear()
        self._work.close()

    @property
    def has_channels(self) -> bool:
        """True if any channel is plotted."""
        return bool(self.sheet.plots)

    def _build(self) -> None:
        self.setAcceptDrops(True)
        self.bar = PlotsBar(self._add_export_entries)
        self.picker = ChannelPicker()
        self._connect_bar()
        self.picker.toggled.connect(self._on_toggled)
        self.picker.formula.connect(lambda text: self.add([text]))
        self.area = PlotArea()
        self.area.turned.connect(lambda: self._align_plots())
        self.empty = PlotsPlaceholder()
        self.empty.chosen.connect(lambda x, names: self.add_plot(Plot(tuple(names), x)))
        self.pages = QStackedWidget()
        self.pages.addWidget(self.empty)
        self.pages.addWidget(self.area)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.addWidget(self.picker)
        self.split.addWidget(self.pages)
        self.split.setSizes([210, 800])
        self.split.setStretchFactor(1, 1)
        self.split.setChildrenCollapsible(False)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.bar)
        row.addWidget(self.split, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)

    def _connect_bar(self) -> None:
        bar = self.bar
        bar.channels.toggled.connect(self.picker.setVisible)
        bar.add.clicked.connect(lambda *_: self.add_plot())
        bar.fit.clicked.connect(lambda *_: self.fit_axes())
        bar.zoom.toggled.connect(self.set_box_zoom)
        bar.link.toggled.connect(lambda *_: self.update_time_links())
        bar.measure.toggled.connect(self.show_measuring_lines)

    # ----------------------------------------------------------------------------- what is plotted

    def show_sheet(self, sheet: PlotSheet) -> None:
        """Show another sheet of plots."""
        self.sheet = self._sheets[self._model] = sheet
        for chart in sorted(self.charts, key=lambda chart: chart.plot not in sheet.plots)[len(sheet.plots) :]:
            self.charts.remove(chart)
            chart.hide()
            chart.setParent(None)
            chart.deleteLater()
        if len(self.charts) < len(sheet.plots):
            while len(self.charts) < len(sheet.plots):
                stay = zip(self.charts, sheet.plots, strict=False)
                kept = next((k for k, (chart, plot) in enumerate(stay) if chart.plot != plot), len(self.charts))
                self._add_chart(kept)
            self.area.setSizes([1] * len(self.charts))  # the same for each
        self._link_time_axes()
        self.refresh()

    def _add_chart(self, index: int) -> None:
        """Create the chart of this index; charts after it keep their plots."""
        from app.plotting.chart import Chart

        chart = Chart(self.theme.colors)
        chart.seeked.connect(self.runs.seek)
        chart.measured.connect(self._on_measured)
        chart.dropped.connect(lambda names: self.add(names, self.charts.index(chart)))
        chart.removed.connect(lambda name: self._remove_channel(self.charts.index(chart), name))
        chart.activated.connect(lambda: self._activate_plot(self.charts.index(chart)))
        chart.menu_wanted.connect(lambda place: self._plot_menu(self.charts.index(chart)).popup(place.toPoint()))
        chart.set_box_zoom(self.bar.zoom.isChecked())
        self.area.insertWidget(index, chart)
        self.charts.insert(index, chart)
        chart.plot = self.sheet.plots[index]

    def _remove_channel(self, index: int, name: str) -> None:
        self.replace_plot(index, self.sheet.plots[index].without_channel(name))

    def _plot_menu(self, index: int) -> QMenu:
        """Return the menu of the plot of this index."""
        actions = PlotActions(
            show_all=self.charts[index].fit_to_curves,
            put=lambda plot: self.replace_plot(index, plot),
            remove=lambda: self.remove_plot(index),
            fill_exports=lambda menu: self._add_export_entries(menu, index),
        )
        return create_plot_menu(self, self.sheet.plots[index], self.sheet.plots, actions)

    def add(self, names: Sequence[str], index: int | None = None, x: str = TIME) -> None:
        """Add channels, split into components, to a plot (default: the active one)."""
        if index is None or index >= len(self.sheet.plots):
            index = self.sheet.active if self.sheet.plots else 0
        plot = self.sheet.plots[index] if self.sheet.plots else Plot(x=x)
        parts = tuple(part for name in names for part in self._component_names(name))
        self._unproved |= dict.fromkeys(parts, TIME if plot.is_over_time else plot.x)
        self.replace_plot(index, plot.with_channels(parts))

    def add_plot(self, plot: Plot | None = None) -> None:
        """Add a plot and make it the active one, to which channels are added."""
        names = tuple(part for name in (plot.channels if plot else ()) for part in self._component_names(name))
        new = replace(plot or Plot(), channels=names)
        self._unproved |= dict.fromkeys(names, TIME if new.is_over_time else new.x)
        self.show_sheet(self.sheet.with_appended_plot(new))

    def remove_plot(self, index: int) -> None:
        """Remove a plot; undo restores it."""
        plot, show = self.sheet.plots[index], self.show_sheet
        step = UndoableAction(
            lambda: show(self.sheet.without_plot(plot)), lambda: show(self.sheet.with_inserted_plot(index, plot))
        )
        self.session.perform("Remove plot", step)

    def _component_names(self, name: str) -> tuple[str, ...]:
        if self.runs.current is None:
            return (name,)
        try:
            return get_scalar_names(self.runs.current.run, name)
        except KinetostatError as error:
            self.session.message.emit("error", str(error))
            return ()

    def replace_plot(self, index: int, plot: Plot) -> None:
        """Replace the plot at an index."""
        self.show_sheet(self.sheet.with_plot(index, plot))

    def _on_toggled(self, channel: str, on: bool) -> None:
        if on:
            self.add([channel])
            return
        plot = self.sheet.active_plot
        for part in (channel, *self._component_names(channel)):
            plot = plot.without_channel(part)
        self.replace_plot(self.sheet.active, plot)

    def _activate_plot(self, index: int) -> None:
        if index < len(self.sheet.plots) and index != self.sheet.active:
            self.sheet = self._sheets[self._model] = self.sheet.with_active_plot(index)
            self._mark_active_plot()

    # ----------------------------------------------------------------------------- drawing

    def refresh(self) -> None:
        """Redraw everything from the current runs, settings and sheet."""
        self._find_all_curves()
        self._draw_waiting(float("inf"))
        self._finish_redraw()

    def _draw_runs(self) -> None:
        """Redraw the current data of the runs; many new curves are drawn in time slices."""
        self._find_all_curves()
        if sum(max(0, len(found) - len(chart.curves)) for chart, _, found in self._left) > MANY:
            shared_slices().add(self, self._continue_drawing)
        else:
            self._draw_waiting(float("inf"))
            self._finish_redraw()

    def _find_all_curves(self) -> None:
        """Find the curves of all plots and mark the plots as not yet drawn."""
        self._soon.stop()
        current = self.runs.current.run if self.runs.current is not None else None
        self._series.keep_records({record.id for record in self.runs.items})
        self.pages.setCurrentIndex(1 if self.sheet.plots else 0)
        if not self.sheet.plots:
            self.empty.show_run(current)
        found = self._available_curves()
        self.area.refresh()
        self._align_plots([axis_count(curve.unit for curve in each) for each in found])
        self._left = deque(zip(self.charts, self.sheet.plots, found, strict=True))

    def _draw_waiting(self, seconds: float) -> None:
        """Draw plots that are not yet drawn, for the given time but at least one."""
        until = monotonic() + seconds
        while self._left:
            chart, plot, found = self._left.popleft()
            chart.show_curves(plot, found)
            if monotonic() > until:
                return

    def _continue_drawing(self, seconds: float) -> bool:
        if self._left:  # else all were drawn meanwhile
            self._draw_waiting(seconds)
            if not self._left:
                self._finish_redraw()
        return not self._left

    def _finish_redraw(self) -> None:
        """Finish the redraw with the steps that need all plots to be drawn."""
        for chart in self.charts:  # once more: those that are linked follow one another
            chart.axes.update_geometry()
        self._mark_active_plot()
        self._show_cursor_times()
        self._show_event_flags()
        self._report_missing_data()
        self._drawn = monotonic()

    def _report_missing_data(self) -> None:
        """Report why the current run has no data for a newly chosen channel."""
        record = self.runs.current
        known = (
            {name: self._series.reason_unavailable(record, x, name) for name, x in self._unproved.items()}
            if record
            else {}
        )
        proved = [name for name, words in known.items() if words is not None]
        for name in proved:
            del self._unproved[name]
        for words in dict.fromkeys(filter(None, known.values())):
            self.session.message.emit("error", words)
        for words in (
            words for name in proved if record for words in plain_number_notes(record.run, name, self.settings)
        ):
            self.session.message.emit("warning", words)

    def _available_curves(self) -> list[list[Curve]]:
        """Return the curves of all plots after waiting briefly for channels being computed; slow channels keep their
        previous data."""
        was_free, asked = not self._work.is_busy, self._work.asked
        found = self._find_curves()
        if was_free and self._work.asked != asked:
            self._work.wait(QUICK)
            found = self._find_curves()
        return found

    def _find_curves(self) -> list[list[Curve]]:
        self._work.acknowledge_finished()
        return [build_curves(plot, self.runs, self._series, self.settings) for plot in self.sheet.plots]

    def draw_all(self) -> None:
        """Draw everything, waiting until all channels are computed."""
        self.refresh()
        if self._work.is_busy:
            self._work.wait()
            self.refresh()

    @property
    def has_pending_changes(self) -> bool:
        """True if a change has not been drawn yet."""
        return self._soon.isActive() or bool(self._left) or self._work.is_busy or self._work.has_finished_work

    def _align_plots(self, axis_counts: Sequence[int] = ()) -> None:
        """Align the plotting areas of plots above one another, given the number of axes of each (default: the present
        ones)."""
        axis_counts = axis_counts or [axis_count(chart.axes.units) for chart in self.charts]
        above = self.area.orientation() == Qt.Orientation.Vertical
        for chart, count in zip(self.charts, axis_counts, strict=True):
            chart.axes.reserve_axes(max(axis_counts) - count if above else 0)

    def _mark_active_plot(self) -> None:
        current = self.runs.current.run if self.runs.current is not None else None
        self.picker.show_run(current, self.sheet.active_plot.channels)
        for k, chart in enumerate(self.charts):
            chart.mark_as_active(len(self.charts) > 1 and k == self.sheet.active)
        self.bar.refresh(len(self.sheet.plots))

    def _show_cursor_times(self) -> None:
        time = self.runs.time if self.runs.current is not None else None
        for chart in self.charts:
            chart.set_cursor_times(time, self.pair)

    def _show_event_flags(self) -> None:
        """Mark the instants of the current run at which joints slipped, stuck or reached their stops."""
        record = self.runs.current
        events = record.run.events if record is not None and not record.growing else ()
        flags = [(event.time, str(event)) for event in events]
        for chart in self.charts:
            chart.show_event_flags(flags)

    def _link_time_axes(self) -> None:
        """Link the time ranges of all plots versus time, if that is switched on."""
        first: Chart | None = None
        for chart, plot in zip(self.charts, self.sheet.plots, strict=True):
            linked = plot.is_over_time and self.bar.link.isChecked()
            chart.box.setXLink(first.box if linked and first is not None else None)
            if linked and first is None:
                first = chart

    # ----------------------------------------------------------------------------- hearing

    def _load_charts(self) -> None:
        """Load the charting library in time slices once there is a run to plot."""
        if not self._charts_loaded and self.runs.items:
            self._charts_loaded = True
            steps = load_chart_modules()

            def load(seconds: float) -> bool:
                until = monotonic() + seconds
                return not any(monotonic() > until for _ in steps)

            shared_slices().add(self, load)

    def _on_runs_changed(self) -> None:
        self._load_charts()
        if self._soon.isActive() or not self.isVisible():  # drawn when it is seen
            return
        left = round(EVERY - 1e3 * (monotonic() - self._drawn))
        if left <= 0 and self.sheet.plots:  # at once: drawn together with scene and timeline
            self._draw_runs()
        else:
            self._soon.start(max(0, left))

    def _on_playhead_moved(self, _time: float) -> None:
        if self.isVisible() and not self._soon.isActive():
            self._show_cursor_times()

    def showEvent(self, event: Any) -> None:
        """Catch up with changes that happened while the panel was hidden."""
        super().showEvent(event)
        self.refresh()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if _model_key(new) != self._model:
            self._model = _model_key(new)
            self.pair = None
            self.show_sheet(self._sheets.get(self._model, PlotSheet()))
            self.fit_axes()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.refresh()
            self.fit_axes()

    def _on_theme_changed(self, _name: str) -> None:
        shared_slices().add(self, self._paint_charts)

    def _paint_charts(self, seconds: float) -> bool:
        """Apply the colours of another theme to waiting plots, at least one."""
        until, left = monotonic() + seconds, [chart for chart in self.charts if chart.colors != self.theme.colors]
        while left:
            left.pop().apply_theme(self.theme.colors)
            if monotonic() > until:
                break
        if not left:
            self._mark_active_plot()
        return not left

    # ----------------------------------------------------------------------------- tools

    def fit_axes(self) -> None:
        """Fit all axes to their curves."""
        for chart in self.charts:
            chart.fit_to_curves()

    def set_box_zoom(self, on: bool) -> None:
        """Switch zooming by dragging a box on or off."""
        for chart in self.charts:
            chart.set_box_zoom(on)

    def show_measuring_lines(self, on: bool) -> None:
        """Show or hide the two lines between which time and value differences are measured."""
        self.pair = None
        if on:
            low, high = next((c.visible_range for c in self.charts if c.plot.is_over_time), (0.0, 1.0))
            self.pair = low + 0.25 * (high - low), low + 0.75 * (high - low)
        self._show_cursor_times()

    def _on_measured(self, start: float, end: float) -> None:
        self.pair = start, end
        self._show_cursor_times()

    def update_time_links(self) -> None:
        """Apply a change of the setting that links time axes."""
        self._link_time_axes()

    def export(self, path: str | Path, charts: Sequence[Chart] | None = None) -> None:
        """Write plots (default: all) to a file in the background."""
        self.draw_all()
        write_plots(self.session, self._jobs, charts or self.charts, path)

    def ask_export(self, charts: Sequence[Chart] | None = None) -> None:
        """Ask for a file and write plots (default: all)."""
        title = "Export plots" if charts is None or len(charts) > 1 else "Export plot"
        ask_export(self, self.session.folder, self.settings, title, lambda path: self.export(path, charts))

    def _add_export_entries(self, menu: QMenu, index: int | None = None) -> None:
        """Add menu entries that write or copy one plot; default: all."""

        def chosen_charts() -> list[Chart]:
            self.draw_all()
            return self.charts if index is None else [self.charts[index]]

        add_export_entries(menu, chosen_charts, self.ask_export)

    # ----------------------------------------------------------------------------- dropping

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept dragged channels, also where there is no plot yet."""
        if event.mimeData().hasFormat(CHANNELS):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Create a new plot for channels dropped outside the plots."""
        if names := channels_from_mime_data(event.mimeData()):
            event.acceptProposedAction()
            self.add_plot(Plot(tuple(names)))


def _model_key(state: DocumentState) -> tuple[str, str]:
    return state.model.name, state.model.origin


def create_panel(bench: Workbench) -> PlotsPanel:
    """Create the Plots panel of a window."""
    return PlotsPanel(bench.session, bench.settings, bench.theme, bench.jobs)
