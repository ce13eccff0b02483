"""A joint's coordinate, or one of its speeds, moved by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.elements.constraints.joint_coordinate import Coordinate
from core.elements.constraints.kinematic_constraint import POSITION, ConstraintState, Rates, Row, Side
from core.elements.drivers.driver_functions import Motion
from core.elements.drivers.driver_kind import DriverElement, component_of
from core.elements.resolver import Resolver
from core.errors import ModelError
from core.model import Driver, Joint
from core.model.constraints import MOTIONS
from core.spatial.scalar import Scalar


@dataclass(frozen=True)
class DrivenJoint(DriverElement):
    """A joint's coordinate."""

    name = "joint"
    coordinate: Coordinate
    motion: Motion
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, driver: Driver, motion: Motion, machine: Resolver) -> DriverElement:
        """See `DriverElement`; of joints with a quaternion speeds can be driven as well."""
        where, level = f"driver '{driver.name}'", MOTIONS.index(driver.motion)
        joint = machine.machine.member(driver.joint)
        if joint.info.nq > joint.info.nv and driver.coordinate in joint.info.speeds:
            link, k = _speed(driver, joint, level, machine)
            return DrivenSpeed(link, k, motion, (Row("drivers", driver.name, driver.coordinate, level),))
        words = tuple(word for word in joint.info.coordinates if word not in ("qx", "qy", "qz", "qw"))
        if not words:
            remedy = "Drive an orientation sensor" + (", or a speed." if joint.info.nv else ".")
            raise ModelError(
                f"'{joint.name}' has no coordinate that can be driven.", where=f"{where}, joint", remedy=remedy
            )
        k = component_of(words, driver.coordinate, joint.name, where)
        return cls(Coordinate.read(joint, k, machine), motion, (Row("drivers", driver.name, words[k], level),))

    @property
    def sides(self) -> tuple[Side, ...]:
        """See `Coordinate.sides`."""
        return self.coordinate.sides

    @property
    def turns(self) -> bool:  # type: ignore[override]
        """See `KinematicConstraint`."""
        return self.coordinate.turns

    def values(self, state: ConstraintState) -> list[Scalar]:
        """The coordinate."""
        return [self.coordinate.value(state)]


@dataclass(frozen=True)
class DrivenSpeed(DriverElement):
    """Speed k of a link, where no coordinate has it as its rate."""

    name = "joint"
    link: int
    k: int
    motion: Motion
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, driver: Driver, motion: Motion, machine: Resolver) -> DriverElement:
        """See `DrivenJoint`."""
        return DrivenJoint.read(driver, motion, machine)

    @property
    def sides(self) -> tuple[Side, ...]:
        """None: it is a force on the speed."""
        return ()

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Nothing is held on the level of positions."""
        return [0.0]

    def speeds(self, state: ConstraintState, v: Sequence[Scalar], rates: Rates) -> list[Scalar]:
        """The speed itself."""
        return [v[state.kinematics.tree.links[self.link].first_v + self.k]]


def _speed(driver: Driver, joint: Joint, level: int, machine: Resolver) -> tuple[int, int]:
    """(link, number) of the speed that a driver moves."""
    where = f"driver '{driver.name}'"
    if level == POSITION:
        raise ModelError(
            f"'{driver.coordinate}' is a speed of '{joint.name}', not a coordinate.",
            where=f"{where}, motion",
            remedy="Let the driver give the velocity.",
        )
    link = machine.joint_link(joint.name)
    if link is None:
        raise ModelError(
            f"'{joint.name}' closes a loop, so it has no speeds of its own.",
            where=f"{where}, joint",
            remedy="Cut the loop at another joint.",
        )
    return link, joint.info.speeds.index(driver.coordinate)
