"""Look of screw joints."""

from __future__ import annotations

import numpy as np

from core.joints import JointKind, Screw
from viz.drawlist import geometry as g
from viz.drawlist.joint_look import AxialLook, GlyphParameters, GlyphPiece, Handle, joint_axis, ring_handle
from viz.placement import Array, frame_along, translation


class ScrewLook(AxialLook):
    """Nut on a thread that is as long as its travel; a ring."""

    of = Screw

    def pieces(self, facts: GlyphParameters) -> tuple[GlyphPiece, ...]:
        r = facts.r
        low, high = _nut_travel(facts)
        length = high - low + 2.0 * r
        pitch = np.copysign(max(abs(facts.pitch), 0.3 * r), facts.pitch or 1.0)
        thread = g.Compound(
            (
                g.PlacedShape(g.Cylinder(0.5 * r, length, 0.05 * r)),
                g.PlacedShape(g.Helix(0.5 * r, 0.085 * r, float(pitch), 0.98 * length)),
            )
        )
        middle = frame_along(facts.axis) @ translation(0, 0, -(low + high) / 2.0)
        nut = g.Cylinder(1.15 * r, 1.1 * r, 0.1 * r, sides=6)
        return (GlyphPiece("nut", "a", nut, frame_along(facts.axis)), GlyphPiece("thread", "b", thread, middle, "rod"))

    def handles(self, joint: str, law: JointKind, R_ac: Array) -> list[Handle]:
        return [ring_handle(joint, joint_axis(R_ac), "b")]


def _nut_travel(facts: GlyphParameters) -> tuple[float, float]:
    """Return the smallest and largest displacement (m), a range that contains 0; ±4 r if unbounded."""
    if facts.lower is None or facts.upper is None:
        return -4.0 * facts.r, 4.0 * facts.r
    low, high = sorted(x * facts.pitch / (2.0 * np.pi) for x in (facts.lower, facts.upper))
    return min(low, 0.0), max(high, 0.0)
