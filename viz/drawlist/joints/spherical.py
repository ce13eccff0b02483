"""Look of spherical joints."""

from __future__ import annotations

from core.joints import JointKind, Spherical
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import GlyphParameters, GlyphPiece, Handle, JointLook, quaternion_rings
from viz.placement import Array, to_placement, translation


class SphericalLook(JointLook):
    """Ball in a cup; three rings."""

    of = Spherical

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        r = facts.r
        cup = g.Compound(
            (
                g.PlacedShape(g.Arc(1.02 * r, 0.16 * r), to_placement(translation(0, 0, -0.45 * r))),
                g.PlacedShape(g.Cone(1.05 * r, 0.5 * r, 0.95 * r), to_placement(translation(0, 0, -0.72 * r))),
            )
        )
        return (GlyphPiece("cup", "a", cup), GlyphPiece("ball", "b", g.Sphere(1.08 * r), colour="rod"))

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return quaternion_rings(joint)
