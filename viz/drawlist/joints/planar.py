"""Look of planar joints."""

from __future__ import annotations

from core.joints import JointKind, Planar
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import KEYS, Facts, Handle, JointLook, Part, Piece, axis_of
from viz.placement import Array, along, placement, shifted


class PlanarLook(JointLook):
    """Puck on a plate; two arrows and a ring."""

    of = Planar
    stands_on_ground = False

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        r = facts.r
        plate = g.Box((8.0 * r, 8.0 * r, 0.25 * r), 0.08 * r)
        below = along(facts.axis) @ shifted(0, 0, -0.45 * r)
        puck = g.Compound(
            (
                g.Placed(g.Cylinder(1.2 * r, 0.6 * r, 0.12 * r)),
                g.Placed(g.Box((1.6 * r, 0.3 * r, 0.7 * r), 0.05 * r), placement(shifted(0.7 * r, 0, 0))),
            )
        )
        return (Piece("plate", "a", plate, below), Piece("puck", "b", puck, along(facts.axis), "rod"))

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        axis = axis_of(R_ac)
        slides = [Handle(Part(joint, "slide", k, k), "a", R_ac[:, k], axis, "b", "xy"[k]) for k in range(2)]
        return [*slides, Handle(Part(joint, "turn", 2, 2), "a", axis, R_ac[:, 0], "b", KEYS[1])]
