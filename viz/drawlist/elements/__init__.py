"""Looks of forces, sensors, constraints and drivers by kind."""

from __future__ import annotations

from collections.abc import Iterator

from core.kinds import declared_in
from viz.drawlist.elements import driven, sensor_looks
from viz.drawlist.elements.element_look import Look
from viz.drawlist.elements.neutral import NEUTRAL
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton

_DECLARED: list[Look] = declared_in(__name__, __path__, "LOOK")

LOOKS: dict[str, dict[str, Look]] = {
    "forces": {look.of[1]: look for look in _DECLARED if look.of[0] == "forces"},
    "sensors": sensor_looks.LOOKS,
    "constraints": {look.of[1]: look for look in _DECLARED if look.of[0] == "constraints"},
}
"""Collection → kind → look; that of a force or constraint is the `LOOK` of its file here."""


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
