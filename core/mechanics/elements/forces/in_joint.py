"""Force law in a coordinate of a tree joint or a cut joint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.later import dataclass
from core.mechanics.dry_friction import NO_FRICTION, DryFriction, vector_friction_force
from core.mechanics.elements.force_state import End, ForceState, Loads, Scalars
from core.mechanics.elements.forces.along_one import (
    LAW_FIELDS,
    ForceLaw,
    ScalarForce,
    friction_at_state,
    read_law,
    wrench_against_growth,
)
from core.mechanics.elements.forces.along_sensor import MeasureForce
from core.mechanics.elements.forces.force_element import ForceChannel, ForceElement
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.sensors import RelativeMeasure, SignedMeasure, evaluate_measure
from core.model import Force as DocumentForce
from core.model import Joint
from core.model.forces import JOINT
from core.model.signals import component_name
from core.numerics.spatial.relative_measures import measure_rate, position
from core.numerics.spatial.scalar import Scalar, is_zero, negated
from core.numerics.spatial.vector import Force, Vector3


@dataclass(frozen=True)
class JointForce(ScalarForce):
    """Force law in a coordinate of a tree joint: coordinate k of the link, or the k-th displacement of a joint with a
    quaternion."""

    name, title, short_title = "joint", "Force in a joint", "in a joint"
    help = "Acts in a joint's coordinate, against its growth: stiffness · (coordinate − rest) + damping · speed + law."
    uses = ("joint", "coordinate", *LAW_FIELDS)
    needs = ("joint",)
    along = JOINT
    rank = 4
    element: str
    link: int
    k: int
    law: ForceLaw
    joint: str = ""

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document; in a cut joint the force acts along the measured coordinate."""
        law, joint = read_law(force, machine), machine.machine.find_joint(force.joint)
        if force.coordinate in joint.info.position:
            measure = RelativeMeasure(position, *machine.machine.joints[joint.name])
            k = joint.info.position.index(force.coordinate)
            return MeasureForce(force.name, (SignedMeasure(1.0, measure),), 0.0, law, k, joint=joint.name)
        k = machine.coordinate_index(joint, force.coordinate, f"force '{force.name}', coordinate")
        return build_joint_force(force.name, joint, k, law, machine)

    def value_and_rate(self, state: ForceState) -> tuple[Scalar, Scalar]:
        """Return (coordinate or displacement, speed)."""
        link = state.kinematics.tree.links[self.link]
        own, speed = state.kinematics.coordinates[self.link], state.kinematics.speeds[self.link][self.k]
        if link.law.nq == link.law.nv:
            return own[self.k], speed
        return state.run(joint_displacement, link.law, own, link.law.neutral)[self.k], speed

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the element's force to the loads."""
        self.apply_force(state, loads, self.force_and_potential(state, *self.value_and_rate(state))[0])

    def apply_force(self, state: ForceState, loads: Loads, force: Scalar) -> None:
        """Add a given force to the loads, positive against the growth of the coordinate."""
        link = state.kinematics.tree.links[self.link]
        loads.add_joint_force(link.first_v + self.k, link.coupling, state.run(negated, force))

    def ends(self) -> tuple[End, ...]:
        """Return no ends, as the element acts on a speed."""
        return ()

    def end_forces(self, state: ForceState) -> tuple[Vector3, ...]:
        """Return no end forces, as the element acts on a speed."""
        return ()


@dataclass(frozen=True)
class CutJointForce(ScalarForce):
    """Force law in the k-th displacement (from `rest`) of a cut joint with a quaternion."""

    element: str
    measure: RelativeMeasure
    """Relative measure of the joint; its `axis` is the joint's law."""
    k: int
    law: ForceLaw
    rest: tuple[Scalar, ...]
    joint: str = ""

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document; see `JointForce`."""
        return JointForce.read(force, machine)

    def _measure_displacement(self, state: ForceState) -> tuple[Force, Scalar, Scalar]:
        measured, motion = evaluate_measure(self.measure, state.kinematics)
        wrench = measured.wrenches[self.k]
        value = state.run(joint_displacement, self.measure.axis, measured.values, self.rest)[self.k]
        return wrench, value, state.run(measure_rate, wrench, motion)

    def _wrench_on_b(self, state: ForceState) -> Force:
        wrench, value, speed = self._measure_displacement(state)
        force, _ = self.force_and_potential(state, value, speed)
        return state.run(wrench_against_growth, wrench, 1.0, force)

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the element's force to the loads."""
        a, b = self.measure.a, self.measure.b
        loads.add_wrench_pair(a, b, state.kinematics.frame(b).position, self._wrench_on_b(state))

    def apply_force(self, state: ForceState, loads: Loads, force: Scalar) -> None:
        """Add a given force to the loads, positive against the growth of the coordinate."""
        a, b = self.measure.a, self.measure.b
        on_b = state.run(wrench_against_growth, self._measure_displacement(state)[0], 1.0, force)
        loads.add_wrench_pair(a, b, state.kinematics.frame(b).position, on_b)

    def value_and_rate(self, state: ForceState) -> tuple[Scalar, Scalar]:
        """Return (displacement, speed)."""
        return self._measure_displacement(state)[1:]

    def ends(self) -> tuple[End, ...]:
        """Return the joint's two frames, on which the element acts."""
        return self.measure.a, self.measure.b

    def end_forces(self, state: ForceState) -> tuple[Vector3, Vector3]:
        """Return the opposite forces on the joint's frames."""
        on_b = self._wrench_on_b(state).force
        return -on_b, on_b


