"""Self-motion of the arm whose configurations are listed: joints that move while the frame stays where it is.

The whole curve of positions is computed in a thread when the list of configurations is up to date.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer

from app.background.jobs import Worker
from app.background.signals import Lifetime, Signal
from app.document.arm_configurations import ArmConfigurations, ConfigurationsRequest
from core.errors import KinetostatError
from core.mechanism.inverse_kinematics_results import SelfMotionCurve

Array = NDArray[np.float64]

LOOK_EVERY = 15
"""Milliseconds between two checks of the thread."""
ON_CURVE = 0.006
"""Distance (rad, m) of a coordinate from the straight line between positions of a curve that are near each other."""
SAME_POSE = 1e-6
"""Difference of the frame's poses (m, and of the rotation's entries) below which a curve is still valid."""


class SelfMotion(QObject):
    """Curve of the positions with the frame where it is, and the present length along it. `changed` is emitted when one
    of them changes. curve : None while there is none"""

    changed = Signal()

    def __init__(self, listed: ArmConfigurations) -> None:
        super().__init__()
        self._listed = listed
        self.curve: SelfMotionCurve | None = None
        self.length = 0.0
        self._of: ConfigurationsRequest | None = None
        self._pose = np.eye(4)
        self._shown_q: Array | None = None
        self._asked: ConfigurationsRequest | None = None
        self._answer: tuple[ConfigurationsRequest, SelfMotionCurve | None] | None = None
        self._worker = Worker("self-motion", lambda _error: None)
        self._timer = QTimer(self, interval=LOOK_EVERY)
        self._timer.timeout.connect(self._check_thread)
        self._life = Lifetime()
        self._life.callback(self._timer.stop)
        self._life.listen((listed.changed, self._on_listed))

    def close(self) -> None:
        """Disconnect and end the thread."""
        self._asked = None
        self._life.close()
        self._worker.close()

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints that move, first the one that is shown as a number."""
        found = self._listed.found
        if found is None or found.continuum is None:
            return ()
        first = found.continuum.parameter
        return first, *(joint for joint in found.continuum.joints if joint != first)

    @property
    def end(self) -> str:
        """Reason why the curve ends at the present position; "" between its ends."""
        curve = self.curve
        if curve is None or curve.is_closed:
            return ""
        if self.length >= curve.length[-1]:
            return curve.ends[1]
        return curve.ends[0] if self.length <= 0.0 else ""

    # ----------------------------------------------------------------------------- verbs

    def preview(self, length: float) -> None:
        """Show the position at a length along the curve."""
        if self.curve is None:
            return
        self.length = float(np.clip(length, 0.0, self.curve.length[-1]))
        self._shown_q = self.curve.at(self.length)
        self._listed.session.preview(q=self._shown_q)
        self.changed.emit()

    def commit(self) -> None:
        """Make the motion since the last commit one undo step."""
        self._listed.session.commit(f"Self-motion with {self._listed.frame} held")

    # ----------------------------------------------------------------------------- following

    def _on_listed(self) -> None:
        """Follow the list: keep the curve while the position is on it, else compute it again."""
        listed = self._listed
        if not listed.is_wanted or not listed.can_move:
            self._forget()
            return
        if self._is_on_curve():
            return
        if listed.is_old or not self.joints:
            self._forget()
        else:
            self._request()

    def _is_on_curve(self) -> bool:
        """Return True if the curve is that of the present pose; then the length is updated."""
        session, of, curve = self._listed.session, self._of, self.curve
        if curve is None or of is None:
            return False
        if of.mech is not session.mech or of.frame != self._listed.frame or of.p != dict(session.p):
            return False
        if self._shown_q is None or not np.array_equal(self._shown_q, session.q):
            X = np.asarray(session.mech.frame(session.q, of.frame, p=session.p, t=session.t))
            length = length_along(curve, session.q)
            if length is None or np.max(np.abs(X - self._pose)) > SAME_POSE:
                return False
            self.length, self._shown_q = length, np.array(session.q)
            self.changed.emit()
        return True

    def _request(self) -> None:
        session = self._listed.session
        asked = ConfigurationsRequest(session.mech, self._listed.frame, dict(session.p), np.array(session.q), session.t)
        if asked.is_same(self._asked):
            return
        self._asked = asked
        self._worker.submit(lambda: self._compute(asked), key="curve")
        self._timer.start()

    def _compute(self, request: ConfigurationsRequest) -> None:
        """Compute the curve (in the thread)."""
        try:
            curve = request.mech.self_motion(request.q, request.frame, p=request.p, t=request.t)
        except KinetostatError:  # there is none, or more than one
            curve = None
        self._answer = request, curve

    def _check_thread(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and answer[0] is self._asked:
            self._of, self.curve = answer
            length = length_along(self.curve, answer[0].q) if self.curve is not None else None
            self.length, self._shown_q = length or 0.0, answer[0].q
            self._pose = np.asarray(answer[0].mech.frame(answer[0].q, answer[0].frame, p=answer[0].p, t=answer[0].t))
            self._asked = None
            self.changed.emit()
        if self._asked is None:
            self._timer.stop()

    def _forget(self) -> None:
        self._asked = None
        if self.curve is not None:
            self.curve = self._of = None
            self.changed.emit()


def length_along(curve: SelfMotionCurve, q: Array) -> float | None:
    """Return the length at which a position (nq,) is on a curve; None if it is not."""
    k = int(np.argmin(np.max(np.abs(curve.q - q), axis=1)))
    nearest = float(np.max(np.abs(curve.q[k] - q))), float(curve.length[k])
    for first in (k - 1, k):
        if 0 <= first < len(curve.length) - 1:
            segment = curve.q[first + 1] - curve.q[first]
            part = float(np.clip((q - curve.q[first]) @ segment / max(float(segment @ segment), 1e-300), 0.0, 1.0))
            away = float(np.max(np.abs(curve.q[first] + part * segment - q)))
            nearest = min(
                nearest, (away, float(curve.length[first] + part * (curve.length[first + 1] - curve.length[first])))
            )
    return nearest[1] if nearest[0] < ON_CURVE else None
