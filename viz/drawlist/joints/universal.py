"""Look of universal joints."""

from __future__ import annotations

import numpy as np

from core.joints import JointKind, Universal
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import KEYS, Facts, Handle, JointLook, Part, Piece, axis_of, turn
from viz.placement import Array, along, placement, shifted


class UniversalLook(JointLook):
    """Two crossed pins; a ring about each."""

    of = Universal

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        r = facts.r
        pin = g.Compound(
            (
                g.Placed(g.Cylinder(0.42 * r, 2.6 * r, 0.06 * r)),
                g.Placed(g.Cylinder(0.62 * r, 0.5 * r, 0.08 * r), placement(shifted(0, 0, 1.2 * r))),
                g.Placed(g.Cylinder(0.62 * r, 0.5 * r, 0.08 * r), placement(shifted(0, 0, -1.2 * r))),
            )
        )
        return (
            Piece("first_pin", "a", pin, along(facts.axis)),
            Piece("second_pin", "b", pin, along(facts.second_axis), "rod"),
            Piece("heart", "b", g.Sphere(0.62 * r), along(facts.second_axis), "joint"),
        )

    def depth_below(self, facts: Facts, upright: float) -> float:
        return 0.0

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        assert isinstance(law, Universal)
        axis, second = axis_of(R_ac), R_ac @ np.array(law.second, dtype=float)
        return [
            turn(joint, axis, "a", second),
            Handle(Part(joint, "turn", 1, 1), "b", second, axis, "a", KEYS[1]),
        ]
