"""Units: the only place where degrees, millimetres and the like are defined.

Inside, everything is SI and radians. A dimension names what a field measures; `UNITS` gives each unit
that users may write or read, with the factor to SI; they combine to compound units ("N/mm", "N·m/deg", "kg·mm²").
"""

from __future__ import annotations

import math
import re
from collections.abc import Container
from typing import NamedTuple

from core.errors import FileError


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


class DisplayUnit(NamedTuple):
    """Unit in which a dimension is shown to the user: shown value = SI value / factor."""

    symbol: str
    factor: float


def format_with_unit(value: float, dimension: str) -> str:
    """Format a number in SI with its unit, for messages: "0.5 rad"."""
    return f"{value:g} {SI.get(dimension, '')}".rstrip()


def display_unit(dimension: str, *, degrees: bool = True, millimetres: bool = False) -> DisplayUnit:
    """Return the symbol and factor with which a dimension is displayed, given the user's choice for angles and
    lengths."""
    if degrees and dimension == "angle":
        return DisplayUnit("°", math.pi / 180.0)
    if degrees and dimension == "angular_velocity":
        return DisplayUnit("°/s", math.pi / 180.0)
    if degrees and dimension == "angular_acceleration":
        return DisplayUnit("°/s²", math.pi / 180.0)
    if millimetres and dimension == "length":
        return DisplayUnit("mm", 1e-3)
    if millimetres and dimension == "velocity":
        return DisplayUnit("mm/s", 1e-3)
    return DisplayUnit(SI.get(dimension) or DERIVED.get(dimension, ""), 1.0)


_POWERS: dict[str, tuple[int, int, int, int]] = {
    "mass": (1, 0, 0, 0),
    "length": (0, 1, 0, 0),
    "time": (0, 0, 1, 0),
    "angle": (0, 0, 0, 1),
    "frequency": (0, 0, -1, 0),
    "angular_velocity": (0, 0, -1, 1),
    "force": (1, 1, -2, 0),
    "torque": (1, 2, -2, 0),
    "energy": (1, 2, -2, 0),
    "power": (1, 2, -3, 0),
}
"""Exponents of kg, m, s and rad."""
_FURTHER = {
    "h": ("time", 3600.0),
    "°": ("angle", math.pi / 180.0),
    "µm": ("length", 1e-6),
    "us": ("time", 1e-6),
    "µs": ("time", 1e-6),
}
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_TOKEN = re.compile(r"\s*+(?P<operator>[·*/]?)\s*+(?P<symbol>[A-Za-zµ°]+)(?P<power>\^?-?\d|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")


_ELECTRIC = ("A", "V", "C", "F", "H", "T", "Wb", "Ω", "ohm", "K", "Pa", "mol", "cd", "sr")
"""Electrical SI units, which no dimension in this table uses."""
SAME_FACTOR = 1e-9
"""Tolerance within which a factor counts as 1."""


class CompoundUnit(NamedTuple):
    """Dimension of a unit, as powers of (kg, m, s, rad), and its factor to SI."""

    powers: tuple[int, int, int, int]
    factor: float


def parse_compound_unit(text: str) -> CompoundUnit | None:
    """Parse a unit made of products, quotients and powers of known units; None if the text is not a unit."""
    powers, factor, place = [0, 0, 0, 0], 1.0, 0
    text = text.strip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or (place == 0) != (not found["operator"]):
            return None
        known = _look_up_unit(found["symbol"])
        if known is None:
            return None
        power = int((found["power"] or "1").translate(_RAISED).lstrip("^"))
        power = -power if found["operator"] == "/" else power
        dimension, one = known
        powers = [old + power * new for old, new in zip(powers, _POWERS[dimension], strict=True)]
        factor, place = factor * one**power, found.end()
    a, b, c, d = powers
    return CompoundUnit((a, b, c, d), factor) if text else None


def is_si_unit(text: str) -> bool:
    """Return True for SI units, including those whose dimension has no name here ("1/m", "N·m/A"), and for an empty
    text."""
    unit = text.strip().removeprefix("1/") if text.strip() not in ("1", "-") else ""
    for symbol in _ELECTRIC:
        unit = re.sub(rf"(?<![A-Za-zµ°]){symbol}(?![A-Za-zµ°])", "kg", unit)
    found = parse_compound_unit(unit)
    return not unit or (found is not None and abs(found.factor - 1.0) < SAME_FACTOR)


def _look_up_unit(symbol: str) -> tuple[str, float] | None:
    unit = UNITS.get(symbol)
    return _FURTHER.get(symbol) if unit is None else (unit.dimension, unit.factor)


def split_column_heading(heading: str) -> tuple[str, str]:
    """Split a column heading into (name, unit): "angle [deg]", "q1 (rad)". The unit is "" if the heading does not end
    with brackets."""
    heading = heading.strip()
    if heading[-1:] in ("]", ")"):
        first = max(heading.rfind("]", 0, -1), heading.rfind(")", 0, -1)) + 1
        opened = [at for bracket in "[(" if (at := heading.find(bracket, first)) >= 0]
        if opened:
            return heading[: min(opened)].rstrip(), heading[min(opened) + 1 : -1].strip()
    return heading, ""


_NUMBER_WITH_UNIT = re.compile(r"([+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?)\s*+([A-Za-zµ°].*)")
_SYMBOL = re.compile(r"[A-Za-zµ°]+")


def convert_compound_unit(text: str, dimension: str, parameters: Container[str]) -> str:
    """Convert text that is a number with a compound unit to a number in SI; any other text is unchanged.

    dimension : what is measured ("none": anything)
    parameters : names that mean parameters: with one of them the text is a formula
    Raises FileError for a unit of something else.
    """
    found = _NUMBER_WITH_UNIT.fullmatch(text.strip())
    if found is None or _SYMBOL.fullmatch(found[2]) or any(name in parameters for name in _SYMBOL.findall(found[2])):
        return text
    unit = parse_compound_unit(found[2])
    if unit is None:
        return text
    wanted = parse_compound_unit(SI[dimension]) if dimension != "none" else None
    if wanted is not None and unit.powers != wanted.powers:
        raise FileError(
            f"'{found[2]}' is not a unit of {dimension.replace('_', ' ')}.",
            remedy=f"Give it in {SI[dimension]} or an equivalent unit.",
        )
    return repr(float(found[1]) * unit.factor / (wanted.factor if wanted is not None else 1.0))
