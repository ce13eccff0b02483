"""Look of tendons: springs or dampers on the lines of their sensors, and in their joints."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from core.model import Force
from viz.drawlist.elements import along_sensor, in_joint
from viz.drawlist.elements.element_look import Look, law_icon
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield the items along each strand."""
    for number, strand in enumerate(force.strands):
        kind, look = ("sensor", along_sensor.items) if strand.sensor else ("joint", in_joint.items)
        part = dataclasses.replace(force, kind=kind, strands=(), sensor=strand.sensor, joint=strand.joint)
        for item in look(skeleton, part):
            yield dataclasses.replace(item, id=f"{item.id}/{number}")


def _icon(force: Force) -> str:
    return "spring" if force.stiffness != 0.0 else law_icon(force)


LOOK = Look(items, "line_force", _icon, of=("forces", "tendon"))
