"""Look of spherical joints."""

from __future__ import annotations

from core.joints import JointKind, Spherical
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import Facts, Handle, JointLook, Piece, free_turns
from viz.placement import Array, placement, shifted


class SphericalLook(JointLook):
    """Ball in a cup; three rings."""

    of = Spherical

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        r = facts.r
        cup = g.Compound(
            (
                g.Placed(g.Arc(1.02 * r, 0.16 * r), placement(shifted(0, 0, -0.45 * r))),
                g.Placed(g.Cone(1.05 * r, 0.5 * r, 0.95 * r), placement(shifted(0, 0, -0.72 * r))),
            )
        )
        return (Piece("cup", "a", cup), Piece("ball", "b", g.Sphere(1.08 * r), colour="rod"))

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return free_turns(joint)
