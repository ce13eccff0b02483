"""Look of contacts: a ring on the plane under b, or halfway between two bodies."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import WORLD, Force
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import ElementLook
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.placement import number, to_placement

AROUND = 0.6
"""Outer radius of the ring, relative to the largest edge of the body's shapes."""


def contact_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a ring, across the normal."""
    frame, pose = skeleton.find_anchor(force.a or WORLD)
    other, end = skeleton.find_anchor(force.b)
    on_plane = not any(body.name == force.a for body in skeleton.model.bodies)
    until = Span(other, to_placement(end), (0.0 if on_plane else 0.5, 0.0), normal=on_plane)
    radius = _ring_radius(skeleton, force)
    ring = g.Tube(0.9 * radius, radius, 0.08 * radius)
    yield Item(
        f"force/{force.name}/ring",
        ("forces", force.name),
        frame,
        ring,
        "force",
        "damper",
        to_placement(pose),
        until=until,
    )


def _ring_radius(skeleton: Skeleton, force: Force) -> float:
    """Return a radius by the size of the smaller body; that of other marks if none has a shape."""
    sizes = []
    for body in skeleton.model.bodies:
        if body.name in (force.a, force.b):
            boxes = [shape.bounds(lambda x: number(x, skeleton.values)) for shape in body.shapes]
            edges = [high - low for box in boxes for low, high in zip(*box, strict=True)]
            sizes += [max(edges)] if max(edges, default=0.0) > 0.0 else []
    return AROUND * min(sizes) if sizes else 1.9 * skeleton.glyph_size


LOOK = ElementLook(contact_items, "contact", of=("forces", "contact"))
