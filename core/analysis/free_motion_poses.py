"""Animation of free motions: closed poses back and forth along a free motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.constraints.cut_coordinates import exceeded_limit, limits_widened_to_start
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism

Array = NDArray[np.float64]

STEP = 0.06
"""Displacement of the fastest joint between two poses, rad or machine sizes."""
STRAINED = 0.12
"""Amplitude (rad or machine sizes) shown for an infinitesimal motion that cannot continue, with constraints violated.
"""


def swing(mech: Mechanism, q: Array, v: Array, p: Values = None, t: float = 0.0, *, amplitude: float = 0.6) -> Array:
    """(n, nq) poses from q along a free motion v (nv,) and back, then in the opposite direction and back, with drivers
    released.

    amplitude : way of the fastest joint, rad or machine sizes; limits and dead points end it earlier. A motion that
    is only infinitesimal is shown strained: those poses are not closed.
    """
    constraints = PositionConstraints(mech.compiled, p, t, drivers=False)
    v = np.asarray(v, dtype=float)
    v = v / max(float(np.max(np.abs(v / constraints.units), initial=0.0)), 1e-300)
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
        trial = constraints.follow(q, v, STEP * float(np.linalg.norm(v / constraints.units)))
        if trial is None or np.max(np.abs(coordinates.clamp(trial) - trial), initial=0.0) > 1e-9:
            break
        if exceeded_limit(compiled, limits_widened_to_start(compiled, q, constraints.p), trial, constraints.p):
            break
        displacement = coordinates.difference(q, trial)
        N = constraints.motions(trial)
        ahead = N @ ((N / constraints.units[:, None]).T @ (displacement / constraints.units))
        poses.append(trial)
        q = trial
        size = float(np.max(np.abs(ahead / constraints.units), initial=0.0))
        if size < 1e-3 * STEP:
            break
        v = ahead / size
    return poses
