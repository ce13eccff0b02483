"""Gestures and keys that move a frame of the machine: by its handle, or by steps, with orientation or origin held."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.document.arm_configurations import arm_configurations_of
from app.document.frame_moves import jogged_pose
from app.document.session import Session
from app.viewport.gestures import Gesture, PointerState
from core.analysis.inverse_kinematics import IKResult, move_frame_to_target
from viz.drawlist.joint_handles import HandleDrag

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from viz.scene.axis_handle import AxisPart

ITERATIONS = 16
"""Inverse-kinematics steps for one position of the pointer."""
HELD = 1e-5
"""Error, m and rad, up to which the frame counts as on its path."""
HALVINGS = 6
"""Number of halvings of a step that leads out of reach."""
KEYS = {
    Qt.Key.Key_Right: (0, 1.0),
    Qt.Key.Key_Left: (0, -1.0),
    Qt.Key.Key_Up: (1, 1.0),
    Qt.Key.Key_Down: (1, -1.0),
    Qt.Key.Key_PageUp: (2, 1.0),
    Qt.Key.Key_PageDown: (2, -1.0),
}
"""Axis and sign of the step that a key makes."""


def drag_frame(view: Stage, part: AxisPart, press: PointerState) -> Gesture:
    """Move the frame along, or turn it about, one axis as far as the machine can follow; commit on release."""
    session, listed, handle = view.session, arm_configurations_of(view.session), view.scene.frame_handle
    frame, options = listed.frame, listed.jog_options
    X = np.asarray(session.mech.frame(session.q, frame, p=session.p, t=session.t))
    drag = HandleDrag(handle.create_grip(part), view.scene.ray(press.x, press.y))
    dimension, verb = ("length", "Moving") if part.kind == "slide" else ("angle", "Turning")
    step = options.length if part.kind == "slide" else options.angle
    direction, reached = part.axis + (0 if part.kind == "slide" else 3), 0.0
    path = _FramePath(view.session, frame, lambda amount: jogged_pose(X, direction, amount, options.axes))
    handle.highlight(part)
    try:
        while (pointer := (yield)) is not None:
            wanted = drag.motion_so_far(view.scene.ray(pointer.x, pointer.y))
            if pointer.ctrl:
                wanted = round(wanted / step) * step
            reached, why = path.follow(reached, wanted)
            view.show_hint(f"{verb} {frame}{f' · {why}' if why else ''} · Ctrl snaps · Esc cancels")
            view.annotations.show_value_at_pointer(view.settings.format_value(reached, dimension), pointer.x, pointer.y)
            view.update()
    except GeneratorExit:
        session.cancel_preview()
        raise
    finally:
        view.annotations.clear()
        handle.highlight(None)
        view.show_hint()
        view.update()
    session.commit(f"{'Move' if part.kind == 'slide' else 'Turn'} {frame}")


class _FramePath:
    """Poses of a frame by the amount (m, rad) of a drag, which the machine follows from where it is."""

    def __init__(self, session: Session, frame: str, pose_at: Callable[[float], NDArray[np.float64]]) -> None:
        self._session, self._frame, self._pose_at = session, frame, pose_at

    def follow(self, reached: float, wanted: float) -> tuple[float, str]:
        """Preview the machine with the frame as far along its path as it can be, towards `wanted`; return that amount,
        and the reason why it ends there ("" if it does not)."""
        amount, why = wanted, ""
        for _ in range(HALVINGS):
            found = self._find(amount)
            if found.residual < HELD:
                self._session.preview(q=found.q)
                return amount, why
            why = why or self._reason(found)
            amount = reached + 0.5 * (amount - reached)
        return reached, why

    def _find(self, amount: float) -> IKResult:
        session = self._session
        return move_frame_to_target(
            session.mech_with_locks,
            session.q,
            self._frame,
            self._pose_at(amount),
            session.p,
            iterations=ITERATIONS,
            t=session.t,
        )

    def _reason(self, found: IKResult) -> str:
        if found.at_limits:
            return f"{', '.join(found.at_limits)} at the limit"
        if self._session.locked_bodies:
            return f"{', '.join(sorted(self._session.locked_bodies))} locked: press Shift+K to unlock"
        return "the joints do not reach farther in this direction"


def wants_key(view: Stage, event: QKeyEvent) -> bool:
    """Return True for the keys that step the frame, while its handle is shown."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    plain = modifiers in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
    return plain and view.frame_handle.is_shown and event.key() in KEYS


def handle_key(view: Stage, event: QKeyEvent) -> None:
    """Move the frame by one step along an axis, with Shift turn it about the axis; one undo step."""
    axis, sign = KEYS[Qt.Key(event.key())]
    turns = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    listed = arm_configurations_of(view.session)
    problem = listed.jog(axis + 3 * turns, sign)
    view.show_hint(problem)
    if not problem:
        listed.end_jog()
