"""Forces of controllers in joints."""

from __future__ import annotations

from core.later import dataclass
from core.mechanics.elements.force_state import End, ForceState, Loads, Scalars
from core.mechanics.elements.forces.along_one import ForceLaw
from core.mechanics.elements.forces.along_sensor import MeasureForce
from core.mechanics.elements.forces.force_element import ForceChannel, ForceElement
from core.mechanics.elements.forces.in_joint import CutJointForce, JointForce, build_joint_force
from core.mechanics.elements.resolver import Resolver
from core.model import Force
from core.model.signal_elements import ControlledJoint, Signal
from core.numerics.spatial.scalar import Scalar, negated
from core.numerics.spatial.vector import Vector3


@dataclass(frozen=True)
class ControlForce(ForceElement):
    """Force of a controller in a coordinate of a joint, positive along its growth."""

    element: str
    part: JointForce | CutJointForce | MeasureForce
    """Element along the coordinate, without a law."""
    value: str
    """Name of the value that is the force."""
    joint: str = ""

    @classmethod
    def read(cls, force: Force, machine: Resolver) -> ForceElement:
        """Read a force element of the document; see `JointForce`."""
        return JointForce.read(force, machine)

    @classmethod
    def of_signal(cls, signal: Signal, row: ControlledJoint, value: str, machine: Resolver) -> ControlForce:
        """Return the force of a controller. Raises ModelError if its coordinate is not known."""
        joint = machine.machine.find_joint(row.joint)
        k = machine.coordinate_index(joint, row.coordinate, f"signal '{signal.name}', joints")
        part = build_joint_force(signal.name, joint, k, ForceLaw(), machine)
        assert isinstance(part, JointForce | CutJointForce | MeasureForce)
        return cls(signal.name, part, value, joint.name)

    @classmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """Return no output channels; those of signals are their values."""
        return ()

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the force to the loads."""
        self.part.apply_force(state, loads, state.run(negated, state.signal(self.value)))

    def output_values(self, state: ForceState) -> Scalars:
        """Return no values."""
        return ()

    def potential(self, state: ForceState) -> Scalar:
        """Return zero."""
        return 0.0

    def ends(self) -> tuple[End, ...]:
        """Return no ends, as the force acts in the joint."""
        return ()

    def end_forces(self, state: ForceState) -> tuple[Vector3, ...]:
        """Return no end forces, as the force acts in the joint."""
        return ()
