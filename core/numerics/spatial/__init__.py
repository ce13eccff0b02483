"""Rotations, quaternions, poses, spatial motions, forces and inertias, and relative measures, over abstract scalars."""

from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import Rotation, about, about_x, about_y, about_z, from_quaternion
from core.numerics.spatial.vector import Force, Motion, Vector3

__all__ = [
    "Force",
    "Measured",
    "Motion",
    "Pose",
    "Rotation",
    "Vector3",
    "about",
    "about_x",
    "about_y",
    "about_z",
    "from_quaternion",
]
