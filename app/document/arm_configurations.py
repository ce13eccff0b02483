"""Configurations of the arm that moves a frame: all joint positions with the frame where it is now.

They are computed in a thread of their own while they are shown somewhere, and follow the machine: at once if that takes
little time, otherwise as soon as the machine rests. Until then the list says that it is old.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.background.signals import Signal
from app.document.frame_moves import JogAxes, find_frame_move, jogged_pose
from app.document.kept.companion import check_finite_number
from app.document.revision import DocumentState
from app.document.session import Session
from app.document.session_follower import SessionFollower
from core.analysis.tool_frame import tool_frame
from core.errors import KinetostatError
from core.functions.context import Cancelled
from core.later import dataclass
from core.mechanism import Mechanism
from core.mechanism.inverse_kinematics_results import InverseKinematics, Solution
from core.model import WORLD

Array = NDArray[np.float64]

REST = 1.0
"""Pause of the thread while the machine moves, as a multiple of its last computing time."""
QUICK = 0.12
"""Computing time, s, up to which the list follows a moving machine."""
STILL = 0.25
"""Time without movement, s, after which a slower list is computed."""
SAME = 1e-6
"""Difference of joints (rad, m), up to whole turns, below which a solution is the present position."""
SINGULAR_REACH = 0.1
"""Share of mobility below which the singular pose of an arm without named parts is looked for."""
FIRST_NAMES = frozenset({"front", "up", "left", "no flip", "+"})
"""Names that come first in the list, so that a configuration keeps its place while the machine moves."""


@dataclass(frozen=True)
class JogOptions:
    """Step sizes (m, rad) and axes of jogging."""

    length: float = 0.01
    angle: float = float(np.radians(5.0))
    axes: JogAxes = "base"


@dataclass(frozen=True, eq=False)
class ConfigurationsRequest:
    """Machine, frame and position whose configurations are wanted, with copies of all that the thread needs."""

    mech: Mechanism
    frame: str
    p: Mapping[str, float]
    q: Array
    t: float

    def is_same(self, other: ConfigurationsRequest | None) -> bool:
        """Return True if another request has the same answer."""
        return (
            other is not None
            and self.mech is other.mech
            and (self.frame, self.p, self.t) == (other.frame, other.p, other.t)
            and np.array_equal(self.q, other.q)
        )

    def find(self, step: Any = None) -> InverseKinematics:
        """Find all configurations with the frame where it is at q."""
        from core.analysis.arms.inverse_kinematics_call import find_solutions

        target = np.asarray(self.mech.frame(self.q, self.frame, p=self.p, t=self.t))
        found = find_solutions(self.mech, target, self.frame, q=self.q, p=self.p, t=self.t, step=step)
        assert isinstance(found, InverseKinematics)
        return found

    def nearest_singularity(self) -> str:
        """Describe the nearest singular pose of the frame; "" if none is near."""
        try:
            near = self.mech.singularities(self.q, self.frame, reach=SINGULAR_REACH, p=self.p)
        except KinetostatError:
            return ""
        return str(near.singularities[0]) if near.singularities else ""


@dataclass(frozen=True, eq=False)
class _Answer:
    request: ConfigurationsRequest
    found: InverseKinematics | None
    problem: str = ""
    singularity: str = ""


class ArmConfigurations(SessionFollower):
    """Configurations at the present position of a frame, the one under the pointer and the chosen one.

    `changed` is emitted when the list or its age changes, `marked` when another configuration is pointed at or chosen,
    `options_changed` when the frame or the display in the scene changes.
    """

    changed = Signal()
    marked = Signal()
    options_changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, "configurations", self._on_failed)
        self.frame_choice = ""
        """Frame chosen by the user; "" for the selected frame, or the tool."""
        self.shows_ghosts = True
        self.jog_options = JogOptions()
        self._solutions: tuple[Solution, ...] = ()
        self._names: tuple[str, ...] = ()
        self.found: InverseKinematics | None = None
        self.problem = ""
        self.singularity = ""
        """Name and distance of the nearest singular pose; "" if none is near."""
        self.pointed: int | None = None
        self.chosen: int | None = None
        self._asked: ConfigurationsRequest | None
        self._shown: ConfigurationsRequest | None = None
        self._answer: _Answer | None = None
        self._seconds = 0.0
        self._moved_at = self._rested = 0.0
        self._document = session.document
        self._life.listen(
            (session.moved, self._request),
            (session.changed, self._on_document_changed),
            (session.selected, self._on_selected),
        )

    # ----------------------------------------------------------------------------- the list

    def _on_wanted_changed(self) -> None:
        self.changed.emit()

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The configurations: named ones in a fixed order, others with the nearest first; none of another machine."""
        is_of_machine = self._shown is not None and self._shown.mech is self.session.mech
        return self._solutions if is_of_machine else ()

    @property
    def is_old(self) -> bool:
        """True if the list belongs to an earlier position of the machine."""
        return self._asked is not None and not self._asked.is_same(self._shown)

    @property
    def frame(self) -> str:
        """Name of the frame whose configurations are listed."""
        session = self.session
        names = session.mech.frame_names
        if self.frame_choice in names:
            return self.frame_choice
        ref = session.selection
        if ref is not None and ref.collection == "frames" and ref.name in names:
            return ref.name
        return tool_frame(session.model)

    @property
    def can_move(self) -> bool:
        """True if joints move the frame."""
        return not self.problem and self.frame in self.session.mech.frame_names and self.frame != WORLD

    def choose_frame(self, frame: str) -> None:
        """Choose the frame; "" for the selected frame, or the tool."""
        self.frame_choice = frame
        self._request()
        self.options_changed.emit()

    def show_ghosts(self, on: bool) -> None:
        """Show or hide the configurations in the scene."""
        self.shows_ghosts = on
        self.options_changed.emit()

    @property
    def present(self) -> int | None:
        """Index of the configuration in which the machine is; None if it is not in the list."""
        if self.is_old:
            return None
        q = self.session.q
        turns = [c.dimension == "angle" for c in self.session.mech.coordinates]
        for k, each in enumerate(self.solutions):
            away = each.q - q
            away = np.where(turns, np.abs((away + np.pi) % (2.0 * np.pi) - np.pi), np.abs(away))
            if np.max(away, initial=0.0) < SAME:
                return k
        return None

    @property
    def highlighted(self) -> int | None:
        """Index of the configuration to be emphasised: the one under the pointer, or else the chosen one."""
        return self.chosen if self.pointed is None else self.pointed

    def name_of(self, index: int) -> str:
        """Return the name of a configuration; its number if it has no name."""
        return self._names[index]

    # ----------------------------------------------------------------------------- verbs

    def point_at(self, index: int | None) -> None:
        """Emphasise a configuration while the pointer is on it (None: none)."""
        if index != self.pointed:
            self.pointed = index
            self.marked.emit()

    def choose(self, index: int | None) -> None:
        """Choose a configuration, which stays emphasised (None: none)."""
        if index != self.chosen:
            self.chosen = index
            self.marked.emit()

    def take(self, index: int) -> None:
        """Move the machine to a configuration, as one undo step."""
        session = self.session
        if self.is_old:
            session.message.emit("hint", "The machine has moved since the configurations were computed.")
            return
        each = self.solutions[index]
        name = self.name_of(index)
        self.choose(index)
        session.pose(f"Take {name}", each.q)
        if each.violations:
            beyond = ", ".join(violation.joint for violation in each.violations)
            session.message.emit("warning", f"In this configuration {beyond} is beyond its limits.")

    def move_frame(self, target: Array, label: str) -> str:
        """Move the frame to a pose (4, 4) as one undo step; return the reason if this is impossible."""
        found = find_frame_move(self.session, self.frame, target)
        if found.q is not None:
            self.session.pose(label, found.q)
        return found.problem

    def jog(self, direction: int, sign: float) -> str:
        """Preview the frame one step farther along or about an axis; return the reason if this is impossible."""
        session, frame = self.session, self.frame
        X = np.asarray(session.mech.frame(session.q, frame, p=session.p, t=session.t))
        step = self.jog_options.length if direction < 3 else self.jog_options.angle
        found = find_frame_move(session, frame, jogged_pose(X, direction, sign * step, self.jog_options.axes))
        if found.q is not None:
            session.preview(q=found.q)
        return found.problem

    def end_jog(self) -> None:
        """Make the steps since the last call one undo step."""
        self.session.commit(f"Jog {self.frame}")

    def set_jog_options(self, options: JogOptions) -> None:
        """Set step sizes and axes of jogging."""
        self.jog_options = options
        self.options_changed.emit()

    # ----------------------------------------------------------------------------- as plain data

    def options_section(self) -> dict[str, Any]:
        """Return the options as plain data, which are saved with the machine."""
        jog = self.jog_options
        return {
            "frame": self.frame_choice,
            "ghosts": self.shows_ghosts,
            "jog": {"length": jog.length, "angle": jog.angle, "axes": jog.axes},
        }

    def restore_options(self, section: Mapping[str, Any]) -> None:
        """Restore options from plain data. Raises ValueError, KeyError or TypeError if they are
        invalid."""
        frame, jog = str(section["frame"]), section["jog"]
        length, angle = check_finite_number(jog["length"]), check_finite_number(jog["angle"])
        if min(length, angle) <= 0.0:
            raise ValueError("a step is not positive")
        self.jog_options = JogOptions(length, angle, "tool" if jog["axes"] == "tool" else "base")
        self.frame_choice = frame if frame in self.session.mech.frame_names else ""
        self.shows_ghosts = section["ghosts"] is True
        self._request()
        self.options_changed.emit()

    # ----------------------------------------------------------------------------- following

    def _on_document_changed(self, _old: DocumentState, _new: DocumentState) -> None:
        if self._shown is not None and self._shown.mech is not self.session.mech:
            self._show(None)
        if self._document != self.session.document:
            self._document = self.session.document
            self.frame_choice, self.shows_ghosts, self.jog_options = "", True, JogOptions()
            self._seconds = 0.0
            self.options_changed.emit()
        self._request()

    def _on_selected(self, _ref: object) -> None:
        self._request()

    def _request(self) -> None:
        """Request the list for the present position."""
        if not self._users:
            self._asked = None
            return
        session = self.session
        asked = ConfigurationsRequest(session.mech, self.frame, dict(session.p), np.array(session.q), session.t)
        if asked.is_same(self._asked):
            return
        was_old = self.is_old
        self._asked, self._moved_at = asked, time.monotonic()
        if self._shown is not None and (self._shown.mech is not asked.mech or self._shown.frame != asked.frame):
            self._show(None)
        elif not (was_old and self.is_old):
            self.changed.emit()
        self._start_pending_request()
        self._timer.start()

    def _start_pending_request(self) -> None:
        asked, now = self._asked, time.monotonic()
        may = now >= self._rested and (self._seconds <= QUICK or now - self._moved_at >= STILL)
        if asked is not None and may and not self._worker.is_busy:
            self._worker.submit(lambda: self._compute(asked))

    def _compute(self, request: ConfigurationsRequest) -> None:
        """Compute the list (in the thread)."""
        begun = time.monotonic()

        def stop_if_old(_done: int, _total: int) -> None:
            if self._asked is not request:
                raise Cancelled

        try:
            found = request.find(stop_if_old)
            self._answer = _Answer(request, found, singularity=request.nearest_singularity())
        except Cancelled:
            pass
        except KinetostatError as error:
            self._answer = _Answer(request, None, str(error))
        finally:
            now = time.monotonic()
            self._seconds = now - begun
            self._rested = now + min(REST * self._seconds, STILL)

    def _on_failed(self, error: Exception) -> None:
        """Show an unexpected error in place of the list (called in the thread)."""
        asked = self._asked
        if asked is not None:
            self._answer = _Answer(asked, None, f"The configurations could not be computed: {error}")

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
        chosen = dict(enumerate(self._names)).get(self.chosen, "") if self.chosen is not None else ""
        self.found = answer.found if answer is not None else None
        self.problem = answer.problem if answer is not None else ""
        self.singularity = answer.singularity if answer is not None else ""
        self._shown = answer.request if answer is not None else None
        self._solutions = tuple(sorted(self.found.solutions, key=_place_in_list)) if self.found is not None else ()
        self._names = tuple(_name(each, k) for k, each in enumerate(self._solutions))
        self.chosen = self._names.index(chosen) if chosen in self._names else None
        if self.pointed is not None and self.pointed >= len(self._names):
            self.pointed = None
        self.changed.emit()


def _name(found: Solution, index: int) -> str:
    return str(found.configuration) if found.configuration is not None else f"solution {index + 1}"


def _place_in_list(found: Solution) -> tuple[bool, ...]:
    """Key of a solution's place in the list; the same for all that have no names, so that these keep their order."""
    parts = found.configuration.parts if found.configuration is not None else ()
    return tuple(name not in FIRST_NAMES for _, name in parts)


def arm_configurations_of(session: Session) -> ArmConfigurations:
    """Return the configurations of a session's arm, created on first use."""
    return ArmConfigurations.of_session(session)
