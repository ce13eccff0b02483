"""The Studies panel: many runs or poses of the machine with varied parameters, computed in the background and shown
live."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QWidget,
)

from app.background.jobs import Jobs
from app.background.signals import Lifetime
from app.document.revision import DocumentState
from app.document.session import Session
from app.panels.studies.asked_page import StudySettingsPage
from app.panels.studies.study_job import StudyJob, StudyProgress, StudyQuestion, estimate_duration
from app.panels.studies.study_views import PictureView, StudyRowTable
from app.plain_text import escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.panel_parts import ProgressBar, add_button_row, create_panel_note, create_push_button, lay_side_by_side
from app.widgets.refused_texts import InputChecker
from core.errors import KinetostatError
from core.model.fields import declared_fields

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.studies.study_result import StudyResult

SHOWN_EVERY = 0.3
"""Interval between updates of the results shown, s."""


class StudiesPanel(QWidget):
    """Settings, picture and rows side by side below the buttons."""

    def __init__(self, session: Session, begin_with: Callable[[Mapping[str, float]], None] = lambda _: None) -> None:
        """Create the panel. begin_with(speeds) : sets the initial speeds of the next run."""
        super().__init__()
        self._session, self._begin_with = session, begin_with
        self._jobs = Jobs(self)
        """Of its own: a study may take hours, and others need not wait for it."""
        self.result: StudyResult | None = None
        self.work: StudyJob | None = None
        self._question: StudyQuestion | None = None
        """Question shown to the user, until it is answered."""
        self._names: tuple[str, ...] = ()
        self.asked = StudySettingsPage(self.formula_names, self._ask_path)
        self.picture, self.table = PictureView(), StudyRowTable()
        self._make_widgets()
        self._lay_out()
        self.failed_alone.toggled.connect(lambda _: self._show_rows())
        for part in (self.table, self.picture.canvas):
            part.chosen.connect(self._on_row_chosen)
            part.opened.connect(self.apply_row)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_machine_changed))
        self.asked.kind.activated.connect(lambda _: self._show_machine())
        self._refused = InputChecker(self)
        self._refused.changed.connect(self.note.hold_error)
        self.asked.mark_unreadable_texts(self._refused)
        self._show_machine()
        self._list_studies()
        self._document = session.document
        self._show_first_study()
        self._enable_buttons()

    def _make_widgets(self) -> None:
        self.note = create_panel_note()
        self.progress = ProgressBar(textVisible=False)
        self.progress.setAccessibleName("Progress of the study")
        self.progress.setMaximumHeight(6)
        self.progress.setRange(0, 1000)
        self.progress.setMinimumWidth(8)
        self.failed_alone = QCheckBox("Failed")
        self.estimate_button = create_push_button("Estimate", "Estimate the duration from three rows", self.estimate)
        self.start_button = create_push_button(
            "Start", "Compute all rows (rows already stored in the file are not computed again)", self.start
        )
        self.pause_button = create_push_button(
            "Pause", "Pause after the rows being computed", self.toggle_pause, checkable=True
        )
        self.stop_button = create_push_button("Stop", "Stop; rows computed so far are kept", self.stop)
        self.open_button = create_push_button(
            "Apply row", "Apply the row's parameters and pose to the machine (can be undone)", self.apply_row
        )
        self.save_button = create_push_button("Save…", "Save all rows as CSV or Parquet", self.ask_save)
        self.plan = NarrowCombo()
        self.plan.setEditable(True)
        self.plan.setAccessibleName("Saved study")
        self.plan.setToolTip(escape_tip("A study saved in the document, or a name under which to save this one"))
        self.plan.lineEdit().setPlaceholderText("name of this study")
        self.plan.activated.connect(lambda _: self.show_study(self.plan.currentText()))
        self.keep_button = create_push_button(
            "Save study", ("Save these settings as a study in the document (can be undone)"), self.save_study
        )
        self.yes_button = create_push_button("Continue", "", lambda: self._answer_question(True))
        self.no_button = create_push_button("End", "", lambda: self._answer_question(False))

    def _lay_out(self) -> None:
        question = add_button_row(self.asked, (self.plan, self.keep_button, self.estimate_button), stretch_first=True)
        rows = add_button_row(self.table, (self.failed_alone, self.save_button, self.open_button), stretch_first=True)
        buttons = (self.start_button, self.pause_button, self.stop_button, self.progress, 1)
        bar = (*buttons, self.yes_button, self.no_button)
        lay_side_by_side(self, bar, self.note, (question, self.picture, rows), (400, 420, 380))

    def close(self) -> None:
        """Disconnect from all signals and stop computing."""
        if self.work is not None:
            self.work.stop()
        self._jobs.close()
        self._life.close()

    # ------------------------------------------------------------------------------------------- what is asked

    def _show_machine(self) -> None:
        self._names = ()
        self.asked.show_machine(self._session.model, self._session.mech)

    def _on_machine_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is new.model:
            return
        self._list_studies()
        if old.model.machine != new.model.machine:
            self._show_machine()
        if self._document != self._session.document:
            self._document = self._session.document
            self._show_first_study()

    def _list_studies(self) -> None:
        """List the names of the document's studies."""
        names = [each.name for each in self._session.model.studies]
        if names != [self.plan.itemText(k) for k in range(self.plan.count())]:
            typed = self.plan.currentText()
            self.plan.clear()
            self.plan.addItems(names)
            self.plan.setCurrentText(typed)

    def _show_first_study(self) -> None:
        """Show the first study of the document, if there is one."""
        if self._session.model.studies:
            self.show_study(self._session.model.studies[0].name)
        else:
            self.plan.setCurrentText("")

    def show_study(self, name: str) -> None:
        """Show a study saved in the document."""
        from core.studies.study_text import study_text_from_document

        try:
            text = study_text_from_document(self._session.model, name)
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        self.plan.setCurrentText(name)
        self.asked.kind.setCurrentIndex(self.asked.kind.findData(text.kind))
        self._show_machine()
        missing = self.asked.show_settings(text)
        words = f"The machine has no {', '.join(missing)}." if missing else ""
        self.note.show_text(words, "warning" if missing else "")

    def save_study(self) -> None:
        """Save the settings as a study in the document, replacing one of the same name, as one undo step."""
        from core.model.edits import edits
        from core.studies.study_text import study_plan_from_text

        name = self.plan.currentText().strip()
        known = {each.name: each for each in self._session.model.studies}
        if not name:
            name = edits.unused_name(self._session.model, "studies", "study")
        try:
            plan = study_plan_from_text(
                name, self.asked.typed_settings(), known[name].description if name in known else ""
            )
            fields = {
                field.name: getattr(plan, field.name) for field in declared_fields(type(plan)) if field.name != "name"
            }
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        there = name in known
        kept = self._session.apply(
            f"Study {name}", lambda m: edits.change(m, "studies", name, **fields) if there else edits.add(m, plan)
        )
        if not kept:
            return
        self.plan.setCurrentText(name)
        self.note.show_text(f"'{name}' was saved in the document (can be undone).", "done")

    def formula_names(self) -> tuple[str, ...]:
        """Return the names that formulas can use."""
        if not self._names:
            from core.simulation.measures.run_measures import Signals

            self._names = Signals(self._session.mech).all
        return self._names

    def _ask_path(self) -> str:
        path, _ = QFileDialog.getSaveFileName(
            self, "File of the study", "study.h5", "Studies (*.h5)", options=QFileDialog.Option.DontConfirmOverwrite
        )
        return path

    # ------------------------------------------------------------------------------------------------- working

    def estimate(self) -> None:
        """Compute three rows and report the estimated duration of the whole study."""
        try:
            text = self.asked.typed_settings()
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        model, cores = self._session.model, int(self.asked.cores.currentData())
        job = self._jobs.start("Study", lambda progress, cancelled: estimate_duration(model, text, cores))
        self.note.show_text("Computing three rows …", "hint")
        job.succeeded.connect(lambda words: self.note.show_text(words, "hint"))
        job.failed.connect(lambda error: self.note.show_text(str(error), "error"))

    def start(self) -> None:
        """Start the study in the background."""
        try:
            text = self.asked.typed_settings()
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        file, cluster = self.asked.file.text().strip(), self.asked.cluster.text().strip()
        self.work = StudyJob(
            self._session.model, text, file or None, int(self.asked.cores.currentData()), cluster or None, SHOWN_EVERY
        )
        self.pause_button.setChecked(False)
        self.note.show_text("Preparing …", "hint")
        job = self._jobs.start("Study", self.work)
        job.progressed.connect(lambda part, _: self.progress.setValue(round(1000 * part)))
        job.grown.connect(self._on_progress)
        job.succeeded.connect(self._on_succeeded)
        job.failed.connect(lambda error: self.note.show_text(str(error), "error"))
        job.stopped.connect(lambda: self.note.show_text("Stopped.", "hint"))
        job.ended.connect(self._on_ended)
        self._enable_buttons()

    def _on_progress(self, report: StudyProgress | StudyQuestion) -> None:
        if isinstance(report, StudyQuestion):
            self.note.show_text(report.words, "warning")
            self.yes_button.setText(report.yes)
            self._question = report
            self._enable_buttons()
            return
        if not self.pause_button.isChecked():
            self.note.show_text(str(report.progress), "hint")
        self.show_result(report.result)

    def _on_succeeded(self, result: StudyResult) -> None:
        self.show_result(result)
        failed, total = len(result.failed), len(result.rows.done)
        words = f"{len(result)} of {total} rows" if len(result) < total else f"{total} rows"
        kinds = sorted({each.status for each in result.failed[:1000]})
        said = f"{words}, {failed} failed ({', '.join(kinds)})" if failed else f"{words}, none failed"
        self.note.show_text(f"{said}.", "warning" if failed == len(result) else "done")

    def _on_ended(self) -> None:
        self.work = self._question = None
        self._enable_buttons()

    def toggle_pause(self) -> None:
        """Pause the study, or continue it."""
        if self.work is not None:
            self.work.set_paused(self.pause_button.isChecked())
            self.note.show_text("Paused." if self.pause_button.isChecked() else "Continuing …", "hint")

    def stop(self) -> None:
        """Stop the study; the rows computed so far are kept."""
        if self.work is not None:
            self.work.stop()

    def _answer_question(self, yes: bool) -> None:
        if self.work is None or self._question is None:
            return
        file = ""
        if yes and self._question.asks_file:
            file = self._ask_path()
            if not file:
                return
            self.asked.file.setText(file)
        self.note.show_text("Continuing …" if yes else "Stopping …", "hint")
        self.work.answer(yes, file)
        self._question = None
        self._enable_buttons()

    def _enable_buttons(self) -> None:
        busy = self.work is not None
        self.start_button.setEnabled(not busy)
        self.estimate_button.setEnabled(not busy)
        self.pause_button.setEnabled(busy)
        self.stop_button.setEnabled(busy)
        self.progress.setVisible(busy)
        self.yes_button.setVisible(self._question is not None)
        self.no_button.setVisible(self._question is not None)
        there = self.result is not None
        self.save_button.setEnabled(there and not busy)
        self.open_button.setEnabled(there and self.table.selected_row >= 0)

    # ------------------------------------------------------------------------------------------------- results

    def show_result(self, result: StudyResult | None) -> None:
        """Show the results computed so far."""
        self.result = result
        row = self.table.selected_row
        self.picture.show_result(result)
        self._show_rows()
        if row >= 0:
            self.table.select_row(row)

    def _show_rows(self) -> None:
        self.table.show_result(self.result, self.failed_alone.isChecked())
        self._enable_buttons()

    def _on_row_chosen(self, row: int) -> None:
        self.table.select_row(row)
        self.picture.show_row(row)
        self._enable_buttons()
        if self.result is not None and not self.result.good[row] and self.result.rows.done[row]:
            self.note.show_text(f"Row {row}: {self.result.rows.messages.get(row, ('', ''))[0]}", "warning")

    def apply_row(self, row: int = -1) -> None:
        """Apply parameters and pose of a row to the machine as one undo step."""
        from core.studies.study_result import start_state_of_row

        row = self.table.selected_row if row < 0 else row
        if self.result is None or row < 0:
            return
        session = self._session
        try:
            state = start_state_of_row(session.mech, self.result, row)
        except KinetostatError as error:
            self.note.show_text(f"Row {row} cannot be shown: {error}", "error")
            return
        known = session.edited_parameters
        changed = {name: value for name, value in state.parameters.items() if value != known.get(name)}
        session.preview(q=np.asarray(state.q), parameters=changed or None)
        session.commit(f"Row {row} of the study")
        if state.speeds:
            self._begin_with(state.speeds)
        speeds = " The next run starts with its speeds." if state.speeds else ""
        self.note.show_text(f"Row {row} was applied to the machine (can be undone).{speeds}", "done")

    def ask_save(self) -> None:
        """Ask for a file and write all rows to it."""
        if self.result is None:
            return
        path, _ = QFileDialog.getSaveFileName(self, "Save rows", "study.csv", "Tables (*.csv *.parquet)")
        if path:
            self.write_rows(Path(path))

    def write_rows(self, path: Path) -> None:
        """Write all rows to a file."""
        assert self.result is not None
        try:
            (self.result.to_parquet if path.suffix == ".parquet" else self.result.to_csv)(str(path))
        except (KinetostatError, OSError) as error:
            self.note.show_text(f"The rows cannot be written: {error}", "error")
            return
        self.note.show_text(f"Wrote {path.name}.", "done")


def create_panel(bench: Workbench) -> StudiesPanel:
    """Create the Studies panel of a window."""

    def start_run_with(speeds: Mapping[str, float]) -> None:
        bench.runs.simulation.change_settings(start="pose", speeds=dict(speeds))

    return StudiesPanel(bench.session, start_run_with)
