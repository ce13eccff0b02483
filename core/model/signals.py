"""Names besides parameters that a formula of time and state may use.

`t` (or `time`); coordinates `joint`, `joint.q`, of joints with several `joint.x` …; speeds `joint.v`, `joint.wx.v` …;
sensors `sensor`, `sensor.x` …, and their rates `sensor.rate`, `sensor.x.rate`. Where names collide, what the element
itself brings comes first, then time, parameters, sensors, joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.joints import Free, JointKind

if TYPE_CHECKING:
    from core.model.model import Model

TIME = ("t", "time")


def component(name: str, suffix: str) -> str:
    """Return the name of a coordinate, speed or value of a joint or sensor: the element's name alone if it has only one
    (suffix "")."""
    return f"{name}.{suffix}" if suffix else name


def signal_names(model: Model) -> frozenset[str]:
    """Return all names that formulas of an expanded model may use, besides parameters and the element's own names."""
    names = set(TIME)
    children = {joint.child for joint in model.joints}
    kinds: list[tuple[str, type[JointKind]]] = [(joint.name, joint.info) for joint in model.joints]
    kinds += [(body.name, Free) for body in model.bodies if body.name not in children]
    for joint, kind in kinds:
        coordinates = [component(joint, suffix) for suffix in kind.coordinates]
        speeds = [component(joint, suffix) for suffix in kind.speeds]
        names.update(coordinates, (f"{name}.q" for name in coordinates), (f"{name}.v" for name in speeds))
    for sensor in model.sensors:
        values = [component(sensor.name, suffix) for suffix in sensor.info.components]
        names.update(values, (f"{name}.rate" for name in values))
    return frozenset(names)
