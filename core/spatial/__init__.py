"""Rotations, quaternions, poses, spatial motions, forces and inertias, and relative measures, over abstract scalars."""

from core.spatial.force import Force
from core.spatial.motion import Motion
from core.spatial.pose import Pose
from core.spatial.relative_measures import Measured
from core.spatial.rotation import Rotation, about, about_x, about_y, about_z, from_quaternion
from core.spatial.vector import Vector3

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
