"""What a kind of constraint says beside its equations: how it is read, and what closed forms see in it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple

from core.elements.constraints.kinematic_constraint import KinematicConstraint, Side
from core.elements.resolver import Resolver
from core.elements.sensors import Sensor
from core.elements.symbol_trial import told_to_document
from core.errors import ModelError
from core.model import CONSTRAINT_KINDS, WORLD, Constraint, ConstraintKind, Model
from core.model.fields import Value


class Distance(NamedTuple):
    """What closed forms see in a massless rod, however it is said: a distance held between two points."""

    name: str
    a: str
    b: str
    length: tuple[tuple[Value, str], ...]
    """Its parts, and where each stands."""


class Ratio(NamedTuple):
    """What closed forms see in a gear: q_joint = ratio · q_leader + offset, of joints with one coordinate."""

    name: str
    joint: str
    leader: str
    ratio: Value
    offset: Value


class ConstraintElement(KinematicConstraint):
    """A constraint of the document. A kind is one class, in a file of its own beside this one."""

    name: ClassVar[str]
    """What the document calls the kind."""

    @classmethod
    def in_document(cls) -> ConstraintKind:
        """What the document says of the kind: a row of `core.model.constraints`, or what a kind from outside gives."""
        return CONSTRAINT_KINDS[cls.name]

    @classmethod
    def check(cls) -> None:
        """Raises KindError, which names the member that cannot be used."""
        told_to_document(cls)

    @classmethod
    @abstractmethod
    def read(cls, constraint: Constraint, machine: Resolver) -> ConstraintElement:
        """A constraint of the document on a machine. Raises ModelError."""

    @classmethod
    def elementary(cls, constraint: Constraint, model: Model) -> Distance | Ratio | None:
        """What it is to closed forms; None: it is left to iteration."""
        return None


def side_of(machine: Resolver, a: str, b: str) -> Side:
    """The side between two frames, with places of its own: each can be displaced by itself."""
    return Side(machine.place(a), machine.place(b), (a or WORLD, b or WORLD))


def sides_of(machine: Resolver, sensor: str) -> tuple[Side, ...]:
    """The sides of a sensor and of those that are subtracted from it."""
    table = {each.name: each for each in machine.model.sensors}
    sides = []
    for _ in machine.sensors[sensor].shares:
        sides.append(side_of(machine, table[sensor].a, table[sensor].b))
        sensor = table[sensor].minus
    return tuple(sides)


def geometric(machine: Resolver, name: str, where: str) -> Sensor:
    """A sensor that can be prescribed. Raises ModelError for others."""
    if not machine.model.find("sensors", name).info.geometric:
        raise ModelError(
            f"'{name}' does not measure a position or orientation, so it cannot be prescribed.",
            where=where,
            remedy="Prescribe a distance, angle, position, orientation or pose.",
        )
    return machine.sensors[name]
