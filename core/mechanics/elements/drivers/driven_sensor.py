"""Driver that prescribes a component of a sensor as a function of time."""

from __future__ import annotations

from dataclasses import dataclass

from core.mechanics.elements.constraints.constraint_kind import find_prescribable_sensor, sensor_sides
from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, Row, Side
from core.mechanics.elements.constraints.sensor_residuals import components_minus_value
from core.mechanics.elements.drivers.driver_kind import DriverElement, TimeFunction, component_index
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.sensors import Sensor
from core.model import Driver
from core.model.constraints import MOTIONS
from core.numerics.spatial.scalar import Scalar


@dataclass(frozen=True)
class DrivenSensor(DriverElement):
    """Driver of component k of a sensor."""

    name = "sensor"
    sensor: Sensor
    k: int
    motion: TimeFunction
    measured: tuple[Side, ...]
    rows: tuple[Row, ...]
    turns: bool

    @classmethod
    def read(cls, driver: Driver, function: TimeFunction, machine: Resolver) -> DriverElement:
        """Read a driver of the document. Raises ModelError."""
        where = f"driver '{driver.name}'"
        sensor = find_prescribable_sensor(machine, driver.sensor, f"{where}, sensor")
        info = machine.model.find("sensors", driver.sensor).info
        k = component_index(info.components, driver.coordinate, driver.sensor, where)
        row = Row("drivers", driver.name, info.components[k], MOTIONS.index(driver.motion))
        return cls(sensor, k, function, sensor_sides(machine, driver.sensor), (row,), info.turns)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the sides of the sensor and of those that are subtracted from it."""
        return self.measured

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return the component."""
        return [components_minus_value(self.sensor, self.sides, 0.0, state)[self.k]]
