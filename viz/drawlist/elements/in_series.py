"""Look of a spring and a damper in series."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force
from viz.drawlist.elements.element_look import Line, Look
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield spring and damper, each on half of the line."""
    line = Line(skeleton, force, force.a, force.b)
    yield line.spring(0.0, 0.5)
    yield from line.damper(0.5, 1.0)


LOOK = Look(items, "series", of=("forces", "series"))
