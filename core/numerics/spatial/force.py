"""Spatial forces [n; f]: moment about a frame's origin and force, both in the frame's axes."""

from __future__ import annotations

from typing import NamedTuple

from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO as ZERO3
from core.numerics.spatial.vector import Vector3


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


ZERO = Force(ZERO3, ZERO3)
