"""What a number field measures where that depends on other fields: limits of a prismatic joint are lengths."""

from __future__ import annotations

from typing import Any

from core.model.assemblies import SubAssembly
from core.model.chains import DHRow
from core.model.constraints import Constraint, Driver
from core.model.declared_numbers import Setting
from core.model.fields import Element, Field
from core.model.forces import LINE, SENSOR, Force, LineMass
from core.model.joints import Joint, Limit, Mimic
from core.model.model import Model
from core.model.parameters import Parameter
from core.model.sensors import Sensor

_RATES = {
    "angle": ("angle", "angular_velocity", "angular_acceleration"),
    "length": ("length", "velocity", "acceleration"),
}
_EFFORTS = {"angle": "torque", "length": "force"}
_MOTIONS = ("position", "velocity", "acceleration")


class Meant:
    """The dimensions of the fields of a model."""

    def __init__(self, model: Model) -> None:
        self.joints = {joint.name: joint for joint in model.expanded.joints}
        self.sensors = {sensor.name: sensor for sensor in model.expanded.sensors}

    def dimension(self, element: Element, inner: Any, field: Field, index: int = 0) -> str:
        """The dimension of a field of `inner`, which is the element or lies in it; `index` is that within a vector."""
        found: str | None = None
        match inner:
            case Parameter():
                found = inner.dimension
            case Setting():
                found = _of_declared(element).get(inner.parameter)
            case Joint():
                found = self._joint(inner, field.name, index)
            case Limit():
                found = self._limit(element, inner, field.name)
            case Mimic() if field.name == "offset" and isinstance(element, Joint):
                found = self._of_joint(element)
            case DHRow() if field.name == "rest":
                found = _of_row(inner)
            case LineMass() if field.name == "place":
                found = "none" if inner.at == "fraction" else "length"
            case Sensor() if field.name == "offset":
                found = inner.info.dimension
            case Force() if field.name == "rest":
                found = self._along(inner)
            case Constraint():
                found = self._constraint(inner, field.name)
            case Driver() if field.name in ("function", "values"):
                found = self._driver(inner)
        own: str = getattr(field.kind, "dimension", "none")
        return found or own

    def _joint(self, joint: Joint, field: str, index: int) -> str | None:
        if field == "start_speed":
            return joint.info.speed_dimensions[index]
        return self._of_joint(joint, index) if field == "rest" else None

    def _of_joint(self, joint: Joint | None, index: int = 0) -> str | None:
        dimensions = () if joint is None else joint.info.coordinate_dimensions
        return dimensions[index] if index < len(dimensions) else None

    def _limit(self, element: Element, limit: Limit, field: str) -> str | None:
        own = None
        if isinstance(element, Joint):
            number = next((i for i, each in enumerate(element.limits) if each is limit), 0)
            own = self._of_joint(element, number)
        else:
            rows = [row for row in getattr(element, "rows", ()) if row.limit is limit]
            own = _of_row(rows[0]) if rows else None
        if own not in _RATES:
            return None
        return {"velocity": _RATES[own][1], "effort": _EFFORTS[own]}.get(field, own)

    def _along(self, force: Force) -> str | None:
        if force.info.along == LINE:
            return "length"
        if force.info.along == SENSOR:
            sensor = self.sensors.get(force.sensor)
            return None if sensor is None else sensor.info.dimension
        return self._coordinate(force.joint, force.coordinate)

    def _coordinate(self, joint: str, coordinate: str) -> str | None:
        found = self.joints.get(joint)
        if found is None:
            return None
        names = found.info.coordinates
        return self._of_joint(found, names.index(coordinate) if coordinate in names else 0)

    def _constraint(self, constraint: Constraint, field: str) -> str | None:
        if field == "value" and (sensor := self.sensors.get(constraint.sensor)) is not None:
            return sensor.info.dimension
        return self._of_joint(self.joints.get(constraint.joint)) if field == "offset" else None

    def _driver(self, driver: Driver) -> str | None:
        if driver.sensor:
            sensor = self.sensors.get(driver.sensor)
            own = None if sensor is None else sensor.info.dimension
        else:
            own = self._coordinate(driver.joint, driver.coordinate)
        return _RATES[own][_MOTIONS.index(driver.motion)] if own in _RATES else None


def _of_declared(element: Element) -> dict[str, str]:
    """Of what the settings of an element set, by name."""
    if isinstance(element, Force | Constraint):
        return {number.name: number.dimension for number in element.info.numbers}
    content = element.content if isinstance(element, SubAssembly) else None
    return {} if content is None else {p.name: p.dimension for p in content.expanded.parameters}


def _of_row(row: DHRow) -> str:
    return "angle" if row.kind == "revolute" else "length"
