"""Items around an axis: spiral springs, damper rings, bent arrows."""

from __future__ import annotations

from math import pi

import numpy as np

from core.model import Force
from viz.drawlist import geometry as g
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, along, placement, shifted


def around(skeleton: Skeleton, force: Force, body: str, pose: Array, axis: Array, slides: bool = False) -> Item:
    """Return a spiral spring around an axis (a ring for a damper; for a formula alone a bent arrow, on a slide a
    straight one)."""
    r = skeleton.glyph
    form: g.Geometry
    if force.stiffness != 0.0:
        form, colour = g.Spiral(1.15 * r, 1.9 * r, 0.1 * r, 2.75), "spring"
    elif force.damping != 0.0:
        form, colour = g.Tube(1.12 * r, 1.5 * r, 0.7 * r), "damper"
    else:
        form, colour = g.Arrow(4.0 * r, 0.2 * r, 0.55 * r, 1.5 * r) if slides else bent_arrow(1.6 * r), "wrench"
    placed = pose @ along(axis) @ shifted(0.0, 0.0, 1.35 * r)
    return Item(f"force/{force.name}/about", ("forces", force.name), body, form, "force", colour, placement(placed))


def bent_arrow(radius: float) -> g.Geometry:
    """Return an arrow along three quarters of a circle about z, right-handed."""
    tube, end = 0.1 * radius, 1.45 * pi
    tip = np.array([np.cos(end), np.sin(end), 0.0]) * radius
    head = along((-np.sin(end), np.cos(end), 0.0), tip) @ shifted(0.0, 0.0, 0.16 * radius)
    return g.Compound(
        (
            g.Placed(g.Arc(radius, tube, 0.0, end)),
            g.Placed(g.Cone(0.28 * radius, 0.5 * radius), placement(head)),
        )
    )
