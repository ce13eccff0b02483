"""Motions of bodies at a pose: the instantaneous screw axis, and closed poses along a free motion.

The screw axis is that of Mozzi and Chasles. With ω and the velocity v_P of a point P: direction ω/|ω|, pitch h =
ω·v_P/ω², the axis passes P + ω × v_P/ω² (Ball, A Treatise on the Theory of Screws, 1900, §§ 2–6).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.cut_coordinates import limits_widened_to_start, most_exceeded_limit
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism

Array = NDArray[np.float64]

REST = 1e-12
"""Speed (rad/s, m/s) below which a body is at rest."""
TRANSLATION = 1e-9
"""Angular velocity, per m/s of the point's velocity, below which a motion counts as a translation (axis 10⁹ m away)."""


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
    def advance_per_turn(self) -> float:
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
    return screw_from_twist(V, np.asarray(mech.frame(q, frame, p=p, t=t))[:3, 3])


def screw_from_twist(V: Array, point: Array) -> Screw:
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


STEP = 0.06
"""Displacement of the fastest joint between two poses, rad or machine sizes."""
STRAINED = 0.12
"""Amplitude (rad or machine sizes) with which an infinitesimal motion that cannot continue is shown; its poses violate
the constraints."""


def oscillating_poses(
    mech: Mechanism, q: Array, v: Array, p: Values = None, t: float = 0.0, *, amplitude: float = 0.6
) -> Array:
    """(n, nq) poses from q along a free motion v (nv,) and back, then in the opposite direction and back; drivers are
    ignored.

    amplitude : motion of the fastest joint, rad or sizes; limits and toggle positions end it earlier. A motion that
    is only infinitesimal is shown strained: those poses are not closed.
    """
    constraints = PositionConstraints(mech.compiled, p, t, drivers=False)
    v = np.asarray(v, dtype=float)
    v = v / max(float(np.max(np.abs(v / constraints.speed_units), initial=0.0)), 1e-300)
    count = max(1, round(amplitude / STEP))
    there, back = (_poses_along(constraints, np.asarray(q, dtype=float), sign * v, count) for sign in (1.0, -1.0))
    if not there and not back:
        strains = np.linspace(0.0, STRAINED, 4)[1:]
        there, back = ([mech.integrate(q, sign * v * s) for s in strains] for sign in (1.0, -1.0))
    poses = [q, *there, *there[-2::-1], q, *back, *back[-2::-1], q]
    return np.array(poses)


def _poses_along(constraints: PositionConstraints, q: Array, v: Array, count: int) -> list[Array]:
    """Closed poses along v, each step continuing in the direction of the last."""
    poses: list[Array] = []
    compiled, coordinates = constraints.compiled, constraints.compiled.coordinates
    for _ in range(count):
        trial = constraints.follow(q, v, STEP * float(np.linalg.norm(v / constraints.speed_units)))
        if trial is None or np.max(np.abs(coordinates.clamp(trial) - trial), initial=0.0) > 1e-9:
            break
        if most_exceeded_limit(compiled, limits_widened_to_start(compiled, q, constraints.p), trial, constraints.p):
            break
        displacement = coordinates.speeds_between(q, trial)
        N = constraints.free_motions(trial)
        ahead = N @ ((N / constraints.speed_units[:, None]).T @ (displacement / constraints.speed_units))
        poses.append(trial)
        q = trial
        size = float(np.max(np.abs(ahead / constraints.speed_units), initial=0.0))
        if size < 1e-3 * STEP:
            break
        v = ahead / size
    return poses
