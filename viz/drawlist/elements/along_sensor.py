"""Look of forces along a sensor: on its line, or about its axis."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force, Sensor
from viz.drawlist.elements.element_look import Line, Look, around, law_icon
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import number, unit


def items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a spring or damper between the frames of the sensor."""
    sensor: Sensor | None = next((s for s in skeleton.model.sensors if s.name == force.sensor), None)
    if sensor is None:
        return
    if sensor.info.turns:
        axis = unit([number(x, skeleton.values) for x in sensor.axis])
        yield around(skeleton, force, *skeleton.anchor(sensor.b), axis)
    else:
        yield from Line(skeleton, force, sensor.a, sensor.b).law()


def _icon(force: Force) -> str:
    return "spring" if force.stiffness != 0.0 else law_icon(force)


LOOK = Look(items, "sensor", _icon, of=("forces", "sensor"))
