"""Joints that the user can move by dragging in the present pose, given loops, constraints and drivers; and the joint
that moves a selected element."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.document.revision import ElementRef
from app.document.session import Session
from core.errors import ModelError, join_words
from core.mechanics.elements.constraints.kinematic_constraint import POSITION
from core.model import WORLD, Joint, Model
from core.numerics.rank import null_space

Array = NDArray[np.float64]

STILL_SPEED = 1e-5
"""Fraction of the speed of the whole motion below which a joint counts as not moving (rad/s, m/s)."""
NO_ROOM = 1e-12
"""Distance between two limits, in rad or m, below which the joint cannot move between them."""


class ManualMobility:
    """Joint speeds that can be nonzero in the present pose, cached until the document changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._of: object = None
        self._free: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    def can_move(self, joint: str, speed_index: int | None = None) -> bool:
        """Return True if the user can move a joint, or one of its speeds, by dragging."""
        try:
            at = self._session.mech.joint_v(joint)
        except ModelError:
            return False
        free = self._free_speeds[at]
        return bool(free.any() if speed_index is None else free[speed_index])

    @property
    def _free_speeds(self) -> NDArray[np.bool_]:
        state = self._session.state
        if self._of is not state:
            self._of, self._free = state, free_speed_mask(self._session)
        return self._free


def free_speed_mask(session: Session, without_drivers: bool = False, locks: bool = True) -> NDArray[np.bool_]:
    """Return (nv,) True for each speed that can be nonzero in the present pose; locks : treat locked bodies
    as fixed."""
    mech = session.mech_with_locks if locks else session.mech
    free = np.ones(mech.nv, dtype=bool)
    compiled = mech.compiled
    holds = np.array([row.level == POSITION for row in compiled.rows], dtype=bool)
    if without_drivers:
        holds &= compiled.lasting
    if holds.any():
        N = null_space(compiled.constraint_matrix(session.q, session.p)[holds])
        free = np.linalg.norm(N, axis=1) > STILL_SPEED
    for each in mech.coordinates:
        at = mech.joint_v(each.joint)
        single = at.stop - at.start == 1
        if single and each.lower is not None and each.upper is not None and each.upper - each.lower < NO_ROOM:
            free[at.start] = False
    return np.asarray(free)


def explain_immovable_joint(session: Session, joint: str) -> str:
    """Return the reason why a joint cannot be moved by dragging, as a sentence; "" if it can, or if it has no
    coordinates."""
    try:
        at = session.mech.joint_v(joint)
    except ModelError:
        return ""
    if at.start == at.stop or free_speed_mask(session)[at].any():
        return ""
    if free_speed_mask(session, locks=False)[at].any():
        return (
            f"{joint} cannot move because of locked bodies: unlock {join_words(sorted(session.locked_bodies))} "
            f"(K) to move it."
        )
    if free_speed_mask(session, without_drivers=True, locks=False)[at].any():
        names = [each.name for each in session.model.expanded.drivers]
        some = f"drivers {join_words(names)} hold" if len(names) > 1 else f"driver {names[0]} holds"
        return f"The {some} {joint}: it moves only when the machine runs."
    return f"{joint} cannot be moved in this pose: its loops fix it, or it is at a dead point. Drag another joint."


def joint_that_moves(
    model: Model,
    ref: ElementRef | None,
    free_joints: tuple[Joint, ...] = (),
    can_move: Callable[[str], bool] = lambda joint: True,
) -> str | None:
    """Return the joint that moves an element: the element itself, or the joint that carries the body, looking past
    fixed joints toward the ground; None if there is none. `model` is expanded; `free_joints` are the joints of free
    bodies; joints for which `can_move` is false are skipped."""
    if ref is None:
        return None
    joints = [joint for joint in model.joints if not joint.info.nq or can_move(joint.name)]
    if ref.collection == "joints":
        found = next((joint for joint in joints if joint.name == ref.name), None)
        return found.name if found is not None and found.info.nq else None
    if ref.collection == "chains":
        return next((joint.name for joint in joints if joint.info.nq), None)
    if ref.collection not in ("bodies", "frames") or ref.name not in model.placements:
        return None
    carried = {model.carrier(joint.child).name: joint for joint in reversed((*free_joints, *joints))}
    body, seen = model.carrier(ref.name).name, set()
    while body in carried and body not in seen and body != WORLD:
        seen.add(body)
        if carried[body].info.nq:
            return carried[body].name
        body = model.carrier(carried[body].parent).name
    return None
