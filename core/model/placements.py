"""What carries a frame: the body, the ground or the junction at which the frames it hangs on begin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from core.model.bodies import WORLD, Body, Frame, World
from core.model.forces import Junction

Carrier = Body | World | Junction
"""What moves for itself, or stands: it carries frames."""


class Placement(NamedTuple):
    """Where a body, frame or junction is on what carries it."""

    carrier: Carrier
    frames: tuple[Frame, ...] = ()
    """From the carrier outwards, the frame itself last; their poses, one after the other, are its pose there (they may
    hold formulas, so that no single pose of the document says the same)."""


def placements(world: World, carriers: Iterable[Body | Junction], frames: Iterable[Frame]) -> dict[str, Placement]:
    """name → placement of the ground, of all bodies, junctions and frames."""
    by_name = {frame.name: frame for frame in frames}
    found = {WORLD: Placement(world), **{each.name: Placement(each) for each in carriers}}
    for name in by_name:
        below = carried_by(name, by_name)[1]
        found[name] = Placement(found[below[0].parent].carrier, below)
    return found


def carried_by(name: str, frames: Mapping[str, Frame]) -> tuple[str, tuple[Frame, ...]]:
    """The name at which the frames begin on which `name` hangs, and these frames from there outwards.

    Frames that hang on each other in a circle (which a model is not allowed) are walked once."""
    below: dict[str, Frame] = {}
    while name in frames and name not in below:
        below[name] = frames[name]
        name = frames[name].parent
    return name, tuple(reversed(below.values()))
