"""What geometric sensors measure at a pose, as words at their dimension lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from core.model import WORLD, Model, Sensor
from core.spatial.pose import Pose
from core.spatial.rotation import Rotation
from core.spatial.vector import Vector3
from viz.drawlist.item import Item
from viz.placement import number, numbers, unit

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
        if len(sensor.info.components) > 1:
            return sensor.name
        return f"{sensor.name} {self.words(self.value(sensor, poses), sensor.info.dimension)}"

    def value(self, sensor: Sensor, poses: Mapping[str, ArrayLike], depth: int = 8) -> float:
        """What a geometric sensor with one component measures, SI; NaN where its kind, or that of one that is
        subtracted, is not known."""
        measure = sensor.info.measure
        if measure is None:
            return math.nan
        X_WA, X_WB = (_pose(poses.get(name or WORLD, np.eye(4))) for name in (sensor.a, sensor.b))
        axes = (Vector3(*unit(numbers(axis, self.values)).tolist()) for axis in (sensor.axis, sensor.axis_b))
        value = float(measure(X_WA, X_WB, *axes).values[0]) - number(sensor.offset, self.values)
        other = self.sensors.get(sensor.minus)
        return value - self.value(other, poses, depth - 1) if other is not None and depth else value


def _pose(X: ArrayLike) -> Pose:
    """A 4 × 4 matrix as the kernel takes it."""
    rows = np.asarray(X, dtype=float)[:3].tolist()
    return Pose(Rotation(*(Vector3(*row[:3]) for row in rows)), Vector3(*(row[3] for row in rows)))
