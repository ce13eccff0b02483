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
from app.document.revision import State
from app.document.session import Session
from app.panels.studies.asked_page import StudySettingsPage
from app.panels.studies.study_job import Doubt, Running, StudyJob, estimated
from app.panels.studies.study_views import PictureView, RowTable
from app.plain_text import as_tip
from app.widgets.fields.choice_editors import Combo
from app.widgets.panel_parts import ProgressBar, lay_side_by_side, panel_note, push_button, with_buttons
from app.widgets.refused_texts import RefusedTexts
from core.errors import KinetostatError
from core.model.fields import fields_of

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.studies.study_result import StudyResult

SHOWN_EVERY = 0.3
"""Interval between updates of the results, s."""


class StudiesPanel(QWidget):
    """Settings, picture and rows side by side, with the buttons above."""

    def __init__(self, session: Session, begin_with: Callable[[Mapping[str, float]], None] = lambda _: None) -> None:
        """Create the panel. begin_with(speeds) : sets the initial speeds of the next run."""
        super().__init__()
        self._session, self._begin_with = session, begin_with
        self._jobs = Jobs(self)
        """Of its own: a study may take hours, and others need not wait for it."""
        self.result: StudyResult | None = None
        self.work: StudyJob | None = None
        self._names: tuple[str, ...] = ()
        self.asked = StudySettingsPage(self.names, self._choose_file)
        self.picture, self.table = PictureView(), RowTable()
        self._make_widgets()
        self._lay_out()
        self.failed_alone.toggled.connect(lambda _: self._show_rows())
        for part in (self.table, self.picture.canvas):
            part.chosen.connect(self._on_chosen)
            part.opened.connect(self.open)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_machine_changed))
        self.asked.kind.activated.connect(lambda _: self._begin())
        self._refused = RefusedTexts(self)
        self._refused.changed.connect(self.note.hold)
        self.asked.watch(self._refused)
        self._begin()
        self._show_plans()
        self._document = session.document
        self._show_first()
        self._enable_buttons()

    def _make_widgets(self) -> None:
        self.note = panel_note()
        self.progress = ProgressBar(textVisible=False)
        self.progress.setAccessibleName("Progress of the study")
        self.progress.setMaximumHeight(6)
        self.progress.setRange(0, 1000)
        self.progress.setMinimumWidth(8)
        self.failed_alone = QCheckBox("Failed")
        self.estimate_button = push_button("Estimate", "Estimate the duration from three rows", self.estimate)
        self.start_button = push_button(
            "Start", "Compute all rows (rows already stored in the file are not computed again)", self.start
        )
        self.pause_button = push_button("Pause", "Pause after the rows being computed", self.pause, checkable=True)
        self.stop_button = push_button("Stop", "Stop; rows computed so far are kept", self.stop)
        self.open_button = push_button(
            "Open row", "Apply the row's parameters and pose to the machine (can be undone)", self.open
        )
        self.save_button = push_button("Save…", "Save all rows as CSV or Parquet", self.save)
        self.plan = Combo()
        self.plan.setEditable(True)
        self.plan.setAccessibleName("Saved study")
        self.plan.setToolTip(as_tip("A study saved in the document, or a name under which to save this one"))
        self.plan.lineEdit().setPlaceholderText("name of this study")
        self.plan.activated.connect(lambda _: self.show_plan(self.plan.currentText()))
        self.keep_button = push_button(
            "Keep", ("Save these settings as a study in the document (can be undone)"), self.keep
        )
        self.yes_button = push_button("Go on", "", lambda: self._answer_doubt(True))
        self.no_button = push_button("End", "", lambda: self._answer_doubt(False))

    def _lay_out(self) -> None:
        question = with_buttons(self.asked, (self.plan, self.keep_button, self.estimate_button), first_wide=True)
        rows = with_buttons(self.table, (self.failed_alone, self.save_button, self.open_button), first_wide=True)
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

    def _begin(self) -> None:
        self._names = ()
        self.asked.show_machine(self._session.model, self._session.mech)

    def _on_machine_changed(self, old: State, new: State) -> None:
        if old.model is new.model:
            return
        self._show_plans()
        if old.model.machine != new.model.machine:
            self._begin()
        if self._document != self._session.document:
            self._document = self._session.document
            self._show_first()

    def _show_plans(self) -> None:
        """List the names of the document's studies."""
        names = [each.name for each in self._session.model.studies]
        if names != [self.plan.itemText(k) for k in range(self.plan.count())]:
            typed = self.plan.currentText()
            self.plan.clear()
            self.plan.addItems(names)
            self.plan.setCurrentText(typed)

    def _show_first(self) -> None:
        """Show the first study of the document, if there is one."""
        if self._session.model.studies:
            self.show_plan(self._session.model.studies[0].name)
        else:
            self.plan.setCurrentText("")

    def show_plan(self, name: str) -> None:
        """Show a study of the document."""
        from core.studies.study_text import text_of

        try:
            text = text_of(self._session.model, name)
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self.plan.setCurrentText(name)
        self.asked.kind.setCurrentIndex(self.asked.kind.findData(text.kind))
        self._begin()
        missing = self.asked.show_text(text)
        words = f"The machine has no {', '.join(missing)}." if missing else ""
        self.note.say(words, "warning" if missing else "")

    def keep(self) -> None:
        """Save the settings as a study of the document, replacing the one of this name, as one undo step."""
        from core.model.edits import edits
        from core.studies.study_text import plan_of

        name = self.plan.currentText().strip()
        known = {each.name: each for each in self._session.model.studies}
        if not name:
            name = edits.unused_name(self._session.model, "studies", "study")
        try:
            plan = plan_of(name, self.asked.text(), known[name].description if name in known else "")
            fields = {field.name: getattr(plan, field.name) for field in fields_of(type(plan)) if field.name != "name"}
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        there = name in known
        kept = self._session.apply(
            f"Study {name}", lambda m: edits.change(m, "studies", name, **fields) if there else edits.add(m, plan)
        )
        if not kept:
            return
        self.plan.setCurrentText(name)
        self.note.say(f"'{name}' was saved in the document (can be undone).", "done")

    def names(self) -> tuple[str, ...]:
        """Return the names that formulas may use."""
        if not self._names:
            from core.simulation.measures.run_measures import Signals

            self._names = Signals(self._session.mech).all
        return self._names

    def _choose_file(self) -> str:
        path, _ = QFileDialog.getSaveFileName(
            self, "File of the study", "study.h5", "Studies (*.h5)", options=QFileDialog.Option.DontConfirmOverwrite
        )
        return path

    # ------------------------------------------------------------------------------------------------- working

    def estimate(self) -> None:
        """Compute three rows and report how long all of them will take."""
        try:
            text = self.asked.text()
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        model, cores = self._session.model, int(self.asked.cores.currentData())
        job = self._jobs.start("Study", lambda progress, cancelled: estimated(model, text, cores))
        self.note.say("Computing three rows …", "hint")
        job.succeeded.connect(lambda words: self.note.say(words, "hint"))
        job.failed.connect(lambda error: self.note.say(str(error), "error"))

    def start(self) -> None:
        """Start the study in the background."""
        try:
            text = self.asked.text()
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        file, cluster = self.asked.file.text().strip(), self.asked.cluster.text().strip()
        self.work = StudyJob(
            self._session.model, text, file or None, int(self.asked.cores.currentData()), cluster or None, SHOWN_EVERY
        )
        self.pause_button.setChecked(False)
        self.note.say("Preparing …", "hint")
        job = self._jobs.start("Study", self.work)
        job.progressed.connect(lambda part, _: self.progress.setValue(round(1000 * part)))
        job.grown.connect(self._on_progress)
        job.succeeded.connect(self._on_succeeded)
        job.failed.connect(lambda error: self.note.say(str(error), "error"))
        job.stopped.connect(lambda: self.note.say("Stopped.", "hint"))
        job.ended.connect(self._on_ended)
        self._enable_buttons()

    def _on_progress(self, what: Running | Doubt) -> None:
        if isinstance(what, Doubt):
            self.note.say(what.words, "warning")
            self.yes_button.setText(what.yes)
            self._enable_buttons(what)
            return
        if not self.pause_button.isChecked():
            self.note.say(str(what.progress), "hint")
        self.show_result(what.result)

    def _on_succeeded(self, result: StudyResult) -> None:
        self.show_result(result)
        failed, total = len(result.failed), len(result.rows.done)
        words = f"{len(result)} of {total} rows" if len(result) < total else f"{total} rows"
        kinds = sorted({each.status for each in result.failed[:1000]})
        said = f"{words}, {failed} failed ({', '.join(kinds)})" if failed else f"{words}, none failed"
        self.note.say(f"{said}.", "warning" if failed == len(result) else "done")

    def _on_ended(self) -> None:
        self.work = None
        self._enable_buttons()

    def pause(self) -> None:
        """Pause the study, or continue it."""
        if self.work is not None:
            self.work.pause(self.pause_button.isChecked())
            self.note.say("Paused." if self.pause_button.isChecked() else "Continuing …", "hint")

    def stop(self) -> None:
        """Stop the study; computed rows are kept."""
        if self.work is not None:
            self.work.stop()

    def _answer_doubt(self, yes: bool) -> None:
        if self.work is None or self.work.doubt is None:
            return
        file = ""
        if yes and self.work.doubt.asks_file:
            file = self._choose_file()
            if not file:
                return
            self.asked.file.setText(file)
        self.note.say("Continuing …" if yes else "Ending …", "hint")
        self.work.answer(yes, file)
        self._enable_buttons()

    def _enable_buttons(self, doubt: Doubt | None = None) -> None:
        busy = self.work is not None
        self.start_button.setEnabled(not busy)
        self.estimate_button.setEnabled(not busy)
        self.pause_button.setEnabled(busy)
        self.stop_button.setEnabled(busy)
        self.progress.setVisible(busy)
        self.yes_button.setVisible(doubt is not None)
        self.no_button.setVisible(doubt is not None)
        there = self.result is not None
        self.save_button.setEnabled(there and not busy)
        self.open_button.setEnabled(there and self.table.row >= 0)

    # ------------------------------------------------------------------------------------------------- results

    def show_result(self, result: StudyResult | None) -> None:
        """Show the results computed so far."""
        self.result = result
        row = self.table.row
        self.picture.show_result(result)
        self._show_rows()
        if row >= 0:
            self.table.choose(row)

    def _show_rows(self) -> None:
        self.table.show_result(self.result, self.failed_alone.isChecked())
        self._enable_buttons(self.work.doubt if self.work is not None else None)

    def _on_chosen(self, row: int) -> None:
        self.table.choose(row)
        self.picture.show_row(row)
        self._enable_buttons(self.work.doubt if self.work is not None else None)
        if self.result is not None and not self.result.good[row] and self.result.rows.done[row]:
            self.note.say(f"Row {row}: {self.result.rows.messages.get(row, ('', ''))[0]}", "warning")

    def open(self, row: int = -1) -> None:
        """Apply parameters and pose of a row to the machine as one undo step."""
        from core.studies.study_result import row_state

        row = self.table.row if row < 0 else row
        if self.result is None or row < 0:
            return
        session = self._session
        try:
            state = row_state(session.mech, self.result, row)
        except KinetostatError as error:
            self.note.say(f"Row {row} cannot be shown: {error}", "error")
            return
        known = session.edited_parameters
        changed = {name: value for name, value in state.parameters.items() if value != known.get(name)}
        session.preview(q=np.asarray(state.q), parameters=changed or None)
        session.commit(f"Row {row} of the study")
        if state.speeds:
            self._begin_with(state.speeds)
        speeds = " The next run starts with its speeds." if state.speeds else ""
        self.note.say(f"Row {row} was applied to the machine (can be undone).{speeds}", "done")

    def save(self) -> None:
        """Ask for a file and write all rows to it."""
        if self.result is None:
            return
        path, _ = QFileDialog.getSaveFileName(self, "Save rows", "study.csv", "Tables (*.csv *.parquet)")
        if path:
            self.save_to(Path(path))

    def save_to(self, path: Path) -> None:
        """Write all rows."""
        assert self.result is not None
        try:
            (self.result.to_parquet if path.suffix == ".parquet" else self.result.to_csv)(str(path))
        except (KinetostatError, OSError) as error:
            self.note.say(f"The rows cannot be written: {error}", "error")
            return
        self.note.say(f"Wrote {path.name}.", "done")


def make(bench: Workbench) -> StudiesPanel:
    """Create the Studies panel of a window."""

    def begin_with(speeds: Mapping[str, float]) -> None:
        bench.runs.simulation.choose(start="pose", speeds=dict(speeds))

    return StudiesPanel(bench.session, begin_with)
