"""Looks of sensors: dimension lines, angle dials, planes, small gauges, and labels with the values at a pose."""

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
from viz.drawlist.elements.element_look import ElementLook, span_between
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, Placement, evaluate_vector, frame_along, number, to_placement, translation, unit_vector

THIN = 0.07
"""Radius of a dimension line, in joint radii."""

Words = Callable[[float, str], str]
"""Function that formats a value (SI), given its physical dimension, in the user's units."""
_SYMBOLS = {"length": " m", "angle": " rad", "none": ""}


def _sensor_item(
    sensor: Sensor, part: str, frame: str, form: g.Geometry, pose: Placement, until: Span | None = None
) -> Item:
    return Item(
        f"sensor/{sensor.name}/{part}", ("sensors", sensor.name), frame, form, "sensor", "sensor", pose, until=until
    )


def _value_label(sensor: Sensor, frame: str, pose: Placement, until: Span | None = None) -> Item:
    """Return the label with the sensor's name and value; the scene inserts the value."""
    return Item(
        f"dimension/{sensor.name}",
        ("sensors", sensor.name),
        frame,
        g.Sphere(1e-3),
        "dimension",
        "sensor",
        pose,
        until=until,
        text=sensor.name,
    )


def _dimension_line(sensor: Sensor, r: float, frame: str, pose: Placement, until: Span) -> Iterator[Item]:
    """Yield a dimension line with an arrow head and a bar at both ends."""
    yield _sensor_item(sensor, "line", frame, g.Cylinder(THIN * r, 1.0, sides=10), pose, until)
    head = g.Cone(0.24 * r, 0.8 * r)
    bar = g.Box((1.5 * r, 0.1 * r, 0.1 * r))
    back = to_placement(frame_along((0.0, 0.0, -1.0)))
    turned = g.Compound((g.PlacedShape(head, back), g.PlacedShape(bar, to_placement(translation(0, 0, -0.4 * r)))))
    straight = g.Compound((g.PlacedShape(head), g.PlacedShape(bar, to_placement(translation(0, 0, 0.4 * r)))))
    yield _sensor_item(sensor, "begin", frame, turned, pose, replace(until, at=(0.0, 0.4 * r)))
    yield _sensor_item(sensor, "end", frame, straight, pose, replace(until, at=(1.0, -0.4 * r)))


def _dimension_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    frame, pose, until = span_between(skeleton, sensor.a, sensor.b)
    place = to_placement(pose)
    yield from _dimension_line(sensor, skeleton.glyph_size, frame, place, until)
    yield _value_label(sensor, frame, place, replace(until, at=(0.5, 0.0)))


def _orientation_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a dimension line with a triad at b."""
    yield from _dimension_items(skeleton, sensor)
    other, end = skeleton.find_anchor(sensor.b)
    yield _sensor_item(sensor, "triad", other, g.Triad(1.8 * skeleton.glyph_size), to_placement(end))


def _plane_item(skeleton: Skeleton, sensor: Sensor, part: str, name: str, axis: tuple[float | str, ...]) -> Item:
    """Return a thin square sheet through the origin of a frame."""
    r = skeleton.glyph_size
    normal = unit_vector([number(x, skeleton.values) for x in axis])
    body, pose = skeleton.find_anchor(name or WORLD)
    sheet = g.Box((6.0 * r, 6.0 * r, 0.06 * r))
    return replace(_sensor_item(sensor, part, body, sheet, to_placement(pose @ frame_along(normal))), opacity=0.35)


def _height_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield the plane, and the perpendicular line from the point to it."""
    on_a = "axis" in sensor.info.uses
    base, tip = (sensor.a, sensor.b) if on_a else (sensor.b, sensor.a)
    sheet = _plane_item(skeleton, sensor, "plane", base, sensor.axis if on_a else sensor.axis_b)
    yield sheet
    other, end = skeleton.find_anchor(tip or WORLD)
    until = Span(other, to_placement(end), normal=True)
    yield from _dimension_line(sensor, skeleton.glyph_size, sheet.frame, sheet.placement, until)
    yield _value_label(sensor, sheet.frame, sheet.placement, replace(until, at=(0.5, 0.0)))


def _plane_distance_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    first = _plane_item(skeleton, sensor, "plane_a", sensor.a, sensor.axis)
    second = _plane_item(skeleton, sensor, "plane_b", sensor.b, sensor.axis_b)
    yield first
    yield second
    r = skeleton.glyph_size
    for sheet, part in ((first, "normal_a"), (second, "normal_b")):
        yield _sensor_item(sensor, part, sheet.frame, g.Arrow(3.0 * r, 0.09 * r, 0.3 * r, 0.9 * r), sheet.placement)
    yield _value_label(sensor, second.frame, second.placement)


