"""Appearance of forces, sensors, constraints and drivers by kind; kinds without a look of their own show only the
connected components.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.kinds import declared_objects
from core.model import Constraint, Force, Sensor
from viz.drawlist import geometry as g
from viz.drawlist.elements import driven, sensor_looks
from viz.drawlist.elements.element_look import Look, at_sensor, mark, padlock, stretched_between
from viz.drawlist.elements.sensor_looks import DISTANCE, MOTION
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import placement

_DECLARED: list[Look] = declared_objects(__name__, __path__, "LOOK")

LOOKS: dict[str, dict[str, Look]] = {
    "forces": {look.of[1]: look for look in _DECLARED if look.of[0] == "forces"},
    "sensors": sensor_looks.LOOKS,
    "constraints": {look.of[1]: look for look in _DECLARED if look.of[0] == "constraints"},
}
"""Look by collection and kind; for forces and constraints the `LOOK` of their modules here."""


def look_of(collection: str, kind: str) -> Look:
    """Return the look of a kind; a neutral one by default."""
    return LOOKS[collection].get(kind, _NEUTRAL[collection])


def element_items(skeleton: Skeleton) -> Iterator[Item]:
    """Yield the items of all forces, sensors, constraints and drivers."""
    for collection in LOOKS:
        for element in getattr(skeleton.model, collection):
            yield from look_of(collection, element.kind).items(skeleton, element)
    for driver in skeleton.model.drivers:
        yield from driven.LOOK.items(skeleton, driver)


def _force_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a line between the points, or a ball at the sensor or joint."""
    ref = "forces", force.name
    ball = g.Sphere(0.6 * skeleton.glyph)
    if force.b and "b" in force.info.uses:
        yield _line(skeleton, f"force/{force.name}/line", ref, "wrench", force.a, force.b)
    elif force.sensor and "sensor" in force.info.uses:
        yield from mark(ref, ball, "wrench", at_sensor(skeleton, force.sensor))
    elif (joint := skeleton.joint(force.joint)) is not None:
        yield from mark(ref, ball, "wrench", (*skeleton.side(joint, "b"), None))


def _constraint_items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield a line between the points, or a padlock at the sensor or first joint."""
    ref = "constraints", constraint.name
    if constraint.b and "b" in constraint.info.uses:
        yield _line(skeleton, f"rod/{constraint.name}/line", ref, "constraint", constraint.a, constraint.b)
        return
    place = at_sensor(skeleton, constraint.sensor)
    joint = skeleton.joint(constraint.joints[0]) if constraint.joints else None
    if joint is not None:
        place = (*skeleton.side(joint, "b"), None)
    yield from mark(ref, padlock(skeleton.glyph), "constraint", place)


def _line(skeleton: Skeleton, id: str, ref: tuple[str, str], colour: Colour, a: str, b: str) -> Item:
    frame, pose, until = stretched_between(skeleton, a, b)
    form = g.Cylinder(0.15 * skeleton.glyph, 1.0, sides=12)
    return Item(id, ref, frame, form, "force", colour, placement(pose), until=until)


def _sensor_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a dimension line, or a gauge for sensors that do not measure positions."""
    yield from (DISTANCE if sensor.info.geometric else MOTION).items(skeleton, sensor)


_NEUTRAL = {
    "forces": Look(_force_items, "force"),
    "sensors": Look(_sensor_items, "sensor"),
    "constraints": Look(_constraint_items, "constraint"),
}
"""Looks of kinds without their own."""
