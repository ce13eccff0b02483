"""Look of forces along a sensor: on the line that the sensor measures, or about its axis."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Force, Sensor
from viz.drawlist.elements.element_look import ElementLine, ElementLook, force_law_icon, spring_about_axis
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import number, unit_vector


def along_sensor_items(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """Yield a spring or damper between the frames of the sensor."""
    sensor: Sensor | None = next((s for s in skeleton.model.sensors if s.name == force.sensor), None)
    if sensor is None:
        return
    if sensor.info.turns:
        axis = unit_vector([number(x, skeleton.values) for x in sensor.axis])
        yield spring_about_axis(skeleton, force, *skeleton.find_anchor(sensor.b), axis)
    else:
        yield from ElementLine(skeleton, force, sensor.a, sensor.b).force_law_items()


def _icon_name(force: Force) -> str:
    return "spring" if force.stiffness != 0.0 else force_law_icon(force)


LOOK = ElementLook(along_sensor_items, "sensor", _icon_name, of=("forces", "sensor"))
