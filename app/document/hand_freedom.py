"""Which joints a hand can move as the machine stands: what loops, constraints and drivers leave free."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.document.session import Session
from core.elements.constraints.kinematic_constraint import POSITION
from core.errors import ModelError, listed
from core.numerics.rank import null_space

Array = NDArray[np.float64]

STILL_SPEED = 1e-5
"""Speed of a joint, as a share of that of the whole motion, below which it stands still in it (rad/s, m/s)."""
NO_ROOM = 1e-12
"""rad or m: limits this near to one another leave nothing between them."""


class HandFreedom:
    """The speeds that can be other than zero; kept until the machine stands elsewhere."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._of: object = None
        self._free: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    def moves(self, joint: str, speed: int | None = None) -> bool:
        """Whether a hand can move a joint, or the one of its speeds that is asked for."""
        try:
            at = self._session.mech.joint_v(joint)
        except ModelError:
            return False
        free = self._speeds[at]
        return bool(free.any() if speed is None else free[speed])

    @property
    def _speeds(self) -> NDArray[np.bool_]:
        state = self._session.state
        if self._of is not state:
            self._of, self._free = state, free_speeds(self._session)
        return self._free


def free_speeds(session: Session, without_drivers: bool = False, locks: bool = True) -> NDArray[np.bool_]:
    """(nv,) whether each speed can be other than zero as the machine stands; locks : with what is locked held."""
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
    """Why no hand can move a joint, as a sentence; "" if one can, or if it has no coordinates."""
    try:
        at = session.mech.joint_v(joint)
    except ModelError:
        return ""
    if at.start == at.stop or free_speeds(session)[at].any():
        return ""
    if free_speeds(session, locks=False)[at].any():
        return f"What is locked holds {joint}: unlock {listed(sorted(session.locked))} (K) to move it."
    if free_speeds(session, without_drivers=True, locks=False)[at].any():
        names = [each.name for each in session.model.expanded.drivers]
        some = f"drivers {listed(names)} hold" if len(names) > 1 else f"driver {names[0]} holds"
        return f"The {some} {joint}: it moves when the machine runs."
    return (
        f"Nothing moves {joint} as the machine stands: its loops hold it, or it is at a dead point; drag another joint."
    )
