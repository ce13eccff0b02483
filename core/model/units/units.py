"""Units: the only place where degrees, millimetres and the like are defined.

Inside, everything is SI and radians. A dimension names what a field measures; `UNITS` gives each unit
a person may write or read, with the factor to SI.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit as users write it: SI value = factor · value."""

    symbol: str
    dimension: str
    factor: float


_TABLE = (
    Unit("m", "length", 1.0),
    Unit("mm", "length", 1e-3),
    Unit("cm", "length", 1e-2),
    Unit("km", "length", 1e3),
    Unit("um", "length", 1e-6),
    Unit("inch", "length", 0.0254),
    Unit("ft", "length", 0.3048),
    Unit("rad", "angle", 1.0),
    Unit("deg", "angle", math.pi / 180.0),
    Unit("rev", "angle", 2.0 * math.pi),
    Unit("kg", "mass", 1.0),
    Unit("g", "mass", 1e-3),
    Unit("t", "mass", 1e3),
    Unit("lb", "mass", 0.45359237),
    Unit("s", "time", 1.0),
    Unit("ms", "time", 1e-3),
    Unit("min", "time", 60.0),
    Unit("Hz", "frequency", 1.0),
    Unit("N", "force", 1.0),
    Unit("kN", "force", 1e3),
    Unit("Nm", "torque", 1.0),
    Unit("Nmm", "torque", 1e-3),
    Unit("J", "energy", 1.0),
    Unit("W", "power", 1.0),
    Unit("kW", "power", 1e3),
    Unit("rpm", "angular_velocity", math.pi / 30.0),
)

UNITS: dict[str, Unit] = {unit.symbol: unit for unit in _TABLE}
"""Units that may follow a number in an expression: "30 deg", "50 mm"."""

SI: dict[str, str] = {
    "length": "m",
    "angle": "rad",
    "mass": "kg",
    "inertia": "kg·m²",
    "density": "kg/m³",
    "time": "s",
    "frequency": "Hz",
    "velocity": "m/s",
    "angular_velocity": "rad/s",
    "acceleration": "m/s²",
    "angular_acceleration": "rad/s²",
    "force": "N",
    "torque": "N·m",
    "energy": "J",
    "power": "W",
    "pitch": "m/rev",
    "gravitational_parameter": "m³/s²",
    "none": "",
}
"""SI unit, as shown to users, of each dimension a field may have."""


DERIVED: dict[str, str] = {
    "stiffness": "N/m",
    "rotational_stiffness": "N·m/rad",
    "damping": "N·s/m",
    "rotational_damping": "N·m·s/rad",
    "momentum": "N·s",
    "angular_momentum": "N·m·s",
}
"""SI unit of dimensions that no parameter has."""


class Display(NamedTuple):
    """Unit in which a dimension is shown to the user: shown value = SI value / factor."""

    symbol: str
    factor: float


def amount(value: float, dimension: str) -> str:
    """Return a number in SI with its unit, for messages: "0.5 rad"."""
    return f"{value:g} {SI.get(dimension, '')}".rstrip()


def display(dimension: str, *, degrees: bool = True, millimetres: bool = False) -> Display:
    """Return symbol and factor in which `dimension` is shown, by the user's choice of angle and length."""
    if degrees and dimension == "angle":
        return Display("°", math.pi / 180.0)
    if degrees and dimension == "angular_velocity":
        return Display("°/s", math.pi / 180.0)
    if degrees and dimension == "angular_acceleration":
        return Display("°/s²", math.pi / 180.0)
    if millimetres and dimension == "length":
        return Display("mm", 1e-3)
    if millimetres and dimension == "velocity":
        return Display("mm/s", 1e-3)
    return Display(SI.get(dimension) or DERIVED.get(dimension, ""), 1.0)
