"""Directions in which a frame can translate: Robotica's `Planar` (R10).

The code is the sum of 1 (x), 2 (y) and 4 (z) for each axis along which some joint moves the frame at some pose:
row k of the translational Jacobian is not identically zero.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.analysis.manipulability import free_jacobian
from core.constraints.assembly import random_pose
from core.mechanism import Mechanism

WORDS = ("none", "x", "y", "xy", "z", "xz", "yz", "xyz")
"""Code → the axes along which the frame can move."""
SAMPLES = 8
TOLERANCE = 1e-9
"""Entry of the Jacobian, relative to the largest, below which it counts as zero."""


def planarity(mech: Mechanism, frame: str, reference: str = "world", p: Mapping[str, float] | None = None) -> int:
    """Code 0 … 7 of a frame's translations, along the axes of the reference frame in the reference configuration."""
    if not mech.nv:
        return 0
    rng = np.random.default_rng(1)
    R_WR = np.eye(3) if reference == "world" else np.array(mech.frame(mech.rest(), reference, p=p))[:3, :3]
    reach = np.zeros(3)
    for _ in range(SAMPLES):
        jacobian = R_WR.T @ free_jacobian(mech, random_pose(mech.compiled, rng, p), frame, p)[3:]
        reach = np.maximum(reach, np.abs(jacobian).max(axis=1, initial=0.0))
    moves = reach > TOLERANCE * max(float(reach.max()), 1e-3)
    return int(moves @ np.array([1, 2, 4]))