def _dial_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a ring with marks about the axis at b's origin, oriented as frame a, and a needle that turns with b."""
    r = skeleton.glyph_size
    axis = unit_vector([number(x, skeleton.values) for x in sensor.axis])
    base, pose = skeleton.find_anchor(sensor.a or WORLD)
    body, end = skeleton.find_anchor(sensor.b)
    radius = 2.9 * r
    up = translation(0.0, 0.0, 1.45 * r)
    fixed = dial_pose(pose, end, axis)
    yield replace(
        _sensor_item(
            sensor, "ring", body, g.Compound((g.PlacedShape(g.Arc(radius, 0.06 * r), to_placement(up)),)), fixed
        ),
        axes=base,
    )
    mark = g.Compound(
        (g.PlacedShape(g.Box((0.9 * r, 0.16 * r, 0.16 * r)), to_placement(up @ translation(radius, 0.0, 0.0))),)
    )
    yield replace(_sensor_item(sensor, "zero", body, mark, fixed), axes=base)
    lying = frame_along((1.0, 0.0, 0.0), (radius / 2.0, 0.0, 1.45 * r))
    needle = g.Compound(
        (
            g.PlacedShape(g.Cylinder(0.09 * r, radius, sides=10), to_placement(lying)),
            g.PlacedShape(g.Sphere(0.22 * r), to_placement(translation(radius, 0.0, 1.45 * r))),
        )
    )
    yield _sensor_item(sensor, "needle", body, needle, to_placement(end @ frame_along(axis)))
    yield _value_label(sensor, body, to_placement(end @ frame_along(axis) @ translation(radius, 0.0, 1.45 * r)))


def dial_pose(pose_of_a: Array, pose_of_b: Array, axis: Array) -> Placement:
    """Return the pose of a dial: origin at b, orientation of frame a turned so that z lies along the axis; see
    `Item.axes`."""
    place = np.eye(4)
    place[:3, :3] = pose_of_a[:3, :3] @ frame_along(axis)[:3, :3]
    place[:3, 3] = pose_of_b[:3, 3]
    return to_placement(place)


def _gauge_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a small gauge, for sensors of speed, acceleration, force or power."""
    r = skeleton.glyph_size
    joint = skeleton.find_joint(sensor.joint) if "joint" in sensor.info.uses else None
    if joint is not None:
        body, pose = skeleton.joint_frame(joint, "b")
        axis = unit_vector([number(x, skeleton.values) for x in joint.axis])
        place = pose @ frame_along(axis)
        form: g.Geometry = g.Compound(
            (g.PlacedShape(g.Arc(1.75 * r, 0.14 * r)), g.PlacedShape(g.Arc(1.45 * r, 0.08 * r)))
        )
    elif "b" in sensor.info.uses:
        body, place = skeleton.find_anchor(sensor.b)
        form = g.Compound(
            (
                g.PlacedShape(g.Cone(0.45 * r, 0.9 * r), to_placement(translation(0, 0, 0.45 * r))),
                g.PlacedShape(
                    g.Cone(0.45 * r, 0.9 * r), to_placement(frame_along((0.0, 0.0, -1.0), (0, 0, -0.45 * r)))
                ),
            )
        )
    else:
        return
    yield _sensor_item(sensor, "gauge", body, form, to_placement(place))
    yield _value_label(sensor, body, to_placement(place @ translation(0.0, 0.0, 1.2 * r)))


DISTANCE = ElementLook(_dimension_items, "sensor")
HEIGHT = ElementLook(_height_items, "sensor_plane")
PLANES = ElementLook(_plane_distance_items, "sensor_plane")
ANGLE = ElementLook(_dial_items, "sensor_angle")
POSITION = ElementLook(_dimension_items, "sensor_position")
ORIENTATION = ElementLook(_orientation_items, "sensor_angle")
POSE = ElementLook(_orientation_items, "sensor_position")
MOTION = ElementLook(_gauge_items, "sensor_velocity")
FORCE = ElementLook(_gauge_items, "sensor_force")
POWER = ElementLook(_gauge_items, "energy")

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


def format_si(value: float, dimension: str) -> str:
    """Format a value in SI units."""
    return f"{value:.4g}{_SYMBOLS.get(dimension, '')}"


class SensorLabels:
    """Labels of the dimension lines of a model: name and value of geometric sensors, only the name of other sensors."""

    def __init__(self, model: Model, values: Mapping[str, float], words: Words) -> None:
        self.sensors = {sensor.name: sensor for sensor in model.expanded.sensors}
        self.values, self.words = values, words

    def __call__(self, item: Item, poses: Mapping[str, ArrayLike]) -> str:
        """Return the label of a dimension line."""
        sensor = self.sensors.get(item.ref[1]) if item.ref else None
        if sensor is None or not sensor.info.is_geometric:
            return item.text
        if len(sensor.info.components) > 1:
            return sensor.name
        return f"{sensor.name} {self.words(self.sensor_value(sensor, poses), sensor.info.dimension)}"

    def sensor_value(self, sensor: Sensor, poses: Mapping[str, ArrayLike], depth: int = 8) -> float:
        """Return the value (SI) of a geometric sensor with one component; NaN if its kind, or that of a sensor on which
        it depends, is unknown."""
        measure = sensor.info.measure
        if measure is None:
            return math.nan
        X_WA, X_WB = (_kernel_pose(poses.get(name or WORLD, np.eye(4))) for name in (sensor.a, sensor.b))
        axes = (
            Vector3(*unit_vector(evaluate_vector(axis, self.values)).tolist()) for axis in (sensor.axis, sensor.axis_b)
        )
        value = float(measure(X_WA, X_WB, *axes).values[0]) - number(sensor.offset, self.values)
        other = self.sensors.get(sensor.minus)
        return value - self.sensor_value(other, poses, depth - 1) if other is not None and depth else value


def _kernel_pose(X: ArrayLike) -> Pose:
    """Convert a 4 × 4 matrix to a pose of the kernel."""
    rows = np.asarray(X, dtype=float)[:3].tolist()
    return Pose(Rotation(*(Vector3(*row[:3]) for row in rows)), Vector3(*(row[3] for row in rows)))
