"""Look of planar joints."""

from __future__ import annotations

from core.joints import JointKind, Planar
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import KEYS, GlyphParameters, GlyphPiece, Handle, HandlePart, JointLook, joint_axis
from viz.placement import Array, frame_along, to_placement, translation


class PlanarLook(JointLook):
    """Puck on a plate; two arrows and a ring."""

    of = Planar
    stands_on_ground = False

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        r = facts.r
        plate = g.Box((8.0 * r, 8.0 * r, 0.25 * r), 0.08 * r)
        below = frame_along(facts.axis) @ translation(0, 0, -0.45 * r)
        puck = g.Compound(
            (
                g.PlacedShape(g.Cylinder(1.2 * r, 0.6 * r, 0.12 * r)),
                g.PlacedShape(g.Box((1.6 * r, 0.3 * r, 0.7 * r), 0.05 * r), to_placement(translation(0.7 * r, 0, 0))),
            )
        )
        return (GlyphPiece("plate", "a", plate, below), GlyphPiece("puck", "b", puck, frame_along(facts.axis), "rod"))

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        axis = joint_axis(R_ac)
        slides = [Handle(HandlePart(joint, "slide", k, k), "a", R_ac[:, k], axis, "b", "xy"[k]) for k in range(2)]
        return [*slides, Handle(HandlePart(joint, "turn", 2, 2), "a", axis, R_ac[:, 0], "b", KEYS[1])]
