"""Names other than parameters that formulas of time and state may use.

`t` (or `time`); coordinates `joint`, `joint.q`, of joints with several `joint.x` …; speeds `joint.v`, `joint.wx.v` …;
sensors `sensor`, `sensor.x` …, and their rates `sensor.rate`, `sensor.x.rate`; signals and their states by name; the
force that holds a coordinate against gravity `gravity.joint`; entries of the mass matrix `M[1,2]`; coordinates of
motions `motion.joint.q`, `.v`, `.a`. Where names collide, what the element itself brings comes first, then time,
parameters, sensors, joints, signals.
"""

from __future__ import annotations

import re

TIME = ("t", "time")
_MASS_ENTRY = re.compile(r"M\[(\d+),(\d+)\]")


def component_name(name: str, suffix: str) -> str:
    """Return the name of a coordinate, speed or value of a joint or sensor: the element's name alone if it has only one
    (suffix "")."""
    return f"{name}.{suffix}" if suffix else name


def is_mass_entry(name: str) -> bool:
    """Return True for the name of an entry of the mass matrix, such as M[1,2]."""
    return _MASS_ENTRY.fullmatch(name) is not None


def mass_entry_indices(name: str) -> tuple[int, int]:
    """Return row and column (from 0) of an entry of the mass matrix."""
    found = _MASS_ENTRY.fullmatch(name)
    assert found is not None
    return int(found[1]) - 1, int(found[2]) - 1
