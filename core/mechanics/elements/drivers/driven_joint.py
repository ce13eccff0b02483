"""Drivers that prescribe a joint's coordinate, or one of its speeds, as a function of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import ModelError
from core.mechanics.elements.constraints.joint_coordinate import Coordinate
from core.mechanics.elements.constraints.kinematic_constraint import POSITION, ConstraintState, Rates, Row, Side
from core.mechanics.elements.drivers.driver_kind import DriverElement, TimeFunction, component_index
from core.mechanics.elements.resolver import Resolver
from core.model import Driver, Joint
from core.model.constraints import MOTIONS
from core.numerics.spatial.scalar import Scalar


@dataclass(frozen=True)
class DrivenJoint(DriverElement):
    """Driver of a joint's coordinate."""

    name = "joint"
    coordinate: Coordinate
    motion: TimeFunction
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, driver: Driver, function: TimeFunction, machine: Resolver) -> DriverElement:
        """Read a driver of the document; for joints with a quaternion speeds can be driven as well."""
        where, level = f"driver '{driver.name}'", MOTIONS.index(driver.motion)
        joint = machine.machine.find_joint(driver.joint)
        if joint.info.nq > joint.info.nv and driver.coordinate in joint.info.speeds:
            link, k = _find_driven_speed(driver, joint, level, machine)
            return DrivenSpeed(link, k, function, (Row("drivers", driver.name, driver.coordinate, level),))
        words = tuple(word for word in joint.info.coordinates if word not in ("qx", "qy", "qz", "qw"))
        if not words:
            remedy = "Drive an orientation sensor" + (", or a speed." if joint.info.nv else ".")
            raise ModelError(
                f"'{joint.name}' has no coordinate that can be driven.", where=f"{where}, joint", remedy=remedy
            )
        k = component_index(words, driver.coordinate, joint.name, where)
        return cls(Coordinate.read(joint, k, machine), function, (Row("drivers", driver.name, words[k], level),))

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the sides of a cut joint; none for a tree joint."""
        return self.coordinate.sides

    @property
    def turns(self) -> bool:  # type: ignore[override]
        """Return True if the coordinate is an angle known up to whole turns."""
        return self.coordinate.turns

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return the coordinate."""
        return [self.coordinate.value(state)]


@dataclass(frozen=True)
class DrivenSpeed(DriverElement):
    """Driver of speed k of a link, where the speed is not the rate of a coordinate."""

    name = "joint"
    link: int
    k: int
    motion: TimeFunction
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, driver: Driver, function: TimeFunction, machine: Resolver) -> DriverElement:
        """Read a driver of the document; see `DrivenJoint`."""
        return DrivenJoint.read(driver, function, machine)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return no sides: the driver's force acts on the speed."""
        return ()

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return zero, as positions are not prescribed."""
        return [0.0]

    def speeds(self, state: ConstraintState, v: Sequence[Scalar], rates: Rates) -> list[Scalar]:
        """Return the speed."""
        return [v[state.kinematics.tree.links[self.link].first_v + self.k]]


def _find_driven_speed(driver: Driver, joint: Joint, level: int, machine: Resolver) -> tuple[int, int]:
    """Return (link, index) of the speed that a driver prescribes."""
    where = f"driver '{driver.name}'"
    if level == POSITION:
        raise ModelError(
            f"'{driver.coordinate}' is a speed of '{joint.name}', not a coordinate.",
            where=f"{where}, motion",
            remedy="Set the driver's motion to velocity or acceleration.",
        )
    link = machine.joint_link(joint.name)
    if link is None:
        raise ModelError(
            f"'{joint.name}' closes a loop, so it has no speeds of its own.",
            where=f"{where}, joint",
            remedy="Cut the loop at another joint.",
        )
    return link, joint.info.speeds.index(driver.coordinate)
