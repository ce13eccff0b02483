"""Planar joint."""

from __future__ import annotations

from core.joints.kind import (
    Columns,
    Elementary,
    Forbidden,
    JointKind,
    Scalars,
    measure_angle_about_z,
    parallel_axes_residuals,
    rotation_column,
    translation_column,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import about_z, from_z
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Force, Motion, Vector3, X, Y, Z


@dataclass(frozen=True)
class Planar(JointKind):
    """Translation in the plane normal to z, in a's axes, and rotation about z."""

    name, title = "planar", "Planar"
    help = "Slides in the plane normal to its axis, and turns about the axis."
    coordinates, coordinate_dimensions = ("x", "y", "angle"), ("length", "length", "angle")
    uses = ("axis",)
    counts_turns = True
    balls = ((0, 1),)
    direction_rows = slice(1, 3)
    forbidden = Forbidden("along", "across")
    bearing = "plane"

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[2]), Vector3(q[0], q[1], 0.0))

    def subspace(self, q: Scalars) -> Columns:
        R = about_z(q[2])
        return (translation_column(R.act_back(X)), translation_column(R.act_back(Y)), rotation_column(Z))

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        # d/dt (Rᵀ ṗ) at constant ṗ = −ω × Rᵀ ṗ
        linear = about_z(q[2]).act_back(Vector3(v[0], v[1], 0.0))
        return translation_column(linear.cross(Z.scaled(v[2])))

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return [X_ab.position.z, *parallel_axes_residuals(X_ab.rotation)]

    def measure(self, X_ab: Pose) -> Measured:
        value, wrench = measure_angle_about_z(X_ab)
        return Measured((X_ab.position.x, X_ab.position.y, value), (Force(ZERO, X), Force(ZERO, Y), wrench))

    def elementary(self) -> tuple[Elementary, ...]:
        along_x, along_y = (Pose(from_z(axis), ZERO) for axis in (X, Y))
        return (Elementary("P", along_x), Elementary("P", along_y, 1), Elementary("R", coordinate=2))

    def facing(self, X_ab: Pose) -> Scalar:
        return X_ab.rotation.z.z
