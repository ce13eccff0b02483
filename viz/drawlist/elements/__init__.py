"""Looks of forces, sensors, constraints and drivers by kind. Elements of a kind without its own look are shown only by
the components that they connect."""

from __future__ import annotations

from collections.abc import Iterator

from core.kinds import find_declared_objects
from core.model import Constraint, Force, Sensor
from viz.drawlist import geometry as g
from viz.drawlist.elements import driven, sensor_looks
from viz.drawlist.elements.element_look import ElementLook, mark_item, padlock_geometry, sensor_position, span_between
from viz.drawlist.elements.sensor_looks import DISTANCE, MOTION
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import to_placement

_DECLARED: list[ElementLook] = find_declared_objects(__name__, __path__, "LOOK")

LOOKS: dict[str, dict[str, ElementLook]] = {
    "forces": {look.of[1]: look for look in _DECLARED if look.of[0] == "forces"},
    "sensors": sensor_looks.LOOKS,
    "constraints": {look.of[1]: look for look in _DECLARED if look.of[0] == "constraints"},
}
"""Look by collection and kind; those of forces and constraints are the `LOOK` of the modules in this package."""


def find_look(collection: str, kind: str) -> ElementLook:
    """Return the look of a kind; a neutral look if it has none of its own."""
    return LOOKS[collection].get(kind, _NEUTRAL[collection])


def element_items(skeleton: Skeleton) -> Iterator[Item]:
    """Yield the items of all forces, sensors, constraints and drivers."""
    for collection in LOOKS:
        for element in getattr(skeleton.model, collection):
            yield from find_look(collection, element.kind).items(skeleton, element)
    for driver in skeleton.model.drivers:
        yield from driven.LOOK.items(skeleton, driver)


def _force_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a line between the points of a force, or a ball at its sensor or joint."""
    ref = "forces", force.name
    ball = g.Sphere(0.6 * skeleton.glyph_size)
    if force.b and "b" in force.info.uses:
        yield _line_item(skeleton, f"force/{force.name}/line", ref, "wrench", force.a, force.b)
    elif force.sensor and "sensor" in force.info.uses:
        yield from mark_item(ref, ball, "wrench", sensor_position(skeleton, force.sensor))
    elif (joint := skeleton.find_joint(force.joint)) is not None:
        yield from mark_item(ref, ball, "wrench", (*skeleton.joint_frame(joint, "b"), None))


def _constraint_items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield a line between the points of a constraint, or a padlock at its sensor or first joint."""
    ref = "constraints", constraint.name
    if constraint.b and "b" in constraint.info.uses:
        yield _line_item(skeleton, f"rod/{constraint.name}/line", ref, "constraint", constraint.a, constraint.b)
        return
    place = sensor_position(skeleton, constraint.sensor)
    joint = skeleton.find_joint(constraint.joints[0]) if constraint.joints else None
    if joint is not None:
        place = (*skeleton.joint_frame(joint, "b"), None)
    yield from mark_item(ref, padlock_geometry(skeleton.glyph_size), "constraint", place)


def _line_item(skeleton: Skeleton, id: str, ref: tuple[str, str], colour: Colour, a: str, b: str) -> Item:
    frame, pose, until = span_between(skeleton, a, b)
    form = g.Cylinder(0.15 * skeleton.glyph_size, 1.0, sides=12)
    return Item(id, ref, frame, form, "force", colour, to_placement(pose), until=until)


def _sensor_items(skeleton: Skeleton, sensor: Sensor) -> Iterator[Item]:
    """Yield a dimension line, or a gauge for a sensor that does not measure a position."""
    yield from (DISTANCE if sensor.info.is_geometric else MOTION).items(skeleton, sensor)


_NEUTRAL = {
    "forces": ElementLook(_force_items, "force"),
    "sensors": ElementLook(_sensor_items, "sensor"),
    "constraints": ElementLook(_constraint_items, "constraint"),
}
"""Looks for kinds without a look of their own."""
