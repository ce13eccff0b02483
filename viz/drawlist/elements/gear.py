"""Look of gear constraints: gearwheels at two coupled joints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.model import Constraint, Joint
from core.model.shapes import Gearwheel
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import Look
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, along, number, placement, shifted, unit


def items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield a gearwheel at each of the two joints, sized by the ratio if both fit between them."""
    joint, leader = skeleton.joint(constraint.joint), skeleton.joint(constraint.leader)
    if joint is None or leader is None:
        return
    ratio = abs(number(constraint.ratio, skeleton.values)) or 1.0
    small, large = _radii(skeleton, joint, leader, ratio)
    for each, radius, name in ((joint, small, "follower"), (leader, large, "leader")):
        frame, pose = skeleton.side(each, "a" if each.info.is_slider() else "b")
        axis = unit([number(x, skeleton.values) for x in each.axis])
        r = skeleton.glyph
        teeth = max(16, round(2.0 * np.pi * radius / r))
        wheel = g.Gearwheel(radius, 0.7 * r, teeth, 0.5 * r)
        place = pose @ along(axis) @ shifted(0.0, 0.0, -1.7 * r)
        yield Item(
            f"mark/constraints/{constraint.name}/{name}",
            ("constraints", constraint.name),
            frame,
            wheel,
            "mark",
            "constraint",
            placement(place),
        )


def _radii(skeleton: Skeleton, joint: Joint, leader: Joint, ratio: float) -> tuple[float, float]:
    """Return the pitch radii of follower and leader: q_joint = ratio · q_leader, so r_leader = ratio · r_joint; smaller
    if the bodies already have gearwheels."""
    r = skeleton.glyph
    apart = float(np.linalg.norm(_origin(skeleton, joint) - _origin(skeleton, leader)))
    follower = apart / (1.0 + ratio)
    seen = not all(_has_wheel(skeleton, each) for each in (joint, leader))
    if seen and 1.2 * r < follower < 12.0 * r and 1.2 * r < ratio * follower < 12.0 * r:
        return follower, ratio * follower
    base = 2.2 * r
    return base / max(ratio, 1.0) if ratio > 1.0 else base, base if ratio > 1.0 else max(base * ratio, 1.2 * r)


def _has_wheel(skeleton: Skeleton, joint: Joint) -> bool:
    """Return True if a body of a joint has a gearwheel shape."""
    bodies = {skeleton.anchor(end)[0] for end in (joint.parent, joint.child)}
    return any(isinstance(s, Gearwheel) for body in skeleton.model.bodies if body.name in bodies for s in body.shapes)


def _origin(skeleton: Skeleton, joint: Joint) -> Array:
    body, pose = skeleton.side(joint, "a")
    return np.asarray((skeleton.drawn.get(body, np.eye(4)) @ pose)[:3, 3])


LOOK = Look(items, "gear", of=("constraints", "gear"))
