"""Which rings and arrows a joint has, and where they are for given poses of its frames. Pure.

One part moves one coordinate, or turns a spherical or free joint about one axis of frame b.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import KinetostatError
from core.model import Joint
from core.multibody.number_reader import Numbers
from viz.drawlist.joint_look import Handle, MotionHandle, Part, Spot
from viz.drawlist.joints import look_of
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, number


class JointHandle:
    """The parts of one joint."""

    def __init__(self, skeleton: Skeleton, joint: Joint) -> None:
        self.joint = joint
        self.sides = {which: skeleton.side(joint, which) for which in "ab"}
        self._handles = {handle.part: handle for handle in _handles(skeleton, joint)}
        self.limits = {part: _limit(joint, part, skeleton) for part in self._handles}

    @property
    def parts(self) -> tuple[Part, ...]:
        """All rings and arrows."""
        return tuple(self._handles)

    def spot(self, part: Part, X_WA: Array, X_WB: Array) -> Spot:
        """Where a part is when the joint's frames are there."""
        return self._handles[part].spot(X_WA, X_WB)

    def colour(self, part: Part) -> str:
        """The colour of a part that is at rest."""
        return self._handles[part].colour


def _handles(skeleton: Skeleton, joint: Joint) -> Sequence[Handle | MotionHandle]:
    """Those of the kind's look; none of a joint whose axes say nothing."""
    try:
        law, R_ac = Numbers(skeleton.values, skeleton.model.origin).law(joint)
    except KinetostatError:
        return ()
    return look_of(joint.info).handles(joint.name, law, np.array(R_ac, dtype=float))


def _limit(joint: Joint, part: Part, skeleton: Skeleton) -> tuple[float | None, float | None]:
    """Bounds of a part's coordinate; None where unbounded."""
    if part.coordinate is None or part.coordinate >= len(joint.limits):
        return None, None
    limit = joint.limits[part.coordinate]
    low = None if limit.lower is None else number(limit.lower, skeleton.values)
    high = None if limit.upper is None else number(limit.upper, skeleton.values)
    return low, high
