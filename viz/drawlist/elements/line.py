"""Look of line forces: a spring, a damper or an actuator, with point masses."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force
from viz.drawlist.elements.element_look import Line, Look, law_icon
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield the items for the force law, and balls for the masses."""
    line = Line(skeleton, force, force.a, force.b)
    yield from line.law()
    yield from line.masses()


LOOK = Look(items, "spring_damper", law_icon, of=("forces", "line"))
