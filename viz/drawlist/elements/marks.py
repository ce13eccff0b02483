"""Marks of held or driven components: padlocks, motors, and their positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.model import Sensor
from viz.drawlist import geometry as g
from viz.drawlist.elements.on_line import stretched_between
from viz.drawlist.item import Item, Ref, Span
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import Array, along, number, placement, shifted, unit

Place = tuple[str, Array, Span | None]
"""Frame, pose in it, and the line whose midpoint carries the mark."""


def mark(ref: Ref, form: g.Geometry, colour: Colour, place: Place | None) -> Iterator[Item]:
    """Yield a form at a place; nothing without a place."""
    if place is not None:
        frame, pose, until = place
        yield Item(f"mark/{ref[0]}/{ref[1]}", ref, frame, form, "mark", colour, placement(pose), until=until)


def at_sensor(skeleton: Skeleton, name: str) -> Place | None:
    """Return the midpoint of the line measured by a sensor, or its axis."""
    sensor: Sensor | None = next((s for s in skeleton.model.sensors if s.name == name), None)
    if sensor is None:
        return None
    frame, pose, until = stretched_between(skeleton, sensor.a, sensor.b)
    if sensor.info.turns:
        axis = unit([number(x, skeleton.values) for x in sensor.axis])
        body, end = skeleton.anchor(sensor.b)
        return body, end @ along(axis) @ shifted(0.0, 0.0, 2.6 * skeleton.glyph), None
    return frame, pose, replace(until, at=(0.62, 0.0))


def padlock(r: float) -> g.Geometry:
    """Return an upright padlock along z."""
    shackle = placement(along((0.0, 1.0, 0.0), (0.0, 0.0, 0.45 * r)))
    return g.Compound(
        (
            g.Placed(g.Box((1.3 * r, 0.6 * r, 1.0 * r), 0.1 * r)),
            g.Placed(g.Arc(0.42 * r, 0.1 * r, 0.0, 2.0 * np.pi), shackle),
            g.Placed(g.Cylinder(0.16 * r, 0.7 * r, sides=16), placement(along((0.0, 1.0, 0.0)))),
        )
    )
