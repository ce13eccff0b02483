"""Spatial motion vectors [ω; v]: velocity or acceleration of a frame, in the frame's axes, v at its origin."""

from __future__ import annotations

from typing import NamedTuple

from core.numerics.spatial.force import Force
from core.numerics.spatial.scalar import Scalar, plus
from core.numerics.spatial.vector import ZERO as ZERO3
from core.numerics.spatial.vector import Vector3


class Motion(NamedTuple):
    """Spatial motion [ω; v]: angular (rad/s), then linear part (m/s)."""

    angular: Vector3
    linear: Vector3

    def __add__(self, other: Motion) -> Motion:  # type: ignore[override]
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Motion:
        return Motion(-self.angular, -self.linear)

    def scaled(self, factor: Scalar) -> Motion:
        """Return the motion times a factor."""
        return Motion(self.angular.scaled(factor), self.linear.scaled(factor))

    def dot(self, force: Force) -> Scalar:
        """Return the power of a force on this motion: ω·n + v·f."""
        return plus(self.angular.dot(force.moment), self.linear.dot(force.force))

    def cross(self, other: Motion) -> Motion:
        """Return the spatial cross product V × M = [ω × m; ω × m₀ + v × m] (Featherstone, RBDA 2.31)."""
        return Motion(
            self.angular.cross(other.angular),
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
        )

    def cross_force(self, force: Force) -> Force:
        """Return the spatial cross product with a force, V ×* F = [ω × n + v × f; ω × f] (Featherstone, RBDA 2.32)."""
        return Force(
            self.angular.cross(force.moment) + self.linear.cross(force.force),
            self.angular.cross(force.force),
        )


ZERO = Motion(ZERO3, ZERO3)
