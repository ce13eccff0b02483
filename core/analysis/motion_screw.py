"""Instantaneous screw axis: the motion of a body as rotation about a line and translation along it (Mozzi, Chasles).

With ω and the velocity v_P of a point P: direction ω/|ω|, pitch h = ω·v_P/ω², the axis passes P + ω × v_P/ω²
(Ball, A Treatise on the Theory of Screws, 1900, §§ 2–6).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism

Array = NDArray[np.float64]

REST = 1e-12
"""Speed (rad/s, m/s) below which a body is at rest."""
TRANSLATION = 1e-9
"""Angular velocity, per m/s of the point's velocity, below which a motion is a translation (axis 10⁹ m away)."""


@dataclass(frozen=True)
class Screw:
    """Instantaneous screw of one frame relative to another, in world axes.

    kind : "rest", "translation", "rotation" (pitch zero) or "screw"
    direction : (3,) of the axis, or of the translation; point : (3,) m, the axis's point nearest to the moving frame
    pitch : m/rad, advance along the axis per angle (inf for a translation)
    angular, linear : rad/s about the axis, m/s along it
    """

    kind: str
    direction: Array
    point: Array
    pitch: float
    angular: float
    linear: float

    @property
    def lead(self) -> float:
        """Advance per turn, m."""
        return 2.0 * np.pi * self.pitch


def relative_velocity(
    mech: Mechanism, q: Any, v: Any, frame: str, reference: str = "world", p: Values = None, t: float = 0.0
) -> Array:
    """(6,) twist [ω; v] of a frame's origin relative to a reference frame; world axes."""
    V = np.asarray(mech.frame_velocity(q, v, frame, p=p, t=t))
    if reference == "world":
        return V
    V_R = np.asarray(mech.frame_velocity(q, v, reference, p=p, t=t))
    r = mech.frame(q, frame, p=p, t=t)[:3, 3] - mech.frame(q, reference, p=p, t=t)[:3, 3]
    return np.concatenate([V[:3] - V_R[:3], V[3:] - V_R[3:] - np.cross(V_R[:3], r)])


def screw(
    mech: Mechanism, q: Any, v: Any, frame: str, reference: str = "world", p: Values = None, t: float = 0.0
) -> Screw:
    """Instantaneous screw of a frame relative to a reference for speeds v (nv,) at q (nq,)."""
    V = relative_velocity(mech, q, v, frame, reference, p, t)
    return screw_of_twist(V, np.asarray(mech.frame(q, frame, p=p, t=t))[:3, 3])


def screw_of_twist(V: Array, point: Array) -> Screw:
    """Screw of a twist [ω; v] (6,) with v at a point (3,)."""
    w, v = V[:3], V[3:]
    turn, speed = float(np.linalg.norm(w)), float(np.linalg.norm(v))
    if turn < REST and speed < REST:
        return Screw("rest", np.zeros(3), point, 0.0, 0.0, 0.0)
    if turn < REST or turn < TRANSLATION * speed:
        return Screw("translation", v / speed, point, np.inf, 0.0, speed)
    direction = w / turn
    along = float(direction @ v)
    axis = point + np.cross(w, v) / turn**2
    if abs(along) <= 1e-9 * max(speed, turn * 1e-3):
        return Screw("rotation", direction, axis, 0.0, turn, 0.0)
    return Screw("screw", direction, axis, along / turn, turn, along)
