"""State of the selected element: its pose, motion and forces as the machine is shown, held in a position or in a run.

The numbers are computed in a thread of their own while they are shown somewhere, and follow every movement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.background.signals import Signal
from app.document.revision import DocumentState, ElementRef
from app.document.session import Session
from app.document.session_follower import SessionFollower
from core.errors import KinetostatError
from core.functions.text import format_number
from core.later import dataclass
from core.mechanism import Mechanism
from core.simulation.run.run import Run

if TYPE_CHECKING:
    from core.simulation.run.element_values import ElementValues, Moment

Array = NDArray[np.float64]
Axes = Literal["world", "own"]
Orientation = Literal["matrix", "angles", "quaternion"]
ORIENTATIONS: tuple[Orientation, ...] = ("matrix", "angles", "quaternion")
COLLECTIONS = frozenset({"bodies", "frames", "joints", "forces", "sensors", "drivers", "constraints"})
"""Collections whose elements have a state."""


@dataclass(frozen=True)
class StateOptions:
    """Axes in which vectors are given, and form in which orientations are."""

    axes: Axes = "world"
    orientation: Orientation = "matrix"


@dataclass(frozen=True, eq=False)
class _Request:
    """Element and moment whose values are wanted, with copies of all that the thread needs. run : None for the machine
    as it is held"""

    ref: ElementRef
    mech: Mechanism
    q: Array
    p: Mapping[str, float]
    run: Run | None
    time: float

    def compute(self) -> ElementValues:
        return self._moment().values_of(self.ref.collection, self.ref.name)

    def _moment(self) -> Moment:
        from core.simulation.run.element_values import moment_held, moment_of_run

        if self.run is not None:
            return moment_of_run(self.run, self.time)
        return moment_held(self.mech, self.q, self.p, self.time)


@dataclass(frozen=True, eq=False)
class _Answer:
    request: _Request
    values: ElementValues | None
    problem: str = ""


class ElementState(SessionFollower):
    """Values of the selected element. `changed` is emitted when they change, `options_changed` when their display does.

    values : None while they are computed for the first time, or if there is a `problem`
    """

    changed = Signal()
    options_changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, "element state", self._on_failed)
        self.options = StateOptions()
        self.values: ElementValues | None = None
        self.problem = ""
        self._shown: _Request | None = None
        self._asked: _Request | None
        self._answer: _Answer | None = None
        self._document = session.document
        self._life.listen(
            (session.moved, self._request),
            (session.runs.moved, self._request),
            (session.runs.changed, self._request),
            (session.changed, self._on_document_changed),
            (session.selected, self._request),
        )

    # ----------------------------------------------------------------------------- asking

    @property
    def ref(self) -> ElementRef | None:
        """The selected element, if it has a state."""
        ref = self.session.selection
        return ref if ref is not None and ref.collection in COLLECTIONS else None

    @property
    def is_old(self) -> bool:
        """True while newer values are being computed."""
        return self._asked is not self._shown

    @property
    def moment(self) -> str:
        """Description of the moment to which the values belong."""
        shown = self._shown
        if shown is None:
            return ""
        if shown.run is None:
            return "Held in this pose" if not shown.mech.model.drivers else "Held, or driven, in this pose"
        record = next((each for each in self.session.runs.items if each.run is shown.run), None)
        return f"{record.name if record is not None else 'Run'}, t = {format_number(shown.time)} s"

    def set_options(self, options: StateOptions) -> None:
        """Choose axes and the form of orientations."""
        self.options = options
        self.options_changed.emit()

    # ----------------------------------------------------------------------------- as plain data

    def options_section(self) -> dict[str, Any]:
        """Return the options as plain data, which are saved with the machine."""
        return {"axes": self.options.axes, "orientation": self.options.orientation}

    def restore_options(self, section: Mapping[str, Any]) -> None:
        """Restore options from plain data. Raises ValueError, KeyError or TypeError if they are invalid."""
        orientation = next((each for each in ORIENTATIONS if each == section["orientation"]), None)
        if orientation is None:
            raise ValueError("unknown form of orientations")
        self.set_options(StateOptions("own" if section["axes"] == "own" else "world", orientation))

    # ----------------------------------------------------------------------------- following

    def _on_document_changed(self, _old: DocumentState, _new: DocumentState) -> None:
        if self._document != self.session.document:
            self._document = self.session.document
            self.set_options(StateOptions())
        self._request()

    def _request(self, *_: object) -> None:
        """Request the values of the selected element at the present moment."""
        ref = self.ref
        if not self._users or ref is None:
            self._asked = None
            if self._shown is not None:
                self._show(None)
            return
        session = self.session
        record = session.runs.current if session.shows_run_pose and not session.has_preview else None
        run = record.run if record is not None else None
        asked = _Request(ref, session.mech, np.array(session.q), dict(session.p), run, session.t)
        self._asked = asked
        if self._shown is not None and self._shown.ref != ref:
            self._show(None)
        self._worker.submit(lambda: self._compute(asked), key="values")
        self._timer.start()

    def _compute(self, request: _Request) -> None:
        """Compute the values (in the thread)."""
        try:
            self._answer = _Answer(request, request.compute())
        except KinetostatError as error:
            self._answer = _Answer(request, None, str(error))

    def _on_failed(self, error: Exception) -> None:
        """Show an unexpected error in place of the values (called in the thread)."""
        asked = self._asked
        if asked is not None:
            self._answer = _Answer(asked, None, f"The state could not be computed: {error}")

    def _check_thread(self) -> None:
        answer, self._answer = self._answer, None
        asked = self._asked
        if answer is not None and asked is not None and answer.request.ref == asked.ref:
            self._show(answer)
        if asked is None or asked is self._shown:
            self._timer.stop()

    def _show(self, answer: _Answer | None) -> None:
        self.values = answer.values if answer is not None else None
        self.problem = answer.problem if answer is not None else ""
        self._shown = answer.request if answer is not None else None
        self.changed.emit()


def element_state_of(session: Session) -> ElementState:
    """Return the state of a session's selected element, created on first use."""
    return ElementState.of_session(session)
