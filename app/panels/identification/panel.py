"""The Identification panel: parameters from a trace, by forces or by a simulated run, and exciting motions; computed in
the background."""

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

from app.background.jobs import Job, Jobs, process_job
from app.background.signals import Lifetime
from app.background.slices import slices
from app.document.revision import State
from app.document.run_tree import Record
from app.document.session import Session
from app.panels.identification.column_table import ColumnTable
from app.panels.identification.pages import ExcitationPage, ForcesPage, RunPage
from app.panels.identification.shown_results import EstimateTable
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import Combo
from app.widgets.panel_parts import lay_side_by_side, panel_note, plain_table, push_button, scrolled, with_buttons
from app.widgets.quantities.quantity_text import SIUnits, Units
from app.widgets.refused_texts import RefusedTexts
from core.errors import KinetostatError
from core.functions.context import Context
from core.functions.subjects.identification import (
    TRACES,
    excitation_summary,
    identification_verdict,
    run_fit_verdict,
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
    FORCES: ("Forces of a motion", "Identify"),
    RUN: ("Run fitted to a trace", "Fit"),
    MOTION: ("Exciting motion", "Make"),
}
PATIENCE = 10.0
"""Time after Stop in which a fit or a motion finishes its step, so that the best result so far is kept, s."""
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
        self.note = panel_note()
        self.kind = Combo()
        for kind, (title, _) in KINDS.items():
            self.kind.addItem(title, kind)
        self.kind.setAccessibleName("Identification method")
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        self.start_button = push_button("Identify", "Compute in the background", self.start)
        self.stop_button = push_button("Stop", "Stop; the result of a fit or motion so far is kept", self.stop)
        self.show_button = push_button("Show", "Add the motion to the list of runs and play it", self.show_motion)
        self.save_button = push_button("Save trace…", "Write the motion as a CSV file", self._ask_save)
        self.apply_button = push_button("Apply", "Apply the results to the machine (can be undone)", self.apply)
        self._lay_out()
        self._refused = RefusedTexts(self)
        self._refused.changed.connect(self.note.hold)
        self._refused.watch_table(self.columns, self.columns.check_cell)
        for page in (self.forces_page, self.run_page, self.motion_page):
            page.watch(self._refused, session.context)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_machine_changed), (session.runs.changed, self._offer_sources))
        if isinstance(settings, Settings):
            self._life.listen((settings.changed, lambda _: self.run_page.vary.refresh_units()))
        self._reset()

    def _lay_out(self) -> None:
        """Lay out the buttons above, then trace, settings and results side by side."""
        self.forces_page, self.run_page, self.motion_page = ForcesPage(), RunPage(self._units), ExcitationPage()
        self.pages = QStackedWidget()
        for page in (self.forces_page, self.run_page, self.motion_page):
            self.pages.addWidget(scrolled(page))
        self.trace_part = self._trace_part()
        parts, bar = (self.trace_part, self.pages, self._result_part()), (self.kind, 1, self.start_button)
        split = lay_side_by_side(self, (*bar, self.stop_button), self.note, parts, (300, 290, 560))
        split.setStretchFactor(2, 1)

    def _trace_part(self) -> QWidget:
        """Build the part with the trace's source and its columns."""
        part, row = QWidget(), QHBoxLayout()
        self.source = Combo()
        self.source.setAccessibleName("Trace")
        self.source.activated.connect(lambda _: self._source_chosen())
        self.open_button = push_button("Open…", "Read a trace from a CSV, SIMNON or HDF5 file", self._ask_open)
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

    def _result_part(self) -> QWidget:
        """Build the part with estimates and curves, and the buttons for results below."""
        self.estimates, self.curves = EstimateTable(), QVBoxLayout()
        self.chart: SignalChart | None = None
        curves = QWidget()
        curves.setLayout(self.curves)
        self.curves.setContentsMargins(0, 0, 0, 0)
        self.limits = plain_table(LIMIT_HEADS, "Joints of the motion")
        self.limits.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.limits.horizontalHeader().setStretchLastSection(True)
        self.numbers = QStackedWidget()
        self.numbers.addWidget(self.estimates)
        self.numbers.addWidget(self.limits)
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.addTab(self.numbers, "Estimates")
        self.tabs.addTab(curves, "Curves")
        return with_buttons(self.tabs, (self.save_button, self.show_button, self.apply_button))

    def close(self) -> None:
        """Disconnect from all signals and stop computing."""
        self.stop()
        slices().drop(self)
        self._life.close()

    # -------------------------------------------------------------------------------------------- the machine

    def _reset(self) -> None:
        """Reset the panel for a newly opened machine."""
        self.title = ""
        self.columns.clear_columns()
        self.run_page.show_parameters(self._session.context())
        self._offer_sources()
        self._on_kind_changed()

    def _on_machine_changed(self, old: State, new: State) -> None:
        if old.model is new.model:
            return
        if not self._applying:
            self._drop_results()
        if self.columns.rowCount():
            self.columns.offer(self._session.mech)
        self.run_page.show_parameters(self._session.context())
        self._refused.recheck()

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
        """Drop results that belong to other settings."""
        self.identified = self.fitted = self.motion = None
        self.estimates.show_rows(())
        self.limits.setRowCount(0)
        self._show_sheets(())
        self.note.say("" if self._session.mech.nv else "The machine has no joints yet. Add a joint.", "hint")
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

    def _offer_sources(self) -> None:
        """List the runs of the document and the opened file as sources."""
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

    def _source_chosen(self) -> None:
        record = next((each for each in self._session.runs.items if each.id == self.source.currentData()), None)
        if record is not None:
            self._read(record.name, lambda: _columns_of_run(record))

    def _ask_open(self) -> None:
        folder = str(self._session.folder or "")
        kinds = " ".join(f"*{suffix}" for suffix in TRACES)
        path, _ = QFileDialog.getOpenFileName(self, "Trace", folder, f"Traces ({kinds})")
        if path:
            self.read(Path(path))

    def read(self, path: Path) -> None:
        """Read a trace from a file."""

        def columns() -> tuple[tuple[str, ...], Any]:
            from core.identification.measured_trace import columns_of

            return columns_of(path)

        self._read(path.name, columns, path.name)

    def _read(self, name: str, columns: Callable[[], Any], title: str = "") -> None:
        """Read the columns of a source in the background."""
        self._drop_results()
        self.note.say(f"Reading {name} …", "hint")
        mech = self._session.mech

        def read(found: tuple[tuple[str, ...], Any]) -> None:
            names, numbers = found
            if title:
                self.title = title
                self._offer_sources()
                self.source.setCurrentIndex(self.source.findData(title))
            self.columns.show_columns(mech, names, numbers)
            count = len(self.columns.signals())
            words = f"{len(numbers)} rows, {len(names)} columns; {count} were recognised as signals. Please check them."
            self.note.say(words, "done" if count else "hint")

        def work(progress: Any, cancelled: Any) -> tuple[tuple[str, ...], Any]:
            from core.identification import measured_trace  # noqa: F401

            return columns()

        self._work("Trace", work, read)

    # ---------------------------------------------------------------------------------------------- computing

    def start(self) -> None:
        """Compute in the background."""
        kind, context = self.kind.currentData(), self._session.context()
        self._stop.clear()
        try:
            work = (self._forces_work, self._run_work, self._motion_work)[kind](context)
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self._drop_results()
        self.note.say("Computing …", "hint")
        self._work("Identification", work, (self._show_forces, self._show_run, self._show_excitation)[kind])

    def _work(self, title: str, work: Any, done: Callable[[Any], None]) -> None:
        job = self._job = self._jobs.start(title, work)
        job.grown.connect(lambda words: self.note.say(str(words), "hint"))
        job.succeeded.connect(done)
        job.failed.connect(lambda error: self.note.say(str(error), "error"))
        job.stopped.connect(lambda: self.note.say("Stopped.", "hint"))
        job.ended.connect(self._on_ended)
        self._enable_buttons()

    def _on_ended(self) -> None:
        self._job = None
        self._enable_buttons()

    def _asked(self, cancelled: Callable[[], bool]) -> bool:
        return self._stop.is_set() or cancelled()

    def _forces_work(self, context: Context) -> Any:
        options, columns = self.forces_page.options(context), self.columns.columns()
        cutoff, p = options.pop("cutoff"), dict(context.p) or None
        return self._in_subprocess(context, "forces", columns=columns, cutoff=cutoff, p=p, options=options)

    def _run_work(self, context: Context) -> Any:
        return self._in_subprocess(
            context, "run", columns=self.columns.columns(), options=self.run_page.options(context)
        )

    def _motion_work(self, context: Context) -> Any:
        options = self.motion_page.options(context)
        return self._in_subprocess(context, "motion", p=dict(context.p) or None, options=options)

    def _in_subprocess(self, context: Context, what: str, **asked: Any) -> Any:
        """Run a function of `core.identification.work` in a subprocess, so that a crashing library does not take the
        window with it."""

        def work() -> Any:
            from core.identification import work as works

            _read_results()
            return partial(getattr(works, what), **asked)

        return process_job(self._jobs, context.mech, work, self._asked, PATIENCE)

    def stop(self) -> None:
        """Stop the computation; a search keeps the best result so far."""
        self._stop.set()

    # ------------------------------------------------------------------------------------------------ results

    def _show_sheets(self, sheets: Sequence[SignalSheet]) -> None:
        """Show curves, drawn in separate time slices; the chart is created with the first curves."""
        self._sheets = tuple(sheets)
        if self.chart is not None or sheets:
            slices().add(self, self._draw_sheets)

    def _draw_sheets(self, seconds: float) -> bool:
        if self.chart is not None:
            self.chart.show_sheets(self._sheets)
            return True
        from app.panels.identification.signal_chart import SignalChart

        self.chart = SignalChart()
        self.curves.addWidget(self.chart)
        return False

    def _show_forces(self, found: Identification) -> None:
        from app.panels.identification.shown_results import force_rows, force_sheets

        self.identified = found
        self.estimates.show_rows(force_rows(found), "Base parameter")
        self._show_sheets(force_sheets(found))
        words = identification_verdict(found)
        self.note.say(words.text, words.severity)

    def _show_run(self, found: RunFit) -> None:
        from app.panels.identification.shown_results import run_rows, run_sheets

        self.fitted = found
        self.estimates.show_rows(run_rows(found), "Parameter")
        self._show_sheets(run_sheets(found))
        words = run_fit_verdict(found)
        self.note.say(words.text, words.severity)

    def _show_excitation(self, found: Excitation) -> None:
        from app.panels.identification.shown_results import excitation_rows, excitation_sheets

        self.motion = found
        rows = excitation_rows(found)
        self.limits.setRowCount(len(rows))
        for at, row in enumerate(rows):
            for column, text in enumerate(row):
                self.limits.setItem(at, column, QTableWidgetItem(text))
        self.limits.resizeColumnsToContents()
        self._show_sheets(excitation_sheets(found))
        self.note.say(excitation_summary(found), "done")

    def show_motion(self) -> None:
        """Add the exciting motion, or the fitted run, to the list of runs."""
        if self.motion is not None:
            self._session.runs.add(self.motion.run(), "Exciting motion")
        elif self.fitted is not None:
            self._session.runs.add(self.fitted.run, "Fitted run")

    def _ask_save(self) -> None:
        folder = str(self._session.folder or "")
        path, _ = QFileDialog.getSaveFileName(self, "Exciting motion", folder, "Traces (*.csv)")
        if path:
            self.save(Path(path if path.lower().endswith(".csv") else f"{path}.csv"))

    def save(self, path: Path) -> None:
        """Write the exciting motion as a trace."""
        if self.motion is None:
            return
        try:
            self.motion.save(path)
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self.note.say(f"Wrote {path}.", "done")

    def apply(self) -> None:
        """Apply the results to the model as one undo step."""
        self._applying = True
        try:
            if self.fitted is not None:
                self._session.preview(parameters=dict(self.fitted.parameters))
                self._session.commit("Fitted parameters")
            elif self.identified is not None:
                from core.identification.identify import with_values

                parameters, values = self.identified.parameters, self.identified.values
                self._session.apply("Identified parameters", lambda model: with_values(model, parameters, values))
        finally:
            self._applying = False


def _read_results() -> None:
    """Import the modules that show results in the background, so that the window does not freeze."""
    from app.panels.identification import shown_results, signal_chart  # noqa: F401


def _columns_of_run(record: Record) -> tuple[tuple[str, ...], Any]:
    """Return names and columns of a run, time first."""
    table = list(record.run.table())
    return ("time", *(name for name, _ in table)), np.column_stack([record.run.time, *(each for _, each in table)])


def make(bench: Workbench) -> IdentificationPanel:
    """Create the Identification panel of a window."""
    return IdentificationPanel(bench.session, bench.jobs, bench.settings)
