"""The motion that is shown: its trajectory, planned in a thread of its own, the chosen point, and the verbs that store
poses and change motions.

The trajectory follows the document and the parameters while it is shown somewhere; until a new one is there, the list
of points says that the one shown is old.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.background.signals import Signal
from app.document.revision import DocumentState, ElementRef
from app.document.session import Session
from app.document.session_follower import SessionFollower
from core.errors import KinetostatError
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model
from core.model.motions import Motion
from core.motions import keyframes
from core.simulation.run.run import Run

if TYPE_CHECKING:
    from app.document.run_tree import RunRecord
    from core.motions.trajectory import Trajectory

Array = NDArray[np.float64]

FINEST, SAMPLES = 0.01, 400
"""Largest time (s) between samples of a run, and the least number of samples of it."""


class PlannedMotion(NamedTuple):
    """A trajectory with its samples. run : with joint forces; jerk : (N, nv); tool : (N, 3) m, world; points : (K,) s,
    times of the points of the motion, from its start; places : (K, 3) m, of the tool at these; laws : of moving
    segments"""

    trajectory: Trajectory
    run: Run
    jerk: Array
    tool: Array
    points: Array
    places: Array
    laws: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """Machine, motion and parameter values, with copies of all that the thread needs."""

    mech: Mechanism
    model: Model
    motion: Motion
    p: Mapping[str, float]

    def is_same(self, other: PlanRequest | None) -> bool:
        """Return True if another request has the same answer."""
        return (
            other is not None
            and self.mech is other.mech
            and self.motion == other.motion
            and self.p == other.p
            and self.model.poses == other.model.poses
            and self.model.targets == other.model.targets
        )

    def compute(self) -> PlannedMotion:
        """Plan the motion and sample it."""
        from core.motions.plan import plan

        mech = self.mech if self.mech.model is self.model else self.mech.updated(self.model)
        trajectory = plan(mech, self.motion, p=self.p)
        step = min(FINEST, max(trajectory.duration, 1e-3) / SAMPLES)
        run = trajectory.run(step)
        points = np.array([0.0, *(piece.start + piece.law.duration for piece in trajectory.pieces)])
        own = trajectory.mech
        tool = np.asarray(own.frame(run.q, trajectory.frame))[:, :3, 3]
        places = np.asarray(own.frame(trajectory.at(points)[0], trajectory.frame))[:, :3, 3]
        laws = tuple(each.law for each in self.motion.segments if each.to)
        run = replace(run, mech=self.mech)
        return PlannedMotion(trajectory, run, trajectory.jerk(run.time), tool, points, places, laws)


@dataclass(frozen=True, eq=False)
class _Answer:
    request: PlanRequest
    planned: PlannedMotion | None
    problem: str = ""


class MotionPlans(SessionFollower):
    """The shown motion of a session and its plan.

    `changed` is emitted when another motion is shown, or its plan changes; `marked` when another point is chosen.
    """

    changed = Signal()
    marked = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, "motions", self._on_failed)
        self._name = ""
        self.chosen: int | None = None
        """Chosen point of the motion, from 0, its start."""
        self.planned: PlannedMotion | None = None
        self.problem = ""
        self._trial: Model | None = None
        """Model of a way point that is being dragged."""
        self._asked: PlanRequest | None
        self._shown: PlanRequest | None = None
        self._answer: _Answer | None = None
        self._then: list[Callable[[], object]] = []
        self._records: dict[str, RunRecord] = {}
        self._document = session.document
        self._life.listen(
            (session.changed, self._on_document_changed),
            (session.moved, self._request),
            (session.selected, self._on_selected),
        )

    # ----------------------------------------------------------------------------- reading

    @property
    def motion(self) -> Motion | None:
        """The motion that is shown; None if the document has none."""
        motions = self.session.model.motions
        return next((each for each in motions if each.name == self._name), motions[0] if motions else None)

    @property
    def frame(self) -> str:
        """The tool of the motion that is shown."""
        from core.analysis.tool_frame import tool_frame

        motion = self.motion
        return (motion.frame if motion is not None else "") or tool_frame(self.session.model)

    @property
    def is_old(self) -> bool:
        """True if the plan belongs to an earlier state of the document."""
        return self._asked is not None and not self._asked.is_same(self._shown)

    def _on_wanted_changed(self) -> None:
        self.changed.emit()

    # ----------------------------------------------------------------------------- choosing

    def show_motion(self, name: str) -> None:
        """Show a motion."""
        if name != self._name:
            self._name, self.chosen = name, None
            self._request()
            self.changed.emit()

    def choose_point(self, point: int | None) -> None:
        """Choose a point of the motion (None: none)."""
        if point != self.chosen:
            self.chosen = point
            self.marked.emit()

    def go_to_place(self, place: str) -> None:
        """Move the machine to a pose or target, as one undo step."""
        from core.motions.plan import place_position

        session = self.session
        try:
            q = place_position(session.mech, place, session.q, self.frame, session.p)
        except KinetostatError as error:
            session.message.emit("error", str(error))
            return
        session.pose(f"Go to {place}", q)

    # ----------------------------------------------------------------------------- verbs

    def store_pose(self) -> str:
        """Store the present pose; while a motion is shown, it also leads there, after the chosen point or at its end.
        Return the name of the pose."""
        session, motion = self.session, self.motion if self.is_wanted else None
        made, name = keyframes.store_pose(session.model, session.mech, session.q)
        at = self.chosen
        if motion is not None:
            made = keyframes.insert_point(made, motion.name, name, at)
        where = f" in {motion.name}" if motion is not None else ""
        if not session.apply(f"Store pose {name}{where}", lambda _model: made):
            return ""
        if motion is not None and at is not None:
            self.choose_point(at + 1)
        return name

    def add_motion(self) -> None:
        """Add a motion through all poses and targets, as one undo step, and show it."""
        session = self.session
        try:
            made, name = keyframes.add_motion(session.model, session.mech)
        except KinetostatError as error:
            session.message.emit("hint", str(error))
            return
        if session.apply(f"Add motion {name}", lambda _model: made, select=ElementRef("motions", name)):
            self.show_motion(name)

    def change(self, label: str, edit: Callable[[Model, str], Model]) -> bool:
        """Change the motion that is shown by `edit(model, name)`, as one undo step."""
        motion = self.motion
        if motion is None:
            return False
        return self.session.apply(label, lambda model: edit(model, motion.name))

    def overwrite_place(self, place: str) -> None:
        """Overwrite a pose or target with the present pose, as one undo step."""
        session = self.session
        q, frame = session.q.copy(), self.frame
        session.apply(
            f"Overwrite {place}", lambda model: keyframes.overwrite_place(model, session.mech, place, q, frame)
        )

    def try_model(self, model: Model | None) -> None:
        """Plan the motion of another model while a way point is dragged (None: that of the document)."""
        self._trial = model
        self._request()

    def when_planned(self, callback: Callable[[], object]) -> None:
        """Call a function once the plan is that of the document: at once if it is."""
        if self.planned is not None and not self.is_old:
            callback()
        else:
            self._then.append(callback)
            self._request()

    def show_run(self) -> bool:
        """Make the planned motion the current run; returns False without a plan."""
        motion = self.motion
        if self.planned is None or motion is None:
            return False
        runs, title = self.session.runs, f"Motion '{motion.name}'"
        record = self._records.get(motion.name)
        if record is None or record not in runs.items:
            self._records[motion.name] = runs.add(self.planned.run, title)
        else:
            if record.run is not self.planned.run:
                runs.replace(record, self.planned.run)
            runs.select(record)
        return True

    @property
    def record(self) -> RunRecord | None:
        """The run of the motion in the list of runs; None if it is not there."""
        record = self._records.get(self.motion.name) if self.motion is not None else None
        return record if record in self.session.runs.items else None

    # ----------------------------------------------------------------------------- following

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        self._trial = None
        if self._document != self.session.document:
            self._document = self.session.document
            self._name, self.chosen = "", None
            self._records.clear()
            self._show(None)
        elif old.model is not new.model:
            self._follow_rename(old.model, new.model)
        motion = self.motion
        if self.chosen is not None and (motion is None or self.chosen > len(motion.segments)):
            self.choose_point(None)
        self._request()
        if old.model is not new.model:
            self.changed.emit()

    def _follow_rename(self, old: Model, new: Model) -> None:
        names = [each.name for each in new.motions]
        before = [each.name for each in old.motions]
        if self._name in before and self._name not in names and len(names) == len(before):
            self._name = names[before.index(self._name)]

    def _on_selected(self, ref: ElementRef | None) -> None:
        if ref is not None and ref.collection == "motions":
            self.show_motion(ref.name)

    def _request(self) -> None:
        """Request the plan of the present motion."""
        motion = self.motion
        if not (self._users or self._then) or motion is None:
            self._asked = None
            if motion is None and self._shown is not None:
                self._show(None)
            return
        session = self.session
        model = self._trial or session.model
        asked = PlanRequest(session.mech, model, model.find("motions", motion.name), dict(session.edited_parameters))
        if asked.is_same(self._asked):
            return
        self._asked = asked
        self._start_pending_request()
        self._timer.start()

    def _start_pending_request(self) -> None:
        asked = self._asked
        if asked is not None and not self._worker.is_busy:
            self._worker.submit(lambda: self._compute(asked))

    def _compute(self, request: PlanRequest) -> None:
        """Plan the motion (in the thread)."""
        try:
            self._answer = _Answer(request, request.compute())
        except KinetostatError as error:
            self._answer = _Answer(request, None, str(error))

    def _on_failed(self, error: Exception) -> None:
        """Show an unexpected error in place of the plan (called in the thread)."""
        asked = self._asked
        if asked is not None:
            self._answer = _Answer(asked, None, f"The motion could not be planned: {error}")

    def _check_thread(self) -> None:
        answer, self._answer = self._answer, None
        asked = self._asked
        if answer is not None and asked is not None and answer.request.mech is asked.mech:
            self._show(answer)
        if asked is None or not self.is_old:
            self._timer.stop()
        else:
            self._start_pending_request()

    def _show(self, answer: _Answer | None) -> None:
        self.planned = answer.planned if answer is not None else None
        self.problem = answer.problem if answer is not None else ""
        self._shown = answer.request if answer is not None else None
        record = self.record
        if self.planned is not None and record is not None and self._trial is None:
            self.session.runs.replace(record, self.planned.run)
        self.changed.emit()
        if answer is not None and not self.is_old:
            then, self._then = self._then, []
            if self.planned is not None:
                for callback in then:
                    callback()


def motion_plans_of(session: Session) -> MotionPlans:
    """Return the motions of a session, created on first use."""
    return MotionPlans.of_session(session)
