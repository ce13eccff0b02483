"""Look of tendons: springs or dampers along the lines of their sensors and in their joints."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from core.model import Force
from viz.drawlist.elements import along_sensor, in_joint
from viz.drawlist.elements.element_look import ElementLook, force_law_icon
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def tendon_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield the items on each strand."""
    for number, strand in enumerate(force.strands):
        kind, look = (
            ("sensor", along_sensor.along_sensor_items) if strand.sensor else ("joint", in_joint.in_joint_force_items)
        )
        part = dataclasses.replace(force, kind=kind, strands=(), sensor=strand.sensor, joint=strand.joint)
        for item in look(skeleton, part):
            yield dataclasses.replace(item, id=f"{item.id}/{number}")


def _icon_name(force: Force) -> str:
    return "spring" if force.stiffness != 0.0 else force_law_icon(force)


LOOK = ElementLook(tendon_items, "line_force", _icon_name, of=("forces", "tendon"))
