"""Vectors of three scalars."""

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
