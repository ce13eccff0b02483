"""Look of prismatic joints."""

from __future__ import annotations

from core.joints import JointKind, Prismatic
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import AxialLook, Facts, Handle, Piece, axis_of, rod, slide
from viz.placement import Array, along


class PrismaticLook(AxialLook):
    """Square sleeve, rod and block; an arrow."""

    of = Prismatic

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        r = facts.r
        sleeve = g.Box((1.8 * r, 1.8 * r, 2.6 * r), 0.16 * r)
        block = g.Box((1.15 * r, 1.15 * r, 0.9 * r), 0.12 * r)
        return (
            Piece("sleeve", "a", sleeve, along(facts.axis)),
            rod(facts, g.Box((0.7 * r, 0.7 * r, 1.0))),
            Piece("block", "b", block, along(facts.axis), "rod"),
        )

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return [slide(joint, axis_of(R_ac))]
