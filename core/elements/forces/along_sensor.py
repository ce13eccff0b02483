"""A law along one component of a sum of relative measures."""

from __future__ import annotations

from dataclasses import dataclass

from core.elements.force_state import End, ForceState, Loads, added
from core.elements.forces.along_one import AlongOne, Law, against_growth, law_of
from core.elements.forces.force_element import ForceElement
from core.elements.resolver import Resolver
from core.elements.sensors import Share, measurement
from core.errors import ModelError
from core.model import Force as DocumentForce
from core.spatial.attitude import next_to
from core.spatial.force import Force
from core.spatial.relative_measures import rate
from core.spatial.scalar import Scalar, negated
from core.spatial.vector import Vector3


@dataclass(frozen=True)
class MeasureForce(AlongOne):
    """A force along a sensor, or in a joint that closes a loop."""

    name = "sensor"
    element: str
    shares: tuple[Share, ...]
    offset: Scalar
    law: Law
    component: int = 0
    counted: int | None = None
    """Where the angle as counted over turns is in x."""
    turns: bool = False
    joint: str = ""

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """See `ForceElement`."""
        law = law_of(force, machine)
        sensor = machine.model.find("sensors", force.sensor)
        if not sensor.info.geometric or len(sensor.info.components) != 1:
            raise ModelError(
                f"The sensor '{sensor.name}' is no single measure of position.",
                where=f"force '{force.name}', sensor",
                remedy="Name a distance, an angle or a distance from a plane.",
            )
        found = machine.sensors[sensor.name]
        counted = machine.counted(sensor.name)
        return cls(force.name, found.shares, found.offset, law, 0, counted, sensor.info.turns)

    def _sums(self, s: ForceState) -> tuple[list[tuple[Share, Force]], Scalar, Scalar]:
        """Relative measures with their wrenches, value, rate."""
        pairs: list[tuple[Share, Force]] = []
        value, speed = s.run(negated, self.offset), 0.0
        for share in self.shares:
            measured, motion = measurement(share.measure, s.kinematics)
            wrench = measured.wrenches[self.component]
            pairs.append((share, wrench))
            value = s.run(added, value, share.sign, measured.values[self.component])
            speed = s.run(added, speed, share.sign, s.run(rate, wrench, motion))
        if self.counted is not None:
            value = s.run(next_to, s.x[self.counted], value)
        return pairs, value, speed

    def act(self, s: ForceState, loads: Loads) -> None:
        """See `ForceElement`."""
        for share, wrench in self._exerted(s):
            loads.between(share.measure.a, share.measure.b, s.kinematics.frame(share.measure.b).position, wrench)

    def _exerted(self, s: ForceState) -> list[tuple[Share, Force]]:
        """The wrench on b of each measure, at b's origin."""
        pairs, value, speed = self._sums(s)
        force, _ = self.force_and_potential(s, value, speed)
        return [(share, s.run(against_growth, wrench, share.sign, force)) for share, wrench in pairs]

    def quantity(self, s: ForceState) -> tuple[Scalar, Scalar]:
        """(value, rate) of the sum, less its offset."""
        return self._sums(s)[1:]

    def ends(self) -> tuple[End, ...]:
        """Both frames of each measure."""
        return tuple(end for share in self.shares for end in (share.measure.a, share.measure.b))

    def at_ends(self, s: ForceState) -> list[Vector3]:
        """Opposite forces on the two frames of each measure."""
        return [force for _, wrench in self._exerted(s) for force in (-wrench.force, wrench.force)]


KIND = MeasureForce
