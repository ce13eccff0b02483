"""Look of clutches: two facing discs at the coupled joints."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import Look
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import along, number, placement, shifted, unit


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a disc for each of the two joints; on a common axis the discs face each other."""
    r = skeleton.glyph
    for name, side in ((force.joint, -1.0), (force.leader, 1.0)):
        joint = skeleton.joint(name)
        if joint is None:
            continue
        frame, pose = skeleton.side(joint, "b")
        axis = unit([number(x, skeleton.values) for x in joint.axis])
        place = pose @ along(axis) @ shifted(0.0, 0.0, (1.9 + 0.25 * side) * r)
        disc = g.Tube(0.5 * r, 1.9 * r, 0.35 * r)
        yield Item(
            f"force/{force.name}/{name}", ("forces", force.name), frame, disc, "force", "damper", placement(place)
        )


LOOK = Look(items, "clutch", of=("forces", "clutch"))
