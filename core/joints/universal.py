"""Universal joint."""

from __future__ import annotations

from typing import Self

from core.joints.kind import (
    Columns,
    Elementary,
    Forbidden,
    JointKind,
    JointReplacement,
    Scalars,
    canonical_frame,
    coincident_origin_residuals,
    rotation_column,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import Rotation, about, about_z, from_z, round_literal
from core.numerics.spatial.scalar import Scalar, apply, minus, over, times
from core.numerics.spatial.vector import ZERO, Force, Motion, Vector3, Z


@dataclass(frozen=True)
class Universal(JointKind):
    """Rotation about a's z axis, then about b's `second` axis."""

    second: Vector3
    """Unit vector of the second axis in a at q = 0."""

    name, title = "universal", "Universal"
    help = "Turns about its axis, which is fixed in the first body, then about the second axis, fixed in the second."
    coordinates, coordinate_dimensions = ("1", "2"), ("angle", "angle")
    uses = ("axis", "second_axis")
    counts_turns = True
    forbidden = Forbidden("all", "normal")
    releases = (JointReplacement("spherical", ("rotation",)),)

    @classmethod
    def read(cls, axis: Scalars, second_axis: Scalars, pitch: Scalar) -> tuple[Self, Rotation]:
        second, R_ac = canonical_frame(axis, second_axis)
        return cls(Vector3(*(round_literal(c) for c in second))), R_ac

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]) @ about(self.second, q[1]), ZERO)

    def subspace(self, q: Scalars) -> Columns:
        return (rotation_column(about(self.second, q[1]).act_back(Z)), rotation_column(self.second))

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        # d/dt (R₂ᵀ z) v₁ = −(e v₂) × (R₂ᵀ z) v₁
        first = about(self.second, q[1]).act_back(Z)
        return rotation_column(first.cross(self.second).scaled(times(v[0], v[1])))

    def residual(self, X_ab: Pose) -> list[Scalar]:
        """Return the residual of the constant angle between a's axis and b's second axis: z · R e = z · e."""
        second = X_ab.rotation.act(self.second)
        return [*coincident_origin_residuals(X_ab), minus(second.dot(Z), self.second.z)]

    def measure(self, X_ab: Pose) -> Measured:
        """Return the two angles: R = Rz(q₁) R(e, q₂) takes e to Rz(q₁) e, and R(e, q₂) z = Rz(q₁)ᵀ R z. ω = z q̇₁ + e′
        q̇₂, e′ = R e."""
        R = X_ab.rotation
        second = R.act(self.second)
        first_angle = _angle_about(Z, self.second, second)
        second_angle = _angle_about(self.second, Z, about_z(first_angle).act_back(R.act(Z)))
        across = Z.cross(second)
        dual = (second.cross(across), across.cross(Z))
        return Measured(
            (first_angle, second_angle),
            (
                Force(dual[0].scaled(over(1.0, dual[0].dot(Z))), ZERO),
                Force(dual[1].scaled(over(1.0, dual[1].dot(second))), ZERO),
            ),
        )

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("R"), Elementary("R", Pose(from_z(self.second), ZERO), 1))


def _angle_about(axis: Vector3, start: Vector3, end: Vector3) -> Scalar:
    """Return the angle about the unit vector e from one vector to another."""
    start, end = (v - axis.scaled(axis.dot(v)) for v in (start, end))
    return apply("atan2", axis.dot(start.cross(end)), start.dot(end))
