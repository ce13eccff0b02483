"""Handles of joints: rings and arrows, and their positions for given frame poses.

One part moves one coordinate, or turns a spherical or free joint about one axis of frame b.
"""

from __future__ import annotations

import numpy as np

from core.errors import KinetostatError
from core.mechanics.multibody.number_reader import Numbers
from core.model import Joint
from core.numerics.spatial.pose import from_matrix
from viz.drawlist.joint_look import Handle, MotionHandle, Part, Spot
from viz.drawlist.joints import look_of
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, inverse, number


class JointHandle:
    """Handles of one joint."""

    def __init__(self, skeleton: Skeleton, joint: Joint) -> None:
        self.joint = joint
        self.sides = {which: skeleton.side(joint, which) for which in "ab"}
        self._handles: dict[Part, Handle | MotionHandle] = {}
        try:
            self._law, R_ac = Numbers(skeleton.values, skeleton.model.origin).law(joint)
        except KinetostatError:  # axes that say nothing
            pass
        else:
            self._canonical = np.eye(4)
            self._canonical[:3, :3] = np.array(R_ac, dtype=float)
            made = look_of(joint.info).handles(joint.name, self._law, self._canonical[:3, :3])
            self._handles = {handle.part: handle for handle in made}
        self.limits = {part: _limit(joint, part, skeleton) for part in self._handles}

    def stop(self, part: Part) -> str:
        """Return the kind of stop at the limits of a part: "elastic", "rigid", "off"; "" without one."""
        k = part.coordinate
        return self.joint.limits[k].stop if k is not None and k < len(self.joint.limits) else ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """All rings and arrows."""
        return tuple(self._handles)

    def spot(self, part: Part, X_WA: Array, X_WB: Array) -> Spot:
        """Return the position of a part for these poses of the joint's frames; neutral if they are upside down relative
        to each other."""
        X_ab = inverse(X_WA @ self._canonical) @ X_WB @ self._canonical
        try:
            q = [float(x) for x in self._law.measure(from_matrix(X_ab)).values]
        except ZeroDivisionError:
            q = [float(x) for x in self.joint.info.neutral]
        return self._handles[part].spot(X_WA, X_WB, q)

    def colour(self, part: Part) -> str:
        """Return the colour of a part that is not dragged."""
        return self._handles[part].colour


def _limit(joint: Joint, part: Part, skeleton: Skeleton) -> tuple[float | None, float | None]:
    """Return the bounds of a part's coordinate; None if unbounded."""
    if part.coordinate is None or part.coordinate >= len(joint.limits):
        return None, None
    limit = joint.limits[part.coordinate]
    low = None if limit.lower is None else number(limit.lower, skeleton.values)
    high = None if limit.upper is None else number(limit.upper, skeleton.values)
    return low, high
