"""Massless rod: constant distance between two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.mechanics.elements.constraints.constraint_kind import ConstraintElement, Distance, build_side
from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, Row, Side
from core.mechanics.elements.resolver import Resolver
from core.model import Constraint, Model
from core.numerics.spatial.scalar import Scalar, minus, over, times


@dataclass(frozen=True)
class Rod(ConstraintElement):
    """Massless rod with the residual (|p|² − L²)/(2 L), which is smooth everywhere and to first order the error of the
    length in m."""

    name, title = "rod", "Rod, spherical–spherical"
    help = "A massless rod that holds the distance of two origins: one constraint."
    uses: ClassVar[tuple[str, ...]] = ("a", "b", "length")
    needs = ("b",)
    rank = 2
    relative = True
    side: Side
    length: Scalar
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, constraint: Constraint, machine: Resolver) -> Rod:
        """Read a rod of the document. Raises ModelError."""
        length = machine.numbers.scalar(constraint.length, f"constraint '{constraint.name}', length")
        side = build_side(machine, constraint.a, constraint.b)
        return cls(side, length, (Row("constraints", constraint.name, ""),))

    @classmethod
    def closure_equivalent(cls, constraint: Constraint, model: Model) -> Distance:
        """Return the rod's length and end points."""
        length = constraint.length, f"constraint '{constraint.name}', length"
        return Distance(constraint.name, constraint.a, constraint.b, (length,))

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the side between the two ends."""
        return (self.side,)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return the residual."""
        X_a, X_b = state.frames(self.side)
        p = X_b.position - X_a.position
        return [over(minus(p.dot(p), times(self.length, self.length)), times(2.0, self.length))]
