"""Vectors of three scalars; spatial motions [ω; v] and forces [n; f].

A spatial motion is the velocity or acceleration of a frame, in the frame's axes, v at its origin; a spatial force is a
moment about a frame's origin and a force, both in the frame's axes.
"""

from __future__ import annotations

from typing import NamedTuple

from core.numerics.spatial.scalar import Scalar, minus, negated, over, plus, times


class Vector3(NamedTuple):
    """Vector of three components in some frame. `+` and `-` work by component, `cross` is the vector product."""

    x: Scalar
    y: Scalar
    z: Scalar

    def __add__(self, other: Vector3) -> Vector3:  # type: ignore[override]
        return Vector3(plus(self[0], other[0]), plus(self[1], other[1]), plus(self[2], other[2]))

    def __sub__(self, other: Vector3) -> Vector3:
        return Vector3(minus(self[0], other[0]), minus(self[1], other[1]), minus(self[2], other[2]))

    def __neg__(self) -> Vector3:
        return Vector3(negated(self[0]), negated(self[1]), negated(self[2]))

    def scaled(self, factor: Scalar) -> Vector3:
        """Return the vector times a factor."""
        return Vector3(times(factor, self[0]), times(factor, self[1]), times(factor, self[2]))

    def over(self, divisor: Scalar) -> Vector3:
        return Vector3(*(over(component, divisor) for component in self))

    def dot(self, other: Vector3) -> Scalar:
        """Return the scalar product self · other."""
        return plus(plus(times(self[0], other[0]), times(self[1], other[1])), times(self[2], other[2]))

    def cross(self, other: Vector3) -> Vector3:
        """Return the vector product self × other."""
        return Vector3(
            minus(times(self[1], other[2]), times(self[2], other[1])),
            minus(times(self[2], other[0]), times(self[0], other[2])),
            minus(times(self[0], other[1]), times(self[1], other[0])),
        )


ZERO = Vector3(0.0, 0.0, 0.0)
X = Vector3(1.0, 0.0, 0.0)
Y = Vector3(0.0, 1.0, 0.0)
Z = Vector3(0.0, 0.0, 1.0)


class Force(NamedTuple):
    """Spatial force [n; f]: moment (N·m) and force (N)."""

    moment: Vector3
    force: Vector3

    def __add__(self, other: Force) -> Force:  # type: ignore[override]
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Force) -> Force:
        return Force(self.moment - other.moment, self.force - other.force)

    def __neg__(self) -> Force:
        return Force(-self.moment, -self.force)

    def scaled(self, factor: Scalar) -> Force:
        """Return the force times a factor."""
        return Force(self.moment.scaled(factor), self.force.scaled(factor))


ZERO_FORCE = Force(ZERO, ZERO)


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


ZERO_MOTION = Motion(ZERO, ZERO)
