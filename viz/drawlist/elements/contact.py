"""Look of contacts: a disc on the plane under b, or halfway between two bodies."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import WORLD, Force
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import ElementLook
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.placement import to_placement


def contact_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a disc with a rim, across the normal."""
    r = skeleton.glyph_size
    frame, pose = skeleton.find_anchor(force.a or WORLD)
    other, end = skeleton.find_anchor(force.b)
    on_plane = not any(body.name == force.a for body in skeleton.model.bodies)
    until = Span(other, to_placement(end), (0.0 if on_plane else 0.5, 0.0), normal=on_plane)
    for part, form in (("disc", g.Cylinder(1.1 * r, 0.1 * r)), ("rim", g.Tube(1.6 * r, 1.9 * r, 0.2 * r))):
        ref = ("forces", force.name)
        yield Item(f"force/{force.name}/{part}", ref, frame, form, "force", "damper", to_placement(pose), until=until)


LOOK = ElementLook(contact_items, "contact", of=("forces", "contact"))
