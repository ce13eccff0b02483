"""Conversion of 4×4 matrices to poses of the document."""

from __future__ import annotations

from typing import Any

from core.model.shapes import Pose
from core.numerics.spatial.rotation import angles_of


def pose_of(X: Any) -> Pose:
    """Return the pose of a matrix (4, 4): position in m, angles about the fixed axes x, y, z in rad."""
    x, y, z = (float(entry) + 0.0 for entry in X[:3, 3])  # −0 is 0
    a, b, c = (angle + 0.0 for angle in angles_of(X[:3, :3]))
    return Pose(position=(x, y, z), rotation=(a, b, c))
