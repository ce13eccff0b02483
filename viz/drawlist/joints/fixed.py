"""Look of fixed joints."""

from __future__ import annotations

from core.joints import Fixed, JointKind
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import GlyphParameters, GlyphPiece, Handle, JointLook
from viz.placement import Array


class FixedLook(JointLook):
    """Block without handles."""

    of = Fixed

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        return (GlyphPiece("block", "a", g.Box((1.3 * facts.r,) * 3, 0.15 * facts.r)),)

    def depth_below(self, facts: GlyphParameters, upright: float) -> float:
        return 0.0

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return []
