"""Look of prismatic joints."""

from __future__ import annotations

from core.joints import JointKind, Prismatic
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import AxialLook, GlyphParameters, GlyphPiece, Handle, arrow_handle, joint_axis, rod_piece
from viz.placement import Array, frame_along


class PrismaticLook(AxialLook):
    """Square sleeve, rod and block; an arrow."""

    of = Prismatic

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        r = facts.r
        sleeve = g.Box((1.8 * r, 1.8 * r, 2.6 * r), 0.16 * r)
        block = g.Box((1.15 * r, 1.15 * r, 0.9 * r), 0.12 * r)
        return (
            GlyphPiece("sleeve", "a", sleeve, frame_along(facts.axis)),
            rod_piece(facts, g.Box((0.7 * r, 0.7 * r, 1.0))),
            GlyphPiece("block", "b", block, frame_along(facts.axis), "rod"),
        )

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return [arrow_handle(joint, joint_axis(R_ac))]
