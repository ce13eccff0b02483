"""Force law along one component of a sum of relative measures."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ModelError
from core.later import dataclass
from core.mechanics.elements.force_state import End, ForceState, Loads, added
from core.mechanics.elements.forces.along_one import LAW_FIELDS, AlongOne, Law, law_of, wrench_against_growth
from core.mechanics.elements.forces.force_element import ForceElement
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.sensors import Share, measurement
from core.model import Force as DocumentForce
from core.model.forces import SENSOR
from core.numerics.spatial.relative_measures import rate
from core.numerics.spatial.rotation import unwrapped_near
from core.numerics.spatial.scalar import Scalar, negated
from core.numerics.spatial.vector import Force, Vector3


@dataclass(frozen=True)
class MeasureForce(AlongOne):
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
    shares: tuple[Share, ...]
    offset: Scalar
    law: Law
    component: int = 0
    counted: int | None = None
    """Index in x of the angle with counted turns."""
    turns: bool = False
    joint: str = ""

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document. Raises ModelError."""
        return along_sensor(force.name, force.sensor, law_of(force, machine), machine, f"force '{force.name}', sensor")

    def _measures_and_sum(self, s: ForceState) -> tuple[list[tuple[Share, Force]], Scalar, Scalar]:
        """Return the relative measures with their wrenches, and value and rate of the sum."""
        pairs: list[tuple[Share, Force]] = []
        value, speed = s.run(negated, self.offset), 0.0
        for share in self.shares:
            measured, motion = measurement(share.measure, s.kinematics)
            wrench = measured.wrenches[self.component]
            pairs.append((share, wrench))
            value = s.run(added, value, share.sign, measured.values[self.component])
            speed = s.run(added, speed, share.sign, s.run(rate, wrench, motion))
        if self.counted is not None:
            value = s.run(unwrapped_near, s.x[self.counted], value)
        return pairs, value, speed

    def act(self, s: ForceState, loads: Loads) -> None:
        """Add the element's force to the loads."""
        self._add_wrenches(s, loads, self._wrenches_on_b(s))

    def pull(self, s: ForceState, loads: Loads, force: Scalar) -> None:
        """Add a given force, positive against the growth of the sum, to the loads."""
        self._add_wrenches(s, loads, self._wrenches_against_growth(s, self._measures_and_sum(s)[0], force))

    def _add_wrenches(self, s: ForceState, loads: Loads, exerted: Sequence[tuple[Share, Force]]) -> None:
        for share, wrench in exerted:
            loads.between(share.measure.a, share.measure.b, s.kinematics.frame(share.measure.b).position, wrench)

    def _wrenches_on_b(self, s: ForceState) -> list[tuple[Share, Force]]:
        """Return the wrench on b of each measure, at b's origin."""
        pairs, value, speed = self._measures_and_sum(s)
        return self._wrenches_against_growth(s, pairs, self.force_and_potential(s, value, speed)[0])

    def _wrenches_against_growth(
        self, s: ForceState, pairs: Sequence[tuple[Share, Force]], force: Scalar
    ) -> list[tuple[Share, Force]]:
        return [(share, s.run(wrench_against_growth, wrench, share.sign, force)) for share, wrench in pairs]

    def forces_at_ends(self, s: ForceState, force: Scalar) -> list[Vector3]:
        """Return the opposite forces on the two frames of each measure for a force against the growth of the sum."""
        exerted = self._wrenches_against_growth(s, self._measures_and_sum(s)[0], force)
        return [end for _, wrench in exerted for end in (-wrench.force, wrench.force)]

    def quantity(self, s: ForceState) -> tuple[Scalar, Scalar]:
        """Return (value, rate) of the sum minus its offset."""
        return self._measures_and_sum(s)[1:]

    def ends(self) -> tuple[End, ...]:
        """Return both frames of each measure."""
        return tuple(end for share in self.shares for end in (share.measure.a, share.measure.b))

    def at_ends(self, s: ForceState) -> list[Vector3]:
        """Return the opposite forces on the two frames of each measure."""
        return [force for _, wrench in self._wrenches_on_b(s) for force in (-wrench.force, wrench.force)]


def along_sensor(element: str, sensor: str, law: Law, machine: Resolver, where: str) -> MeasureForce:
    """Return a force law along a sensor of one length or angle. Raises ModelError."""
    info = machine.model.find("sensors", sensor).info
    if not info.geometric or len(info.components) != 1:
        raise ModelError(
            f"Sensor '{sensor}' does not measure a single length or angle.",
            where=where,
            remedy="Choose a sensor of distance, angle or distance from a plane.",
        )
    found = machine.sensors[sensor]
    return MeasureForce(element, found.shares, found.offset, law, 0, machine.counted(sensor), info.turns)
