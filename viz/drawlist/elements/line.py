"""A spring, a damper or an actuator on a line, with its masses."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force
from viz.drawlist.elements.element_look import Look
from viz.drawlist.elements.on_line import Line, law_icon
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """What the law says, and balls where the masses are."""
    line = Line(skeleton, force, force.a, force.b)
    yield from line.law()
    yield from line.masses()


LOOK = Look(items, "spring_damper", law_icon, of=("forces", "line"))
