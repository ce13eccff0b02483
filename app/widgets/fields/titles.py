"""Titles of fields, and the choice of fields that are columns of a table."""

from __future__ import annotations

from core.model import (
    COLLECTIONS,
    QUESTIONS,
    WORDS,
    Constraint,
    DHChain,
    DHRow,
    Driver,
    Force,
    Joint,
    Limit,
    Sensor,
)
from core.model.fields import Element, Field

TITLES = {
    "center_of_mass": "Centre of mass",
    "second_axis": "Second axis",
    "a": "Frame a",
    "b": "Frame b",
    "base_shapes": "Base shapes",
    "mu": "μ",
    "center": "Centre",
    "rest": "Rest position",
    "spring_rest": "Spring relaxed at",
    "mimic": "Follows joint",
    "description": "Notes",
    "color": "Colour",
    "ixx": "Ixx",
    "iyy": "Iyy",
    "izz": "Izz",
    "ixy": "Ixy",
    "ixz": "Ixz",
    "iyz": "Iyz",
    "velocity": "Max. speed",
    "effort": "Max. effort",
    "assumed": "Only assumed",
    "variable": "Symbol",
    "figures": "Shapes of joints and links",
}
_OWN_TITLES: dict[type, dict[str, str]] = {
    Force: {
        "a": "From",
        "b": "To",
        "resolve": "In axes of",
        "rest": "Relaxed at",
        "law": "Further force",
        "damping": "Damping",
        "masses": "Point masses",
        "inertia": "Moved mass",
    },
    Sensor: {
        "a": "From",
        "b": "To",
        "resolve": "In axes of",
        "axis": "Axis in “from”",
        "axis_b": "Normal in “to”",
        "minus": "Minus sensor",
        "offset": "Minus",
        "force": "Force element",
    },
    Constraint: {"a": "From", "b": "To", "axis": "First axis", "value": "Held at", "leader": "Follows joint"},
    Driver: {"file": "Recorded signal", "times": "Table", "motion": "Gives"},
    Joint: {
        "given_in": "Given in",
        "cut": "Cut in a loop",
        "static_friction": "Friction at rest",
        "backward_friction": "Friction backward",
        "backward_static_friction": "At rest, backward",
        "stribeck_speed": "Stribeck speed",
        "friction_coefficient": "Friction by reaction",
        "static_friction_coefficient": "At rest, by reaction",
        "bearing_radius": "Bearing radius",
        "thrust_radius": "Thrust radius",
        "bearing_distance": "Bearing distance",
    },
    Limit: {"stop": "Stop"},
}
_ROW_TITLES = {"a": "a", "d": "d", "alpha": "α", "theta": "θ", "kind": "Type"}


def title_of(field: Field, element: type) -> str:
    """Return the label of a field."""
    if element is DHRow and field.name in _ROW_TITLES:
        return _ROW_TITLES[field.name]
    own = _OWN_TITLES.get(element, {}).get(field.name)
    return own or TITLES.get(field.name) or field.name.replace("_", " ").capitalize()


def type_title(element: type) -> str:
    """Return the title of an element type."""
    asked = next((WORDS[collection] for collection in QUESTIONS if COLLECTIONS[collection] is element), "")
    words = {"DHChain": "DH chain", "SubAssembly": "sub-assembly", "LineMass": "mass"}
    plain = "row" if element.__name__.endswith("Row") else element.__name__.lower()
    return asked or words.get(element.__name__, plain)


def coordinate_titles(element: Element) -> tuple[str, ...]:
    """Return short names of an element's joint coordinates, e.g. ("angle", "displacement"); ("",) for a single one."""
    if isinstance(element, Joint):
        return element.info.coordinates
    return ("",)


def columns_of(element: type, chain: Element | None = None) -> tuple[str, ...]:
    """Return the fields of a nested element that fit in a table row; () if it is not shown as a table."""
    if element is Limit:
        return ("lower", "upper", "velocity", "effort")
    if element is DHRow:
        modified = isinstance(chain, DHChain) and chain.convention == "modified"
        return ("kind", "a", "alpha", "d", "theta") if modified else ("kind", "theta", "d", "a", "alpha")
    return ()
