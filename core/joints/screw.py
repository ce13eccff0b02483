"""Screw joint."""

from __future__ import annotations

import math
from typing import Self

from core.joints.kind import (
    Columns,
    ConstantSubspaceKind,
    Elementary,
    Forbidden,
    JointReplacement,
    Scalars,
    measure_angle_about_z,
    parallel_axes_residuals,
    point_on_axis_residuals,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import Rotation, about_z, from_z, unit_vector
from core.numerics.spatial.scalar import Scalar, apply, is_zero, minus, over, plus, times
from core.numerics.spatial.vector import Motion, Vector3, Z

TURN = 2.0 * math.pi


@dataclass(frozen=True)
class Screw(ConstantSubspaceKind):
    """Rotation about z by q, coupled to a translation of `advance` · q along z."""

    advance: Scalar
    """Advance per radian, m/rad."""

    name, title = "screw", "Screw"
    help = "Turns about its axis and advances along it by its pitch per revolution."
    coordinates, coordinate_dimensions = ("",), ("angle",)
    uses = ("axis", "pitch")
    counts_turns = False  # the advance tells them
    turns_about_axis = slides_along_axis = True
    direction_rows = slice(2, 4)
    forbidden = Forbidden("all", "across")
    releases = (JointReplacement("cylindrical", ("translation along",)),)

    @classmethod
    def read(cls, axis: Scalars, second_axis: Scalars, pitch: Scalar) -> tuple[Self, Rotation]:
        return cls(over(pitch, TURN)), from_z(unit_vector(axis))

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]), Vector3(0.0, 0.0, times(self.advance, q[0])))

    def subspace(self, q: Scalars) -> Columns:
        return (Motion(Z, Vector3(0.0, 0.0, self.advance)),)

    def residual(self, X_ab: Pose) -> list[Scalar]:
        """Return residuals that vanish where advance and angle match, up to whole turns."""
        value = apply("atan2", X_ab.rotation.y.x, X_ab.rotation.x.x)
        gap = minus(X_ab.position.z, times(self.advance, value))
        turn = times(TURN, self.advance)
        whole = apply("floor", plus(over(gap, turn), 0.5))
        return [*point_on_axis_residuals(X_ab), *parallel_axes_residuals(X_ab.rotation), minus(gap, times(whole, turn))]

    def measure(self, X_ab: Pose) -> Measured:
        """Return the angle; the advance determines the number of whole turns."""
        value, wrench = measure_angle_about_z(X_ab)
        if is_zero(self.advance):
            return Measured((value,), (wrench,))
        turns = apply("floor", plus(over(minus(over(X_ab.position.z, self.advance), value), TURN), 0.5))
        return Measured((plus(value, times(TURN, turns)),), (wrench,))

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("H", advance=self.advance),)

    def facing(self, X_ab: Pose) -> Scalar:
        return X_ab.rotation.z.z
