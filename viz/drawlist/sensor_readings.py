"""Readings of geometric sensors at a pose, as labels of their dimension lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from core.model import WORLD, Model, Sensor
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.vector import Vector3
from viz.drawlist.item import Item
from viz.placement import number, numbers, unit

Words = Callable[[float, str], str]
"""Function that formats a value in SI and its dimension as text, in the user's preferred units."""

_SYMBOLS = {"length": " m", "angle": " rad", "none": ""}


def in_si(value: float, dimension: str) -> str:
    """Format a value in SI units."""
    return f"{value:.4g}{_SYMBOLS.get(dimension, '')}"


class Readings:
    """Labels of one model's dimension lines: name and value of geometric sensors, the name of others."""

    def __init__(self, model: Model, values: Mapping[str, float], words: Words) -> None:
        self.sensors = {sensor.name: sensor for sensor in model.expanded.sensors}
        self.values, self.words = values, words

    def __call__(self, item: Item, poses: Mapping[str, ArrayLike]) -> str:
        """Return the label of a dimension item."""
        sensor = self.sensors.get(item.ref[1]) if item.ref else None
        if sensor is None or not sensor.info.geometric:
            return item.text
        if len(sensor.info.components) > 1:
            return sensor.name
        return f"{sensor.name} {self.words(self.value(sensor, poses), sensor.info.dimension)}"

    def value(self, sensor: Sensor, poses: Mapping[str, ArrayLike], depth: int = 8) -> float:
        """Return the value of a geometric sensor with one component, SI; NaN if its kind, or that of a sensor
        subtracted in it, is unknown."""
        measure = sensor.info.measure
        if measure is None:
            return math.nan
        X_WA, X_WB = (_pose(poses.get(name or WORLD, np.eye(4))) for name in (sensor.a, sensor.b))
        axes = (Vector3(*unit(numbers(axis, self.values)).tolist()) for axis in (sensor.axis, sensor.axis_b))
        value = float(measure(X_WA, X_WB, *axes).values[0]) - number(sensor.offset, self.values)
        other = self.sensors.get(sensor.minus)
        return value - self.value(other, poses, depth - 1) if other is not None and depth else value


def _pose(X: ArrayLike) -> Pose:
    """Convert a 4 × 4 matrix to the kernel's pose."""
    rows = np.asarray(X, dtype=float)[:3].tolist()
    return Pose(Rotation(*(Vector3(*row[:3]) for row in rows)), Vector3(*(row[3] for row in rows)))
