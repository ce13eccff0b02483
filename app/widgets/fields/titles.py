"""How fields are presented: their titles, what their numbers measure, and whether they apply.

Fields declare a dimension; the few whose unit depends on another field (a joint's coordinate may be an
angle or a length) are resolved here, so that no editor knows an element.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.widgets.quantities.quantity_text import PLAIN, Measure
from core.model import (
    Constraint,
    DHChain,
    DHRow,
    Driver,
    Force,
    Joint,
    Limit,
    LineMass,
    Mimic,
    Model,
    Parameter,
    Sensor,
    Setting,
)
from core.model.fields import Element, Field, ScalarKind, VectorKind
from core.model.forces import LINE

TITLES = {
    "center_of_mass": "Centre of mass",
    "second_axis": "Second axis",
    "a": "Frame a",
    "b": "Frame b",
    "base_shapes": "Base shapes",
    "mu": "μ",
    "center": "Centre",
    "rest": "Rest position",
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
_OWN_TITLES = {
    Force: {
        "a": "From",
        "b": "To",
        "resolve": "In axes of",
        "rest": "Relaxed at",
        "law": "Further force",
        "damping": "Damping",
        "masses": "Point masses",
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
    Joint: {"given_in": "Given in", "cut": "Cut in a loop"},
}
_ROW_TITLES = {"a": "a", "d": "d", "alpha": "α", "theta": "θ", "kind": "Type"}


def title_of(field: Field, element: type) -> str:
    """The label of a field."""
    if element is DHRow and field.name in _ROW_TITLES:
        return _ROW_TITLES[field.name]
    own = _OWN_TITLES.get(element, {}).get(field.name)
    return own or TITLES.get(field.name) or field.name.replace("_", " ").capitalize()


def type_title(element: type) -> str:
    """What an element of a type is called."""
    words = {"DHChain": "DH chain", "DHRow": "row", "SubAssembly": "sub-assembly", "LineMass": "mass"}
    return words.get(element.__name__, element.__name__.lower())


# ------------------------------------------------------------------------------- coordinates


def coordinates_of(element: Element, model: Model | None = None) -> tuple[str, ...] | None:
    """Dimensions ("angle", "length", "none" …) of an element's joint coordinates, or of what a force, constraint or
    driver acts along (found in the model); None if it has none of its own."""
    if isinstance(element, Force | Constraint | Driver | Sensor):
        return (acted_along(element, model),)
    if isinstance(element, Joint):
        return element.info.coordinate_dimensions
    if isinstance(element, DHRow):
        return ("angle",) if element.kind == "revolute" else ("length",)
    return None


def acted_along(element: Force | Constraint | Driver | Sensor, model: Model | None) -> str:
    """Dimension of the length, angle or value along which an element acts, or which it measures."""
    if isinstance(element, Sensor):
        return element.info.dimension
    if isinstance(element, Force) and element.info.along == LINE:
        return "length"
    if isinstance(element, Constraint) and "b" in element.info.uses:
        return "length"
    if model is None:
        return "none"
    expanded = model.expanded
    uses_joint = isinstance(element, Driver) or "joint" in element.info.uses
    joint = next((j for j in expanded.joints if j.name == element.joint), None) if uses_joint else None
    if joint is not None:
        return coordinate_dimension(joint, getattr(element, "coordinate", ""))
    sensor = next((s for s in expanded.sensors if s.name == element.sensor), None)
    return sensor.info.dimension if sensor is not None else "none"


def coordinate_dimension(joint: Joint, coordinate: str) -> str:
    """Dimension of a coordinate of a joint by its suffix ('' for the only one)."""
    info = joint.info
    table = dict(zip(info.coordinates, info.coordinate_dimensions, strict=True))
    return table.get(coordinate, common_coordinate(info.coordinate_dimensions))


def coordinate_titles(element: Element) -> tuple[str, ...]:
    """Short names of an element's joint coordinates, e.g. ("angle", "displacement"); one: ("",)."""
    if isinstance(element, Joint):
        return element.info.coordinates
    return ("",)


_RATE = {"angle": "angular_velocity", "length": "velocity"}
_SECOND_RATE = {"angle": "angular_acceleration", "length": "acceleration"}
_EFFORT = {"angle": "torque", "length": "force"}
_SYMBOLS = {
    ("damping", "angle"): "N·m·s/rad",
    ("damping", "length"): "N·s/m",
    ("friction", "angle"): "N·m",
    ("friction", "length"): "N",
    ("stiffness", "angle"): "N·m/rad",
    ("stiffness", "length"): "N/m",
    ("armature", "angle"): "kg·m²",
    ("armature", "length"): "kg",
}


def measure_of(element: type, field: str, kind: ScalarKind | VectorKind, owner: Element, coordinate: str) -> Measure:
    """What a number in a field of an element type measures. `owner` is the element that holds the field,
    `coordinate` the dimension of the joint coordinate it is about."""
    if element is Parameter and isinstance(owner, Parameter) and kind.dimension == "none":
        return Measure(owner.dimension)
    if kind.dimension != "none":
        return Measure(kind.dimension)
    if element in (Force, Constraint, Driver, Sensor, LineMass, Setting):
        return _measure_of_new(element, field, owner, coordinate)
    if element in (Limit, Mimic, DHRow, Joint):
        if field in ("lower", "upper", "rest", "offset"):
            return Measure(coordinate)
        if field == "velocity":
            return Measure(_RATE.get(coordinate, "none"))
        if field == "effort":
            return Measure(_EFFORT.get(coordinate, "none"))
        return Measure("none", _SYMBOLS.get((field, coordinate), ""))
    return PLAIN


def _measure_of_new(element: type, field: str, owner: Element, coordinate: str) -> Measure:
    """Measures of forces, constraints, drivers and sensors."""
    if isinstance(owner, LineMass) and field == "place":
        return PLAIN if owner.at == "fraction" else Measure("length")
    if field in ("rest", "offset", "value"):
        return Measure(coordinate)
    if field == "law":
        return Measure(_EFFORT.get(coordinate, "none"))
    if isinstance(owner, Driver) and field in ("function", "values"):
        rates = {"velocity": _RATE, "acceleration": _SECOND_RATE}
        return Measure(rates[owner.motion].get(coordinate, "none") if owner.motion in rates else coordinate)
    return Measure("none", _SYMBOLS.get((field, coordinate), ""))


def common_coordinate(dimensions: Sequence[str]) -> str:
    """The dimension shared by all coordinates, or "none" when they differ."""
    return dimensions[0] if dimensions and len(set(dimensions)) == 1 else "none"


def columns_of(element: type, chain: Element | None = None) -> tuple[str, ...]:
    """The fields of a nested element that fit in a row of a table; () if it is not shown as a table."""
    if element is Limit:
        return ("lower", "upper", "velocity", "effort")
    if element is DHRow:
        modified = isinstance(chain, DHChain) and chain.convention == "modified"
        return ("kind", "a", "alpha", "d", "theta") if modified else ("kind", "theta", "d", "a", "alpha")
    return ()
