"""Cylindrical joint."""

from __future__ import annotations

from core.joints.kind import (
    Columns,
    ConstantSubspaceKind,
    Elementary,
    Forbidden,
    Scalars,
    measure_angle_about_z,
    parallel_axes_residuals,
    point_on_axis_residuals,
    rotation_column,
    translation_column,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import about_z
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Force, Vector3, Z


@dataclass(frozen=True)
class Cylindrical(ConstantSubspaceKind):
    """Rotation about z and translation along z."""

    name, title = "cylindrical", "Cylindrical"
    help = "Turns about its axis and slides along it."
    coordinates, coordinate_dimensions = ("angle", "displacement"), ("angle", "length")
    uses = ("axis",)
    counts_turns = True
    turns_about_axis = slides_along_axis = True
    direction_rows = slice(2, 4)
    forbidden = Forbidden("across", "across")
    bearing = "guide"
    ready_made = True

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]), Vector3(0.0, 0.0, q[1]))

    def subspace(self, q: Scalars) -> Columns:
        return (rotation_column(Z), translation_column(Z))

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return point_on_axis_residuals(X_ab) + parallel_axes_residuals(X_ab.rotation)

    def measure(self, X_ab: Pose) -> Measured:
        value, wrench = measure_angle_about_z(X_ab)
        return Measured((value, X_ab.position.z), (wrench, Force(ZERO, Z)))

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("R"), Elementary("P", coordinate=1))

    def facing(self, X_ab: Pose) -> Scalar:
        return X_ab.rotation.z.z
