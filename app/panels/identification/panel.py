"""The Identification panel: estimates parameters from a trace, by inverse dynamics or by fitting a simulated run, and
designs excitation trajectories; computed in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.background.jobs import Job, Jobs, build_process_work
from app.background.signals import Lifetime
from app.background.slices import shared_slices
from app.document.revision import DocumentState
from app.document.run_tree import RunRecord
from app.document.session import Session
from app.panels.identification.column_table import ColumnTable
from app.panels.identification.pages import ExcitationPage, ForcesPage, RunPage
from app.panels.identification.shown_results import EstimateTable
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.panel_parts import (
    add_button_row,
    create_panel_note,
    create_plain_table,
    create_push_button,
    lay_side_by_side,
    wrap_in_scroll_area,
)
from app.widgets.quantities.quantity_text import SIUnits, Units
from app.widgets.refused_texts import InputChecker
from core.errors import KinetostatError
from core.functions.context import Context
from core.functions.subjects.identification import (
    TRACES,
    excitation_summary,
    identification_message,
    run_fit_message,
)

if TYPE_CHECKING:
    from app.panels.identification.shown_results import SignalSheet
    from app.panels.identification.signal_chart import SignalChart
    from app.workbench import Workbench
    from core.identification.excitation import Excitation
    from core.identification.identify import Identification
    from core.identification.output_error import RunFit

FORCES, RUN, MOTION = range(3)
KINDS = {
    FORCES: ("Inverse dynamics", "Identify"),
    RUN: ("Fit of a run to a trace", "Fit"),
    MOTION: ("Exciting motion", "Design"),
}
PATIENCE = 10.0
"""Time after Stop within which a computation can finish its step and return the best result so far, s."""
LIMIT_HEADS = ("Joint", "From", "To", "Largest speed", "Largest acceleration", "Largest force")


class IdentificationPanel(QWidget):
    """A trace with its columns, the identification settings, and the results."""

    def __init__(self, session: Session, jobs: Jobs, settings: Units | None = None) -> None:
        super().__init__()
        self._session, self._jobs = session, jobs
        self.identified: Identification | None = None
        self.fitted: RunFit | None = None
        self.motion: Excitation | None = None
        self._stop = threading.Event()
        self._job: Job | None = None
        self._applying = False
        self._sheets: tuple[SignalSheet, ...] = ()
        """Curves that are shown, or will be."""
        self.title = ""
        self._units: Units = settings or SIUnits()
        self.note = create_panel_note()
        self.kind = NarrowCombo()
        for kind, (title, _) in KINDS.items():
            self.kind.addItem(title, kind)
        self.kind.setAccessibleName("Identification method")
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        self.start_button = create_push_button("Identify", "Compute in the background", self.start)
        self.stop_button = create_push_button(
            "Stop", "Stop; the best result so far of a fit or an exciting motion is kept", self.stop
        )
        self.show_button = create_push_button(
            "Add to runs", "Add the motion to the list of runs and play it", self.add_motion_to_runs
        )
        self.save_button = create_push_button("Save trace…", "Write the motion as a CSV file", self._ask_save)
        self.apply_button = create_push_button(
            "Apply", "Apply the results to the machine (can be undone)", self.apply_results
        )
        self._lay_out()
        self._refused = InputChecker(self)
        self._refused.changed.connect(self.note.hold_error)
        self._refused.watch_table(self.columns, self.columns.check_cell)
        for page in (self.forces_page, self.run_page, self.motion_page):
            page.mark_unreadable_texts(self._refused, session.context)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_machine_changed), (session.runs.changed, self._list_sources))
        if isinstance(settings, Settings):
            self._life.listen((settings.changed, lambda _: self.run_page.vary.refresh_units()))
        self._reset()

    def _lay_out(self) -> None:
        """Arrange the buttons on top and trace, settings and results side by side below."""
        self.forces_page, self.run_page, self.motion_page = ForcesPage(), RunPage(self._units), ExcitationPage()
        self.pages = QStackedWidget()
        for page in (self.forces_page, self.run_page, self.motion_page):
            self.pages.addWidget(wrap_in_scroll_area(page))
        self.trace_part = self._build_trace_part()
        parts, bar = (self.trace_part, self.pages, self._build_result_part()), (self.kind, 1, self.start_button)
        split = lay_side_by_side(self, (*bar, self.stop_button), self.note, parts, (300, 290, 560))
        split.setStretchFactor(2, 1)

    def _build_trace_part(self) -> QWidget:
        """Build the widget with the source of the trace and its columns."""
        part, row = QWidget(), QHBoxLayout()
        self.source = NarrowCombo()
        self.source.setAccessibleName("Trace")
        self.source.activated.connect(lambda _: self._on_source_chosen())
        self.open_button = create_push_button("Open…", "Read a trace from a CSV, SIMNON or HDF5 file", self._ask_open)
        row.setContentsMargins(8, 0, 8, 4)
        row.addWidget(self.source, 1)
        row.addWidget(self.open_button)
        self.columns = ColumnTable()
        self.columns.edited.connect(self._drop_results)
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.columns, 1)
        return part

    def _build_result_part(self) -> QWidget:
        """Build the widget with estimates, curves and the buttons that use the results."""
        self.estimates, self.curves = EstimateTable(), QVBoxLayout()
        self.chart: SignalChart | None = None
        curves = QWidget()
        curves.setLayout(self.curves)
        self.curves.setContentsMargins(0, 0, 0, 0)
        self.limits = create_plain_table(LIMIT_HEADS, "Joints of the motion")
        self.limits.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.limits.horizontalHeader().setStretchLastSection(True)
        self.numbers = QStackedWidget()
        self.numbers.addWidget(self.estimates)
        self.numbers.addWidget(self.limits)
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.addTab(self.numbers, "Estimates")
        self.tabs.addTab(curves, "Curves")
        return add_button_row(self.tabs, (self.save_button, self.show_button, self.apply_button))

    def close(self) -> None:
        """Disconnect from all signals and stop computing."""
        self.stop()
        shared_slices().drop(self)
        self._life.close()

    # -------------------------------------------------------------------------------------------- the machine

    def _reset(self) -> None:
        """Reset the panel for a newly opened machine."""
        self.title = ""
        self.columns.clear_columns()
        self.run_page.show_parameters(self._session.context())
        self._list_sources()
        self._on_kind_changed()

    def _on_machine_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is new.model:
            return
        if not self._applying:
            self._drop_results()
        if self.columns.rowCount():
            self.columns.offer_signals(self._session.mech)
        self.run_page.show_parameters(self._session.context())
        self._refused.recheck_refused_texts()

    def _on_kind_changed(self) -> None:
        """Update the panel after another identification method was chosen."""
        kind = self.kind.currentData()
        self.pages.setCurrentIndex(kind)
        self.trace_part.setVisible(kind != MOTION)
        self.start_button.setText(KINDS[kind][1])
        self.numbers.setCurrentIndex(1 if kind == MOTION else 0)
        self.tabs.setTabText(0, "Joints" if kind == MOTION else "Estimates")
        self._drop_results()

    def _drop_results(self) -> None:
        """Discard results that belong to other settings."""
        self.identified = self.fitted = self.motion = None
        self.estimates.show_rows(())
        self.limits.setRowCount(0)
        self._show_sheets(())
        self.note.show_text("" if self._session.mech.nv else "The machine has no joints yet. Add a joint.", "hint")
        self._enable_buttons()

    def _enable_buttons(self) -> None:
        busy, kind = self._job is not None, self.kind.currentData()
        there = not busy and any(each is not None for each in (self.identified, self.fitted, self.motion))
        self.start_button.setEnabled(not busy and bool(self._session.mech.nv))
        self.stop_button.setEnabled(busy)
        for widget in (self.kind, self.source, self.open_button):
            widget.setEnabled(not busy)
        self.apply_button.setVisible(kind != MOTION)
        self.apply_button.setEnabled(there)
        self.show_button.setVisible(kind != FORCES)
        self.show_button.setEnabled(there)
        self.save_button.setVisible(kind == MOTION)
        self.save_button.setEnabled(there)

    # ---------------------------------------------------------------------------------------------- the trace

    def _list_sources(self) -> None:
        """List the runs of the document and the opened file as sources of a trace."""
        chosen = self.source.currentData()
        self.source.blockSignals(True)
        self.source.clear()
        self.source.addItem("Choose a trace", None)
        if self.title:
            self.source.addItem(self.title, self.title)
        for record in self._session.runs.items:
            if not record.faint and not record.growing:
                self.source.addItem(record.name, record.id)
        self.source.setCurrentIndex(max(0, self.source.findData(chosen)))
        self.source.blockSignals(False)

    def _on_source_chosen(self) -> None:
        record = next((each for each in self._session.runs.items if each.id == self.source.currentData()), None)
        if record is not None:
            self._read_in_background(record.name, lambda: _columns_of_run(record))

    def _ask_open(self) -> None:
        folder = str(self._session.folder or "")
        kinds = " ".join(f"*{suffix}" for suffix in TRACES)
        path, _ = QFileDialog.getOpenFileName(self, "Trace", folder, f"Traces ({kinds})")
        if path:
            self.read_trace(Path(path))

    def read_trace(self, path: Path) -> None:
        """Read a trace from a file."""

        def read_columns() -> tuple[tuple[str, ...], Any]:
            from core.identification.measured_trace import read_columns

            return read_columns(path)

        self._read_in_background(path.name, read_columns, path.name)

    def _read_in_background(self, name: str, columns: Callable[[], Any], title: str = "") -> None:
        """Read the columns of a source in the background."""
        self._drop_results()
        self.note.show_text(f"Reading {name} …", "hint")
        mech = self._session.mech

        def show_columns(found: tuple[tuple[str, ...], Any]) -> None:
            names, numbers = found
            if title:
                self.title = title
                self._list_sources()
                self.source.setCurrentIndex(self.source.findData(title))
            self.columns.show_columns(mech, names, numbers)
            count = len(self.columns.assigned_signals())
            words = f"{len(numbers)} rows, {len(names)} columns; {count} were recognised as signals. Please check them."
            self.note.show_text(words, "done" if count else "hint")

        def work(progress: Any, cancelled: Any) -> tuple[tuple[str, ...], Any]:
            from core.identification import measured_trace  # noqa: F401

            return columns()

        self._start_job("Trace", work, show_columns)

    # ---------------------------------------------------------------------------------------------- computing

    def start(self) -> None:
        """Start the computation in the background."""
        kind, context = self.kind.currentData(), self._session.context()
        self._stop.clear()
        try:
            work = (self._build_forces_work, self._build_run_work, self._build_excitation_work)[kind](context)
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        self._drop_results()
        self.note.show_text("Computing …", "hint")
        self._start_job("Identification", work, (self._show_forces, self._show_run, self._show_excitation)[kind])

    def _start_job(self, title: str, work: Any, on_result: Callable[[Any], None]) -> None:
        job = self._job = self._jobs.start(title, work)
        job.grown.connect(lambda words: self.note.show_text(str(words), "hint"))
        job.succeeded.connect(on_result)
        job.failed.connect(lambda error: self.note.show_text(str(error), "error"))
        job.stopped.connect(lambda: self.note.show_text("Stopped.", "hint"))
        job.ended.connect(self._on_ended)
        self._enable_buttons()

    def _on_ended(self) -> None:
        self._job = None
        self._enable_buttons()

    def _should_stop(self, cancelled: Callable[[], bool]) -> bool:
        return self._stop.is_set() or cancelled()

    def _build_forces_work(self, context: Context) -> Any:
        options, columns = self.forces_page.options(context), self.columns.read_columns()
        cutoff, p = options.pop("cutoff"), dict(context.p) or None

        def worker() -> Callable[..., Any]:
            from core.identification.work import identify_in_worker

            return partial(identify_in_worker, columns=columns, cutoff=cutoff, p=p, options=options)

        return self._in_subprocess(context, worker)

    def _build_run_work(self, context: Context) -> Any:
        options, columns = self.run_page.options(context), self.columns.read_columns()

        def worker() -> Callable[..., Any]:
            from core.identification.work import fit_run_in_worker

            return partial(fit_run_in_worker, columns=columns, options=options)

        return self._in_subprocess(context, worker)

    def _build_excitation_work(self, context: Context) -> Any:
        options, p = self.motion_page.options(context), dict(context.p) or None

        def worker() -> Callable[..., Any]:
            from core.identification.work import design_excitation_in_worker

            return partial(design_excitation_in_worker, p=p, options=options)

        return self._in_subprocess(context, worker)

    def _in_subprocess(self, context: Context, worker: Callable[[], Callable[..., Any]]) -> Any:
        """Run the function that `worker` imports in a subprocess, so that a crashing library does not take the window
        with it."""

        def work() -> Callable[..., Any]:
            _import_result_modules()
            return worker()

        return build_process_work(self._jobs, context.mech, work, self._should_stop, PATIENCE)

    def stop(self) -> None:
        """Stop the computation; a search keeps the best result so far."""
        self._stop.set()

    # ------------------------------------------------------------------------------------------------ results

    def _show_sheets(self, sheets: Sequence[SignalSheet]) -> None:
        """Show curves, drawn in time slices; the chart is created when there are curves to show."""
        self._sheets = tuple(sheets)
        if self.chart is not None or sheets:
            shared_slices().add(self, self._draw_sheets)

    def _draw_sheets(self, seconds: float) -> bool:
        if self.chart is not None:
            self.chart.show_sheets(self._sheets)
            return True
        from app.panels.identification.signal_chart import SignalChart

        self.chart = SignalChart()
        self.curves.addWidget(self.chart)
        return False

    def _show_forces(self, result: Identification) -> None:
        from app.panels.identification.shown_results import force_rows, force_sheets

        self.identified = result
        self.estimates.show_rows(force_rows(result), "Base parameter")
        self._show_sheets(force_sheets(result))
        words = identification_message(result)
        self.note.show_text(words.text, words.severity)

    def _show_run(self, result: RunFit) -> None:
        from app.panels.identification.shown_results import run_rows, run_sheets

        self.fitted = result
        self.estimates.show_rows(run_rows(result), "Parameter")
        self._show_sheets(run_sheets(result))
        words = run_fit_message(result)
        self.note.show_text(words.text, words.severity)

    def _show_excitation(self, result: Excitation) -> None:
        from app.panels.identification.shown_results import excitation_rows, excitation_sheets

        self.motion = result
        rows = excitation_rows(result)
        self.limits.setRowCount(len(rows))
        for at, row in enumerate(rows):
            for column, text in enumerate(row):
                self.limits.setItem(at, column, QTableWidgetItem(text))
        self.limits.resizeColumnsToContents()
        self._show_sheets(excitation_sheets(result))
        self.note.show_text(excitation_summary(result), "done")

    def add_motion_to_runs(self) -> None:
        """Add the excitation trajectory, or the fitted run, to the list of runs."""
        if self.motion is not None:
            self._session.runs.add(self.motion.run(), "Exciting motion")
        elif self.fitted is not None:
            self._session.runs.add(self.fitted.run, "Fitted run")

    def _ask_save(self) -> None:
        folder = str(self._session.folder or "")
        path, _ = QFileDialog.getSaveFileName(self, "Exciting motion", folder, "Traces (*.csv)")
        if path:
            self.save_motion(Path(path if path.lower().endswith(".csv") else f"{path}.csv"))

    def save_motion(self, path: Path) -> None:
        """Write the excitation trajectory as a trace."""
        if self.motion is None:
            return
        try:
            self.motion.save(path)
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        self.note.show_text(f"Wrote {path}.", "done")

    def apply_results(self) -> None:
        """Apply the results to the model as one undo step."""
        self._applying = True
        try:
            if self.fitted is not None:
                self._session.preview(parameters=dict(self.fitted.parameters))
                self._session.commit("Fitted parameters")
            elif self.identified is not None:
                from core.identification.identify import model_with_values

                parameters, values = self.identified.parameters, self.identified.values
                self._session.apply("Identified parameters", lambda model: model_with_values(model, parameters, values))
        finally:
            self._applying = False


def _import_result_modules() -> None:
    """Import the modules that show results in the background, so that showing results does not freeze the window."""
    from app.panels.identification import shown_results, signal_chart  # noqa: F401


def _columns_of_run(record: RunRecord) -> tuple[tuple[str, ...], Any]:
    """Return the names and columns of a run, time first."""
    table = list(record.run.table())
    return ("time", *(name for name, _ in table)), np.column_stack([record.run.time, *(each for _, each in table)])


def create_panel(bench: Workbench) -> IdentificationPanel:
    """Create the Identification panel of a window."""
    return IdentificationPanel(bench.session, bench.jobs, bench.settings)
