"""Looks of sensors: dimension lines, angle dials, planes, small gauges, and labels with the readings at a pose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from core.model import WORLD, Model, Sensor
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.vector import Vector3
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import Look, stretched_between
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, Placement, along, number, numbers, placement, shifted, unit

THIN = 0.07
"""Radius of a dimension line, in joint radii."""

Words = Callable[[float, str], str]
"""Function that formats a value in SI and its dimension as text, in the user's preferred units."""
_SYMBOLS = {"length": " m", "angle": " rad", "none": ""}


def _item(sensor: Sensor, part: str, frame: str, form: g.Geometry, place: Placement, until: Span | None = None) -> Item:
    return Item(
        f"sensor/{sensor.name}/{part}", ("sensors", sensor.name), frame, form, "sensor", "sensor", place, until=until
    )


def _value_label(sensor: Sensor, frame: str, place: Placement, until: Span | None = None) -> Item:
    """Return the label with name and value; the scene inserts the value."""
    return Item(
        f"dimension/{sensor.name}",
        ("sensors", sensor.name),
        frame,
        g.Sphere(1e-3),
        "dimension",
        "sensor",
        place,
        until=until,
        text=sensor.name,
    )


def _line(sensor: Sensor, r: float, frame: str, place: Placement, until: Span) -> Iterator[Item]:
    """Yield a dimension line with an arrow head and a bar at both ends."""
    yield _item(sensor, "line", frame, g.Cylinder(THIN * r, 1.0, sides=10), place, until)
    head = g.Cone(0.24 * r, 0.8 * r)
    bar = g.Box((1.5 * r, 0.1 * r, 0.1 * r))
    back = placement(along((0.0, 0.0, -1.0)))
    turned = g.Compound((g.Placed(head, back), g.Placed(bar, placement(shifted(0, 0, -0.4 * r)))))
    straight = g.Compound((g.Placed(head), g.Placed(bar, placement(shifted(0, 0, 0.4 * r)))))
    yield _item(sensor, "begin", frame, turned, place, replace(until, at=(0.0, 0.4 * r)))
    yield _item(sensor, "end", frame, straight, place, replace(until, at=(1.0, -0.4 * r)))


