"""Prismatic joint."""

from __future__ import annotations

from core.joints.kind import (
    Columns,
    ConstantSubspaceKind,
    Elementary,
    Forbidden,
    JointReplacement,
    Scalars,
    aligned_frames_residuals,
    cosine_of_angle,
    point_on_axis_residuals,
    translation_column,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Force, Vector3, Z


@dataclass(frozen=True)
class Prismatic(ConstantSubspaceKind):
    """Translation along z."""

    name, title = "prismatic", "Prismatic"
    help = "Slides along its axis without turning."
    coordinates, coordinate_dimensions = ("",), ("length",)
    uses = ("axis",)
    counts_turns = False
    slides_along_axis = True
    direction_rows = slice(2, 5)
    forbidden = Forbidden("across", "all")
    bearing = "guide"
    releases = (
        JointReplacement("cylindrical", ("rotation along",)),
        JointReplacement("planar", ("translation", "rotation across"), axis="rotation"),
    )

    def pose(self, q: Scalars) -> Pose:
        return Pose(NO_ROTATION, Vector3(0.0, 0.0, q[0]))

    def subspace(self, q: Scalars) -> Columns:
        return (translation_column(Z),)

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return point_on_axis_residuals(X_ab) + aligned_frames_residuals(X_ab.rotation)

    def measure(self, X_ab: Pose) -> Measured:
        return Measured((X_ab.position.z,), (Force(ZERO, Z),))

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("P"),)

    def facing(self, X_ab: Pose) -> Scalar:
        return cosine_of_angle(X_ab.rotation)