@dataclass(frozen=True)
class VectorFriction(ForceElement):
    """Dry friction along joint coordinates whose speeds are components of one vector."""

    element: str
    parts: tuple[JointForce | CutJointForce | MeasureForce, ...]
    """Elements along each of the coordinates, without a law."""
    friction: DryFriction
    joint: str = ""

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document; see `JointForce`."""
        return JointForce.read(force, machine)

    @classmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """Return no output channels."""
        return ()

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the friction to the loads."""
        if state.smooth:
            return
        speeds = [part.value_and_rate(state)[1] for part in self.parts]
        forces = state.run(vector_friction_force, friction_at_state(ForceLaw(friction=self.friction), state), speeds)
        for part, force in zip(self.parts, forces, strict=True):
            part.apply_force(state, loads, force)

    def output_values(self, state: ForceState) -> Scalars:
        """Return no values."""
        return ()

    def potential(self, state: ForceState) -> Scalar:
        """Return zero."""
        return 0.0

    def ends(self) -> tuple[End, ...]:
        """Return no ends, as the element acts in the joint."""
        return ()

    def end_forces(self, state: ForceState) -> tuple[Vector3, ...]:
        """Return no end forces, as the element acts in the joint."""
        return ()


def joint_displacement(law: Any, q: Scalars, neutral: Scalars) -> tuple[Scalar, ...]:
    """Return the displacement from a neutral position, one number per speed."""
    return law.displacement(q, neutral)


def build_joint_force(element: str, joint: Joint, k: int, law: ForceLaw, machine: Resolver) -> ForceElement:
    """Return the element of a force law in coordinate k of a joint, or, in a joint with a quaternion, in its k-th
    displacement from the neutral position."""
    if joint.name not in machine.machine.laws:
        link = machine.joint_link(joint.name)
        assert link is not None
        return JointForce(element, link, k, law, joint.name)
    measure = machine.measure_of_joint(joint.name)
    if joint.info.nq > joint.info.nv:
        return CutJointForce(element, measure, k, law, tuple(map(float, joint.info.neutral)), joint.name)
    turns = joint.info.coordinate_dimensions[k] == "angle"
    counted = machine.turn_counter_index(component_name(joint.name, joint.info.coordinates[k]))
    return MeasureForce(element, (SignedMeasure(1.0, measure),), 0.0, law, k, counted, turns, joint.name)


def build_passive_forces(machine: Resolver) -> list[ForceElement]:
    """Return the passive forces: brakes in tree joints; damping, friction and springs of cut joints."""
    result: list[ForceElement] = []
    for joint in machine.machine.members:
        if joint.name in machine.machine.laws:
            result += _cut_joint_forces(joint, machine)
        elif joint.name in machine.machine.carried and machine.is_controlled(joint):
            law = ForceLaw(friction=machine.friction(joint))
            alone = [k for k in range(joint.info.nv) if not any(k in ball for ball in joint.info.balls)]
            result += [build_joint_force(joint.name, joint, k, law, machine) for k in alone]
            result += _vector_frictions(joint, law.friction, machine)
    return result


def _vector_frictions(joint: Joint, friction: DryFriction, machine: Resolver) -> Iterator[VectorFriction]:
    """Iterate over the friction of coordinates that share a friction vector."""
    for ball in joint.info.balls:
        parts = tuple(build_joint_force(joint.name, joint, k, ForceLaw(), machine) for k in ball)
        yield VectorFriction(joint.name, parts, friction, joint.name)  # type: ignore[arg-type]


def _cut_joint_forces(joint: Joint, machine: Resolver) -> Iterator[ForceElement]:
    """Iterate over damping, friction and springs of a cut joint."""
    where = f"joint '{joint.name}'"
    stiffness, damping = (
        machine.numbers.scalar(getattr(joint, field), f"{where}, {field}") for field in ("stiffness", "damping")
    )
    friction = machine.friction(joint)
    if is_zero(stiffness) and is_zero(damping) and not friction.has_friction:
        return
    rest = tuple(machine.numbers.scalar(x, f"{where}, spring_rest") for x in joint.relaxed_coordinates)
    for k in range(joint.info.nv):
        own = NO_FRICTION if any(k in ball for ball in joint.info.balls) else friction
        if is_zero(stiffness) and is_zero(damping) and not own.has_friction:
            continue
        if joint.info.nq == joint.info.nv:
            yield build_joint_force(joint.name, joint, k, ForceLaw(stiffness, rest[k], damping, 0.0, own), machine)
        else:
            law = ForceLaw(stiffness, 0.0, damping, 0.0, own)
            yield CutJointForce(joint.name, machine.measure_of_joint(joint.name), k, law, rest, joint.name)
    if friction.has_friction:
        yield from _vector_frictions(joint, friction, machine)
