"""Look of revolute joints."""

from __future__ import annotations

from core.joints import JointKind, Revolute
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import AxialLook, GlyphParameters, GlyphPiece, Handle, joint_axis, ring_handle
from viz.placement import Array, frame_along, to_placement, translation


class RevoluteLook(AxialLook):
    """Drum between two slightly wider rims; a ring."""

    of = Revolute

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        middle = frame_along(facts.axis) @ translation(0, 0, facts.reach / 2.0)
        return (GlyphPiece("drum", "a", revolute_cylinder(facts.r, 2.4 * facts.r + abs(facts.reach)), middle),)

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return [ring_handle(joint, joint_axis(R_ac), "a")]


def revolute_cylinder(r: float, h: float) -> g.Geometry:
    """Return the cylinder of a revolute joint, of length h."""
    rim = 0.528 * r
    drum = g.PlacedShape(g.Cylinder(0.92 * r, h, 0.0))
    ends = (rim - h) / 2.0, (h - rim) / 2.0
    rims = [g.PlacedShape(g.Cylinder(r, rim, 0.06 * r), to_placement(translation(0, 0, z))) for z in ends]
    return g.Compound((drum, *rims))