def _dimension(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    frame, pose, until = stretched_between(skeleton, sensor.a, sensor.b)
    place = placement(pose)
    yield from _line(sensor, skeleton.glyph, frame, place, until)
    yield _value_label(sensor, frame, place, replace(until, at=(0.5, 0.0)))


def _orientation_line(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a dimension line with a triad at b."""
    yield from _dimension(skeleton, sensor)
    other, end = skeleton.anchor(sensor.b)
    yield _item(sensor, "triad", other, g.Triad(1.8 * skeleton.glyph), placement(end))


def _plane(skeleton: Skeleton, sensor: Sensor, part: str, name: str, axis: tuple[float | str, ...]) -> Item:
    """Return a thin square sheet through the origin of a frame."""
    r = skeleton.glyph
    normal = unit([number(x, skeleton.values) for x in axis])
    body, pose = skeleton.anchor(name or WORLD)
    sheet = g.Box((6.0 * r, 6.0 * r, 0.06 * r))
    return replace(_item(sensor, part, body, sheet, placement(pose @ along(normal))), opacity=0.35)


def _height(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield the plane, and the perpendicular from the point to it."""
    on_a = "axis" in sensor.info.uses
    base, tip = (sensor.a, sensor.b) if on_a else (sensor.b, sensor.a)
    sheet = _plane(skeleton, sensor, "plane", base, sensor.axis if on_a else sensor.axis_b)
    yield sheet
    other, end = skeleton.anchor(tip or WORLD)
    until = Span(other, placement(end), normal=True)
    yield from _line(sensor, skeleton.glyph, sheet.frame, sheet.placement, until)
    yield _value_label(sensor, sheet.frame, sheet.placement, replace(until, at=(0.5, 0.0)))


def _planes(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    first = _plane(skeleton, sensor, "plane_a", sensor.a, sensor.axis)
    second = _plane(skeleton, sensor, "plane_b", sensor.b, sensor.axis_b)
    yield first
    yield second
    r = skeleton.glyph
    for sheet, part in ((first, "normal_a"), (second, "normal_b")):
        yield _item(sensor, part, sheet.frame, g.Arrow(3.0 * r, 0.09 * r, 0.3 * r, 0.9 * r), sheet.placement)
    yield _value_label(sensor, second.frame, second.placement)


def _dial(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a marked ring about the axis at b's origin, both oriented as a, and a needle that turns with b."""
    r = skeleton.glyph
    axis = unit([number(x, skeleton.values) for x in sensor.axis])
    base, pose = skeleton.anchor(sensor.a or WORLD)
    body, end = skeleton.anchor(sensor.b)
    radius = 2.9 * r
    up = shifted(0.0, 0.0, 1.45 * r)
    fixed = dial_place(pose, end, axis)
    yield replace(
        _item(sensor, "ring", body, g.Compound((g.Placed(g.Arc(radius, 0.06 * r), placement(up)),)), fixed), axes=base
    )
    mark = g.Compound((g.Placed(g.Box((0.9 * r, 0.16 * r, 0.16 * r)), placement(up @ shifted(radius, 0.0, 0.0))),))
    yield replace(_item(sensor, "zero", body, mark, fixed), axes=base)
    lying = along((1.0, 0.0, 0.0), (radius / 2.0, 0.0, 1.45 * r))
    needle = g.Compound(
        (
            g.Placed(g.Cylinder(0.09 * r, radius, sides=10), placement(lying)),
            g.Placed(g.Sphere(0.22 * r), placement(shifted(radius, 0.0, 1.45 * r))),
        )
    )
    yield _item(sensor, "needle", body, needle, placement(end @ along(axis)))
    yield _value_label(sensor, body, placement(end @ along(axis) @ shifted(radius, 0.0, 1.45 * r)))


def dial_place(pose: Array, end: Array, axis: Array) -> Placement:
    """Return the pose at b (`end` in its body), oriented as frame a (`pose` in its body) with z along the axis; see
    `Item.axes`."""
    place = np.eye(4)
    place[:3, :3] = pose[:3, :3] @ along(axis)[:3, :3]
    place[:3, 3] = end[:3, 3]
    return placement(place)


def _gauge(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a small gauge for sensors of speed, acceleration, force or power."""
    r = skeleton.glyph
    joint = skeleton.joint(sensor.joint) if "joint" in sensor.info.uses else None
    if joint is not None:
        body, pose = skeleton.side(joint, "b")
        axis = unit([number(x, skeleton.values) for x in joint.axis])
        place = pose @ along(axis)
        form: g.Geometry = g.Compound((g.Placed(g.Arc(1.75 * r, 0.14 * r)), g.Placed(g.Arc(1.45 * r, 0.08 * r))))
    elif "b" in sensor.info.uses:
        body, place = skeleton.anchor(sensor.b)
        form = g.Compound(
            (
                g.Placed(g.Cone(0.45 * r, 0.9 * r), placement(shifted(0, 0, 0.45 * r))),
                g.Placed(g.Cone(0.45 * r, 0.9 * r), placement(along((0.0, 0.0, -1.0), (0, 0, -0.45 * r)))),
            )
        )
    else:
        return
    yield _item(sensor, "gauge", body, form, placement(place))
    yield _value_label(sensor, body, placement(place @ shifted(0.0, 0.0, 1.2 * r)))


DISTANCE = Look(_dimension, "sensor")
HEIGHT = Look(_height, "sensor_plane")
PLANES = Look(_planes, "sensor_plane")
ANGLE = Look(_dial, "sensor_angle")
POSITION = Look(_dimension, "sensor_position")
ORIENTATION = Look(_orientation_line, "sensor_angle")
POSE = Look(_orientation_line, "sensor_position")
MOTION = Look(_gauge, "sensor_velocity")
FORCE = Look(_gauge, "sensor_force")
POWER = Look(_gauge, "energy")

LOOKS = {
    "distance": DISTANCE,
    "square_distance": DISTANCE,
    "point_plane": HEIGHT,
    "plane_point": HEIGHT,
    "plane_plane": PLANES,
    "angle": ANGLE,
    "position": POSITION,
    "orientation": ORIENTATION,
    "pose": POSE,
    "velocity": MOTION,
    "angular_velocity": MOTION,
    "acceleration": MOTION,
    "angular_acceleration": MOTION,
    "cut_force": FORCE,
    "cut_torque": FORCE,
    "power": POWER,
}
"""Looks by kind of sensor."""


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
