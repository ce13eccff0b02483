"""Values that apply while fields of a joint are empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.constraints.joint_modes import RESTITUTION
from core.errors import KinetostatError
from core.model import Joint
from core.model.fields import Value
from core.model.joints import LEVELS, friction_by_direction

if TYPE_CHECKING:
    from app.document.session import Session

MOST_SPEEDS = 40
"""Number of speeds above which the contact stiffness is not derived for a form."""


def defaults_of(session: Session, joint: Joint) -> dict[str, Value]:
    """Return defaults by field path, SI: static friction, and the stop properties that a run would derive in the
    present pose."""
    directions = friction_by_direction(joint)
    found: dict[str, Value] = dict(zip(LEVELS, (level for levels in directions for level in levels), strict=True))
    derived = _derived_stiffness(session) if any(_is_unbounded(limit) for limit in joint.limits) else {}
    for k in range(len(joint.limits)):
        found[f"limits.{k}.restitution"] = RESTITUTION
        if (joint.name, k) in derived:
            found[f"limits.{k}.stiffness"] = float(f"{derived[joint.name, k]:.3g}")
    return found


def _is_unbounded(limit: object) -> bool:
    return getattr(limit, "stop", "") in ("elastic", "hunt_crossley") and getattr(limit, "stiffness", None) is None


def _derived_stiffness(session: Session) -> dict[tuple[str, int], float]:
    from core.simulation.equations.joint_contact_rows import derived_stiffness

    if session.mech.nv > MOST_SPEEDS:
        return {}
    try:
        return derived_stiffness(session.mech, session.q, session.p)
    except (KinetostatError, np.linalg.LinAlgError):  # masses are missing: there is nothing to derive it from
        return {}
