"""Marks on bodies and joints: padlocks on locked bodies, and lines between the two frames of open joints, with their
distance and a hint on closing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Lifetime
from app.document.joining import CLOSE, OpenJoint, open_joints
from app.document.locks import locked_part_poses
from app.viewport.annotations import annotation_line

if TYPE_CHECKING:
    from app.viewport.stage import Stage


class OpenJointMarks:
    """Draws the marks of open joints over the scene as the machine moves."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self._life = Lifetime()
        session = view.session
        self._life.listen((session.changed, self._update_marks), (session.moved, self._update_marks))
        self._life.listen((view.settings.changed, self._update_marks))

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _update_marks(self, *_: object) -> None:
        session, notes = self._view.session, self._view.annotations
        found = () if session.shows_run_pose else open_joints(session)
        marks = tuple(annotation_line(each.a, each.b, self._gap_text(each, k == 0)) for k, each in enumerate(found))
        if marks != notes.open:
            notes.open = marks
            notes.update()

    def _gap_text(self, joint: OpenJoint, is_first: bool) -> str:
        """Describe an open joint and its gap; for the first one also a way to close it."""
        shown = self._view.settings.format_value
        apart = [shown(joint.gap.distance, "length")] if joint.gap.distance > 0.0 else []
        apart += [shown(joint.gap.angle, "angle")] if joint.gap.angle > 0.0 else []
        words = f"{joint.name} is open: {', '.join(apart)}"
        return f"{words}\nDrag a body to close it, or use Edit ▸ {CLOSE}" if is_first else words


class LockedBodyMarks:
    """Draws padlocks of locked bodies over the scene as the machine moves."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self._life = Lifetime()
        session = view.session
        self._life.listen((session.changed, self._update_marks), (session.moved, self._update_marks))

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _update_marks(self, *_: object) -> None:
        session, notes = self._view.session, self._view.annotations
        found: dict[str, list[np.ndarray]] = {name: [] for name in sorted(session.locked_bodies)}
        if found:
            for (body, _name), X in locked_part_poses(
                session.mech, session.q, session.p, session.locked_bodies
            ).items():
                found[body].append(X[:3, 3])
        marks = tuple(
            (float(x), float(y), float(z)) for x, y, z in (np.mean(at, axis=0) for at in found.values() if at)
        )
        if marks != notes.locks:
            notes.locks = marks
            notes.update()
