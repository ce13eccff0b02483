"""The Functions panel: every function of the catalogue, found by search, with its options below; run as a background
job that may show partial results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QSplitter, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from app.background.guard import Guard
from app.background.jobs import Job, Jobs
from app.background.signals import Lifetime
from app.background.slices import shared_slices
from app.document.picture_settings import PictureSettings
from app.document.revision import DocumentState
from app.document.session import Session
from app.panels.functions.form import FunctionForm
from app.panels.output.result_pictures import write_pictures
from app.panels.robotica.sheet import GROUP, RoboticaSheet, function_entries
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.runs.answers import ResultUpdater, new_card
from app.widgets.options.panel_form import PanelForm
from app.widgets.plain_keys import TextFieldKeyFilter
from core.apart.work_process import WorkProcess
from core.errors import KinetostatError
from core.functions import FUNCTIONS, Context, Function
from core.functions.catalogue import GROUPS, call_in_worker, script_line, validate_options
from core.functions.context import Cancelled, FunctionCall
from core.functions.diagrams import Diagram, SpaceMap
from core.functions.results import Result, leaf_results
from core.mechanism.work_apart import prepare_worker
from core.robotica.commands import COMMANDS

if TYPE_CHECKING:
    from app.workbench import Workbench


class GrowingResult:
    """Result shown on one card while more of it is being computed."""

    def __init__(self, session: Session, function: Function, context: Context, options: dict[str, Any]) -> None:
        self._session, self._card = session, new_card()
        self._call, self._function = script_line(function, options), function.id
        self._asked = FunctionCall(options, context)
        self._made: Result | None = None

    def show_partial(self, result: Result) -> None:
        """Show a partial result."""
        self._made = dataclasses.replace(
            result, call=self._call, function=self._function, asked=self._asked, card=self._card
        )
        self._session.produced.emit(self._made)

    def show_complete(self, result: Result) -> None:
        """Show the complete result."""
        grown = self._made is not None
        self._session.produced.emit(dataclasses.replace(result, card=self._card) if grown else result)

    def mark_incomplete(self) -> None:
        """Keep the partial result and mark it as incomplete."""
        if self._made is not None:
            self._session.produced.emit(dataclasses.replace(self._made, title=f"{self._made.title} (stopped)"))


def build_function_work(
    id: str, context: Context, options: dict[str, Any], process: WorkProcess
) -> Callable[..., Result]:
    """Return the background work that calls a function and draws its pictures."""

    def work(progress: Any, cancelled: Callable[[], bool]) -> Result:
        def show(partial: Result) -> None:
            _import_card_modules(partial)
            progress.show(partial)

        watched = dataclasses.replace(context, progress=progress, cancelled=cancelled, show=show)
        result = call_in_worker(process, id, watched, **options)
        write_pictures(result, watched)
        _import_card_modules(result)
        if cancelled():
            raise Cancelled
        return result

    return work


def _import_card_modules(result: Result) -> None:
    """Import the modules of the result's card in the background, so that showing the card does not freeze the
    window."""
    from app.panels.output import card  # noqa: F401

    if any(isinstance(part, Diagram) for part in leaf_results(result)):
        from app.panels.output import diagram_part  # noqa: F401
    if any(isinstance(part, SpaceMap) for part in leaf_results(result)):
        from app.panels.output import map_part  # noqa: F401


_ID = Qt.ItemDataRole.UserRole
GROUP_ICONS = {
    "Robot description": "chain",
    "Kinematics": "frame",
    "Mechanisms": "loop",
    "Ellipsoids": "ellipsoid",
    "Dynamics": "com",
    "Pictures": "export",
    GROUP: "console",
}


class FunctionPanel(QWidget):
    """Panel for selecting a function, setting its options and running it. Results go to `session.produced`."""

    help_wanted = Signal(str)
    """Emitted with the id of the function whose help the user asked for (F1)."""
    line_wanted = Signal(str)
    """Emitted with a Robotica call to run."""
    abort_wanted = Signal()
    """Emitted when the running Robotica call should stop."""

    def __init__(
        self,
        session: Session,
        jobs: Jobs,
        answers: ResultUpdater,
        settings: Settings | None = None,
        pictures: PictureSettings | None = None,
    ) -> None:
        super().__init__()
        self._session, self._jobs, self._answers = session, jobs, answers
        self._settings = settings or Settings()
        self._pictures = pictures or PictureSettings(session, self._settings)
        self._guard = Guard(session.message.emit)
        self._job: Job | None = None
        self.functions: dict[str, Function] = {**FUNCTIONS, **function_entries(COMMANDS)}
        self._forms: dict[str, PanelForm] = {}
        self._rows: dict[str, QTreeWidgetItem] = {}
        self._unmarked: list[str] = []
        """Rows of which it is still to be said whether their functions can be called."""
        self.form: PanelForm | None = None
        self._robotica_runs = False
        self._build()
        self._room = QTimer(self, singleShot=True, interval=0)
        self._room.timeout.connect(self._resize_options)
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._on_document_changed),
            (answers.changed, self._show_live_state),
            (self._settings.changed, self._on_setting_changed),
        )
        self._schedule_marking()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()
        self._room.stop()

    # ----------------------------------------------------------------------------- building

    def _build(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search functions")
        self.search.setClearButtonEnabled(True)
        self.search.addAction(icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        TextFieldKeyFilter(self.search, self.search.isUndoAvailable)
        self.search.textChanged.connect(self._filter_functions)
        self.search.returnPressed.connect(self._choose_first)
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(14)
        self.tree.setRootIsDecorated(True)
        self.tree.setUniformRowHeights(True)
        self.tree.installEventFilter(self)
        self._fill_function_list()
        self.tree.currentItemChanged.connect(lambda now, _: self._on_chosen(now))
        self.tree.itemDoubleClicked.connect(lambda row, _: self.run() if row.data(0, _ID) else None)
        self._place = QWidget()
        column = QVBoxLayout(self._place)
        column.setContentsMargins(0, 0, 0, 0)
        split = self._split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.tree)
        split.addWidget(self._place)
        split.setChildrenCollapsible(False)
        split.splitterMoved.connect(lambda *_: self._on_splitter_moved())
        self._split_moved = False
        self._place.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 6, 6, 6)
        layout.setSpacing(6)
        layout.addWidget(self.search)
        layout.addWidget(split, 1)

    def _fill_function_list(self) -> None:
        for group in (*GROUPS, GROUP):
            head = QTreeWidgetItem(self.tree, [group])
            head.setFlags(Qt.ItemFlag.ItemIsEnabled)
            head.setIcon(0, icon(GROUP_ICONS.get(group, "function")))
            for function in self.functions.values():
                if function.group == group:
                    row = QTreeWidgetItem(head, [function.title])
                    row.setData(0, _ID, function.id)
                    self._rows[function.id] = row
            head.setExpanded(True)

    # ----------------------------------------------------------------------------- choosing

    def open_function(self, id: str) -> None:
        """Open the options of a function."""
        self.search.clear()
        self.tree.setCurrentItem(self._rows[id])
        self.tree.scrollToItem(self._rows[id])

    @property
    def chosen_function(self) -> Function | None:
        """Return the function whose options are shown."""
        return self.form.function if self.form else None

    def _on_chosen(self, row: QTreeWidgetItem | None) -> None:
        chosen = row.data(0, _ID) if row else None
        if chosen is None:
            return
        if self.form is not None:
            self.form.hide()
        form = self._forms.get(chosen)
        if form is None:
            form = self._forms[chosen] = self._make_form(chosen)
            form.wanted.connect(self.run)
            form.stopped.connect(self.stop)
            form.edited.connect(self._room.start)
            self._place.layout().addWidget(form)
        else:
            form.refresh()
        form.show()
        self.form = form
        self._room.start()
        context = self.context()
        reason = form.function.unavailability_reason(context)
        form.show_unavailable_reason(reason)
        if form.function.apart and not reason:
            prepare_worker(self._jobs.process, context.mech)
        form.show_busy(self._robotica_runs if isinstance(form, RoboticaSheet) else self._job is not None)

    def _make_form(self, chosen: str) -> PanelForm:
        function = self.functions[chosen]
        if function.group == GROUP:
            return RoboticaSheet(function, COMMANDS[function.robotica], self._settings, self._model_folder)
        form = FunctionForm(function, self.context, self._settings)
        form.live_switched.connect(lambda on: self._set_live(form, on))
        return form

    def _model_folder(self) -> str:
        """Return the folder of the open machine's file."""
        return str(self._session.folder or "")

    def _resize_options(self) -> None:
        """Give the options the height they need, within limits, unless the user has moved the splitter."""
        self._place.show()
        if self._split_moved or self.form is None:
            return
        height = max(self._split.height(), 300)
        options = min(self.form.full_height(), round(0.66 * height))
        self._split.setSizes([height - options, options])

    def _on_splitter_moved(self) -> None:
        self._split_moved = True

    def _filter_functions(self, text: str) -> None:
        words = text.lower().split()
        for key, row in self._rows.items():
            function = self.functions[key]
            place = f"{function.title} {function.group} {function.robotica} {function.help} {key}".lower()
            row.setHidden(not all(word in place for word in words))
        for i in range(self.tree.topLevelItemCount()):
            head = self.tree.topLevelItem(i)
            head.setHidden(all(head.child(k).isHidden() for k in range(head.childCount())))

    def _choose_first(self) -> None:
        for key, row in self._rows.items():
            if not row.isHidden():
                self.tree.setCurrentItem(self._rows[key])
                return

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Run the selected function with Return; open its help with F1."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self.chosen_function:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.run()
                return True
            if event.key() == Qt.Key.Key_F1:
                self.help_wanted.emit(self.chosen_function.id)
                return True
        return super().eventFilter(watched, event)

    # ----------------------------------------------------------------------------- running

    def context(self) -> Context:
        """Return the machine as currently shown."""
        return self._pictures.context()

    def run(self) -> Job | None:
        """Run the selected function in the background with the options of the form."""
        form, function = self.form, self.chosen_function
        if isinstance(form, RoboticaSheet):
            self._run_line(form)
            return None
        if form is None or function is None or self._job is not None:
            return None
        context = self.context()
        try:
            options = form.options()
            validate_options(function, context, options)
        except KinetostatError as error:
            form.show_problem(f"{error.what} {error.remedy}".strip())
            return None
        form.remember()
        form.show_problem("")
        return self._start_job(function, context, options)

    def run_function(self, function: str, options: Mapping[str, Any]) -> Job | None:
        """Run a catalogue function with the given options, whichever form is open."""
        if self._job is not None:
            return None
        return self._start_job(FUNCTIONS[function], self.context(), dict(options))

    def _start_job(self, function: Function, context: Context, options: dict[str, Any]) -> Job:
        job = self._jobs.start(function.title, build_function_work(function.id, context, options, self._jobs.process))
        self._job = job
        if isinstance(self.form, FunctionForm):
            self.form.show_busy(True)
        job.progressed.connect(self._on_progress)
        growth = GrowingResult(self._session, function, context, options)
        job.grown.connect(lambda made: growth.show_partial(made))
        job.succeeded.connect(lambda result: growth.show_complete(result))
        job.stopped.connect(lambda: growth.mark_incomplete())
        job.failed.connect(self._guard.report)
        job.stopped.connect(lambda: self._session.message.emit("hint", f"{function.title}: stopped."))
        job.ended.connect(self._on_ended)
        return job

    def _run_line(self, form: RoboticaSheet) -> None:
        """Run the Robotica call of a sheet as if it had been typed."""
        problem = form.problem()
        form.show_problem(problem)
        if not problem and not self._robotica_runs:
            form.remember()
            self.line_wanted.emit(form.line)

    def show_robotica_running(self, running: bool) -> None:
        """Show whether a Robotica call is running."""
        self._robotica_runs = running
        if isinstance(self.form, RoboticaSheet):
            self.form.show_busy(running)

    def stop(self) -> None:
        """Ask the running function to stop."""
        if isinstance(self.form, RoboticaSheet):
            self.abort_wanted.emit()
        elif self._job is not None:
            self._job.cancel()

    def _on_progress(self, fraction: float, text: str) -> None:
        if isinstance(self.form, FunctionForm) and self._job is not None:
            self.form.show_progress(fraction, text, self._job.time_left)

    def _on_ended(self) -> None:
        self._job = None
        if isinstance(self.form, FunctionForm):
            self.form.show_busy(False)

    # ----------------------------------------------------------------------------- following

    def _set_live(self, form: FunctionForm, on: bool) -> None:
        """Start or stop updating a result card live with the options of a form."""
        if not on:
            self._answers.stop_live_updates(form.card)
            return
        try:
            options = form.options()
            validate_options(form.function, self.context(), options)
        except KinetostatError as error:
            form.show_problem(f"{error.what} {error.remedy}".strip())
            return
        form.show_problem("")
        form.card = form.card or new_card()
        self._answers.start_live_updates(form.function, options, form.card)

    def _show_live_state(self) -> None:
        """Show that a result is no longer updated, or that it currently cannot be computed."""
        for form in self._forms.values():
            if isinstance(form, FunctionForm) and form.live:
                form.show_live(self._answers.is_live(form.card), self._answers.update_problem(form.card))

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model:
            self._schedule_marking()
            if self.form is not None:
                self.form.refresh()
                self.form.show_unavailable_reason(self.form.function.unavailability_reason(self.context()))

    def _schedule_marking(self) -> None:
        self._unmarked = list(self._rows)
        shared_slices().add(self, self._mark_available)

    def _mark_available(self, seconds: float) -> bool:
        """Grey out functions that are not available, for the given time but at least one row; return True when all rows
        are done."""
        until, context = monotonic() + seconds, self.context()
        while self._unmarked:
            key = self._unmarked.pop()
            row, reason = self._rows[key], self.functions[key].unavailability_reason(context)
            row.setToolTip(0, escape_tip(reason or self.functions[key].summary))
            row.setForeground(0, self.palette().placeholderText() if reason else self.palette().text())
            if monotonic() > until:
                break
        return not self._unmarked

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/") and self.form is not None:
            self.form.refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Update the row colours after a change of theme, because they do not follow the palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._rows:
            self._schedule_marking()


def create_panel(bench: Workbench) -> FunctionPanel:
    """Create the Functions panel of a window."""
    panel = FunctionPanel(bench.session, bench.jobs, bench.answers, bench.settings, bench.pictures)
    panel.help_wanted.connect(lambda topic: bench.dialogs.open_help(topic))
    panel.line_wanted.connect(lambda line: bench.panels.run_robotica_line(line))
    return panel
