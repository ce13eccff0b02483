"""The Design panel: machine parameters from a formula, a function or poses, or a linkage for a curve; searched in the
background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from app.background.jobs import Jobs
from app.background.signals import Lifetime
from app.document.revision import State
from app.document.session import Session
from app.panels.design.curve_canvas import ConvergenceChart
from app.panels.design.machine_page import (
    CURVE,
    FUNCTION,
    MOTION,
    PARAMETERS,
    QUESTION_OF_AIM,
    QUESTION_TITLES,
    MachinePage,
)
from app.panels.design.result_views import GenerationPicture, fill_table, show_designed, show_linkages
from app.panels.design.saved_designs import SavedDesigns
from app.panels.design.search import (
    FIRST_CURVES_SHOWN,
    MOST_LINKAGES,
    Better,
    Found,
    PacedSearch,
    curve_work,
    desired_rows,
    ended_process_text,
    machine_work,
)
from app.panels.design.wanted_curve import TargetCurve
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import Combo
from app.widgets.panel_parts import lay_side_by_side, panel_note, plain_table, push_button, scrolled, with_buttons
from app.widgets.quantities.quantity_text import SIUnits, Units, measure_of, number, quantity
from app.widgets.refused_texts import RefusedTexts
from core.errors import KinetostatError
from core.functions.subjects.design import TOPOLOGY_TITLES
from core.model import Aim
from core.model.trims import dimension_of_signal

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from app.workbench import Workbench
    from core.design.designed import Designed
    from core.design.path_synthesis import Linkage

NOTHING_FOUND = "Stopped before anything was found."
CURVES = 3
"""Number of solutions whose curves are shown together."""


class DesignPanel(QWidget):
    """Input, pictures of the search, and results side by side."""

    def __init__(self, session: Session, jobs: Jobs, stage: Stage | None = None, settings: Units | None = None) -> None:
        super().__init__()
        self._session = session
        self._units: Units = settings or SIUnits()
        self._life = Lifetime()
        self.curve = TargetCurve(
            stage, self._life, self._drop_results, self._refuse, self._on_drawing_begun, self._on_drawn_in_view
        )
        self.curve_page, self.canvas, self.in_view = self.curve.page, self.curve.canvas, self.curve.in_view
        self.searching = PacedSearch(jobs, self)
        self.process = jobs.process
        self.found: Designed | None = None
        self.linkages: tuple[Linkage, ...] = ()
        self._generated: dict[int, Any] = {}
        self._names: tuple[str, ...] = ()
        self._trying = False
        self._applying = False
        self._document: object = None
        """The one whose first design was shown."""
        self.chart, self.picture = ConvergenceChart(), GenerationPicture()
        self.note = panel_note()
        self.kind = Combo()
        for kind, title in enumerate(QUESTION_TITLES):
            self.kind.addItem(title, kind)
        self.kind.setAccessibleName("Kind of design problem")
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        self.search_button = push_button("Search", "Start the search (the best result so far is shown)", self.search)
        self.pause_button = push_button("Pause", "Pause the search, or continue it", self.pause, checkable=True)
        self.stop_button = push_button("Stop", "Stop the search and keep the best result so far", self.stop)
        self.try_button = push_button(
            "Try this", "Show the chosen result without changing the machine", self.try_it, checkable=True
        )
        self.apply_button = push_button("Apply", "Apply the chosen result to the machine (can be undone)", self.apply)
        self.saved = SavedDesigns(session, self._load_design, self._current_design, self._refuse)
        self._lay_out()
        self._connect_search()
        self._refused = RefusedTexts(self)
        self._refused.changed.connect(self.note.hold)
        self.machine_page.watch(self._refused)
        self._refused.watch_line(self.curve_page.smooth, self.curve_page.terms)
        self._refused.watch_line(self.curve_page.points, self.curve.check_typed)
        self._life.listen((session.changed, self._on_machine_changed))
        if isinstance(settings, Settings):
            self._life.listen((settings.changed, self._on_setting_changed))
        self._fill_parameter_rows()

    def _lay_out(self) -> None:
        """Lay out input, picture and results side by side below the buttons."""
        self.machine_page = MachinePage(self._units, self.names, self._choose_rows)
        self.machine_page.refused.connect(self._refuse)
        self.machine_page.edited.connect(self._on_edited)
        self.pages, self.pictures = QStackedWidget(), QStackedWidget()
        self.pages.addWidget(self.machine_page)
        self.pages.addWidget(scrolled(self.curve_page))
        for each in (self.chart, self.picture, self.canvas):
            self.pictures.addWidget(each)
        self.results = plain_table((), "Results")
        self.results.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.results.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.results.itemSelectionChanged.connect(self._on_chosen)
        asked = QWidget()
        left = QVBoxLayout(asked)
        left.setContentsMargins(8, 0, 0, 0)
        left.addWidget(self.saved)
        left.addWidget(self.pages, 1)
        parts = (asked, self.pictures, with_buttons(self.results, (self.try_button, self.apply_button)))
        bar = (self.kind, 1, self.search_button, self.pause_button, self.stop_button)
        lay_side_by_side(self, bar, self.note, parts, (380, 300, 420))

    def close(self) -> None:
        """Disconnect from all signals and stop the search."""
        self.searching.close()
        self.in_view.clear()
        self._life.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Start the search's worker process in the background, since a search may follow soon."""
        super().showEvent(event)
        self.process.begin_in_background()
        self._show_first()

    def _connect_search(self) -> None:
        """Connect the signals of the search."""
        search = self.searching
        search.better.connect(self._on_better_result)
        search.seen.connect(self._show_best)
        search.succeeded.connect(self._on_succeeded)
        search.failed.connect(self._on_failed)
        search.given_up.connect(lambda: self.note.say(NOTHING_FOUND, "hint"))
        search.late.connect(self._abandon_search)
        search.ended.connect(self._on_ended)

    def _refuse(self, words: str) -> None:
        self.note.say(words, "error")

    # ------------------------------------------------------------------------------------------- what is asked

    def names(self) -> tuple[str, ...]:
        """Return the channel names of the machine."""
        if not self._names:
            from core.simulation.measures.run_measures import Signals

            self._names = Signals(self._session.mech).all
        return self._names

    def _fill_parameter_rows(self) -> None:
        """Fill the rows with the machine's free parameters."""
        session = self._session
        self._names = ()
        self.machine_page.show_machine(session.model, session.mech)
        if not self._applying:
            self._drop_results()
        if not session.mech.p_names and self.kind.currentData() != CURVE:
            self.note.say(
                ("The machine has no free parameters. Define lengths or spring constants as parameters first."), "hint"
            )

    def _show_first(self) -> None:
        """Show the first design of a newly opened document, or clear the design of the previous document."""
        if self._document == self._session.document or self.searching.busy:
            return
        self._document = self._session.document
        designs = self._session.model.designs
        if designs:
            self.saved.show(designs[0].name)
        elif self.saved.names.currentText():
            self.saved.names.setEditText("")
            self.curve.clear()

    def _on_machine_changed(self, old: State, new: State) -> None:
        if old.model is not new.model:
            self.saved.offer()
        if old.model.machine != new.model.machine and not self.searching.busy:
            self._show_machine()
        if self.isVisible():
            self._show_first()

    def _show_machine(self) -> None:
        """Update the panel after the machine or its elements have changed."""
        if self.machine_page.vary.names != list(self._session.mech.p_names):
            self._fill_parameter_rows()
        else:
            self._names = ()
            self.machine_page.show_machine(self._session.model, self._session.mech)
        self._refused.recheck()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.machine_page.refresh_units()
            self._on_edited()

    def _on_edited(self) -> None:
        """Update the picture of the desired behaviour."""
        if self.kind.currentData() not in (FUNCTION, MOTION):
            return
        try:
            aim = self.machine_page.aim("design")
        except KinetostatError:
            return
        rows = desired_rows(aim, self._session.model, self._units)
        x, y = (self._title_with_unit(name) for name in (aim.coordinate, aim.output))
        u, v = (f"{axis}, {measure_of('length').display(self._units).symbol}" for axis in aim.plane)
        self.picture.show_desired(rows, *((u, v) if aim.kind == "motion" else (x, y)))

    def _title_with_unit(self, name: str) -> str:
        symbol = measure_of(dimension_of_signal(self._session.model, name)).display(self._units).symbol
        return f"{name}, {symbol}" if symbol else name

    def _current_design(self, name: str) -> Aim:
        """Return the panel's contents as a design of the document. Raises ModelError."""
        if self.kind.currentData() == CURVE:
            return self.curve.aim(name)
        return self.machine_page.aim(name)

    def _load_design(self, aim: Aim) -> None:
        """Show a design of the document."""
        self.kind.setCurrentIndex(self.kind.findData(QUESTION_OF_AIM[aim.kind]))
        self._drop_results()
        if aim.kind == "curve":
            self.curve.show_aim(self._session.model, aim)
            return
        missing = self.machine_page.show_aim(aim)
        self._on_edited()
        if missing:
            self.note.say(f"The machine has no {', '.join(missing)}.", "warning")

    def _on_kind_changed(self) -> None:
        kind = self.kind.currentData()
        self.pages.setCurrentIndex(kind == CURVE)
        self.pictures.setCurrentIndex({PARAMETERS: 0, CURVE: 2}.get(kind, 1))
        if kind != CURVE:
            self.machine_page.show_kind(kind)
        self._drop_results()
        self._on_edited()
        self.curve.show_in_view(kind == CURVE)

    def _drop_results(self) -> None:
        """Drop results that belong to a previous problem."""
        self._undo_trial()
        self.found, self.linkages, self._generated = None, (), {}
        fill_table(self.results, [], [])
        self.chart.clear()
        self.picture.show_found(self.picture.wanted[:0])
        self._enable_buttons()
        self.note.say("")

    def _enable_buttons(self) -> None:
        busy = self.searching.busy
        there = self.results.currentRow() >= 0 and not busy
        self.search_button.setEnabled(not busy)
        self.kind.setEnabled(not busy)
        self.pause_button.setEnabled(busy)
        self.stop_button.setEnabled(busy)
        self.try_button.setEnabled(there and self.found is not None)
        self.apply_button.setEnabled(there)

    def _choose_rows(self) -> str:
        return QFileDialog.getOpenFileName(self, "Rows of numbers", "", "Tables (*.csv *.txt)")[0]

    def _on_drawing_begun(self) -> None:
        """Prepare the panel after a curve was drawn in the view."""
        self.kind.setCurrentIndex(self.kind.findData(CURVE))

    def _on_drawn_in_view(self, count: int) -> None:
        self.note.say(f"{count} points drawn. Press Search to find linkages that follow them.", "hint")

    # ---------------------------------------------------------------------------------------------- searching

    def search(self) -> None:
        """Begin a search in the background."""
        search = self.searching
        try:
            if self.kind.currentData() == CURVE:
                topology = str(self.curve_page.topology.currentData())
                work = curve_work(self.process, self.curve.asked(), topology, search.asked, search.paused)
            else:
                aim, starts = self.machine_page.aim("design"), self.machine_page.count()
                model = self._session.model
                work = machine_work(self.process, model, aim, starts, self._units, search.asked, search.paused)
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self._drop_results()
        self._on_edited()
        self.pause_button.setChecked(False)
        self.note.say("Searching …", "hint")
        self.searching.begin("Design", work)
        self._enable_buttons()

    def _on_better_result(self, what: Any) -> None:
        if isinstance(what, Better):
            self.chart.add(what.start, what.value)

    def _show_best(self, what: Any) -> None:
        """Show the best result so far."""
        if isinstance(what, Better):
            words = f"Start {what.start + 1}: {self._objective_text(what.value)}"
            self.note.say(
                f"{words}.{what.lost} The others go on." if what.lost else words, "warning" if what.lost else "hint"
            )
            self._session.preview(parameters=what.parameters)
            if what.rows is not None:
                self.picture.show_found(what.rows)
        elif what.best is not None:
            self.note.say(f"{TOPOLOGY_TITLES[what.topology]}: deviation {what.relative:.3g} of the curve size", "hint")
            self.curve.show_found([what.best.curve()])

    def _objective_text(self, value: float) -> str:
        """Return an objective value as text in the unit of the fitted quantity."""
        kind = self.kind.currentData()
        if kind == MOTION:
            return quantity(value, measure_of("length"), self._units, 5)
        if kind == FUNCTION:
            output = self.machine_page.output.text().strip()
            return quantity(value, measure_of(dimension_of_signal(self._session.model, output)), self._units, 5)
        return f"{value:.6g}"

    def _on_succeeded(self, found: Any) -> None:
        self._session.cancel()
        if isinstance(found, Found):
            self._show_designed(found)
        else:
            self._show_linkages(found.linkages, found.lost)

    def _show_designed(self, result: Found) -> None:
        self.found, self._generated = result.designed, dict(result.rows)
        found = self.found
        measures = {name: measure_of(dimension_of_signal(self._session.model, name)) for name in found.best.parameters}
        show_designed(
            self.results,
            found,
            self._objective_text,
            lambda name, value: number(value, measures[name], self._units, FIRST_CURVES_SHOWN),
            {name: measure.display(self._units).symbol for name, measure in measures.items()},
        )  # fmt: skip
        self.results.selectRow(0)
        bounds = f" At a bound: {', '.join(found.best.at_bounds)}." if found.best.at_bounds else ""
        missed = f" {found.best.conflict}" if found.best.missed else ""
        alike = f" These parameters cannot be distinguished: {', '.join(found.alike)}." if found.alike else ""
        off = " deviation (rms)" if self.kind.currentData() in (FUNCTION, MOTION) else ""
        lost = f" {ended_process_text(result.lost[0])}" if result.lost else ""
        more = f" So did {len(result.lost) - 1} more." if len(result.lost) > 1 else ""
        by = f"{self._objective_text(found.best.value)}{off} by {found.solver} ({found.reason})."
        self.note.say(f"{by}{lost}{more}{bounds}{missed}{alike}", "warning" if missed or lost else "done")

    def _show_linkages(self, found: tuple[Linkage, ...], lost: str = "") -> None:
        self.linkages = found
        show_linkages(self.results, found)
        self.results.selectRow(0)
        best = found[0]
        words = f"{1000 * best.error:.4g} mm from the curve. Apply makes it the machine (one step to undo)."
        kept = f" {lost} Earlier results are kept." if lost else ""
        self.note.say(words + kept, "warning" if best.defects or lost else "done")

    def _on_failed(self, error: BaseException) -> None:
        self._session.cancel()
        self.note.say(str(error), "error")

    def _abandon_search(self) -> None:
        """Stop waiting for a stopped search that is still preparing (compiling code for another linkage type takes
        seconds); it ends in the background and earlier results are kept."""
        search = self.searching
        best = getattr(search.best, "best", None)
        if search.has_found and best is None:
            return
        search.leave()
        if search.has_found:
            self._show_linkages((best, *search.best.found)[:MOST_LINKAGES])
        else:
            self.note.say(NOTHING_FOUND, "hint")

    def _on_ended(self) -> None:
        self._session.cancel()
        self._enable_buttons()

    def pause(self) -> None:
        """Pause the search, or continue it."""
        self.searching.pause(self.pause_button.isChecked())
        if self.searching.busy:
            self.note.say("Paused." if self.pause_button.isChecked() else "Searching …", "hint")

    def stop(self) -> None:
        """End the search with the best result so far."""
        self.searching.stop()
        self.stop_button.setEnabled(False)
        self.note.say("Ending …", "hint")

    # ------------------------------------------------------------------------------------------------- results

    def _on_chosen(self) -> None:
        at = self.results.currentRow()
        self._enable_buttons()
        if at < 0:
            return
        if self.linkages:
            others = [each for k, each in enumerate(self.linkages[:CURVES]) if k != at]
            self.curve.show_found([self.linkages[at].curve(), *(each.curve() for each in others)])
        elif self.found is not None:
            rows = self._generated.get(self.found.table[at].number)
            self.picture.show_found(self.picture.wanted[:0] if rows is None else rows)
        if self._trying:
            self.try_it()

    def try_it(self) -> None:
        """Show the chosen parameters in the scene, or restore the previous ones."""
        self._session.cancel()
        self._trying = self.try_button.isChecked() and self.found is not None
        if self._trying and self.found is not None:
            self._session.preview(parameters=dict(self.found.table[self.results.currentRow()].parameters))

    def _undo_trial(self) -> None:
        if self._trying:
            self._session.cancel()
        self._trying = False
        self.try_button.setChecked(False)

    def apply(self) -> None:
        """Apply the chosen result as one undo step."""
        at = self.results.currentRow()
        self._undo_trial()
        self._applying = True  # the other results stay beside it
        try:
            if self.found is not None and 0 <= at < len(self.found.table):
                self._session.preview(parameters=dict(self.found.table[at].parameters))
                self._session.commit("Design")
            elif 0 <= at < len(self.linkages):
                model = self.in_view.placed(self.linkages[at].model)
                self._session.apply("Linkage for a curve", lambda _: model, pose={})
        finally:
            self._applying = False


def make(bench: Workbench) -> DesignPanel:
    """Create the Design panel of a window."""
    return DesignPanel(bench.session, bench.jobs, bench.stage, bench.settings)
