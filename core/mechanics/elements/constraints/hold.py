"""Constraint that keeps all components of a sensor at one value."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import ModelError
from core.mechanics.elements.constraints.constraint_kind import (
    ConstraintElement,
    Distance,
    find_prescribable_sensor,
    sensor_sides,
)
from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, Row, Side
from core.mechanics.elements.constraints.sensor_residuals import sensor_residual
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.sensors import Sensor
from core.model import Constraint, Model
from core.numerics.spatial.scalar import Scalar, is_zero


@dataclass(frozen=True)
class Hold(ConstraintElement):
    """Constraint of all components of a sensor. Orientations are compared as rotations, so that the number of rows
    stays minimal and the rows stay regular up to half a turn."""

    name, title, short_title = "hold", "Hold a sensor at a value", "hold a sensor"
    help = "Each component of the sensor keeps the value."
    uses = ("sensor", "value")
    needs = ("sensor",)
    rank = 0
    sensor: Sensor
    value: Scalar
    measured: tuple[Side, ...]
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, constraint: Constraint, machine: Resolver) -> Hold:
        """Read a constraint of the document. Raises ModelError."""
        where = f"constraint '{constraint.name}'"
        sensor = find_prescribable_sensor(machine, constraint.sensor, f"{where}, sensor")
        value = machine.numbers.scalar(constraint.value, f"{where}, value")
        if not sensor.info.smooth_at_zero and len(sensor.shares) == 1 and (is_zero(value) and is_zero(sensor.offset)):
            raise ModelError(
                "A distance of zero cannot be prescribed, because its direction is undefined.",
                where=f"{where}, value",
                remedy="Use a position sensor instead.",
            )
        components = machine.model.find("sensors", constraint.sensor).info.components
        rows = tuple(Row("constraints", constraint.name, suffix) for suffix in components)
        return cls(sensor, value, sensor_sides(machine, constraint.sensor), rows)

    @classmethod
    def closure_equivalent(cls, constraint: Constraint, model: Model) -> Distance | None:
        """Return the equivalent rod of a constant distance; None for other sensors."""
        sensor = model.find("sensors", constraint.sensor)
        if not sensor.info.rod or sensor.minus:
            return None
        value = constraint.value, f"constraint '{constraint.name}', value"
        offset = sensor.offset, f"sensor '{sensor.name}', offset"
        return Distance(constraint.name, sensor.a, sensor.b, (value, offset))

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the sides of the sensor and of those that are subtracted from it."""
        return self.measured

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return the sensor's components minus the value."""
        return sensor_residual(self.sensor, self.sides, self.value, state)
