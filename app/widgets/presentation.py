"""How fields are presented: their titles, what their numbers measure, and whether they apply.

Fields declare a dimension; the few whose unit depends on another field (a joint's coordinate may be an
angle or a length) are resolved here, so that no editor knows an element.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.widgets.quantity_text import PLAIN, Measure
from core.model import DHChain, DHRow, Gravity, Joint, Limit, Mimic, Model, Parameter
from core.model.bodies import Body
from core.model.fields import Element, Field, PartsKind, ScalarKind, VectorKind
from core.model.model import COLLECTIONS

TITLES = {
    "center_of_mass": "Centre of mass", "second_axis": "Second axis", "a": "Frame a", "b": "Frame b",
    "base_shapes": "Base shapes", "mu": "μ", "center": "Centre", "rest": "Rest position", "mimic": "Follows joint",
    "description": "Notes", "color": "Colour", "ixx": "Ixx", "iyy": "Iyy", "izz": "Izz", "ixy": "Ixy", "ixz": "Ixz",
    "iyz": "Iyz", "velocity": "Max. speed", "effort": "Max. effort", "assumed": "Only assumed",
    "variable": "Symbol",
}  # fmt: skip
_ROW_TITLES = {"a": "a", "d": "d", "alpha": "α", "theta": "θ", "kind": "Type"}


def title_of(field: Field, element: type) -> str:
    """The label of a field."""
    if element is DHRow and field.name in _ROW_TITLES:
        return _ROW_TITLES[field.name]
    return TITLES.get(field.name) or field.name.replace("_", " ").capitalize()


def type_title(element: type) -> str:
    """What an element of a type is called."""
    return {"DHChain": "DH chain", "DHRow": "row"}.get(element.__name__, element.__name__.lower())


# ------------------------------------------------------------------------------- coordinates


def coordinates_of(element: Element) -> tuple[str, ...] | None:
    """Dimensions ("angle", "length", "none") of an element's joint coordinates; None if it has none of its own."""
    if isinstance(element, Joint):
        return element.info.coordinate_dimensions
    if isinstance(element, DHRow):
        return ("angle",) if element.kind == "revolute" else ("length",)
    return None


def coordinate_titles(element: Element) -> tuple[str, ...]:
    """Short names of an element's joint coordinates, e.g. ("angle", "displacement"); one: ("",)."""
    if isinstance(element, Joint):
        return element.info.coordinates
    return ("",)


_RATE = {"angle": "angular_velocity", "length": "velocity"}
_EFFORT = {"angle": "torque", "length": "force"}
_SYMBOLS = {
    ("damping", "angle"): "N·m·s/rad", ("damping", "length"): "N·s/m",
    ("friction", "angle"): "N·m", ("friction", "length"): "N",
    ("stiffness", "angle"): "N·m/rad", ("stiffness", "length"): "N/m",
    ("armature", "angle"): "kg·m²", ("armature", "length"): "kg",
}  # fmt: skip


def measure_of(element: type, field: str, kind: ScalarKind | VectorKind, owner: Element, coordinate: str) -> Measure:
    """What a number in a field of an element type measures. `owner` is the element that holds the field,
    `coordinate` the dimension of the joint coordinate it is about."""
    if element is Parameter and isinstance(owner, Parameter) and kind.dimension == "none":
        return Measure(owner.dimension)
    if kind.dimension != "none":
        return Measure(kind.dimension)
    if element in (Limit, Mimic, DHRow, Joint):
        if field in ("lower", "upper", "rest", "offset"):
            return Measure(coordinate)
        if field == "velocity":
            return Measure(_RATE.get(coordinate, "none"))
        if field == "effort":
            return Measure(_EFFORT.get(coordinate, "none"))
        return Measure("none", _SYMBOLS.get((field, coordinate), ""))
    return PLAIN


def common_coordinate(dimensions: Sequence[str]) -> str:
    """The dimension shared by all coordinates, or "none" when they differ."""
    return dimensions[0] if dimensions and len(set(dimensions)) == 1 else "none"


# ------------------------------------------------------------------------------- what applies


def applies(element: Element, field: Field) -> bool:
    """Whether a field of an element has a meaning at its present kind."""
    if isinstance(element, Joint):
        return _applies_to_joint(element, field.name)
    if isinstance(element, Gravity):
        return {"acceleration": "uniform", "mu": "point", "center": "point"}.get(
            field.name, element.kind
        ) == element.kind
    if isinstance(element, Body) and field.name in ("mass", "center_of_mass", "inertia"):
        return element.density is None
    if isinstance(element, Model):
        return field.name not in COLLECTIONS and not isinstance(field.kind, PartsKind)
    return True


def _applies_to_joint(joint: Joint, field: str) -> bool:
    info = joint.info
    if field in ("axis", "second_axis", "pitch"):
        return field in info.uses
    if field in ("damping", "friction", "armature"):
        return info.nv > 0
    if field in ("limits", "stiffness"):
        return info.nq > 0 and info.nq == info.nv
    if field == "rest":
        return info.nq > 0
    if field == "mimic":
        return info.nq == 1
    return True


def columns_of(element: type, chain: Element | None = None) -> tuple[str, ...]:
    """The fields of a nested element that fit in a row of a table; () if it is not shown as a table."""
    if element is Limit:
        return ("lower", "upper", "velocity", "effort")
    if element is DHRow:
        modified = isinstance(chain, DHChain) and chain.convention == "modified"
        return ("kind", "a", "alpha", "d", "theta") if modified else ("kind", "theta", "d", "a", "alpha")
    return ()
