"""Look of constraints that hold a sensor's value: a padlock."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Constraint
from viz.drawlist.elements.element_look import ElementLook, mark_item, padlock_geometry, sensor_position
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def padlock_items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield the padlock at the sensor."""
    place = sensor_position(skeleton, constraint.sensor)
    yield from mark_item(("constraints", constraint.name), padlock_geometry(skeleton.glyph_size), "constraint", place)


LOOK = ElementLook(padlock_items, "lock", of=("constraints", "hold"))
