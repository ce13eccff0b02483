"""Spherical joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.joints.kind import (
    Columns,
    ConstantSubspaceKind,
    Elementary,
    Forbidden,
    Scalars,
    coincident_origin_residuals,
    rotation_column,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import (
    from_quaternion,
    quaternion_difference,
    quaternion_from_rotation,
    quaternion_rate,
    rotation_vector,
)
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Force, X, Y, Z

if TYPE_CHECKING:
    from core.joints.kind import Array


@dataclass(frozen=True)
class Spherical(ConstantSubspaceKind):
    """Any rotation about a point: quaternion x, y, z, w; speeds are the angular velocity in b's axes."""

    name, title = "spherical", "Spherical"
    help = "Turns freely about its centre."
    coordinates, coordinate_dimensions = ("qx", "qy", "qz", "qw"), ("none",) * 4
    speeds, speed_dimensions = ("wx", "wy", "wz"), ("angular_velocity",) * 3
    neutral = (0.0, 0.0, 0.0, 1.0)
    uses = ()
    counts_turns = False
    quaternion = 0
    balls = ((0, 1, 2),)
    forbidden = Forbidden("all", "none")
    bearing = "point"
    ready_made = True

    def pose(self, q: Scalars) -> Pose:
        return Pose(from_quaternion(q), ZERO)

    def subspace(self, q: Scalars) -> Columns:
        return (rotation_column(X), rotation_column(Y), rotation_column(Z))

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return coincident_origin_residuals(X_ab)

    def measure(self, X_ab: Pose) -> Measured:
        axes = X_ab.rotation.columns()
        return Measured(quaternion_from_rotation(X_ab.rotation), tuple(Force(axis, ZERO) for axis in axes))

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return quaternion_rate(q, v)

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        return rotation_vector(quaternion_difference(rest, q))

    @classmethod
    def moved(cls, q: Array, step: Array) -> Array:
        from core.joints import quaternions

        return quaternions.rotate_quaternion(q, step)

    @classmethod
    def between(cls, q0: Array, q1: Array) -> Array:
        from core.joints import quaternions

        return quaternions.rotation_vector_between(q0, q1)

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("S"),)
