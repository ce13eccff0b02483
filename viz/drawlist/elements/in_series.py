"""Look of a spring and a damper in series."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force
from viz.drawlist.elements.element_look import ElementLine, ElementLook
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def series_element_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield the spring and the damper, each on half of the line."""
    line = ElementLine(skeleton, force, force.a, force.b)
    yield line.spring_item(0.0, 0.5)
    yield from line.damper_items(0.5, 1.0)


LOOK = ElementLook(series_element_items, "series", of=("forces", "series"))
