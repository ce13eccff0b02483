"""Clutch: dry friction between two joints, which stick or slip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from core.mechanics.elements.force_state import ForceState
from core.mechanics.elements.forces.along_one import SPEED_AND_FORCE, ForceLaw, friction_at_state
from core.mechanics.elements.forces.along_sensor import MeasureForce
from core.mechanics.elements.forces.force_element import ForceChannel, ForceElement
from core.mechanics.elements.forces.in_joint import JointForce, build_joint_force
from core.mechanics.elements.forces.over_strands import Tendon, WeightedPart
from core.mechanics.elements.resolver import Resolver
from core.model import Force as DocumentForce
from core.model.forces import JOINT
from core.model.joints import LEVELS
from core.numerics.spatial.scalar import Scalar, negated


class Slip(NamedTuple):
    """Slip speed v_joint − ratio · v_leader, and the friction torque available while the clutch slips."""

    relative_speed: Scalar
    capacity: Scalar


@dataclass(frozen=True)
class Clutch(Tendon):
    """Friction torque F against the growth of q_joint − ratio · q_leader; simulations treat it by contact states (stick
    or slip)."""

    name, title = "clutch", "Clutch between two joints"
    help = (
        "Acts as dry friction between two joints, against v_joint − ratio · v_leader. It sticks and slips, and a "
        "formula of its friction engages it."
    )
    uses = ("joint", "leader", "ratio", *LEVELS, "stribeck_speed")
    needs = ("joint", "leader")
    along = JOINT
    nonzero = ("friction",)
    rank = 5

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a clutch of the document. Raises ModelError."""
        where, parts = f"force '{force.name}'", []
        ratio = machine.numbers.scalar(force.ratio, f"{where}, ratio")
        for factor, field in ((1.0, "joint"), (negated(ratio), "leader")):
            joint = machine.single_coordinate_joint(getattr(force, field), f"{where}, {field}")
            along = build_joint_force(force.name, joint, 0, ForceLaw(), machine)
            assert isinstance(along, JointForce | MeasureForce)
            parts.append(WeightedPart(factor, along))
        return cls(force.name, tuple(parts), ForceLaw(friction=machine.friction(force)))

    @classmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """Return the output channels, those of `Slip`."""
        return tuple(map(ForceChannel, Slip._fields, SPEED_AND_FORCE.get(along, ("none", "none"))))

    def output_values(self, state: ForceState) -> Slip:  # type: ignore[override]
        """Return the values of the output channels."""
        return Slip(self.value_and_rate(state)[1], friction_at_state(self.law, state).kinetic)
