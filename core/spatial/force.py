"""Spatial forces [n; f]: moment about the origin of a frame and force, in its axes."""

from __future__ import annotations

from typing import NamedTuple

from core.spatial.scalar import Scalar
from core.spatial.vector import ZERO as ZERO3
from core.spatial.vector import Vector3


class Force(NamedTuple):
    """[n; f]."""

    moment: Vector3
    force: Vector3

    def __add__(self, other: Force) -> Force:  # type: ignore[override]
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Force) -> Force:
        return Force(self.moment - other.moment, self.force - other.force)

    def __neg__(self) -> Force:
        return Force(-self.moment, -self.force)

    def scaled(self, factor: Scalar) -> Force:
        """factor · self."""
        return Force(self.moment.scaled(factor), self.force.scaled(factor))


ZERO = Force(ZERO3, ZERO3)
