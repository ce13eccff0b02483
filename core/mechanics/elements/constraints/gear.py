"""Gear: coupling of two joints by a ratio, with a constraint force."""

from __future__ import annotations

from dataclasses import dataclass

from core.mechanics.elements.constraints.constraint_kind import ConstraintElement, Ratio
from core.mechanics.elements.constraints.joint_coordinate import Coordinate
from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, Row, Side
from core.mechanics.elements.resolver import Resolver
from core.model import Constraint, Model
from core.model.constraints import count_meshing_positions
from core.numerics.spatial.rotation import wrap_angle
from core.numerics.spatial.scalar import Scalar, is_zero, minus, over, plus, times


@dataclass(frozen=True)
class Gear(ConstraintElement):
    """Gear with the residual q_joint − ratio · q_leader − offset."""

    name, title = "gear", "Gear between two joints"
    help = (
        "q_joint = ratio · q_leader + offset, as a constraint with its own force, so that either joint may close a "
        "loop or follow others."
    )
    uses = ("joint", "leader", "ratio", "offset")
    needs = ("joint", "leader")
    rank = 1
    joint: Coordinate
    leader: Coordinate
    ratio: Scalar
    offset: Scalar
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, constraint: Constraint, machine: Resolver) -> Gear:
        """Read a gear of the document. Raises ModelError."""
        where = f"constraint '{constraint.name}'"
        joint, leader = (
            Coordinate.read(
                machine.single_coordinate_joint(getattr(constraint, field), f"{where}, {field}"), 0, machine
            )
            for field in ("joint", "leader")
        )
        ratio, offset = (
            machine.numbers.scalar(getattr(constraint, field), f"{where}, {field}") for field in ("ratio", "offset")
        )
        return cls(joint, leader, ratio, offset, (Row("constraints", constraint.name, ""),))

    @classmethod
    def closure_equivalent(cls, constraint: Constraint, model: Model) -> Ratio:
        """Return the gear's ratio."""
        return Ratio(constraint.name, constraint.joint, constraint.leader, constraint.ratio, constraint.offset)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the sides of those of the two joints that close a loop."""
        return (*self.joint.sides, *self.leader.sides)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return the residual. Where an angle is measured and so known only up to whole turns, the residual is known up
        to the corresponding multiples."""
        led = plus(times(self.ratio, self.leader.value(state)), self.offset)
        gap = minus(self.joint.value(state), led)
        if self.joint.turns and self.leader.turns and isinstance(self.ratio, int | float):
            places = (
                count_meshing_positions(self.ratio) or 1
            )  # turns of either change the gap by multiples of 2π/places
            return [over(wrap_angle(times(float(places), gap)), float(places))]
        if self.joint.turns:
            return [wrap_angle(gap)]
        if self.leader.turns and not is_zero(self.ratio):
            return [times(self.ratio, wrap_angle(over(gap, self.ratio)))]
        return [gap]
