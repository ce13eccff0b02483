"""Look of cylindrical joints."""

from __future__ import annotations

from core.joints import Cylindrical, JointKind
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import (
    AxialLook,
    GlyphParameters,
    GlyphPiece,
    Handle,
    arrow_handle,
    joint_axis,
    ring_handle,
    rod_piece,
)
from viz.placement import Array, frame_along


class CylindricalLook(AxialLook):
    """Round sleeve and rod, with a hub that shows the rotation; a ring and an arrow."""

    of = Cylindrical

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        r = facts.r
        sleeve = g.Tube(0.55 * r, 0.95 * r, 2.6 * r)
        hub = g.Compound(
            (
                g.PlacedShape(g.Cylinder(0.8 * r, 0.7 * r, 0.1 * r)),
                g.PlacedShape(g.Box((1.9 * r, 0.35 * r, 0.4 * r), 0.05 * r)),
            )
        )
        return (
            GlyphPiece("sleeve", "a", sleeve, frame_along(facts.axis)),
            rod_piece(facts, g.Cylinder(0.45 * r, 1.0)),
            GlyphPiece("hub", "b", hub, frame_along(facts.axis), "rod"),
        )

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        axis = joint_axis(R_ac)
        return [ring_handle(joint, axis, "b"), arrow_handle(joint, axis, 1)]
