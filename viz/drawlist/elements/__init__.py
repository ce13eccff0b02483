"""Appearance of forces, sensors, constraints and drivers by kind."""

from __future__ import annotations

from collections.abc import Iterator

from core.kinds import declared_objects
from viz.drawlist.elements import driven, sensor_looks
from viz.drawlist.elements.element_look import Look
from viz.drawlist.elements.neutral import NEUTRAL
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton

_DECLARED: list[Look] = declared_objects(__name__, __path__, "LOOK")

LOOKS: dict[str, dict[str, Look]] = {
    "forces": {look.of[1]: look for look in _DECLARED if look.of[0] == "forces"},
    "sensors": sensor_looks.LOOKS,
    "constraints": {look.of[1]: look for look in _DECLARED if look.of[0] == "constraints"},
}
"""Look by collection and kind; for forces and constraints the `LOOK` of their modules here."""


def look_of(collection: str, kind: str) -> Look:
    """Return the look of a kind; a neutral one by default."""
    return LOOKS[collection].get(kind, NEUTRAL[collection])


def element_items(skeleton: Skeleton) -> Iterator[Item]:
    """Yield the items of all forces, sensors, constraints and drivers."""
    for collection in LOOKS:
        for element in getattr(skeleton.model, collection):
            yield from look_of(collection, element.kind).items(skeleton, element)
    for driver in skeleton.model.drivers:
        yield from driven.LOOK.items(skeleton, driver)
