"""The derivation replay: steps from frames to equations of motion, each with explanation, formula, numbers and
picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.background.guard import Guard
from app.background.jobs import Job, Jobs
from app.background.signals import Lifetime
from app.document.revision import DocumentState
from app.panels.derivation.derivation_scene import DerivationScene
from app.plain_text import escape_tip
from app.widgets.label import Label
from app.widgets.plain_keys import PlainKeyFilter
from core.errors import KinetostatError
from core.functions import FUNCTIONS, Context

if TYPE_CHECKING:
    from app.panels.derivation.page import DerivationPage
    from app.viewport.stage import Stage
    from app.workbench import Workbench
    from core.functions.results import Formulas
    from core.symbolic.derivation import DerivationStep
    from core.symbolic.robot import Robot

EMPTY = (
    "Derivation of the equations of motion of this machine, step by step: frames, A matrices, "
    "forward kinematics, the Jacobian column by column, energies, M, C and G – each with its "
    "formula, its numbers at the pose and its picture."
)
FAST, SLOW = 20, 300
"""Delays after a movement until the numbers of short and of long formulas are updated, ms."""
LONG = 12_000
"""Number of operations above which a formula counts as long."""


class DerivationPanel(QWidget):
    """List of the steps on the left and the selected step on the right; formulas are derived in the background."""

    help_wanted = Signal(str)
    changed = Signal()
    """Emitted when the replay begins or ends."""

    def __init__(self, view: Stage, jobs: Jobs) -> None:
        super().__init__()
        self._view, self._session, self._jobs = view, view.session, jobs
        self._guard = Guard(self._session.message.emit)
        self.scene = DerivationScene(view)
        self.robot: Robot | None = None
        self.steps: tuple[DerivationStep, ...] = ()
        self._known: dict[int, Formulas | None] = {}
        self._job: Job | None = None
        self._build()
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self.refresh)
        self._life = Lifetime()
        self._life.listen(
            (self._session.changed, self._on_document_changed),
            (self._session.moved, self._on_pose_changed),
        )

    def close(self) -> None:
        """Disconnect from all signals."""
        self.end()
        self._life.close()

    # ----------------------------------------------------------------------------- building

    def _build(self) -> None:
        self.list = QListWidget()
        self.list.setMinimumWidth(120)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # long titles end in "…"
        self.list.currentRowChanged.connect(self._on_chosen)
        self.list.installEventFilter(self)
        PlainKeyFilter(self.list, typing=False)
        self._split = QSplitter()
        self._split.addWidget(self.list)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._build_placeholder())
        self._stack.addWidget(self._split)

    @cached_property
    def page(self) -> DerivationPage:
        """Return the page of the selected step; it is created with the first replay because typesetting and 3-D
        pictures load slowly."""
        from app.panels.derivation.page import DerivationPage

        page = DerivationPage(self._session)
        page.back.clicked.connect(lambda: self.step(-1))
        page.forward.clicked.connect(lambda: self.step(1))
        page.symbols.activated.connect(lambda _: self.begin(restart=True))
        page.close_.clicked.connect(self.end)
        page.stop.clicked.connect(self._on_stopped)
        self._split.addWidget(page)
        self._split.setSizes([170, 700])
        self._split.setStretchFactor(1, 1)
        self._split.setChildrenCollapsible(False)
        return page

    def _build_placeholder(self) -> QWidget:
        page = QWidget()
        self._reason = Label(EMPTY)
        self._reason.setWordWrap(True)
        self._reason.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._reason.setProperty("muted", True)
        self.start = QPushButton("Start")
        self.start.clicked.connect(lambda: self.begin())
        column = QVBoxLayout(page)
        column.addStretch(1)
        column.addWidget(self._reason)
        column.addWidget(self.start, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(1)
        return page

    # ----------------------------------------------------------------------------- beginning and ending

    @property
    def is_open(self) -> bool:
        """True while a replay is open."""
        return self.robot is not None

    def context(self) -> Context:
        """Return the machine as currently shown."""
        return self._session.context()

    def begin(self, *, restart: bool = False) -> None:
        """Open the replay at its first step (restart: keep the current step); report the reason if the machine has no
        derivation."""
        if self.is_open and not restart:
            self.list.setFocus()
            return
        row = max(self.list.currentRow(), 0) if restart else 0
        self.end()
        context = self.context()
        reason = FUNCTIONS["derivation"].unavailability_reason(context)
        if not reason:
            from core.functions.subjects.robot_formulas import symbolic_robot

            try:
                self.robot = symbolic_robot(context, "", str(self.page.symbols.currentData()), True)
            except KinetostatError as error:
                reason = str(error)
        if self.robot is None:
            self._reason.setText(reason)
            return
        from core.symbolic.derivation import derivation_steps

        self.steps = derivation_steps(self.robot)
        self._fill_step_list()
        self.scene.measure_machine()
        self._view.viewpoint.move_back_to_fit()
        self._stack.setCurrentIndex(1)
        self.list.setCurrentRow(min(row, len(self.steps) - 1))
        self.list.setFocus()
        self.changed.emit()

    def end(self) -> None:
        """Close the replay and remove its pictures from the scene."""
        self._cancel()
        was, self.robot = self.is_open, None
        self._known.clear()
        if was:
            self.page.show_formula(None)
        self._reason.setText(EMPTY)
        self._stack.setCurrentIndex(0)
        if was:
            self.scene.show_picture(None)
            self.changed.emit()

    def _fill_step_list(self) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        self.list.scrollToTop()  # else rows of the robot before stay scrolled away
        for step in self.steps:
            item = QListWidgetItem(step.title, self.list)
            item.setToolTip(escape_tip(f"{step.part}: {step.text}"))
        self.list.setCurrentRow(-1)
        self.list.blockSignals(False)

    # ----------------------------------------------------------------------------- stepping

    @property
    def current_step(self) -> DerivationStep | None:
        """Return the step being shown."""
        row = self.list.currentRow()
        return self.steps[row] if self.is_open and 0 <= row < len(self.steps) else None

    def step(self, direction: int) -> None:
        """Go to the next or previous step."""
        if self.is_open:
            self.list.setCurrentRow(min(max(self.list.currentRow() + direction, 0), len(self.steps) - 1))

    def _on_chosen(self, row: int) -> None:
        step = self.current_step
        if step is None:
            return
        self._cancel()
        self.page.show_step(step, row, len(self.steps))
        self.refresh()
        if not step.what:
            from core.functions.subjects.derivation import frame_assignment_tables

            assert self.robot is not None
            self.page.show_tables(frame_assignment_tables(self.context(), self.robot), self._view.settings)
            return
        if row in self._known:
            self._on_derived(row, self._known[row])
        else:
            self._derive(row)

    def _derive(self, row: int) -> None:
        """Derive a step's formula in the background."""
        robot, step = self.robot, self.steps[row]

        def work(progress: Callable[..., None], cancelled: Callable[[], bool]) -> Formulas | None:
            from core.functions.subjects.derivation import step_formulas

            assert robot is not None
            robot.chain.watch = lambda: _raise_if_cancelled(cancelled)
            return step_formulas(robot, step)

        job = self._job = self._jobs.start(f"Derivation: {step.title}", work)
        self.page.waiting.show()
        job.succeeded.connect(lambda formula: self._on_derived(row, formula) if self._job is job else None)
        job.failed.connect(self._guard.report)
        job.ended.connect(lambda: self._on_ended(job))

    def _on_ended(self, job: Job) -> None:
        if self._job is job:
            self._job = None
            self.page.waiting.hide()

    def _cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._job = None
            self.page.waiting.hide()

    def _on_stopped(self) -> None:
        self._cancel()
        self.page.show_text("Stopped. Choose the step again to derive it.")

    def _on_derived(self, row: int, formula: Formulas | None) -> None:
        self._known[row] = formula
        if row == self.list.currentRow():
            self.page.show_formula(formula)
            self.refresh()

    # ----------------------------------------------------------------------------- following the pose

    def refresh(self) -> None:
        """Update numbers and picture for the current pose."""
        step = self.current_step
        if step is None or self.robot is None:
            return
        from app.panels.derivation.derivation_scene import legend_text
        from core.functions.text import without_rounding_errors
        from core.symbolic.derivation import build_picture, evaluate_step, symbol_values_at

        session = self._session
        try:
            shown_picture = build_picture(self.robot, session.mech, step, session.q, session.p)
        except KinetostatError:
            return
        self.page.legend.setText(legend_text(shown_picture))
        self.scene.show_picture(shown_picture if self._seen else None)
        if self.page.part is not None:
            values = symbol_values_at(self.robot, session.q, session.p)
            shown_numbers = without_rounding_errors(evaluate_step(self.robot, step, values))
            self.page.show_numbers(shown_numbers, moving=step.what in ("K", "Ki", "C", "tau"))

    def _on_pose_changed(self) -> None:
        if self.is_open and self._seen and not self._later.isActive():
            part = self.page.part
            long = part is not None and sum(cell.operations for cell in part.view.grid.all_cells) > LONG
            self._later.start(SLOW if long else FAST)

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is new.model:
            return
        if self.is_open and len(old.model.expanded.joints) == len(new.model.expanded.joints):
            self.begin(restart=True)
        else:
            self.end()

    def set_in_front(self, in_front: bool) -> None:
        """Tell the panel whether it is in front; its picture is in the scene only while it is."""
        self._seen = in_front
        self.refresh()

    _seen = True

    # ----------------------------------------------------------------------------- keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Change the step with Left and Right in the list; open the help with F1."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            directions = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Space: 1}
            if event.key() in directions and not event.modifiers():
                self.step(directions[Qt.Key(event.key())])
                return True
            if event.key() == Qt.Key.Key_F1:
                self.help_wanted.emit("derivation")
                return True
        return super().eventFilter(watched, event)


def _raise_if_cancelled(cancelled: Callable[[], bool]) -> None:
    from core.functions.context import Cancelled

    if cancelled():
        raise Cancelled


def create_panel(bench: Workbench) -> DerivationPanel:
    """Create the derivation panel of a window."""
    panel = DerivationPanel(bench.stage, bench.jobs)
    panel.help_wanted.connect(lambda topic: bench.dialogs.open_help(topic))
    return panel
