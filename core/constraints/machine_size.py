"""Characteristic length of a machine, used to compare lengths with angles and forces with torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.constraints.rest_position import rest
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import Compiled


def size_of(compiled: Compiled, p: Values) -> float:
    """Characteristic length, m: root mean square distance of the joints from their centroid in the reference
    configuration; 1 if all coincide."""
    pairs = compiled.joint_poses(rest(compiled), p)
    points = np.array([side[:3, 3] for sides in pairs.values() for side in sides]).reshape(-1, 3)
    if not len(points):
        return 1.0
    spread = float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1))))
    return spread if spread > 1e-9 else 1.0


def speed_units(compiled: Compiled, p: Values) -> NDArray[np.float64]:
    """(nv,) characteristic length for translational speeds, 1 for rotational ones."""
    lengths = [dimension == "velocity" for dimension in compiled.coordinates.speed_dimensions]
    return np.where(lengths, size_of(compiled, p) if any(lengths) else 1.0, 1.0)
