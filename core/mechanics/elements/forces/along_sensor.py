"""Force law along one component of a sum of relative measures."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ModelError
from core.later import dataclass
from core.mechanics.elements.force_state import End, ForceState, Loads, add_scaled_force
from core.mechanics.elements.forces.along_one import LAW_FIELDS, ForceLaw, ScalarForce, read_law, wrench_against_growth
from core.mechanics.elements.forces.force_element import ForceElement
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.sensors import SignedMeasure, evaluate_measure
from core.model import Force as DocumentForce
from core.model.forces import SENSOR
from core.numerics.spatial.relative_measures import measure_rate
from core.numerics.spatial.rotation import unwrap_near
from core.numerics.spatial.scalar import Scalar, negated
from core.numerics.spatial.vector import Force, Vector3


@dataclass(frozen=True)
class MeasureForce(ScalarForce):
    """Force along a sensor, or in a cut joint."""

    name, title, short_title = "sensor", "Force along a sensor", "along a sensor"
    help = (
        "Acts along a sensor of one length or angle, against its growth: stiffness · (value − rest) + damping "
        "· rate + law."
    )
    uses = ("sensor", *LAW_FIELDS)
    needs = ("sensor",)
    along = SENSOR
    rank = 3
    element: str
    shares: tuple[SignedMeasure, ...]
    offset: Scalar
    law: ForceLaw
    component: int = 0
    counted: int | None = None
    """Index in x of the angle whose whole turns are counted."""
    turns: bool = False
    joint: str = ""

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document. Raises ModelError."""
        return build_sensor_force(
            force.name, force.sensor, read_law(force, machine), machine, f"force '{force.name}', sensor"
        )

    def _evaluate_measures(self, state: ForceState) -> tuple[list[tuple[SignedMeasure, Force]], Scalar, Scalar]:
        """Return each relative measure (a length or an angle) with its wrench, and the value and rate of their sum."""
        pairs: list[tuple[SignedMeasure, Force]] = []
        value, speed = state.run(negated, self.offset), 0.0
        for share in self.shares:
            measured, motion = evaluate_measure(share.measure, state.kinematics)
            wrench = measured.wrenches[self.component]
            pairs.append((share, wrench))
            value = state.run(add_scaled_force, value, share.sign, measured.values[self.component])
            speed = state.run(add_scaled_force, speed, share.sign, state.run(measure_rate, wrench, motion))
        if self.counted is not None:
            value = state.run(unwrap_near, state.x[self.counted], value)
        return pairs, value, speed

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the element's force to the loads."""
        self._add_wrenches(state, loads, self._wrenches_on_b(state))

    def apply_force(self, state: ForceState, loads: Loads, force: Scalar) -> None:
        """Add a given force to the loads, positive against the growth of the sum."""
        self._add_wrenches(state, loads, self._wrenches_against_growth(state, self._evaluate_measures(state)[0], force))

    def _add_wrenches(self, state: ForceState, loads: Loads, exerted: Sequence[tuple[SignedMeasure, Force]]) -> None:
        for share, wrench in exerted:
            loads.add_wrench_pair(
                share.measure.a, share.measure.b, state.kinematics.frame(share.measure.b).position, wrench
            )

    def _wrenches_on_b(self, state: ForceState) -> list[tuple[SignedMeasure, Force]]:
        """Return the wrench on b of each measure, at b's origin."""
        pairs, value, speed = self._evaluate_measures(state)
        return self._wrenches_against_growth(state, pairs, self.force_and_potential(state, value, speed)[0])

    def _wrenches_against_growth(
        self, state: ForceState, pairs: Sequence[tuple[SignedMeasure, Force]], force: Scalar
    ) -> list[tuple[SignedMeasure, Force]]:
        return [(share, state.run(wrench_against_growth, wrench, share.sign, force)) for share, wrench in pairs]

    def end_forces_for(self, state: ForceState, force: Scalar) -> list[Vector3]:
        """Return the opposite forces on the two frames of each measure that a given force against the growth of the sum
        produces."""
        exerted = self._wrenches_against_growth(state, self._evaluate_measures(state)[0], force)
        return [end for _, wrench in exerted for end in (-wrench.force, wrench.force)]

    def value_and_rate(self, state: ForceState) -> tuple[Scalar, Scalar]:
        """Return (value, rate) of the sum minus its offset."""
        return self._evaluate_measures(state)[1:]

    def ends(self) -> tuple[End, ...]:
        """Return both frames of each measure."""
        return tuple(end for share in self.shares for end in (share.measure.a, share.measure.b))

    def end_forces(self, state: ForceState) -> list[Vector3]:
        """Return the opposite forces on the two frames of each measure."""
        return [force for _, wrench in self._wrenches_on_b(state) for force in (-wrench.force, wrench.force)]


def build_sensor_force(element: str, sensor: str, law: ForceLaw, machine: Resolver, where: str) -> MeasureForce:
    """Return a force law along a sensor of one length or angle. Raises ModelError."""
    info = machine.model.find("sensors", sensor).info
    if not info.is_geometric or len(info.components) != 1:
        raise ModelError(
            f"Sensor '{sensor}' does not measure a single length or angle.",
            where=where,
            remedy="Choose a sensor of distance, angle or distance from a plane.",
        )
    found = machine.sensors[sensor]
    return MeasureForce(element, found.shares, found.offset, law, 0, machine.turn_counter_index(sensor), info.turns)
