"""Look of gear constraints: gearwheels at two coupled joints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.model import Constraint, Joint
from core.model.shapes import Gearwheel
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import ElementLook
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, frame_along, number, to_placement, translation, unit_vector


def gear_items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield a gearwheel at each of the two joints, with radii in the gear ratio if both fit between the joints."""
    joint, leader = skeleton.find_joint(constraint.joint), skeleton.find_joint(constraint.leader)
    if joint is None or leader is None:
        return
    ratio = abs(number(constraint.ratio, skeleton.values)) or 1.0
    small, large = _pitch_radii(skeleton, joint, leader, ratio)
    for each, radius, name in ((joint, small, "follower"), (leader, large, "leader")):
        frame, pose = skeleton.joint_frame(each, "a" if each.info.is_slider() else "b")
        axis = unit_vector([number(x, skeleton.values) for x in each.axis])
        r = skeleton.glyph_size
        teeth = max(16, round(2.0 * np.pi * radius / r))
        wheel = g.Gearwheel(radius, 0.7 * r, teeth, 0.5 * r)
        place = pose @ frame_along(axis) @ translation(0.0, 0.0, -1.7 * r)
        yield Item(
            f"mark/constraints/{constraint.name}/{name}",
            ("constraints", constraint.name),
            frame,
            wheel,
            "mark",
            "constraint",
            to_placement(place),
        )


def _pitch_radii(skeleton: Skeleton, joint: Joint, leader: Joint, ratio: float) -> tuple[float, float]:
    """Return the pitch radii of follower and leader: q_joint = ratio · q_leader, hence r_leader = ratio · r_joint. They
    are smaller if the bodies already have gearwheels."""
    r = skeleton.glyph_size
    apart = float(np.linalg.norm(_joint_origin(skeleton, joint) - _joint_origin(skeleton, leader)))
    follower = apart / (1.0 + ratio)
    seen = not all(_has_wheel(skeleton, each) for each in (joint, leader))
    if seen and 1.2 * r < follower < 12.0 * r and 1.2 * r < ratio * follower < 12.0 * r:
        return follower, ratio * follower
    base = 2.2 * r
    return base / max(ratio, 1.0) if ratio > 1.0 else base, base if ratio > 1.0 else max(base * ratio, 1.2 * r)


def _has_wheel(skeleton: Skeleton, joint: Joint) -> bool:
    """Return True if one of a joint's bodies has a gearwheel shape."""
    bodies = {skeleton.find_anchor(end)[0] for end in (joint.parent, joint.child)}
    return any(isinstance(s, Gearwheel) for body in skeleton.model.bodies if body.name in bodies for s in body.shapes)


def _joint_origin(skeleton: Skeleton, joint: Joint) -> Array:
    body, pose = skeleton.joint_frame(joint, "a")
    return np.asarray((skeleton.zero_poses.get(body, np.eye(4)) @ pose)[:3, 3])


LOOK = ElementLook(gear_items, "gear", of=("constraints", "gear"))
