"""Look of wrenches: a straight arrow for the force, a bent one for the torque."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.errors import KinetostatError
from core.model import WORLD, Force
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import ElementLook, bent_arrow_geometry
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, frame_along, number, to_placement, translation


def wrench_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a straight arrow for the force, which ends at b, and a bent arrow for the torque, in the axes of
    `resolve`."""
    r = skeleton.glyph_size
    body, pose = skeleton.find_anchor(force.b)
    frame, turn = skeleton.find_anchor(force.resolve or WORLD)
    arrow = g.Compound(
        (g.PlacedShape(g.Arrow(5.0 * r, 0.2 * r, 0.55 * r, 1.5 * r), to_placement(translation(0, 0, -5.0 * r))),)
    )
    for part, vector, form in (("force", force.force, arrow), ("torque", force.torque, bent_arrow_geometry(2.2 * r))):
        direction = _direction(skeleton, vector)
        if direction is None:
            continue
        place = np.eye(4)
        place[:3, :3] = turn[:3, :3] @ frame_along(direction)[:3, :3]
        place[:3, 3] = pose[:3, 3]
        yield Item(
            f"force/{force.name}/{part}",
            ("forces", force.name),
            body,
            form,
            "force",
            "wrench",
            to_placement(place),
            axes=frame,
        )


def _direction(skeleton: Skeleton, vector: tuple[float | str, ...]) -> Array | None:
    """Return the direction (3,) of a vector. A component that depends on time or state counts as its sign at the start,
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


def _icon_name(force: Force) -> str:
    return "torque" if not any(map(_is_nonzero, force.force)) and any(map(_is_nonzero, force.torque)) else "force"


def _is_nonzero(component: float | str) -> bool:
    return component != 0.0


LOOK = ElementLook(wrench_items, "force", _icon_name, of=("forces", "wrench"))
