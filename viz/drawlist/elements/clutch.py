"""Look of clutches: two facing discs at the coupled joints."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import ElementLook
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import frame_along, number, to_placement, translation, unit_vector


def clutch_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a disc for each of the two joints; on a common axis the discs face each other."""
    r = skeleton.glyph_size
    for name, side in ((force.joint, -1.0), (force.leader, 1.0)):
        joint = skeleton.find_joint(name)
        if joint is None:
            continue
        frame, pose = skeleton.joint_frame(joint, "b")
        axis = unit_vector([number(x, skeleton.values) for x in joint.axis])
        place = pose @ frame_along(axis) @ translation(0.0, 0.0, (1.9 + 0.25 * side) * r)
        disc = g.Tube(0.5 * r, 1.9 * r, 0.35 * r)
        yield Item(
            f"force/{force.name}/{name}", ("forces", force.name), frame, disc, "force", "damper", to_placement(place)
        )


LOOK = ElementLook(clutch_items, "clutch", of=("forces", "clutch"))
