"""Revolute joint."""

from __future__ import annotations

from core.joints.kind import (
    Columns,
    ConstantSubspaceKind,
    Elementary,
    Forbidden,
    JointReplacement,
    Scalars,
    coincident_origin_residuals,
    measure_angle_about_z,
    parallel_axes_residuals,
    rotation_column,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import about_z
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Z


@dataclass(frozen=True)
class Revolute(ConstantSubspaceKind):
    """Rotation about z."""

    name, title = "revolute", "Revolute"
    help = "Turns about its axis."
    coordinates, coordinate_dimensions = ("",), ("angle",)
    uses = ("axis",)
    counts_turns = True
    turns_about_axis = True
    direction_rows = slice(3, 5)
    forbidden = Forbidden("all", "across")
    bearing = "pin"
    releases = (
        JointReplacement("spherical", ("rotation", "rotation")),
        JointReplacement("cylindrical", ("translation along",)),
        JointReplacement("universal", ("rotation",), second_axis="rotation"),
    )

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]), ZERO)

    def subspace(self, q: Scalars) -> Columns:
        return (rotation_column(Z),)

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return coincident_origin_residuals(X_ab) + parallel_axes_residuals(X_ab.rotation)

    def measure(self, X_ab: Pose) -> Measured:
        value, wrench = measure_angle_about_z(X_ab)
        return Measured((value,), (wrench,))

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("R"),)

    def facing(self, X_ab: Pose) -> Scalar:
        return X_ab.rotation.z.z
