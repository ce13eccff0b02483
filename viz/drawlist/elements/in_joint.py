"""Look of forces in a joint: a coil or damper along a slide, a spiral or ring about an axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.errors import KinetostatError
from core.mechanics.multibody.number_reader import Numbers
from core.model import Force, Joint
from viz.drawlist.elements.element_look import Look, SlideLine, around, law_icon
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, unit


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield items next to a slide, or about the axis of the coordinate."""
    joint = skeleton.joint(force.joint)
    if joint is None:
        return
    axis, slides = _along_coordinate(skeleton, joint, force.coordinate)
    if slides and (force.stiffness != 0.0 or force.damping != 0.0):
        yield from SlideLine(skeleton, force, joint, axis).law()
    else:
        yield around(skeleton, force, *skeleton.side(joint, "a"), axis, slides)


def _along_coordinate(skeleton: Skeleton, joint: Joint, coordinate: str) -> tuple[Array, bool]:
    """Return the axis (3,) of a joint's coordinate or speed, in frame a at q = 0, and True for a translation."""
    kind = joint.info
    if coordinate in kind.position:
        return np.eye(3)[kind.position.index(coordinate)], True
    names = kind.speeds if coordinate in kind.speeds else kind.coordinates
    k = names.index(coordinate) if coordinate in names else 0
    try:
        law, R_ac = Numbers(skeleton.values, skeleton.model.origin).law(joint)
    except KinetostatError:  # axes that say nothing
        return np.eye(3)[2], False
    angular, linear = (np.array(each, dtype=float) for each in law.subspace(law.neutral)[k])
    return np.array(R_ac, dtype=float) @ unit(angular if angular.any() else linear), not angular.any()


def _icon(force: Force) -> str:
    return "torsion_spring" if force.stiffness != 0.0 else law_icon(force)


LOOK = Look(items, "torsion_spring", _icon, of=("forces", "joint"))
