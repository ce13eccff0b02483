"""Shows the pose of the current run at the playhead in the session, without an undo step. Independent of Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.background.signals import Lifetime
from core.functions.text import format_number

if TYPE_CHECKING:
    from app.document.revision import DocumentState
    from app.document.session import Session
    from core.simulation.run.run import Run

Array = NDArray[np.float64]


class RunPoseFollower:
    """Connects the playhead of `session.runs` to the pose that the session shows."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told_about: object = None
        self._life = Lifetime()
        self._life.listen((session.runs.moved, self._on_playhead_moved), (session.changed, self._on_document_changed))

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _on_playhead_moved(self, time: float) -> None:
        session = self._session
        record = session.runs.current
        if record is None:
            session.show_run_pose(None)
            return
        self._report_changed_model(record.run)
        q = session.runs.pose_at_playhead
        assert q is not None
        states = dict(zip(record.run.mech.x_names, record.run.states_at(time).tolist(), strict=False))
        words = f"t = {format_number(time)} s of {record.name}"
        session.show_run_pose(
            match_coordinates_by_name(session, record.run, q), shared_parameters(session, record.run), states, words
        )

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model:
            self._told_about = None

    def _report_changed_model(self, run: Run) -> None:
        """Report once per run that the machine has changed since the run."""
        session = self._session
        if run.mech.q_names == session.mech.q_names or self._told_about is run.settings:
            return
        self._told_about = run.settings
        missing = sorted(set(run.mech.q_names) - set(session.mech.q_names))
        words = f"{', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}"
        what = (
            f"Coordinates no longer in the model: {words}."
            if missing
            else "The model now has more coordinates than the run."
        )
        session.message.emit(
            "warning", f"The model has been changed since this run. {what} Only common coordinates are shown."
        )


def match_coordinates_by_name(session: Session, run: Run, q: Array) -> Array:
    """Return coordinates (nq,) of the session's machine that take their values from those of a run, matched by name."""
    if run.mech.q_names == session.mech.q_names:
        return q
    result = session.reference_configuration.copy()
    values = dict(zip(run.mech.q_names, q, strict=True))
    for i, name in enumerate(session.mech.q_names):
        result[i] = values.get(name, result[i])
    return result


def shared_parameters(session: Session, run: Run) -> Mapping[str, float]:
    """Return the run's values of those parameters that the session's machine also has."""
    return {name: value for name, value in run.settings.parameters.items() if name in session.mech.p_names}
