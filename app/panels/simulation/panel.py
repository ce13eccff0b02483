"""The Simulation panel: run settings, the current run, and the list of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.background.jobs import Jobs
from app.background.signals import Lifetime
from app.background.slices import shared_slices
from app.document.session import Session
from app.panels.simulation.run_list import RunsList
from app.panels.simulation.start_rows import StartRows
from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.runs.job import Simulation
from app.runs.run_settings import STARTS, loop_closure_problem
from app.widgets.label import ElidedCombo, Label, Note
from app.widgets.panel_parts import ProgressBar
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure
from core.simulation import METHODS
from core.simulation.run.settings import FACTORISATIONS

if TYPE_CHECKING:
    from app.document.run_tree import RunRecord
    from app.workbench import Workbench

LOOK = 100
"""Interval between updates of the progress, ms."""
SECONDS = Measure("time")
BUTTONS = ("simulation.run", "simulation.stop", "simulation.what_if", "simulation.interactive")

LABELS = {
    "duration": "Duration",
    "rtol": "Relative tolerance",
    "atol": "Absolute tolerance",
    "step": "Step",
    "output": "Output every",
    "closing": "Loop closure",
}
"""Titles of the fields in messages about values that are not accepted."""
FACTORISATION_TIP = (
    "Solver for the equations of loops without analytic closure: rank-revealing, the automatic "
    "choice, detects redundant constraints at every pose; Cholesky is slightly faster but ends the "
    "run where constraints are redundant"
)


class SimulationPanel(QWidget):
    """Run settings, initial values, progress, and the list of runs."""

    def __init__(self, session: Session, settings: Settings, jobs: Jobs, simulation: Simulation) -> None:
        super().__init__()
        self._session, self._settings, self.simulation = session, settings, simulation
        self._fields: list[QuantityEdit] = []
        self._problems: dict[str, str] = {}
        """Refused texts by field."""
        self._row = QHBoxLayout()
        self.rows = StartRows(session, simulation, settings)
        self.runs = RunsList(session, jobs)
        self.progress = ProgressBar(textVisible=False, maximum=1000)
        self.progress.setFixedHeight(6)
        self.words = Label(wordWrap=True)
        self.words.setObjectName("muted")
        self.note = Note(self)
        self.note.setContentsMargins(10, 0, 8, 0)
        split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        split.addWidget(self._build_upper_part())
        split.addWidget(self.runs)
        split.setSizes([420, 180])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(split)
        self._document = session.document
        self._look = QTimer(self, interval=LOOK)
        self._look.timeout.connect(self._show_progress)
        self.rows.refused.connect(lambda words: self.show_problem("rows", words))
        self._life = Lifetime()
        self._life.listen(
            (simulation.changed, self.refresh),
            (simulation.ended, self._on_ended),
            (session.changed, self._on_document_changed),
            (session.runs.changed, self._enable_initial_states),
        )
        self._life.callback(shared_slices().drop, self.rows)
        self._life.own(self.rows)
        self._life.own(self.runs)
        self._life.callback(self._look.stop)
        self.refresh()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    def create_buttons(self, actions: Mapping[str, QAction]) -> None:
        """Create the buttons from the actions of the commands."""
        for name in BUTTONS:
            if name not in actions:
                continue
            button = QToolButton(autoRaise=name != "simulation.run")
            button.setDefaultAction(actions[name])
            button.setIconSize(QSize(18, 18))
            wide = name == "simulation.run"
            style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if wide else Qt.ToolButtonStyle.ToolButtonIconOnly
            button.setToolButtonStyle(style)
            self._row.addWidget(button)
        self._row.addStretch(1)

    # ------------------------------------------------------------------------------- building

    def _build_upper_part(self) -> QWidget:
        """Build the widgets above the list of runs."""
        upper = QWidget()
        column = QVBoxLayout(upper)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(4)
        column.addLayout(self._build_form())
        column.addWidget(self.note)
        column.addLayout(self._row)
        column.addWidget(self.progress)
        column.addWidget(self.words)
        column.addWidget(self.rows, 1)
        self._row.setContentsMargins(10, 2, 8, 0)
        self.words.setContentsMargins(10, 0, 8, 2)
        upper.setMinimumWidth(upper.minimumSizeHint().width())  # rows that come later do not move the view
        return upper

    def _build_form(self) -> QFormLayout:
        form = QFormLayout()
        form.setContentsMargins(10, 0, 8, 0)
        form.setVerticalSpacing(4)
        self.duration = self._create_number_field("duration", "Simulated time")
        self.method = ElidedCombo()
        for method in METHODS.values():
            self.method.addItem(method.title, method.id)
            self.method.setItemData(self.method.count() - 1, escape_tip(method.help), Qt.ItemDataRole.ToolTipRole)
        self.method.setMinimumContentsLength(12)
        self.method.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.method.activated.connect(lambda _: self.simulation.change_settings(method=self.method.currentData()))
        self.method_words = Label(wordWrap=True)
        self.method_words.setObjectName("muted")
        self.rtol = self._create_number_field("rtol", "Relative tolerance per step", plain=True)
        self.atol = self._create_number_field("atol", "Absolute tolerance per step (rad, m, rad/s, m/s)", plain=True)
        self.step = self._create_number_field("step", "Length of the steps", optional=True, empty="1 ms")
        self.output = self._create_number_field(
            "output",
            "Time between two samples; empty: at least a thousand samples, or one per step",
            optional=True,
            empty="automatic",
        )
        self.start = QComboBox(toolTip="Initial state of the run")
        for key, (title, words) in STARTS.items():
            self.start.addItem(title, key)
            self.start.setItemData(self.start.count() - 1, escape_tip(words), Qt.ItemDataRole.ToolTipRole)
        self.start.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.start.activated.connect(lambda _: self.simulation.change_settings(start=self.start.currentData()))
        self._make_closure_editors()
        self.accuracy = QStackedWidget()
        self.accuracy.addWidget(_side_by_side(rel=self.rtol, abs=self.atol))
        self.accuracy.addWidget(self.step)
        self._place_editors(form)
        return form

    def _make_closure_editors(self) -> None:
        """Create the editors for loop closure and for the solver of the equations."""
        self.closed_forms = QCheckBox("Analytic loop closure")
        self.closed_forms.setToolTip(
            "Close loops by analytic formulas where possible; if off, close all loops by iteration"
        )
        self.closed_forms.toggled.connect(lambda on: self.simulation.change_settings(closed_forms=on))
        self.closing = self._create_number_field(
            "closing",
            (
                "Iteration that closes loops after each step: empty, until gaps are below 1e-12; a number below "
                "1, until gaps are below that number (rad, m); 1, 2 …, this many Gauss–Newton steps, at a fixed "
                "cost"
            ),
            plain=True,
            optional=True,
            empty="to 1e-12",
        )
        self.factorisation = QComboBox(toolTip=escape_tip(FACTORISATION_TIP))
        for name in FACTORISATIONS:
            self.factorisation.addItem(name.capitalize(), name)
        self.factorisation.activated.connect(
            lambda _: self.simulation.change_settings(factorisation=self.factorisation.currentData())
        )

    def _place_editors(self, form: QFormLayout) -> None:
        """Add the editors to the rows of the form."""
        self.accuracy_label = Label()
        form.addRow("Duration", self.duration)
        form.addRow("Method", self.method)
        form.addRow("", self.method_words)
        form.addRow(self.accuracy_label, self.accuracy)
        form.addRow("Output every", self.output)
        form.addRow("Start from", self.start)
        form.addRow("", self.closed_forms)
        self.closing_label = Label("Loop closure")
        form.addRow(self.closing_label, self.closing)
        self.factorisation_label = Label("Linear solver")
        form.addRow(self.factorisation_label, self.factorisation)

    def _create_number_field(
        self, field: str, tip: str, *, plain: bool = False, optional: bool = False, empty: str = ""
    ) -> QuantityEdit:
        def commit(value: Any, _: object) -> str:
            if value is not None and not (isinstance(value, float | int) and value > 0):
                return "A positive number is needed."
            if field == "closing" and (problem := loop_closure_problem(value)):
                return problem
            self.simulation.change_settings(**{field: None if value is None else float(value)})
            return ""

        measure = Measure("none") if plain else SECONDS
        edit = QuantityEdit(measure, self._settings, commit, optional=optional, fold=True)
        edit.setAccessibleName(tip)
        edit.explained.connect(
            lambda words, severity: self._show_field_problem(edit, field, words if severity == "error" else "")
        )
        if empty:
            edit.setPlaceholderText(empty)
        edit.setToolTip(escape_tip(tip))
        self._fields.append(edit)
        return edit

    def _show_field_problem(self, edit: QuantityEdit, field: str, problem: str) -> None:
        """Show why the text typed in a field is not accepted."""
        edit.setToolTip(escape_tip(problem or edit.accessibleName()))
        self.show_problem(field, f"{LABELS[field]}: {problem}" if problem else "")

    def show_problem(self, field: str, problem: str) -> None:
        """Show beneath the form why a field's value is not accepted; an empty problem clears the message."""
        self._problems.pop(field, None)
        if problem:
            self._problems[field] = problem
        self.note.show_text("\n".join(self._problems.values()), "error" if self._problems else "")

    def finish_typing(self) -> bool:
        """Accept text typed in the fields, as Enter would; return False if some of it cannot be accepted."""
        for edit in self._fields:
            edit.commit_text()
        wrong = next((edit for edit in self._fields if edit.problem), None)
        if wrong is not None:
            wrong.setFocus(Qt.FocusReason.OtherFocusReason)
        return self.rows.finish_typing() and not self._problems

    # ------------------------------------------------------------------------------- showing

    def refresh(self) -> None:
        """Show the run settings and the state of the current run."""
        run_settings, method = self.simulation.run_settings, METHODS[self.simulation.run_settings.method]
        for edit, value in (
            (self.duration, run_settings.duration),
            (self.rtol, run_settings.rtol),
            (self.atol, run_settings.atol),
            (self.step, run_settings.step),
            (self.output, run_settings.output),
            (self.closing, run_settings.closing),
        ):
            edit.show_value(value)
        self.method.setCurrentIndex(self.method.findData(run_settings.method))
        self.method.setToolTip(escape_tip(f"{method.title}: {method.help}"))
        self.method_words.setText(method.help)
        self.accuracy.setCurrentIndex(0 if method.adaptive else 1)
        self.accuracy_label.setText("Tolerances" if method.adaptive else "Step")
        self.closed_forms.setChecked(run_settings.closed_forms)
        loops = bool(self._session.mech.compiled.lasting.any())
        self.factorisation.setCurrentIndex(self.factorisation.findData(run_settings.factorisation))
        for widget in (
            *(self.closed_forms, self.closing, self.closing_label),
            *(self.factorisation, self.factorisation_label),
        ):
            widget.setVisible(loops)
        self._enable_initial_states()
        self.rows.refresh()
        running = self.simulation.is_running
        self.progress.setVisible(running)
        if running and not self._look.isActive():
            self._look.start()
            self._show_progress()
        elif not running:
            self._look.stop()

    def _enable_initial_states(self) -> None:
        """Enable the initial states that need a run only if there is one."""
        model: Any = self.start.model()
        there = self._session.runs.current is not None
        for key in ("moment", "moving"):
            model.item(self.start.findData(key)).setEnabled(there)
        start = self.simulation.run_settings.start
        self.start.setCurrentIndex(self.start.findData(start if there or start in ("pose", "rest") else "pose"))
        self.start.setToolTip(escape_tip(STARTS[self.start.currentData()][1]))

    def _show_progress(self) -> None:
        job = self.simulation.job
        if job is None:
            return
        share = job.fraction
        self.progress.setRange(0, 1000 if share > 0.0 else 0)
        self.progress.setValue(round(1000 * share))
        if share <= 0.0:
            self.words.setText(job.text or "Preparing …")
            return
        left = job.time_left
        counted = f"{100 * share:.0f} %" + (f", about {left:.0f} s left" if left is not None else "")
        self.words.setText(job.text or counted)

    def _on_ended(self, record: RunRecord | None, message: str) -> None:
        self.words.setText(message)

    def _rebuild_rows(self, _seconds: float) -> bool:
        self.rows.rebuild_rows()
        return True

    def _on_document_changed(self, old: Any, new: Any) -> None:
        if old.model is not new.model:
            if self.rows.isVisible() or self._document != self._session.document:
                shared_slices().add(self.rows, self._rebuild_rows)  # an edit, or the machine, is seen first
            else:
                self.rows.rebuild_rows()
            self.refresh()
            if self._document != self._session.document:
                self._document = self._session.document
                self.words.setText("")
        elif self.isVisible():
            self.rows.refresh()  # what follows from loops depends on the pose


def _side_by_side(**edits: QWidget) -> QWidget:
    """Return a widget with editors in a row, each after its label."""
    widget = QWidget()
    row = QHBoxLayout(widget)
    row.setContentsMargins(0, 0, 0, 0)
    for word, edit in edits.items():
        label = Label(word)
        label.setObjectName("muted")
        row.addWidget(label)
        row.addWidget(edit)
    return widget


def create_panel(bench: Workbench) -> SimulationPanel:
    """Create the Simulation panel of a window."""
    panel = SimulationPanel(bench.session, bench.settings, bench.jobs, bench.runs.simulation)
    panel.runs.empty.wanted.connect(lambda: bench.run_command("simulation.run"))
    panel.runs.stranger.connect(lambda run, path: bench.files.open_run(run, path))
    return panel
