"""Look of revolute joints."""

from __future__ import annotations

from core.joints import JointKind, Revolute
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import AxialLook, Facts, Handle, Piece, axis_of, turn
from viz.placement import Array, along, placement, shifted


class RevoluteLook(AxialLook):
    """Drum between two slightly wider rims; a ring."""

    of = Revolute

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        middle = along(facts.axis) @ shifted(0, 0, facts.reach / 2.0)
        return (Piece("drum", "a", barrel(facts.r, 2.4 * facts.r + abs(facts.reach)), middle),)

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return [turn(joint, axis_of(R_ac), "a")]


def barrel(r: float, h: float) -> g.Geometry:
    """Return the cylinder of a revolute joint, h long."""
    rim = 0.528 * r
    drum = g.Placed(g.Cylinder(0.92 * r, h, 0.0))
    ends = (rim - h) / 2.0, (h - rim) / 2.0
    rims = [g.Placed(g.Cylinder(r, rim, 0.06 * r), placement(shifted(0, 0, z))) for z in ends]
    return g.Compound((drum, *rims))
