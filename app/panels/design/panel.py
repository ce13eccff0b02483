"""The panel Design: parameters of the machine by a formula, or a linkage for a curve; searched beside the window."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.background.jobs import Jobs
from app.background.lifetime import Lifetime
from app.document.session import Session, State
from app.panels.design.aim_forms import check_rows, checked_rows, curve_aim, parameter_aim
from app.panels.design.curve_canvas import ConvergenceChart, CurveCanvas
from app.panels.design.in_view import CurveInView
from app.panels.design.result_tables import fill, scrolled, show_designed, show_linkages, table
from app.panels.design.saved_designs import SavedDesigns
from app.panels.panel import BOTTOM, Panel
from app.plain_text import as_tip
from app.widgets.fields.choice_editors import Combo
from app.widgets.note import Note
from core.errors import KinetostatError
from core.functions.context import Cancelled
from core.functions.subjects.design import TOPOLOGY_TITLES, design_of
from core.model import Aim
from core.model.parameters import value_of

if TYPE_CHECKING:
    from app.tools.target_curve import Drawn
    from app.viewport.stage import Stage
    from app.workbench import Workbench
    from core.design.design import Designed
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target

LOOKED_EVERY = 0.1
"""Seconds between two pictures of what is best so far."""
PARAMETERS, CURVE = range(2)
REST, RUN = "rest", "run"
NARROWEST = 110
"""Pixels that each of the three parts keeps."""
CURVES = 3
"""Solutions whose curves are shown together."""


class DesignPanel(QWidget):
    """What is asked, pictures of the search, and its results side by side."""

    def __init__(self, session: Session, jobs: Jobs, stage: Stage | None = None) -> None:
        super().__init__()
        self._session, self._jobs = session, jobs
        self._life = Lifetime()
        self.in_view = CurveInView(stage, self._drawn_in_view, self._life)
        self.found: Designed | None = None
        self.linkages: tuple[Linkage, ...] = ()
        self._stop, self._pause = threading.Event(), threading.Event()
        self._shown_at = 0.0
        self._trying = False
        self._busy = self._applying = False
        self.note = Note()
        self.note.setContentsMargins(8, 0, 8, 4)
        self.kind = Combo()
        self.kind.addItem("Parameters of this machine", PARAMETERS)
        self.kind.addItem("A linkage for a curve", CURVE)
        self.kind.setAccessibleName("What is designed")
        self.kind.currentIndexChanged.connect(self._turned)
        self.search_button = self._button("Search", "Begin (what is best so far is shown)", self.search)
        self.pause_button = self._button("Pause", "Wait; the search goes on where it is", self.pause)
        self.pause_button.setCheckable(True)
        self.stop_button = self._button("Stop", "End; the best so far is kept", self.stop)
        self.try_button = self._button("Try this", "Show the chosen result without changing the machine", self.try_it)
        self.try_button.setCheckable(True)
        self.apply_button = self._button("Apply", "Take the chosen result (can be undone)", self.apply)
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 6, 8, 6)
        self.saved = SavedDesigns(session, self._show_aim, self._aim, lambda words: self.note.say(words, "error"))
        bar.addWidget(self.kind, 1)
        for button in (self.search_button, self.pause_button, self.stop_button):
            bar.addWidget(button)
        self._lay_out(bar)
        self._life.listen((session.changed, self._machine_changed))
        self._begin()

    def _lay_out(self, bar: QHBoxLayout) -> None:
        """What is asked, a picture, the results, side by side below the buttons."""
        self.pages, self.pictures = QStackedWidget(), QStackedWidget()
        for page in (self._parameter_page(), self._curve_page()):
            self.pages.addWidget(scrolled(page))
        self.chart, self.canvas = ConvergenceChart(), CurveCanvas()
        self.canvas.drawn.connect(self._drawn)
        self.pictures.addWidget(self.chart)
        self.pictures.addWidget(self.canvas)
        self.results = table([])
        self.results.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.results.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.results.setAccessibleName("Results")
        self.results.itemSelectionChanged.connect(self._chosen)
        split = QSplitter(Qt.Orientation.Horizontal)
        asked = QWidget()
        left = QVBoxLayout(asked)
        left.setContentsMargins(8, 0, 0, 0)
        left.addWidget(self.saved)
        left.addWidget(self.pages, 1)
        for part in (asked, self.pictures, self._result_column()):
            part.setMinimumWidth(NARROWEST)
            split.addWidget(part)
        split.setSizes([380, 300, 420])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.note)
        column.addWidget(split, 1)

    def _result_column(self) -> QWidget:
        """The table, and below it what is done with its chosen row."""
        part = QWidget()
        column, buttons = QVBoxLayout(part), QHBoxLayout()
        buttons.setContentsMargins(4, 4, 8, 6)
        buttons.addStretch(1)
        buttons.addWidget(self.try_button)
        buttons.addWidget(self.apply_button)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.results, 1)
        column.addLayout(buttons)
        return part

    def close(self) -> None:
        """Listen no more, search no more."""
        self._stop.set()
        self.in_view.clear()
        self._life.close()

    def _button(self, title: str, tip: str, pressed: Any) -> QPushButton:
        button = QPushButton(title, toolTip=as_tip(tip))
        button.clicked.connect(lambda: pressed())
        return button

    # ------------------------------------------------------------------------------------------- what is asked

    def _parameter_page(self) -> QWidget:
        page, form = QWidget(), QFormLayout()
        self.vary = table(["Vary", "Now", "From", "To"])
        self.vary.setAccessibleName("Parameters that are varied")
        self.minimise = QLineEdit(placeholderText="span(tool.position.z), (mode[1].period - 1)^2 …")
        self.require = QLineEdit(placeholderText="min(tool.position.z) > 5 cm; …")
        self.along = Combo()
        self.duration = QLineEdit("1", placeholderText="s")
        self.duration.setMaximumWidth(70)
        of_motion = QHBoxLayout()
        of_motion.addWidget(self.along, 1)
        of_motion.addWidget(self.duration)
        self.along.currentIndexChanged.connect(lambda _: self.duration.setEnabled(self.along.currentData() == RUN))
        self.starts = QLineEdit("5")
        self.starts.setMaximumWidth(70)
        for title, field in (("Minimise", self.minimise), ("Require", self.require)):
            field.setAccessibleName(title)
            form.addRow(title, field)
        form.addRow("Over", of_motion)
        form.addRow("Starts", self.starts)
        self.duration.setAccessibleName("Duration of the run, s")
        self.starts.setAccessibleName("Starts")
        self.along.setAccessibleName("Over what")
        column = QVBoxLayout(page)
        column.setContentsMargins(8, 0, 8, 6)
        column.addWidget(self.vary, 1)
        column.addLayout(form)
        return page

    def _curve_page(self) -> QWidget:
        page, form = QWidget(), QFormLayout(None)
        self.topology = Combo()
        for name, title in TOPOLOGY_TITLES.items():
            self.topology.addItem(title, name)
        self.topology.setAccessibleName("Kind of linkage")
        self.closed, self.timed = QCheckBox("Closed"), QCheckBox("Even in the crank's time")
        self.closed.setChecked(True)
        self.closed.toggled.connect(lambda _: self._show_target(self.canvas.target))
        self.smooth = QLineEdit("7")
        self.smooth.setMaximumWidth(70)
        self.smooth.setAccessibleName("Fourier terms")
        self.points = QLineEdit(placeholderText="0.1 0.2; 0.3 0.25; 0.2 0.4 … in metres")
        self.points.setAccessibleName("Points")
        self.points.returnPressed.connect(self._typed)
        buttons = QHBoxLayout()
        tip = "Draw the curve in the working plane of the 3-D view: with the button held, or point by point"
        self.draw_button = self._button("Draw in the view", tip, self.in_view.draw)
        buttons.addWidget(self._button("Read…", "Points from a CSV file or an SVG path", self._read))
        buttons.addWidget(self._button("Clear", "An empty sheet", self._clear))
        buttons.addStretch(1)
        form.addRow("Kind", self.topology)
        form.addRow("Points", self.points)
        form.addRow("", self.draw_button)
        form.addRow("", buttons)
        form.addRow("Fourier terms", self.smooth)
        form.addRow("", self.closed)
        form.addRow("", self.timed)
        form.setContentsMargins(8, 4, 8, 6)
        page.setLayout(form)
        return page

    def _begin(self) -> None:
        """Rows for the machine's free parameters."""
        session = self._session
        mech, values = session.mech, session.model.values()
        own = [(name, session.model.expanded.find("parameters", name)) for name in mech.p_names]
        self.vary.setRowCount(0)
        for name, parameter in own:
            at = self.vary.rowCount()
            self.vary.insertRow(at)
            now = values[name]
            low, high = (
                f"{float(value_of(end, values)):.6g}" if end is not None else f"{now * factor:.6g}"
                for end, factor in ((parameter.minimum, 0.5), (parameter.maximum, 1.5))
            )
            head = QTableWidgetItem(name)
            head.setFlags((head.flags() | Qt.ItemFlag.ItemIsUserCheckable) & ~Qt.ItemFlag.ItemIsEditable)
            head.setCheckState(Qt.CheckState.Unchecked)
            shown = QTableWidgetItem(f"{now:.6g}")
            shown.setFlags(shown.flags() & ~Qt.ItemFlag.ItemIsEditable)
            for column, item in enumerate((head, shown, QTableWidgetItem(low), QTableWidgetItem(high))):
                self.vary.setItem(at, column, item)
        chosen = self.along.currentData()
        self.along.clear()
        self.along.addItem("The rest pose", REST)
        self.along.addItem("A run of (s)", RUN)
        for coordinate in mech.coordinates:
            if coordinate.dimension == "angle":
                self.along.addItem(f"A turn of {coordinate.name}", coordinate.name)
        self.along.setCurrentIndex(max(0, self.along.findData(chosen)))
        if not self._applying:
            self._forget()
        if not own and self.kind.currentData() == PARAMETERS:
            self.note.say("The machine has no free parameter. Give lengths or springs names under Parameters.", "hint")

    def _machine_changed(self, old: State, new: State) -> None:
        if old.model is not new.model:
            self.saved.offer()
        if old.model is not new.model and not self._busy:
            before = [self.vary.item(k, 0).text() for k in range(self.vary.rowCount())]
            if before != list(self._session.mech.p_names):
                self._begin()
                return
            values = self._session.model.values()
            for k, name in enumerate(before):
                self.vary.item(k, 1).setText(f"{values[name]:.6g}")

    def _aim(self, name: str) -> Aim:
        """What stands here as a design of the document."""
        if self.kind.currentData() == CURVE:
            linkage = str(self.topology.currentData())
            return curve_aim(name, self.canvas.target, linkage, self._closes, self.timed.isChecked())
        texts = self.minimise.text(), self.require.text(), str(self.along.currentData()), self.duration.text()
        return parameter_aim(name, checked_rows(self.vary), *texts)

    def _show_aim(self, aim: Aim) -> None:
        """A design of the document."""
        self.kind.setCurrentIndex(self.kind.findData(CURVE if aim.kind == "curve" else PARAMETERS))
        self._forget()
        if aim.kind == "curve":
            self._show_curve_of(aim)
            return
        check_rows(self.vary, aim.vary)
        self.minimise.setText(aim.minimise)
        self.require.setText("; ".join(row.formula for row in aim.require))
        along = aim.coordinate if aim.over == "sweep" else aim.over
        self.along.setCurrentIndex(max(0, self.along.findData(along)))
        self.duration.setText(f"{aim.duration}")

    def _show_curve_of(self, aim: Aim) -> None:
        from core.design.asked_designs import asked_target

        self.topology.setCurrentIndex(max(0, self.topology.findData(aim.linkage)))
        self.closed.setChecked(aim.closed)
        self.timed.setChecked(aim.timed)
        self.points.clear()
        self.smooth.setText("0")
        self.in_view.forget_plane()
        self.canvas.show_curves(())
        try:
            self._show_target(asked_target(self._session.model, aim.name).points)
        except KinetostatError as error:
            self.note.say(str(error), "error")

    def _turned(self) -> None:
        self.pages.setCurrentIndex(self.kind.currentData())
        self.pictures.setCurrentIndex(self.kind.currentData())
        self._forget()
        target = self.canvas.target if self.kind.currentData() == CURVE else np.zeros((0, 2))
        self.in_view.show(target, self._closes)

    def _forget(self) -> None:
        """What was found is of another question."""
        self._untry()
        self.found, self.linkages = None, ()
        fill(self.results, [], [])
        self.chart.clear()
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

    # ---------------------------------------------------------------------------------------------- the curve

    def _drawn(self) -> None:
        self.points.clear()
        self.in_view.forget_plane()
        self._forget()
        self._show_target(self.canvas.target)

    def _drawn_in_view(self, drawn: Drawn) -> None:
        """A curve from the 3-D view, smoothed as it will be searched for."""
        self.kind.setCurrentIndex(self.kind.findData(CURVE))
        self.points.clear()
        self.closed.setChecked(drawn.closed)
        self._forget()
        self.canvas.show_curves(())
        self._show_target(drawn.points)
        try:
            self._smooth()
        except (KinetostatError, ValueError) as error:
            self.note.say(str(error), "error")
            return
        self.note.say(f"{len(drawn.points)} points were drawn. Search finds linkages that follow them.", "hint")

    def _show_target(self, points: Any, curves: Any = ()) -> None:
        """On the sheet and in the view."""
        self.canvas.show_target(points, self._closes)
        self.in_view.show(points, self._closes, curves)

    def _typed(self) -> None:
        self._take(self.points.text().replace(";", "\n"), ".csv", "points")

    def _read(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Points of a curve", "", "Points (*.csv *.txt *.svg)")
        if path:
            self.read(Path(path))

    def read(self, path: Path) -> None:
        """Points of a file."""
        from core.files.regular_file import content_of

        try:
            text = content_of(path).decode("utf-8", errors="replace")
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
        self.closed.setChecked(found.closed)
        self.smooth.setText("0")
        self._forget()
        self.canvas.show_curves(())
        self.in_view.forget_plane()
        self._show_target(found.points)

    @property
    def _closes(self) -> bool:
        return self.closed.isChecked()

    def _clear(self) -> None:
        self.points.clear()
        self.canvas.show_curves(())
        self.in_view.forget_plane()
        self._show_target(np.zeros((0, 2)))
        self._forget()

    # ---------------------------------------------------------------------------------------------- searching

    def search(self) -> None:
        """Begin, beside the window."""
        try:
            work = self._curve_work() if self.kind.currentData() == CURVE else self._parameter_work()
        except (KinetostatError, ValueError) as error:
            self.note.say(str(error), "error")
            return
        self._forget()
        self._stop.clear()
        self._pause.clear()
        self.pause_button.setChecked(False)
        self._busy = True
        self._enable()
        self.note.say("Searching …", "hint")
        job = self._jobs.start("Design", work)
        job.grown.connect(self._grown)
        job.succeeded.connect(self._succeeded)
        job.failed.connect(self._failed)
        job.ended.connect(self._ended)

    def _asked(self, cancelled: Any) -> bool:
        """Whether to stop; waits while paused (in the job's thread)."""
        while self._pause.is_set() and not self._stop.is_set() and not cancelled():
            time.sleep(0.05)
        time.sleep(0)
        return bool(self._stop.is_set() or cancelled())

    def _parameter_work(self) -> Any:
        vary = ", ".join(f"{name}={low}:{high}" for name, low, high in checked_rows(self.vary))
        along = self.along.currentData()
        sweep = along if along not in (REST, RUN) else ""
        duration = float(self.duration.text()) if along == RUN else None
        starts = int(self.starts.text())
        context = self._session.context()
        design = design_of(context, vary, self.minimise.text(), self.require.text(), sweep, duration)

        def work(progress: Any, cancelled: Any) -> Designed:
            def watch(start: int, parameters: Any, value: float) -> None:
                progress(start / starts, f"start {start + 1} of {starts}")
                progress.show((start, dict(parameters), value))

            return design.solve(starts, cancelled=lambda: self._asked(cancelled), watch=watch)

        return work

    def _smooth(self) -> Target:
        """The target by so many Fourier terms, shown."""
        from core.design.target_curves import target

        wanted = target(self.canvas.target, closed=self._closes)
        terms = int(self.smooth.text() or 0)
        if terms:
            wanted = wanted.smoothed(terms)
            self._show_target(wanted.points)
        return wanted

    def _curve_work(self) -> Any:
        from core.design.path_synthesis import synthesise

        wanted = self._smooth()
        if self.timed.isChecked():
            wanted = wanted.timed()
        name = str(self.topology.currentData())

        def work(progress: Any, cancelled: Any) -> tuple[Linkage, ...]:
            def tell(found: Any) -> None:
                progress.show(found)

            result = synthesise(wanted, name, count=8, stop=lambda: self._asked(cancelled), tell=tell)
            if not result:
                raise Cancelled
            return result

        return work

    def _grown(self, what: Any) -> None:
        """What is best so far, not more often than an eye follows."""
        if isinstance(what, tuple):
            start, parameters, value = what
            self.chart.add(start, value)
        if time.monotonic() - self._shown_at < LOOKED_EVERY:
            return
        self._shown_at = time.monotonic()
        if isinstance(what, tuple):
            self.note.say(f"Start {start + 1}: {value:.6g}", "hint")
            self._session.preview(parameters=parameters)
        elif what.best is not None:
            self.note.say(f"{TOPOLOGY_TITLES[what.topology]}: {what.relative:.3g} sizes of the curve away", "hint")
            self._show_curves([what.best.curve()])

    def _show_curves(self, curves: list[Any]) -> None:
        self.canvas.show_curves(curves)
        self.in_view.show(self.canvas.target, self._closes, curves[:1])

    def _succeeded(self, found: Any) -> None:
        self._session.cancel()
        if isinstance(found, tuple):
            self._show_linkages(found)
        else:
            self._show_designed(found)

    def _show_designed(self, found: Designed) -> None:
        self.found = found
        show_designed(self.results, found)
        self.results.selectRow(0)
        bounds = f" At a bound: {', '.join(found.best.at_bounds)}." if found.best.at_bounds else ""
        missed = f" Missed: {'; '.join(found.best.missed)}." if found.best.missed else ""
        words = f"{found.best.value:.6g} by {found.solver} ({found.reason}).{bounds}{missed}"
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

    def _ended(self) -> None:
        self._session.cancel()
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

    # ------------------------------------------------------------------------------------------------- results

    def _chosen(self) -> None:
        at = self.results.currentRow()
        self._enable()
        if at < 0:
            return
        if self.linkages:
            others = [each for k, each in enumerate(self.linkages[:CURVES]) if k != at]
            self._show_curves([self.linkages[at].curve(), *(each.curve() for each in others)])
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
        if self.found is not None and 0 <= at < len(self.found.table):
            self._session.preview(parameters=dict(self.found.table[at].parameters))
            self._session.commit("Design")
        elif 0 <= at < len(self.linkages):
            model = self.in_view.placed(self.linkages[at].model)
            self._applying = True  # the other results stay beside it
            try:
                self._session.apply("Linkage for a curve", lambda _: model, pose={})
            finally:
                self._applying = False


def make(bench: Workbench) -> DesignPanel:
    """For a window."""
    return DesignPanel(bench.session, bench.jobs, bench.stage)


PANEL = Panel(
    "design",
    "Design",
    BOTTOM,
    make,
    order=14,
    help="Parameters of the machine by which a formula is least, or a linkage of which a point follows a curve that is "
    "drawn, typed or read. Search shows the best so far; Stop keeps it; Try this shows a result, Apply takes it as one "
    "step that can be undone.",
    tab_with="output",
    also=("optimise", "path synthesis", "fit a curve"),
)
