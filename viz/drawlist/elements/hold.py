"""Look of held sensors: a padlock."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Constraint
from viz.drawlist.elements.element_look import Look, at_sensor, mark, padlock
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield the padlock."""
    place = at_sensor(skeleton, constraint.sensor)
    yield from mark(("constraints", constraint.name), padlock(skeleton.glyph), "constraint", place)


LOOK = Look(items, "lock", of=("constraints", "hold"))
