"""Names other than parameters that formulas of time and state may use.

`t` (or `time`); coordinates `joint`, `joint.q`, of joints with several `joint.x` …; speeds `joint.v`, `joint.wx.v` …;
sensors `sensor`, `sensor.x` …, and their rates `sensor.rate`, `sensor.x.rate`. Where names collide, what the element
itself brings comes first, then time, parameters, sensors, joints.
"""

from __future__ import annotations

TIME = ("t", "time")


def component_name(name: str, suffix: str) -> str:
    """Return the name of a coordinate, speed or value of a joint or sensor: the element's name alone if it has only one
    (suffix "")."""
    return f"{name}.{suffix}" if suffix else name
