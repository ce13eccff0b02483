"""Look of screw joints."""

from __future__ import annotations

import numpy as np

from core.joints import JointKind, Screw
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import AxialLook, Facts, Handle, Piece, axis_of, turn
from viz.placement import Array, along, shifted


class ScrewLook(AxialLook):
    """Nut on a thread as long as its travel; a ring."""

    of = Screw

    def pieces(self, facts: Facts) -> tuple[Piece, ...]:
        r = facts.r
        low, high = _travel(facts)
        length = high - low + 2.0 * r
        pitch = np.copysign(max(abs(facts.pitch), 0.3 * r), facts.pitch or 1.0)
        thread = g.Compound(
            (
                g.Placed(g.Cylinder(0.5 * r, length, 0.05 * r)),
                g.Placed(g.Helix(0.5 * r, 0.085 * r, float(pitch), 0.98 * length)),
            )
        )
        middle = along(facts.axis) @ shifted(0, 0, -(low + high) / 2.0)
        nut = g.Cylinder(1.15 * r, 1.1 * r, 0.1 * r, sides=6)
        return (Piece("nut", "a", nut, along(facts.axis)), Piece("thread", "b", thread, middle, "rod"))

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return [turn(joint, axis_of(R_ac), "b")]


def _travel(facts: Facts) -> tuple[float, float]:
    """Return smallest and largest displacement, m, with 0 between them; ±4 r if unbounded."""
    if facts.lower is None or facts.upper is None:
        return -4.0 * facts.r, 4.0 * facts.r
    low, high = sorted(x * facts.pitch / (2.0 * np.pi) for x in (facts.lower, facts.upper))
    return min(low, 0.0), max(high, 0.0)
