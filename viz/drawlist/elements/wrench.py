"""Look of wrenches: an arrow for the force, a bent one for the torque."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.errors import KinetostatError
from core.model import WORLD, Force
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import Look, bent_arrow
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, along, number, placement, shifted


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield an arrow of the force that ends at b, and a bent one of the torque, in the axes of `resolve`."""
    r = skeleton.glyph
    body, pose = skeleton.anchor(force.b)
    frame, turn = skeleton.anchor(force.resolve or WORLD)
    arrow = g.Compound((g.Placed(g.Arrow(5.0 * r, 0.2 * r, 0.55 * r, 1.5 * r), placement(shifted(0, 0, -5.0 * r))),))
    for part, vector, form in (("force", force.force, arrow), ("torque", force.torque, bent_arrow(2.2 * r))):
        direction = _direction(skeleton, vector)
        if direction is None:
            continue
        place = np.eye(4)
        place[:3, :3] = turn[:3, :3] @ along(direction)[:3, :3]
        place[:3, 3] = pose[:3, 3]
        yield Item(
            f"force/{force.name}/{part}",
            ("forces", force.name),
            body,
            form,
            "force",
            "wrench",
            placement(place),
            axes=frame,
        )


def _direction(skeleton: Skeleton, vector: tuple[float | str, ...]) -> Array | None:
    """Return the direction (3,) of a vector; a component that depends on time or state counts by its sign at the start,
    or as 1."""
    parts = np.zeros(3)
    for i, item in enumerate(vector):
        try:
            parts[i] = number(item, {**skeleton.values, "t": 0.0, "time": 0.0})
        except KinetostatError:
            parts[i] = 1.0
        if parts[i] == 0.0 and isinstance(item, str):
            parts[i] = 1e-9  # a formula that is zero just now still has a direction
    length = float(np.linalg.norm(parts))
    return parts / length if length > 0.0 and np.isfinite(length) else None


def _icon(force: Force) -> str:
    return "torque" if not any(map(_is_given, force.force)) and any(map(_is_given, force.torque)) else "force"


def _is_given(component: float | str) -> bool:
    return component != 0.0


LOOK = Look(items, "force", _icon, of=("forces", "wrench"))
