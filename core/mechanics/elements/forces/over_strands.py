"""Force law along L = Σ factor · value of joints and sensors: a tendon, or a spring over several joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from core.errors import ModelError
from core.mechanics.elements.added_inertia import Distance, JointCoordinate, PathPart, TendonInertia
from core.mechanics.elements.force_state import End, ForceState, Loads, add_scaled_force
from core.mechanics.elements.forces.along_one import LAW_FIELDS, ForceLaw, ScalarForce, read_law
from core.mechanics.elements.forces.along_sensor import MeasureForce, build_sensor_force
from core.mechanics.elements.forces.force_element import ForceElement
from core.mechanics.elements.forces.in_joint import JointForce, build_joint_force
from core.mechanics.elements.resolver import Resolver
from core.model import Force as DocumentForce
from core.model.forces import STRANDS
from core.numerics.spatial.relative_measures import distance
from core.numerics.spatial.scalar import Scalar, is_zero, times
from core.numerics.spatial.vector import Vector3


class WeightedPart(NamedTuple):
    """Contribution of a strand to the length: factor · quantity of a force element without a law."""

    factor: Scalar
    along: JointForce | MeasureForce


@dataclass(frozen=True)
class Tendon(ScalarForce):
    """Tendon with a force F that acts on every strand, multiplied by the strand's factor, against the growth of the
    strand's length."""

    name, title = "tendon", "Tendon over joints and sensors"
    help = (
        "Acts along L = Σ factor · value of its strands, against its growth: stiffness · (L − rest) + damping · rate + "
        "law. Its inertia m moves with L: ½ m L̇²."
    )
    uses: ClassVar[tuple[str, ...]] = ("strands", *LAW_FIELDS, "inertia")
    needs: ClassVar[tuple[str, ...]] = ("strands",)
    along = STRANDS
    rank = 6
    element: str
    parts: tuple[WeightedPart, ...]
    law: ForceLaw

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document. Raises ModelError."""
        return cls(force.name, _read_weighted_parts(force, machine), read_law(force, machine))

    @classmethod
    def moving_masses(cls, force: DocumentForce, machine: Resolver) -> tuple[TendonInertia, ...]:
        """Return the mass that moves with the tendon's length."""
        where = f"force '{force.name}', inertia"
        mass = machine.numbers.scalar(force.inertia, where)
        if is_zero(mass):
            return ()
        parts: list[tuple[Scalar, PathPart]] = []
        for factor, along in _read_weighted_parts(force, machine):
            parts += _moving_parts(factor, along, where)
        return (TendonInertia(force.name, mass, tuple(parts)),)

    def value_and_rate(self, state: ForceState) -> tuple[Scalar, Scalar]:
        """Return (L, L̇)."""
        length, rate = 0.0, 0.0
        for factor, along in self.parts:
            value, speed = along.value_and_rate(state)
            length, rate = (
                state.run(add_scaled_force, length, factor, value),
                state.run(add_scaled_force, rate, factor, speed),
            )
        return length, rate

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the element's force to the loads."""
        force, _ = self.force_and_potential(state, *self.value_and_rate(state))
        for factor, along in self.parts:
            along.apply_force(state, loads, state.run(times, factor, force))

    def ends(self) -> tuple[End, ...]:
        """Return the frames of its sensors."""
        return tuple(end for _, along in self.parts for end in along.ends())

    def end_forces(self, state: ForceState) -> Sequence[Vector3]:
        """Return the opposite forces on the frames of its sensors."""
        force, _ = self.force_and_potential(state, *self.value_and_rate(state))
        return [
            end
            for factor, along in self.parts
            if isinstance(along, MeasureForce)
            for end in along.end_forces_for(state, state.run(times, factor, force))
        ]


def _read_weighted_parts(force: DocumentForce, machine: Resolver) -> tuple[WeightedPart, ...]:
    found = []
    for number, strand in enumerate(force.strands):
        where = f"force '{force.name}', strands[{number}]"
        factor = machine.numbers.scalar(strand.factor, f"{where}, factor")
        if strand.sensor:
            along: ForceElement = build_sensor_force(force.name, strand.sensor, ForceLaw(), machine, where)
        else:
            along = build_joint_force(
                force.name, machine.single_coordinate_joint(strand.joint, where), 0, ForceLaw(), machine
            )
        assert isinstance(along, JointForce | MeasureForce)
        found.append(WeightedPart(factor, along))
    return tuple(found)


def _moving_parts(factor: Scalar, along: JointForce | MeasureForce, where: str) -> list[tuple[Scalar, PathPart]]:
    """Return a strand's contributions to the length with which a mass moves. Raises ModelError."""
    if isinstance(along, JointForce):
        return [(factor, JointCoordinate(along.link))]
    if any(share.measure.of is not distance for share in along.shares):
        raise ModelError(
            "A tendon with mass can have only distance sensors and joints of the tree as strands.",
            where=where,
            remedy="Cut the loop at another joint, or use a distance sensor.",
        )
    return [(times(share.sign, factor), Distance(share.measure.a, share.measure.b)) for share in along.shares]
