"""Revolute joint."""

from __future__ import annotations

from core.joints.kind import (
    Columns,
    Elementary,
    Exchange,
    Forbidden,
    Scalars,
    SteadyKind,
    angle,
    coincident,
    parallel,
    turning,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import about_z
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Z


@dataclass(frozen=True)
class Revolute(SteadyKind):
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
        Exchange("spherical", ("rotation", "rotation")),
        Exchange("cylindrical", ("translation along",)),
        Exchange("universal", ("rotation",), second_axis="rotation"),
    )

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]), ZERO)

    def subspace(self, q: Scalars) -> Columns:
        return (turning(Z),)

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return coincident(X_ab) + parallel(X_ab.rotation)

    def measure(self, X_ab: Pose) -> Measured:
        value, wrench = angle(X_ab)
        return Measured((value,), (wrench,))

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("R"),)

    def facing(self, X_ab: Pose) -> Scalar:
        return X_ab.rotation.z.z
