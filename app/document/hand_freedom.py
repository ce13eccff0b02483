"""Joints that the user can move by hand in the present pose, given loops, constraints and drivers; and the joint that
moves a selected element."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.document.revision import Ref
from app.document.session import Session
from core.errors import ModelError, listed
from core.mechanics.elements.constraints.kinematic_constraint import POSITION
from core.model import WORLD, Joint, Model
from core.numerics.rank import null_space

Array = NDArray[np.float64]

STILL_SPEED = 1e-5
"""Share of the speed of the whole motion below which a joint counts as at rest (rad/s, m/s)."""
NO_ROOM = 1e-12
"""Distance between two limits, rad or m, below which the joint cannot move between them."""


class HandFreedom:
    """The joint speeds that can be nonzero in the present pose, cached until the machine moves."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._of: object = None
        self._free: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    def moves(self, joint: str, speed: int | None = None) -> bool:
        """Return True if a joint, or one of its speeds, can be moved by hand."""
        try:
            at = self._session.mech.joint_v(joint)
        except ModelError:
            return False
        free = self._free_speeds[at]
        return bool(free.any() if speed is None else free[speed])

    @property
    def _free_speeds(self) -> NDArray[np.bool_]:
        state = self._session.state
        if self._of is not state:
            self._of, self._free = state, free_speed_mask(self._session)
        return self._free


def free_speed_mask(session: Session, without_drivers: bool = False, locks: bool = True) -> NDArray[np.bool_]:
    """Return (nv,) True for each speed that can be nonzero in the present pose; locks : treat locked bodies
    as fixed."""
    mech = session.hands if locks else session.mech
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


def held_by(session: Session, joint: str) -> str:
    """Return why a joint cannot be moved by hand, as a sentence; "" if it can, or if it has no coordinates."""
    try:
        at = session.mech.joint_v(joint)
    except ModelError:
        return ""
    if at.start == at.stop or free_speed_mask(session)[at].any():
        return ""
    if free_speed_mask(session, locks=False)[at].any():
        return f"Locked parts hold {joint}: unlock {listed(sorted(session.locked))} (K) to move it."
    if free_speed_mask(session, without_drivers=True, locks=False)[at].any():
        names = [each.name for each in session.model.expanded.drivers]
        some = f"drivers {listed(names)} hold" if len(names) > 1 else f"driver {names[0]} holds"
        return f"The {some} {joint}: it moves when the machine runs."
    return f"Nothing moves {joint} in this pose: its loops hold it, or it is at a dead point. Drag another joint."


def joint_of(
    model: Model, ref: Ref | None, free: tuple[Joint, ...] = (), moves: Callable[[str], bool] = lambda joint: True
) -> str | None:
    """Return the joint that moves an element: the element itself, or the joint that carries the body, past fixed joints
    toward the ground. None if no joint does. `model` is expanded; `free` are the joints of free bodies; joints for
    which `moves` is false are skipped."""
    if ref is None:
        return None
    joints = [joint for joint in model.joints if not joint.info.nq or moves(joint.name)]
    if ref.collection == "joints":
        found = next((joint for joint in joints if joint.name == ref.name), None)
        return found.name if found is not None and found.info.nq else None
    if ref.collection == "chains":
        return next((joint.name for joint in joints if joint.info.nq), None)
    if ref.collection not in ("bodies", "frames") or ref.name not in model.placements:
        return None
    carried = {model.carrier(joint.child).name: joint for joint in reversed((*free, *joints))}
    body, seen = model.carrier(ref.name).name, set()
    while body in carried and body not in seen and body != WORLD:
        seen.add(body)
        if carried[body].info.nq:
            return carried[body].name
        body = model.carrier(carried[body].parent).name
    return None
