"""Look of free joints."""

from __future__ import annotations

import numpy as np

from core.joints import Free, JointKind
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import GlyphParameters, GlyphPiece, Handle, HandlePart, JointLook, quaternion_rings
from viz.placement import Array


class FreeLook(JointLook):
    """Triad; three arrows along a's axes and three rings about b's."""

    of = Free
    stands_on_ground = False

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        return (GlyphPiece("triad", "b", g.Triad(2.4 * facts.r)),)

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        slides = [
            Handle(HandlePart(joint, "slide", i, 3 + i), "a", np.eye(3)[i], np.eye(3)[i - 1], "b", "xyz"[i])
            for i in range(3)
        ]
        return slides + quaternion_rings(joint)
