"""Carriers of frames: the body, the ground or the junction to which a chain of frames is attached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from core.model.bodies import WORLD, Body, Frame, World
from core.model.forces import Junction

Carrier = Body | World | Junction
"""An element that carries frames: body, ground or junction."""


class Placement(NamedTuple):
    """The position of a body, frame or junction relative to its carrier."""

    carrier: Carrier
    frames: tuple[Frame, ...] = ()
    """Frames from the carrier outwards, the frame itself last; the product of their poses is the frame's pose on the
    carrier (they may hold formulas, so that no single pose of the document can express it)."""


def placements(world: World, carriers: Iterable[Body | Junction], frames: Iterable[Frame]) -> dict[str, Placement]:
    """Return name → placement of the ground and of all bodies, junctions and frames."""
    by_name = {frame.name: frame for frame in frames}
    found = {WORLD: Placement(world), **{each.name: Placement(each) for each in carriers}}
    for name in by_name:
        below = carrier_and_frames(name, by_name)[1]
        found[name] = Placement(found[below[0].parent].carrier, below)
    return found


def carrier_and_frames(name: str, frames: Mapping[str, Frame]) -> tuple[str, tuple[Frame, ...]]:
    """Return the name of the carrier of `name`, and the frames from the carrier outwards.

    Frames that hang on each other in a circle (which a model is not allowed) are walked once.
    """
    below: dict[str, Frame] = {}
    while name in frames and name not in below:
        below[name] = frames[name]
        name = frames[name].parent
    return name, tuple(reversed(below.values()))
