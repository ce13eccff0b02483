"""Let the session's pose follow the playhead of its runs: only shown, never an undo step. Independent of Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.background.signals import Lifetime
from core.functions.text import number

if TYPE_CHECKING:
    from app.document.revision import State
    from app.document.session import Session
    from core.simulation.run.run import Run

Array = NDArray[np.float64]


class RunPose:
    """Connects `session.runs` to `session.follow`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told_about: object = None
        self._life = Lifetime()
        self._life.listen((session.runs.moved, self._moved), (session.changed, self._changed))

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _moved(self, time: float) -> None:
        session = self._session
        record = session.runs.current
        if record is None:
            session.follow(None)
            return
        self._report_changed_model(record.run)
        q = session.runs.pose
        assert q is not None
        states = dict(zip(record.run.mech.x_names, record.run.states_at(time).tolist(), strict=False))
        words = f"t = {number(time)} s of {record.name}"
        session.follow(matched(session, record.run, q), shared_parameters(session, record.run), states, words)

    def _changed(self, old: State, new: State) -> None:
        if old.model is not new.model:
            self._told_about = None

    def _report_changed_model(self, run: Run) -> None:
        """Report once per run that the machine has changed since."""
        session = self._session
        if run.mech.q_names == session.mech.q_names or self._told_about is run.settings:
            return
        self._told_about = run.settings
        missing = sorted(set(run.mech.q_names) - set(session.mech.q_names))
        words = f"{', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}"
        what = f"No longer there: {words}." if missing else "It has more coordinates now."
        session.message.emit("warning", f"The model was changed since this run. {what} The others are shown.")


def matched(session: Session, run: Run, q: Array) -> Array:
    """Return a position (nq,) of the session's machine with the values of a run's position: coordinates are matched by
    name."""
    if run.mech.q_names == session.mech.q_names:
        return q
    result = session.rest.copy()
    values = dict(zip(run.mech.q_names, q, strict=True))
    for i, name in enumerate(session.mech.q_names):
        result[i] = values.get(name, result[i])
    return result


def shared_parameters(session: Session, run: Run) -> Mapping[str, float]:
    """Return the run's values of the parameters that the session's machine has, too."""
    return {name: value for name, value in run.settings.parameters.items() if name in session.mech.p_names}
