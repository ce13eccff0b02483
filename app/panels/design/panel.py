"""The panel Design: parameters of the machine by a formula, a function or poses, or a linkage for a curve; searched
beside the window."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QAbstractItemView, QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from app.background.jobs import Job, Jobs
from app.background.lifetime import Lifetime
from app.document.session import Session, State
from app.panels.design.curve_canvas import ConvergenceChart, CurveCanvas
from app.panels.design.curve_page import CurvePage
from app.panels.design.generation_picture import GenerationPicture
from app.panels.design.in_view import CurveInView
from app.panels.design.machine_page import MachinePage
from app.panels.design.questions import CURVE, FUNCTION, MOTION, OF_AIMS, PARAMETERS, TITLES
from app.panels.design.result_tables import fill, show_designed, show_linkages
from app.panels.design.saved_designs import SavedDesigns
from app.panels.design.search import FIRST, MOST_LINKAGES, Better, Found, curve_work, machine_work, shown_rows
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import Combo
from app.widgets.panel_parts import lay_side_by_side, panel_note, plain_table, push_button, scrolled, with_buttons
from app.widgets.quantities.quantity_text import SIUnits, Units, measure_of, number, quantity
from core.errors import KinetostatError
from core.functions.subjects.design import TOPOLOGY_TITLES
from core.model import Aim
from core.model.trims import dimension_of_signal

if TYPE_CHECKING:
    from app.tools.target_curve import Drawn
    from app.viewport.stage import Stage
    from app.workbench import Workbench
    from core.design.design import Designed
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target

LOOKED_EVERY = 0.1
"""Seconds between two pictures of what is best so far."""
LOOK_AGAIN = 5
"""Milliseconds between two looks whether the search waits."""
SHOWN = 20
"""Milliseconds after which a picture is drawn, and a search goes on."""
LONGEST_WAIT = 0.5
"""Seconds that a search waits for the window at most."""
PATIENCE = 200
"""Milliseconds for which a stopped search is waited for."""
NOTHING_FOUND = "Stopped before anything was found."
CURVES = 3
"""Solutions whose curves are shown together."""


class DesignPanel(QWidget):
    """What is asked, pictures of the search, and its results side by side."""

    def __init__(self, session: Session, jobs: Jobs, stage: Stage | None = None, settings: Units | None = None) -> None:
        super().__init__()
        self._session, self._jobs = session, jobs
        self._units: Units = settings or SIUnits()
        self._life = Lifetime()
        self.in_view = CurveInView(stage, self._drawn_in_view, self._life)
        self.found: Designed | None = None
        self.linkages: tuple[Linkage, ...] = ()
        self._generated: dict[int, Any] = {}
        self._names: tuple[str, ...] = ()
        self._stop, self._pause = threading.Event(), threading.Event()
        self._free, self._waits = threading.Event(), threading.Event()
        """Whether the window has shown what was found, and whether the search waits for that: else both would take
        turns at the interpreter, and those of the window would be several times as long."""
        self._free.set()
        self._best: Any = None
        """What is to be shown."""
        self._job: Job | None = None
        self._told = False
        """Whether the search has found something."""
        self._soon = QTimer(self, singleShot=True, interval=LOOK_AGAIN)
        self._soon.timeout.connect(self._show_best)
        self._shown = QTimer(self, singleShot=True, interval=SHOWN)
        self._shown.timeout.connect(self._free.set)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE)
        self._patience.timeout.connect(self._leave)
        self._shown_at = 0.0
        self._trying = False
        self._busy = self._applying = False
        self.chart, self.canvas, self.picture = ConvergenceChart(), CurveCanvas(), GenerationPicture()
        self.note = panel_note()
        self.kind = Combo()
        for kind, title in enumerate(TITLES):
            self.kind.addItem(title, kind)
        self.kind.setAccessibleName("What is designed")
        self.kind.currentIndexChanged.connect(self._turned)
        self.search_button = push_button("Search", "Begin (what is best so far is shown)", self.search)
        self.pause_button = push_button("Pause", "Wait; the search goes on where it is", self.pause, checkable=True)
        self.stop_button = push_button("Stop", "End; the best so far is kept", self.stop)
        self.try_button = push_button(
            "Try this", "Show the chosen result without changing the machine", self.try_it, checkable=True
        )
        self.apply_button = push_button("Apply", "Take the chosen result (can be undone)", self.apply)
        self.saved = SavedDesigns(session, self._show_aim, self._aim, lambda words: self.note.say(words, "error"))
        self._lay_out()
        self._life.listen((session.changed, self._machine_changed))
        if isinstance(settings, Settings):
            self._life.listen((settings.changed, self._setting_changed))
        self._begin()

    def _lay_out(self) -> None:
        """What is asked, a picture, the results, side by side below the buttons."""
        self.machine_page = MachinePage(self._units, self.names, self._choose_rows)
        self.machine_page.refused.connect(lambda words: self.note.say(words, "error"))
        self.machine_page.edited.connect(self._edited)
        self.curve_page = CurvePage(self.in_view.draw, self._read, self._clear, self._typed)
        self.curve_page.closed.toggled.connect(lambda _: self._show_target(self.canvas.target))
        self.pages, self.pictures = QStackedWidget(), QStackedWidget()
        self.pages.addWidget(self.machine_page)
        self.pages.addWidget(scrolled(self.curve_page))
        self.canvas.drawn.connect(self._drawn)
        for each in (self.chart, self.picture, self.canvas):
            self.pictures.addWidget(each)
        self.results = plain_table((), "Results")
        self.results.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.results.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.results.itemSelectionChanged.connect(self._chosen)
        asked = QWidget()
        left = QVBoxLayout(asked)
        left.setContentsMargins(8, 0, 0, 0)
        left.addWidget(self.saved)
        left.addWidget(self.pages, 1)
        parts = (asked, self.pictures, with_buttons(self.results, (self.try_button, self.apply_button)))
        bar = (self.kind, 1, self.search_button, self.pause_button, self.stop_button)
        lay_side_by_side(self, bar, self.note, parts, (380, 300, 420))

    def close(self) -> None:
        """Listen no more, search no more."""
        self._stop.set()
        self._free.set()
        self._soon.stop()
        self._shown.stop()
        self._patience.stop()
        self.in_view.clear()
        self._life.close()

    # ------------------------------------------------------------------------------------------- what is asked

    def names(self) -> tuple[str, ...]:
        """Channels of the machine."""
        if not self._names:
            from core.measures.run_measures import Signals

            self._names = Signals(self._session.mech).all
        return self._names

    def _begin(self) -> None:
        """Rows for the machine's free parameters."""
        session = self._session
        self._names = ()
        self.machine_page.show_machine(session.model, session.mech)
        if not self._applying:
            self._forget()
        if not session.mech.p_names and self.kind.currentData() != CURVE:
            self.note.say("The machine has no free parameter. Give lengths or springs names under Parameters.", "hint")

    def _machine_changed(self, old: State, new: State) -> None:
        if old.model is not new.model:
            self.saved.offer()
        if old.model.machine == new.model.machine or self._busy:
            return
        if self.machine_page.vary.names != list(self._session.mech.p_names):
            self._begin()
        else:
            self._names = ()
            self.machine_page.show_machine(self._session.model, self._session.mech)

    def _setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.machine_page.refresh_units()
            self._edited()

    def _edited(self) -> None:
        """The picture of what is wanted follows."""
        if self.kind.currentData() not in (FUNCTION, MOTION):
            return
        try:
            aim = self.machine_page.aim("design")
        except KinetostatError:
            return
        rows = shown_rows(aim, self._session.model, self._units)
        x, y = (self._title(name) for name in (aim.coordinate, aim.output))
        u, v = (f"{axis}, {measure_of('length').display(self._units).symbol}" for axis in aim.plane)
        self.picture.show_wanted(rows, *((u, v) if aim.kind == "motion" else (x, y)))

    def _title(self, name: str) -> str:
        symbol = measure_of(dimension_of_signal(self._session.model, name)).display(self._units).symbol
        return f"{name}, {symbol}" if symbol else name

    def _aim(self, name: str) -> Aim:
        """What stands here as a design of the document. Raises ModelError."""
        if self.kind.currentData() == CURVE:
            return self.curve_page.aim(name, self.canvas.target, self.in_view.place)
        return self.machine_page.aim(name)

    def _show_aim(self, aim: Aim) -> None:
        """A design of the document."""
        self.kind.setCurrentIndex(self.kind.findData(OF_AIMS[aim.kind]))
        self._forget()
        if aim.kind == "curve":
            self._show_curve_of(aim)
            return
        missing = self.machine_page.show_aim(aim)
        self._edited()
        if missing:
            self.note.say(f"The machine has no {', '.join(missing)}.", "warning")

    def _show_curve_of(self, aim: Aim) -> None:
        from core.design.asked_designs import asked_plane, asked_target

        self.curve_page.show_aim(aim)
        self.canvas.show_curves(())
        try:
            self.in_view.X_WD = asked_plane(self._session.model, aim.name)
            self._show_target(asked_target(self._session.model, aim.name).points)
        except KinetostatError as error:
            self.note.say(str(error), "error")

    def _turned(self) -> None:
        kind = self.kind.currentData()
        self.pages.setCurrentIndex(kind == CURVE)
        self.pictures.setCurrentIndex({PARAMETERS: 0, CURVE: 2}.get(kind, 1))
        if kind != CURVE:
            self.machine_page.show_kind(kind)
        self._forget()
        self._edited()
        self.in_view.show(self.canvas.target if kind == CURVE else np.zeros((0, 2)), self._closes)

    def _forget(self) -> None:
        """What was found is of another question."""
        self._untry()
        self.found, self.linkages, self._generated = None, (), {}
        fill(self.results, [], [])
        self.chart.clear()
        self.picture.show_found(self.picture.wanted[:0])
        self._enable()
        self.note.say("")

    def _enable(self) -> None:
        there = self.results.currentRow() >= 0 and not self._busy
        self.search_button.setEnabled(not self._busy)
        self.kind.setEnabled(not self._busy)
        self.pause_button.setEnabled(self._busy)
        self.stop_button.setEnabled(self._busy)
        self.try_button.setEnabled(there and self.found is not None)
        self.apply_button.setEnabled(there)

    def _choose_rows(self) -> str:
        return QFileDialog.getOpenFileName(self, "Rows of numbers", "", "Tables (*.csv *.txt)")[0]

    # ---------------------------------------------------------------------------------------------- the curve

    def _drawn(self) -> None:
        self.curve_page.points.clear()
        self.in_view.forget_plane()
        self._forget()
        self._show_target(self.canvas.target)

    def _drawn_in_view(self, drawn: Drawn) -> None:
        """A curve from the 3-D view, smoothed as it will be searched for."""
        self.kind.setCurrentIndex(self.kind.findData(CURVE))
        self.curve_page.points.clear()
        self.curve_page.closed.setChecked(drawn.closed)
        self._forget()
        self.canvas.show_curves(())
        self._show_target(drawn.points)
        try:
            self._smooth()
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self.note.say(f"{len(drawn.points)} points were drawn. Search finds linkages that follow them.", "hint")

    def _show_target(self, points: Any, curves: Any = ()) -> None:
        """On the sheet and in the view."""
        self.canvas.show_target(points, self._closes)
        self.in_view.show(points, self._closes, curves)

    def _typed(self) -> None:
        self._take(self.curve_page.points.text().replace(";", "\n"), ".csv", "points")

    def _read(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Points of a curve", "", "Points (*.csv *.txt *.svg)")
        if path:
            self.read(Path(path))

    def read(self, path: Path) -> None:
        """Points of a file."""
        from core.files.regular_file import SIGNAL, text_content_of

        try:
            text = text_content_of(path, SIGNAL)
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self._take(text, path.suffix.lower(), path.name)

    def _take(self, text: str, suffix: str, name: str) -> None:
        from core.design.target_curves import from_csv, from_svg

        try:
            found = from_svg(text, name=name) if suffix == ".svg" else from_csv(text, name=name, closed=self._closes)
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self.curve_page.closed.setChecked(found.closed)
        self.curve_page.smooth.setText("0")
        self._forget()
        self.canvas.show_curves(())
        self.in_view.forget_plane()
        self._show_target(found.points)

    @property
    def _closes(self) -> bool:
        return self.curve_page.closed.isChecked()

    def _clear(self) -> None:
        self.curve_page.points.clear()
        self.canvas.show_curves(())
        self.in_view.forget_plane()
        self._show_target(np.zeros((0, 2)))
        self._forget()

    def _smooth(self) -> Target:
        """The target by so many Fourier terms, shown."""
        from core.design.target_curves import target

        wanted = target(self.canvas.target, closed=self._closes)
        terms = self.curve_page.terms()
        if terms:
            wanted = wanted.smoothed(terms)
            self._show_target(wanted.points)
        return wanted

    # ---------------------------------------------------------------------------------------------- searching

    def search(self) -> None:
        """Begin, beside the window."""
        try:
            if self.kind.currentData() == CURVE:
                wanted = self._smooth()
                wanted = wanted.timed() if self.curve_page.timed.isChecked() else wanted
                work = curve_work(wanted, str(self.curve_page.topology.currentData()), self._asked)
            else:
                aim, starts = self.machine_page.aim("design"), self.machine_page.count()
                work = machine_work(self._session.model, aim, starts, self._units, self._asked)
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self._forget()
        self._edited()
        self._stop.clear()
        self._pause.clear()
        self.pause_button.setChecked(False)
        self._busy = True
        self._enable()
        self.note.say("Searching …", "hint")
        self._told, self._best = False, None
        self._free.set()
        job = self._job = self._jobs.start("Design", work)

        def own(hear: Callable[..., object]) -> Callable[..., None]:
            return lambda *what: None if self._job is not job else (hear(*what), None)[1]

        job.grown.connect(own(self._grown))
        job.succeeded.connect(own(self._succeeded))
        job.failed.connect(own(self._failed))
        job.stopped.connect(own(lambda: self.note.say(NOTHING_FOUND, "hint")))
        job.ended.connect(own(self._ended))

    def _asked(self, cancelled: Any) -> bool:
        """Whether to stop; waits while paused (in the job's thread)."""
        while self._pause.is_set() and not self._stop.is_set() and not cancelled():
            time.sleep(0.05)
        if not self._free.is_set():
            self._waits.set()
            self._free.wait(LONGEST_WAIT)
            self._waits.clear()
        time.sleep(0)
        return bool(self._stop.is_set() or cancelled())

    def _grown(self, what: Any) -> None:
        """What is best so far, not more often than an eye follows."""
        self._told = True
        if isinstance(what, Better):
            self.chart.add(what.start, what.value)
        self._best = what
        if time.monotonic() - self._shown_at < LOOKED_EVERY or self._stop.is_set():
            return
        self._shown_at = time.monotonic()
        self._free.clear()
        self._soon.start()

    def _show_best(self) -> None:
        """What is best so far, once the search waits."""
        what = self._best
        if not self._busy or self._stop.is_set():
            self._free.set()
            return
        if not self._waits.is_set() and time.monotonic() - self._shown_at < LONGEST_WAIT:
            self._soon.start()
            return
        self._shown.start()
        if isinstance(what, Better):
            self.note.say(f"Start {what.start + 1}: {self._worth(what.value)}", "hint")
            self._session.preview(parameters=what.parameters)
            if what.rows is not None:
                self.picture.show_found(what.rows)
        elif what.best is not None:
            self.note.say(f"{TOPOLOGY_TITLES[what.topology]}: {what.relative:.3g} sizes of the curve away", "hint")
            self._show_curves([what.best.curve()])

    def _worth(self, value: float) -> str:
        """What was found, in the unit of what is fitted."""
        kind = self.kind.currentData()
        if kind == MOTION:
            return quantity(value, measure_of("length"), self._units, 5)
        if kind == FUNCTION:
            output = self.machine_page.output.text().strip()
            return quantity(value, measure_of(dimension_of_signal(self._session.model, output)), self._units, 5)
        return f"{value:.6g}"

    def _show_curves(self, curves: list[Any]) -> None:
        self.canvas.show_curves(curves)
        self.in_view.show(self.canvas.target, self._closes, curves[:1])

    def _succeeded(self, found: Any) -> None:
        self._session.cancel()
        if isinstance(found, Found):
            self._show_designed(found)
        else:
            self._show_linkages(found)

    def _show_designed(self, result: Found) -> None:
        self.found, self._generated = result.designed, dict(result.rows)
        found = self.found
        measures = {name: measure_of(dimension_of_signal(self._session.model, name)) for name in found.best.parameters}
        show_designed(
            self.results, found, self._worth, lambda name, value: number(value, measures[name], self._units, FIRST),
            {name: measure.display(self._units).symbol for name, measure in measures.items()},
        )  # fmt: skip
        self.results.selectRow(0)
        bounds = f" At a bound: {', '.join(found.best.at_bounds)}." if found.best.at_bounds else ""
        missed = f" {found.best.conflict}" if found.best.missed else ""
        alike = f" These cannot be told apart: {', '.join(found.alike)}." if found.alike else ""
        off = " off (root of the mean square)" if self.kind.currentData() in (FUNCTION, MOTION) else ""
        words = f"{self._worth(found.best.value)}{off} by {found.solver} ({found.reason}).{bounds}{missed}{alike}"
        self.note.say(words, "warning" if missed else "done")

    def _show_linkages(self, found: tuple[Linkage, ...]) -> None:
        self.linkages = found
        show_linkages(self.results, found)
        self.results.selectRow(0)
        best = found[0]
        words = f"{1000 * best.error:.4g} mm from the curve. Apply makes it the machine (one step to undo)."
        self.note.say(words, "warning" if best.defects else "done")

    def _failed(self, error: BaseException) -> None:
        self._session.cancel()
        self.note.say(str(error), "error")

    def _leave(self) -> None:
        """A stopped search that prepares something (the code of a further kind of linkage takes seconds) is waited for
        no longer: that ends beside the window, and what was found before is the result."""
        best = getattr(self._best, "best", None)
        if not self._busy or not self._stop.is_set() or self._job is None or (self._told and best is None):
            return
        self._job.cancel()
        self._ended()
        if self._told:
            self._show_linkages((best, *self._best.found)[:MOST_LINKAGES])
        else:
            self.note.say(NOTHING_FOUND, "hint")

    def _ended(self) -> None:
        self._session.cancel()
        self._job = None
        self._busy = False
        self._enable()

    def pause(self) -> None:
        """Wait, or go on."""
        self._pause.set() if self.pause_button.isChecked() else self._pause.clear()
        if self._busy:
            self.note.say("Paused." if self.pause_button.isChecked() else "Searching …", "hint")

    def stop(self) -> None:
        """End with what is best."""
        self._stop.set()
        self._free.set()
        self._patience.start()
        self.stop_button.setEnabled(False)
        self.note.say("Ending …", "hint")

    # ------------------------------------------------------------------------------------------------- results

    def _chosen(self) -> None:
        at = self.results.currentRow()
        self._enable()
        if at < 0:
            return
        if self.linkages:
            others = [each for k, each in enumerate(self.linkages[:CURVES]) if k != at]
            self._show_curves([self.linkages[at].curve(), *(each.curve() for each in others)])
        elif self.found is not None:
            rows = self._generated.get(self.found.table[at].number)
            self.picture.show_found(self.picture.wanted[:0] if rows is None else rows)
        if self._trying:
            self.try_it()

    def try_it(self) -> None:
        """Show the chosen parameters in the scene, or what stands there again."""
        self._session.cancel()
        self._trying = self.try_button.isChecked() and self.found is not None
        if self._trying and self.found is not None:
            self._session.preview(parameters=dict(self.found.table[self.results.currentRow()].parameters))

    def _untry(self) -> None:
        if self._trying:
            self._session.cancel()
        self._trying = False
        self.try_button.setChecked(False)

    def apply(self) -> None:
        """Take the chosen result: one step to undo."""
        at = self.results.currentRow()
        self._untry()
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
    """For a window."""
    return DesignPanel(bench.session, bench.jobs, bench.stage, bench.settings)
