"""Default look of kinds without their own: only the connected components are shown."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Constraint, Force, Sensor
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import Look
from viz.drawlist.elements.marks import at_sensor, mark, padlock
from viz.drawlist.elements.on_line import stretched_between
from viz.drawlist.elements.sensor_looks import DISTANCE, MOTION
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import placement


def force_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a line between the points, or a ball at the sensor or joint."""
    ref = "forces", force.name
    ball = g.Sphere(0.6 * skeleton.glyph)
    if force.b and "b" in force.info.uses:
        yield _line(skeleton, f"force/{force.name}/line", ref, "wrench", force.a, force.b)
    elif force.sensor and "sensor" in force.info.uses:
        yield from mark(ref, ball, "wrench", at_sensor(skeleton, force.sensor))
    elif (joint := skeleton.joint(force.joint)) is not None:
        yield from mark(ref, ball, "wrench", (*skeleton.side(joint, "b"), None))


def constraint_items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
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


def sensor_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a dimension line, or a gauge for sensors that do not measure positions."""
    yield from (DISTANCE if sensor.info.geometric else MOTION).items(skeleton, sensor)


NEUTRAL = {
    "forces": Look(force_items, "force"),
    "sensors": Look(sensor_items, "sensor"),
    "constraints": Look(constraint_items, "constraint"),
}
