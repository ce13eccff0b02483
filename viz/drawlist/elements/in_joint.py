"""Look of forces in a joint: a coil spring or damper along a prismatic axis, a spiral spring or ring about a rotation
axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.errors import KinetostatError
from core.mechanics.multibody.number_reader import Numbers
from core.model import Force, Joint
from viz.drawlist.elements.element_look import ElementLook, OffsetSlideLine, force_law_icon, spring_about_axis
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, unit_vector


def in_joint_force_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield the items next to a prismatic joint, or about the rotation axis of the coordinate."""
    joint = skeleton.find_joint(force.joint)
    if joint is None:
        return
    axis, slides = _coordinate_axis(skeleton, joint, force.coordinate)
    if slides and (force.stiffness != 0.0 or force.damping != 0.0):
        yield from OffsetSlideLine(skeleton, force, joint, axis).force_law_items()
    else:
        yield spring_about_axis(skeleton, force, *skeleton.joint_frame(joint, "a"), axis, slides)


def _coordinate_axis(skeleton: Skeleton, joint: Joint, coordinate: str) -> tuple[Array, bool]:
    """Return the axis (3,) of one coordinate or speed of a joint, in frame a at q = 0, and True if it is a
    translation."""
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
    return np.array(R_ac, dtype=float) @ unit_vector(angular if angular.any() else linear), not angular.any()


def _icon_name(force: Force) -> str:
    return "torsion_spring" if force.stiffness != 0.0 else force_law_icon(force)


LOOK = ElementLook(in_joint_force_items, "torsion_spring", _icon_name, of=("forces", "joint"))
