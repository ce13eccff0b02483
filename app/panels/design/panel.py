"""The Design panel: dimensional synthesis of the open machine (formula, function or poses) and search for a linkage
that follows a curve, in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from app.background.jobs import Jobs
from app.background.signals import Lifetime
from app.document.revision import DocumentState
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
from app.panels.design.result_views import GenerationPicture, fill_table, show_linkages, show_starts
from app.panels.design.saved_designs import SavedDesigns
from app.panels.design.search import (
    FIRST_CURVES_SHOWN,
    MOST_LINKAGES,
    ImprovedPoint,
    PacedSearch,
    ParameterSearchResult,
    desired_rows,
    ended_process_text,
    linkage_search_work,
    parameter_search_work,
)
from app.panels.design.wanted_curve import TargetCurve
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
from app.widgets.quantities.quantity_text import SIUnits, Units, format_number, format_quantity, measure_of
from app.widgets.refused_texts import InputChecker
from core.errors import KinetostatError
from core.functions.subjects.design import TOPOLOGY_TITLES
from core.model import Aim
from core.model.trims import signal_dimension

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from app.workbench import Workbench
    from core.design.designed import OptimisationResult
    from core.design.path_synthesis import Linkage

NOTHING_FOUND = "Stopped before a solution was found."
CURVES = 3
"""Largest number of solutions whose curves are drawn together."""


class DesignPanel(QWidget):
    """Problem, pictures of the search, and results side by side."""

    def __init__(self, session: Session, jobs: Jobs, stage: Stage | None = None, settings: Units | None = None) -> None:
        super().__init__()
        self._session = session
        self._units: Units = settings or SIUnits()
        self._life = Lifetime()
        self.curve = TargetCurve(
            stage, self._life, self._drop_results, self._show_refusal, self._on_drawing_begun, self._on_drawn_in_view
        )
        self.curve_page, self.canvas, self.in_view = self.curve.page, self.curve.canvas, self.curve.in_view
        self.searching = PacedSearch(jobs, self)
        self.process = jobs.process
        self.found: OptimisationResult | None = None
        self.linkages: tuple[Linkage, ...] = ()
        self._generated: dict[int, Any] = {}
        self._names: tuple[str, ...] = ()
        self._trying = False
        self._applying = False
        self._document: object = None
        """The one whose first design was shown."""
        self.chart, self.picture = ConvergenceChart(), GenerationPicture()
        self.note = create_panel_note()
        self.kind = NarrowCombo()
        for kind, title in enumerate(QUESTION_TITLES):
            self.kind.addItem(title, kind)
        self.kind.setAccessibleName("Kind of design problem")
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        self.search_button = create_push_button(
            "Search", "Start the search (the best result so far is shown)", self.start_search
        )
        self.pause_button = create_push_button(
            "Pause", "Pause the search, or continue it", self.toggle_pause, checkable=True
        )
        self.stop_button = create_push_button("Stop", "Stop the search and keep the best result so far", self.stop)
        self.try_button = create_push_button(
            "Try this", "Show the chosen result without changing the machine", self.toggle_trial, checkable=True
        )
        self.apply_button = create_push_button(
            "Apply", "Apply the chosen result to the machine (can be undone)", self.apply_result
        )
        self.saved = SavedDesigns(session, self._load_design, self._current_design, self._show_refusal)
        self._lay_out()
        self._connect_search()
        self._refused = InputChecker(self)
        self._refused.changed.connect(self.note.hold_error)
        self.machine_page.mark_unreadable_texts(self._refused)
        self._refused.watch_line(self.curve_page.smooth, self.curve_page.term_count)
        self._refused.watch_line(self.curve_page.points, self.curve.check_typed)
        self._life.listen((session.changed, self._on_machine_changed))
        if isinstance(settings, Settings):
            self._life.listen((settings.changed, self._on_setting_changed))
        self._fill_parameter_rows()

    def _lay_out(self) -> None:
        """Lay out input, picture and results side by side below the buttons."""
        self.machine_page = MachinePage(self._units, self.channel_names, self._ask_rows_path)
        self.machine_page.refused.connect(self._show_refusal)
        self.machine_page.edited.connect(self._on_edited)
        self.pages, self.pictures = QStackedWidget(), QStackedWidget()
        self.pages.addWidget(self.machine_page)
        self.pages.addWidget(wrap_in_scroll_area(self.curve_page))
        for each in (self.chart, self.picture, self.canvas):
            self.pictures.addWidget(each)
        self.results = create_plain_table((), "Results")
        self.results.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.results.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.results.itemSelectionChanged.connect(self._on_result_chosen)
        asked = QWidget()
        left = QVBoxLayout(asked)
        left.setContentsMargins(8, 0, 0, 0)
        left.addWidget(self.saved)
        left.addWidget(self.pages, 1)
        parts = (asked, self.pictures, add_button_row(self.results, (self.try_button, self.apply_button)))
        bar = (self.kind, 1, self.search_button, self.pause_button, self.stop_button)
        lay_side_by_side(self, bar, self.note, parts, (380, 300, 420))

    def close(self) -> None:
        """Disconnect from all signals and stop the search."""
        self.searching.close()
        self.in_view.clear()
        self._life.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Start the worker process of the search in the background, because a search may follow soon."""
        super().showEvent(event)
        self.process.start_in_background()
        self._show_first_design()

    def _connect_search(self) -> None:
        """Connect the signals of the search."""
        search = self.searching
        search.better.connect(self._on_better_result)
        search.seen.connect(self._show_best)
        search.succeeded.connect(self._on_succeeded)
        search.failed.connect(self._on_failed)
        search.given_up.connect(lambda: self.note.show_text(NOTHING_FOUND, "hint"))
        search.late.connect(self._abandon_search)
        search.ended.connect(self._on_ended)

    def _show_refusal(self, words: str) -> None:
        self.note.show_text(words, "error")

    # ------------------------------------------------------------------------------------------- what is asked

    def channel_names(self) -> tuple[str, ...]:
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
            self.note.show_text(
                ("The machine has no free parameters. Define lengths or spring constants as parameters first."), "hint"
            )

    def _show_first_design(self) -> None:
        """Show the first design of a newly opened document, or clear that of the previous document."""
        if self._document == self._session.document or self.searching.is_running:
            return
        self._document = self._session.document
        designs = self._session.model.designs
        if designs:
            self.saved.show_design(designs[0].name)
        elif self.saved.names.currentText():
            self.saved.names.setEditText("")
            self.curve.clear()

    def _on_machine_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model:
            self.saved.update_names()
        if old.model.machine != new.model.machine and not self.searching.is_running:
            self._show_machine()
        if self.isVisible():
            self._show_first_design()

    def _show_machine(self) -> None:
        """Update the panel after the machine or its elements have changed."""
        if self.machine_page.vary.parameter_names != list(self._session.mech.p_names):
            self._fill_parameter_rows()
        else:
            self._names = ()
            self.machine_page.show_machine(self._session.model, self._session.mech)
        self._refused.recheck_refused_texts()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.machine_page.refresh_units()
            self._on_edited()

    def _on_edited(self) -> None:
        """Update the picture of the required behaviour."""
        if self.kind.currentData() not in (FUNCTION, MOTION):
            return
        try:
            aim = self.machine_page.build_aim("design")
        except KinetostatError:
            return
        rows = desired_rows(aim, self._session.model, self._units)
        x, y = (self._title_with_unit(name) for name in (aim.coordinate, aim.output))
        u, v = (f"{axis}, {measure_of('length').display_unit(self._units).symbol}" for axis in aim.plane)
        self.picture.show_desired(rows, *((u, v) if aim.kind == "motion" else (x, y)))

    def _title_with_unit(self, name: str) -> str:
        symbol = measure_of(signal_dimension(self._session.model, name)).display_unit(self._units).symbol
        return f"{name}, {symbol}" if symbol else name

    def _current_design(self, name: str) -> Aim:
        """Return the panel's contents as a design to be stored in the document. Raises ModelError."""
        if self.kind.currentData() == CURVE:
            return self.curve.build_aim(name)
        return self.machine_page.build_aim(name)

    def _load_design(self, aim: Aim) -> None:
        """Show a design stored in the document."""
        self.kind.setCurrentIndex(self.kind.findData(QUESTION_OF_AIM[aim.kind]))
        self._drop_results()
        if aim.kind == "curve":
            self.curve.show_aim(self._session.model, aim)
            return
        missing = self.machine_page.show_aim(aim)
        self._on_edited()
        if missing:
            self.note.show_text(f"The machine has no {', '.join(missing)}.", "warning")

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
        """Discard results that belong to a previous problem."""
        self._undo_trial()
        self.found, self.linkages, self._generated = None, (), {}
        fill_table(self.results, [], [])
        self.chart.clear()
        self.picture.show_achieved(self.picture.wanted[:0])
        self._enable_buttons()
        self.note.show_text("")

    def _enable_buttons(self) -> None:
        busy = self.searching.is_running
        there = self.results.currentRow() >= 0 and not busy
        self.search_button.setEnabled(not busy)
        self.kind.setEnabled(not busy)
        self.pause_button.setEnabled(busy)
        self.stop_button.setEnabled(busy)
        self.try_button.setEnabled(there and self.found is not None)
        self.apply_button.setEnabled(there)

    def _ask_rows_path(self) -> str:
        return QFileDialog.getOpenFileName(self, "Rows of numbers", "", "Tables (*.csv *.txt)")[0]

    def _on_drawing_begun(self) -> None:
        """Prepare the panel after a curve was drawn in the view."""
        self.kind.setCurrentIndex(self.kind.findData(CURVE))

    def _on_drawn_in_view(self, count: int) -> None:
        self.note.show_text(f"{count} points drawn. Press Search to find linkages that follow them.", "hint")

    # ---------------------------------------------------------------------------------------------- searching

    def start_search(self) -> None:
        """Begin a search in the background."""
        search = self.searching
        try:
            if self.kind.currentData() == CURVE:
                topology = str(self.curve_page.topology.currentData())
                work = linkage_search_work(
                    self.process, self.curve.build_search_target(), topology, search.should_stop, search.is_paused
                )
            else:
                aim, starts = self.machine_page.build_aim("design"), self.machine_page.start_count()
                model = self._session.model
                work = parameter_search_work(
                    self.process, model, aim, starts, self._units, search.should_stop, search.is_paused
                )
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        self._drop_results()
        self._on_edited()
        self.pause_button.setChecked(False)
        self.note.show_text("Searching …", "hint")
        self.searching.begin("Design", work)
        self._enable_buttons()

    def _on_better_result(self, result: Any) -> None:
        if isinstance(result, ImprovedPoint):
            self.chart.add_value(result.start, result.value)

    def _show_best(self, result: Any) -> None:
        """Show the best result so far."""
        if isinstance(result, ImprovedPoint):
            words = f"Start {result.start + 1}: {self._objective_text(result.value)}"
            self.note.show_text(
                f"{words}.{result.lost} The other starts continue." if result.lost else words,
                "warning" if result.lost else "hint",
            )
            self._session.preview(parameters=result.parameters)
            if result.rows is not None:
                self.picture.show_achieved(result.rows)
        elif result.best is not None:
            self.note.show_text(
                f"{TOPOLOGY_TITLES[result.topology]}: deviation {result.relative:.3g} of the curve size", "hint"
            )
            self.curve.show_found_curves([result.best.curve()])

    def _objective_text(self, value: float) -> str:
        """Format an objective value in the unit of the fitted quantity."""
        kind = self.kind.currentData()
        if kind == MOTION:
            return format_quantity(value, measure_of("length"), self._units, 5)
        if kind == FUNCTION:
            output = self.machine_page.output.text().strip()
            return format_quantity(value, measure_of(signal_dimension(self._session.model, output)), self._units, 5)
        return f"{value:.6g}"

    def _on_succeeded(self, result: Any) -> None:
        self._session.cancel_preview()
        if isinstance(result, ParameterSearchResult):
            self._show_parameter_results(result)
        else:
            self._show_linkages(result.linkages, result.lost)

    def _show_parameter_results(self, result: ParameterSearchResult) -> None:
        self.found, self._generated = result.designed, dict(result.rows)
        found = self.found
        measures = {name: measure_of(signal_dimension(self._session.model, name)) for name in found.best.parameters}
        show_starts(
            self.results,
            found,
            self._objective_text,
            lambda name, value: format_number(value, measures[name], self._units, FIRST_CURVES_SHOWN),
            {name: measure.display_unit(self._units).symbol for name, measure in measures.items()},
        )  # fmt: skip
        self.results.selectRow(0)
        bounds = f" At a bound: {', '.join(found.best.at_bounds)}." if found.best.at_bounds else ""
        missed = f" {found.best.violated_requirements_text}" if found.best.missed else ""
        alike = (
            f" At this point these parameters cannot be distinguished to first order: {', '.join(found.alike)}."
            if found.alike
            else ""
        )
        off = " deviation (rms)" if self.kind.currentData() in (FUNCTION, MOTION) else ""
        lost = f" {ended_process_text(result.lost[0])}" if result.lost else ""
        more = f" So did {len(result.lost) - 1} more." if len(result.lost) > 1 else ""
        by = f"{self._objective_text(found.best.value)}{off} by {found.solver} ({found.reason})."
        self.note.show_text(f"{by}{lost}{more}{bounds}{missed}{alike}", "warning" if missed or lost else "done")

    def _show_linkages(self, linkages: tuple[Linkage, ...], ended_process: str = "") -> None:
        self.linkages = linkages
        show_linkages(self.results, linkages)
        self.results.selectRow(0)
        best = linkages[0]
        words = f"{1000 * best.error:.4g} mm from the curve. Apply makes this linkage the machine (can be undone)."
        kept = f" {ended_process} Earlier results are kept." if ended_process else ""
        self.note.show_text(words + kept, "warning" if best.defects or ended_process else "done")

    def _on_failed(self, error: BaseException) -> None:
        self._session.cancel_preview()
        self.note.show_text(str(error), "error")

    def _abandon_search(self) -> None:
        """Stop waiting for a stopped search that is still preparing (compiling code for another linkage type takes
        seconds); it ends in the background and earlier results are kept."""
        search = self.searching
        best = getattr(search.best, "best", None)
        if search.has_found and best is None:
            return
        search.abandon()
        if search.has_found:
            self._show_linkages((best, *search.best.found)[:MOST_LINKAGES])
        else:
            self.note.show_text(NOTHING_FOUND, "hint")

    def _on_ended(self) -> None:
        self._session.cancel_preview()
        self._enable_buttons()

    def toggle_pause(self) -> None:
        """Pause the search, or continue it."""
        self.searching.set_paused(self.pause_button.isChecked())
        if self.searching.is_running:
            self.note.show_text("Paused." if self.pause_button.isChecked() else "Searching …", "hint")

    def stop(self) -> None:
        """End the search with the best result so far."""
        self.searching.stop()
        self.stop_button.setEnabled(False)
        self.note.show_text("Stopping …", "hint")

    # ------------------------------------------------------------------------------------------------- results

    def _on_result_chosen(self) -> None:
        at = self.results.currentRow()
        self._enable_buttons()
        if at < 0:
            return
        if self.linkages:
            others = [each for k, each in enumerate(self.linkages[:CURVES]) if k != at]
            self.curve.show_found_curves([self.linkages[at].curve(), *(each.curve() for each in others)])
        elif self.found is not None:
            rows = self._generated.get(self.found.table[at].number)
            self.picture.show_achieved(self.picture.wanted[:0] if rows is None else rows)
        if self._trying:
            self.toggle_trial()

    def toggle_trial(self) -> None:
        """Show the selected parameters in the scene, or restore the previous ones."""
        self._session.cancel_preview()
        self._trying = self.try_button.isChecked() and self.found is not None
        if self._trying and self.found is not None:
            self._session.preview(parameters=dict(self.found.table[self.results.currentRow()].parameters))

    def _undo_trial(self) -> None:
        if self._trying:
            self._session.cancel_preview()
        self._trying = False
        self.try_button.setChecked(False)

    def apply_result(self) -> None:
        """Apply the selected result as one undo step."""
        at = self.results.currentRow()
        self._undo_trial()
        self._applying = True  # the other results stay beside it
        try:
            if self.found is not None and 0 <= at < len(self.found.table):
                self._session.preview(parameters=dict(self.found.table[at].parameters))
                self._session.commit("Design")
            elif 0 <= at < len(self.linkages):
                model = self.in_view.move_into_plane(self.linkages[at].model)
                self._session.apply("Linkage for a curve", lambda _: model, pose={})
        finally:
            self._applying = False


def create_panel(bench: Workbench) -> DesignPanel:
    """Create the Design panel of a window."""
    return DesignPanel(bench.session, bench.jobs, bench.stage, bench.settings)
