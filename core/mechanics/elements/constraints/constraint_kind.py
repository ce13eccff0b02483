"""Interface of a constraint kind: equations, reading from the document, and equivalent for analytic loop closure."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from core.errors import ModelError
from core.mechanics.elements.constraints.kinematic_constraint import KinematicConstraint, Side
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.sensors import Sensor
from core.model import WORLD, Constraint, ConstraintKind, Model
from core.model.fields import Value


class Distance(NamedTuple):
    """Equivalent of a massless rod for analytic loop closure: a constant distance between two points."""

    name: str
    a: str
    b: str
    length: tuple[tuple[Value, str], ...]
    """Values whose sum is the length, each with its location in the document."""


class Ratio(NamedTuple):
    """Equivalent of a gear for analytic loop closure: q_joint = ratio · q_leader + offset, for joints with one
    coordinate."""

    name: str
    joint: str
    leader: str
    ratio: Value
    offset: Value


class ConstraintElement(KinematicConstraint, ConstraintKind):
    """Constraint of the document. Each kind is one class, in a module of its own in this folder."""

    @classmethod
    @abstractmethod
    def read(cls, constraint: Constraint, machine: Resolver) -> ConstraintElement:
        """Read a constraint of the document. Raises ModelError."""

    @classmethod
    def closure_equivalent(cls, constraint: Constraint, model: Model) -> Distance | Ratio | None:
        """Return the equivalent for analytic loop closure; None: the constraint is solved by iteration."""
        return None


def build_side(machine: Resolver, a: str, b: str) -> Side:
    """Return the pair of frames a and b as a `Side` with frames of its own, so that each can be displaced
    separately."""
    return Side(machine.link_frame(a), machine.link_frame(b), (a or WORLD, b or WORLD))


def sensor_sides(machine: Resolver, sensor: str) -> tuple[Side, ...]:
    """Return the sides of a sensor and of the sensors subtracted from it."""
    table = {each.name: each for each in machine.model.sensors}
    sides = []
    for _ in machine.sensors[sensor].shares:
        sides.append(build_side(machine, table[sensor].a, table[sensor].b))
        sensor = table[sensor].minus
    return tuple(sides)


def find_prescribable_sensor(machine: Resolver, name: str, where: str) -> Sensor:
    """Return a sensor whose value can be prescribed. Raises ModelError for other sensors."""
    if not machine.model.find("sensors", name).info.is_geometric:
        raise ModelError(
            f"'{name}' does not measure a position or orientation, so its value cannot be prescribed.",
            where=where,
            remedy="Choose a sensor of distance, angle, position, orientation or pose.",
        )
    return machine.sensors[name]
