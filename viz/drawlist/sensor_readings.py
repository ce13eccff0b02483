"""What geometric sensors measure at a pose, as words at their dimension lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from core.model import WORLD, Model, Sensor
from viz.drawlist.item import Item
from viz.placement import Array, number, numbers, unit

Words = Callable[[float, str], str]
"""A number in SI and its dimension → words, as the person prefers units."""

_SYMBOLS = {"length": " m", "angle": " rad", "none": ""}


def in_si(value: float, dimension: str) -> str:
    """Words in SI units."""
    return f"{value:.4g}{_SYMBOLS.get(dimension, '')}"


class Readings:
    """Words of the dimension lines of one model: name and value of geometric sensors, the name of others."""

    def __init__(self, model: Model, values: Mapping[str, float], words: Words) -> None:
        self.sensors = {sensor.name: sensor for sensor in model.expanded.sensors}
        self.values, self.words = values, words

    def __call__(self, item: Item, poses: Mapping[str, ArrayLike]) -> str:
        """The words of a dimension item."""
        sensor = self.sensors.get(item.ref[1]) if item.ref else None
        if sensor is None or not sensor.info.geometric:
            return item.text
        value = self.value(sensor, poses)
        dimension = sensor.info.dimension
        if sensor.kind in ("position", "orientation", "pose"):
            return sensor.name
        return f"{sensor.name} {self.words(value, dimension)}"

    def value(self, sensor: Sensor, poses: Mapping[str, ArrayLike], depth: int = 8) -> float:
        """What a geometric sensor with one component measures, SI; NaN where it has several."""
        a, b = (np.asarray(poses.get(name or WORLD, np.eye(4)), dtype=float) for name in (sensor.a, sensor.b))
        value = self._measured(sensor, a, b) - number(sensor.offset, self.values)
        other = self.sensors.get(sensor.minus)
        return value - self.value(other, poses, depth - 1) if other is not None and depth else value

    def _measured(self, sensor: Sensor, X_WA: Array, X_WB: Array) -> float:
        path = X_WB[:3, 3] - X_WA[:3, 3]
        n_a = X_WA[:3, :3] @ unit(numbers(sensor.axis, self.values))
        n_b = X_WB[:3, :3] @ unit(numbers(sensor.axis_b, self.values))
        match sensor.kind:
            case "distance":
                return float(np.linalg.norm(path))
            case "square_distance":
                return float(path @ path)
            case "point_plane":
                return float(n_a @ path)
            case "plane_point":
                return float(-n_b @ path)
            case "plane_plane":
                return float(n_a @ n_b)
            case "angle":
                return _turned(X_WA[:3, :3].T @ X_WB[:3, :3], unit(numbers(sensor.axis, self.values)))
            case _:
                return float("nan")


def _turned(R_AB: Array, axis: Array) -> float:
    """The angle about an axis of a by which b is turned: twice the angle of the twist quaternion, rad in (−π, π]."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R_AB).as_quat()
    angle = 2.0 * float(np.arctan2(np.dot((x, y, z), axis), w))
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi) if abs(angle) > np.pi else angle
