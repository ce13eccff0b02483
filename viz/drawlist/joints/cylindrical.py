"""Look of cylindrical joints."""

from __future__ import annotations

from core.joints import Cylindrical, JointKind
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import AxialLook, Facts, Handle, Piece, axis_of, rod, slide, turn
from viz.placement import Array, along


class CylindricalLook(AxialLook):
    """Round sleeve, rod, and a hub that shows the rotation; a ring and an arrow."""

    of = Cylindrical

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        r = facts.r
        sleeve = g.Tube(0.55 * r, 0.95 * r, 2.6 * r)
        hub = g.Compound(
            (
                g.Placed(g.Cylinder(0.8 * r, 0.7 * r, 0.1 * r)),
                g.Placed(g.Box((1.9 * r, 0.35 * r, 0.4 * r), 0.05 * r)),
            )
        )
        return (
            Piece("sleeve", "a", sleeve, along(facts.axis)),
            rod(facts, g.Cylinder(0.45 * r, 1.0)),
            Piece("hub", "b", hub, along(facts.axis), "rod"),
        )

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        axis = axis_of(R_ac)
        return [turn(joint, axis, "b"), slide(joint, axis, 1)]
