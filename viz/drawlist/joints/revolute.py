"""The look of revolute joints."""

from __future__ import annotations

from core.joints import JointKind, Revolute
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import AxialLook, Facts, Handle, Piece, axis_of, turn
from viz.placement import Array, along, placement, shifted


class RevoluteLook(AxialLook):
    """A drum between two slightly wider rims; a ring."""

    of = Revolute

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        return (Piece("drum", "a", barrel(facts.r), along(facts.axis)),)

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return [turn(joint, axis_of(R_ac), "a")]


def barrel(r: float, length: float = 2.4) -> g.Geometry:
    """The short cylinder of a revolute joint."""
    h = length * r
    drum = g.Placed(g.Cylinder(0.92 * r, h, 0.0))
    rims = [g.Placed(g.Cylinder(r, 0.22 * h, 0.06 * r), placement(shifted(0, 0, z))) for z in (-0.39 * h, 0.39 * h)]
    return g.Compound((drum, *rims))
