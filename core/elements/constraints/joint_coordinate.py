"""A coordinate of a joint as gears and drivers take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.elements.constraints.kinematic_constraint import ConstraintState, Side
from core.elements.resolver import Resolver
from core.joints.measures import coordinates_of
from core.model import Joint
from core.spatial.scalar import Scalar


@dataclass(frozen=True)
class Coordinate:
    """An entry of a tree joint's own coordinates, or measured where the joint closes a loop."""

    joint: str
    k: int
    link: int | None
    side: Side | None = None
    law: Any = None
    turns: bool = False

    @classmethod
    def read(cls, joint: Joint, k: int, machine: Resolver) -> Coordinate:
        """Coordinate k of a joint."""
        if joint.name not in machine.machine.laws:
            return cls(joint.name, k, machine.joint_link(joint.name))
        law, a, b = machine.machine.laws[joint.name]
        turns = joint.info.is_wound(k)
        return cls(joint.name, k, None, Side(a, b, (joint.parent, joint.child), joint.name), law, turns)

    @property
    def sides(self) -> tuple[Side, ...]:
        """None in the tree: there it is a force in the joint."""
        return () if self.side is None else (self.side,)

    def value(self, state: ConstraintState) -> Scalar:
        """The coordinate."""
        if self.side is None:
            return state.kinematics.coordinates[self.link][self.k]  # type: ignore[index]
        return coordinates_of(*state.frames(self.side), self.law, None).values[self.k]
