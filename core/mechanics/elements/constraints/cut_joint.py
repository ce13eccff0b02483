"""Constraint of a cut joint, which closes a loop."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import Any

from core.later import dataclass
from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, KinematicConstraint, Row, Side
from core.mechanics.elements.resolver import Resolver
from core.numerics.spatial.scalar import Scalar


@dataclass(frozen=True)
class CutJoint(KinematicConstraint):
    """Cut joint: a joint without coordinates of its own, because the spanning tree is cut there."""

    relative = True
    law: Any
    side: Side
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, name: str, machine: Resolver) -> CutJoint:
        """Read the joint of a name."""
        law, a, b = machine.machine.laws[name]
        joint = machine.machine.find_joint(name)
        rows = tuple(Row("joints", name, str(k + 1)) for k in range(joint.info.constraints))
        return cls(law, Side(a, b, (joint.parent, joint.child), name), rows)

    @property
    def sharing_key(self) -> Hashable:
        """Return the kind of the joint with its parameters if these are numbers, as a key for joints with equal
        equations."""
        numbers = tuple(getattr(self.law, field.name) for field in fields(self.law))
        plain = all(isinstance(x, float | int | str) for x in numbers)
        return (type(self.law), numbers) if plain else None

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the frames of the joint."""
        return (self.side,)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return the residuals of the joint."""
        X_a, X_b = state.frames(self.side)
        return self.law.residual(X_a.inverse() @ X_b)
