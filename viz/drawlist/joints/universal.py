"""Look of universal joints."""

from __future__ import annotations

import numpy as np

from core.joints import JointKind, Universal
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import (
    KEYS,
    GlyphParameters,
    GlyphPiece,
    Handle,
    HandlePart,
    JointLook,
    joint_axis,
    ring_handle,
)
from viz.placement import Array, frame_along, to_placement, translation


class UniversalLook(JointLook):
    """Two crossed pins; a ring about each."""

    of = Universal

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        r = facts.r
        pin = g.Compound(
            (
                g.PlacedShape(g.Cylinder(0.42 * r, 2.6 * r, 0.06 * r)),
                g.PlacedShape(g.Cylinder(0.62 * r, 0.5 * r, 0.08 * r), to_placement(translation(0, 0, 1.2 * r))),
                g.PlacedShape(g.Cylinder(0.62 * r, 0.5 * r, 0.08 * r), to_placement(translation(0, 0, -1.2 * r))),
            )
        )
        return (
            GlyphPiece("first_pin", "a", pin, frame_along(facts.axis)),
            GlyphPiece("second_pin", "b", pin, frame_along(facts.second_axis), "rod"),
            GlyphPiece("heart", "b", g.Sphere(0.62 * r), frame_along(facts.second_axis), "joint"),
        )

    def depth_below(self, facts: GlyphParameters, upright: float) -> float:
        return 0.0

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        assert isinstance(law, Universal)
        axis, second = joint_axis(R_ac), R_ac @ np.array(law.second, dtype=float)
        return [
            ring_handle(joint, axis, "a", second),
            Handle(HandlePart(joint, "turn", 1, 1), "b", second, axis, "a", KEYS[1]),
        ]
