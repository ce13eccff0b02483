"""Looks of forces, sensors, constraints and drivers by kind."""

from __future__ import annotations

from collections.abc import Iterator

from viz.drawlist.elements import (
    along_sensor,
    driven,
    gear,
    hold,
    in_joint,
    in_series,
    line,
    rod,
    sensor_looks,
    universal_rod,
    wrench,
)
from viz.drawlist.elements.element_look import Look
from viz.drawlist.elements.neutral import NEUTRAL
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton

LOOKS: dict[str, dict[str, Look]] = {
    "forces": {
        "wrench": wrench.LOOK,
        "line": line.LOOK,
        "series": in_series.LOOK,
        "sensor": along_sensor.LOOK,
        "joint": in_joint.LOOK,
    },
    "sensors": {
        "distance": sensor_looks.DISTANCE,
        "square_distance": sensor_looks.DISTANCE,
        "point_plane": sensor_looks.HEIGHT,
        "plane_point": sensor_looks.HEIGHT,
        "plane_plane": sensor_looks.PLANES,
        "angle": sensor_looks.ANGLE,
        "position": sensor_looks.POSITION,
        "orientation": sensor_looks.ORIENTATION,
        "pose": sensor_looks.POSE,
        "velocity": sensor_looks.MOTION,
        "angular_velocity": sensor_looks.MOTION,
        "acceleration": sensor_looks.MOTION,
        "angular_acceleration": sensor_looks.MOTION,
        "cut_force": sensor_looks.FORCE,
        "cut_torque": sensor_looks.FORCE,
        "power": sensor_looks.POWER,
    },
    "constraints": {
        "hold": hold.LOOK,
        "gear": gear.LOOK,
        "rod": rod.LOOK,
        "universal_rod": universal_rod.LOOK,
    },
}
"""Collection → kind → look."""


def look_of(collection: str, kind: str) -> Look:
    """The look of a kind; a neutral one if it has none of its own."""
    return LOOKS[collection].get(kind, NEUTRAL[collection])


def element_items(skeleton: Skeleton) -> Iterator[Item]:
    """The items of all forces, sensors, constraints and drivers."""
    for collection in LOOKS:
        for element in getattr(skeleton.model, collection):
            yield from look_of(collection, element.kind).items(skeleton, element)
    for driver in skeleton.model.drivers:
        yield from driven.LOOK.items(skeleton, driver)
