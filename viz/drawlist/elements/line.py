"""Look of line forces: a spring, a damper or an actuator, with point masses."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force
from viz.drawlist.elements.element_look import ElementLine, ElementLook, force_law_icon
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def line_force_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield the items for the force law, and balls for the masses."""
    line = ElementLine(skeleton, force, force.a, force.b)
    yield from line.force_law_items()
    yield from line.mass_items()


LOOK = ElementLook(line_force_items, "spring_damper", force_law_icon, of=("forces", "line"))
