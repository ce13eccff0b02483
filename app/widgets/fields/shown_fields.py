"""Rules for showing the fields of an element in forms: titles, table columns, fields that apply to the element's kind,
and rarely needed fields that are hidden."""

from __future__ import annotations

from app.document.link_lengths import has_link_length
from core.model import (
    COLLECTIONS,
    QUESTIONS,
    WORDS,
    Constraint,
    DHChain,
    DHRow,
    Driver,
    Force,
    Gravity,
    Joint,
    Limit,
    Model,
    Sensor,
    Signal,
    TrimRow,
)
from core.model.bodies import Body
from core.model.fields import Element, Field, NestedElementsKind, ScalarKind
from core.model.joints import BY_REACTION, LEVELS

FIELD_TITLES = {
    "center_of_mass": "Centre of mass",
    "second_axis": "Second axis",
    "a": "Frame a",
    "b": "Frame b",
    "base_shapes": "Base shapes",
    "mu": "μ",
    "center": "Centre",
    "rest": "Reference position",
    "spring_rest": "Spring free position",
    "mimic": "Mimics joint",
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
    "assumed": "Assumed values",
    "variable": "Symbol",
    "figures": "Shapes of joints and links",
    "kp": "kp",
    "ki": "ki",
    "kd": "kd",
}
_OWN_TITLES: dict[type, dict[str, str]] = {
    Force: {
        "a": "From",
        "b": "To",
        "resolve": "In axes of",
        "rest": "Relaxed at",
        "law": "Additional force",
        "damping": "Damping",
        "masses": "Point masses",
        "inertia": "Moving mass",
    },
    Sensor: {
        "a": "From",
        "b": "To",
        "resolve": "In axes of",
        "axis": "Axis in “from”",
        "axis_b": "Normal in “to”",
        "minus": "Subtract sensor",
        "offset": "Subtract",
        "force": "Force element",
    },
    Constraint: {"a": "From", "b": "To", "axis": "First axis", "value": "Prescribed value", "leader": "Leading joint"},
    Driver: {"file": "Recorded signal", "times": "Table", "motion": "Prescribes"},
    Joint: {
        "given_in": "Given in",
        "cut": "Cut joint of a loop",
        "static_friction": "Static friction",
        "backward_friction": "Backward friction",
        "backward_static_friction": "Backward static friction",
        "stribeck_speed": "Stribeck speed",
        "friction_coefficient": "Friction coefficient",
        "static_friction_coefficient": "Static friction coefficient",
        "bearing_radius": "Bearing radius",
        "thrust_radius": "Thrust radius",
        "bearing_distance": "Bearing distance",
    },
    Limit: {"stop": "Stop"},
}
_ROW_TITLES = {"a": "a", "d": "d", "alpha": "α", "theta": "θ", "kind": "Type"}


def field_title(field: Field, element: type) -> str:
    """Return the label of a field."""
    if element is DHRow and field.name in _ROW_TITLES:
        return _ROW_TITLES[field.name]
    own = _OWN_TITLES.get(element, {}).get(field.name)
    return own or FIELD_TITLES.get(field.name) or field.name.replace("_", " ").capitalize()


def type_title(element: type) -> str:
    """Return the title of an element type."""
    asked = next((WORDS[collection] for collection in QUESTIONS if COLLECTIONS[collection] is element), "")
    words = {
        "DHChain": "DH chain",
        "SubAssembly": "sub-assembly",
        "LineMass": "mass",
        "ControlledJoint": "joint",
        "OwnState": "state",
        "TablePoint": "point",
        "BlockInput": "input",
        "NominalValue": "assumed value",
    }
    plain = "row" if element.__name__.endswith("Row") else element.__name__.lower()
    return asked or words.get(element.__name__, plain)


def coordinate_titles(element: Element) -> tuple[str, ...]:
    """Return short names of an element's joint coordinates, e.g. ("angle", "displacement"); ("",) if there is only
    one."""
    if isinstance(element, Joint):
        return element.info.coordinates
    return ("",)


def table_columns(element: type, chain: Element | None = None) -> tuple[str, ...]:
    """Return the fields of a nested element that fit in a table row; () if it is not shown as a table."""
    if element is Limit:
        return ("lower", "upper", "velocity", "effort")
    if element is DHRow:
        modified = isinstance(chain, DHChain) and chain.convention == "modified"
        return ("kind", "a", "alpha", "d", "theta") if modified else ("kind", "theta", "d", "a", "alpha")
    return ()


ADVANCED: dict[type, tuple[str, ...]] = {
    Joint: ("cut", "given_in"),
    Sensor: ("minus", "offset"),
}
"""Rarely needed fields, by element type."""

LENGTH_FIELD = Field(
    "length",
    ScalarKind("length", False, None),
    (
        "Distance from the joint that carries the link to another joint or to its tip. If the length is a parameter,"
        " the parameter is changed; otherwise the far end, with the shapes that extend from one end to "
        "the other, moves along the line."
    ),
    None,
    False,
)
"""Additional field of bodies with two joints, or a joint and a tip: the link length."""


def field_applies(element: Element, field: Field, model: Model | None = None) -> bool:
    """Return True if a field applies to the current kind of an element."""
    if isinstance(element, Force | Sensor | Constraint | Signal):
        return _field_applies_to_kind(element, field.name, element.info.uses, model)
    if isinstance(element, Driver):
        return _field_applies_to_driver(element, field.name, model)
    if isinstance(element, Joint):
        return _field_applies_to_joint(element, field.name)
    if isinstance(element, TrimRow):
        roles = {"value": ("fixed", "target"), "minimum": ("free",), "maximum": ("free",), "weight": ("target",)}
        return element.role in roles.get(field.name, (element.role,))
    if isinstance(element, Limit):
        return _stop_field_applies(element, field.name)
    if isinstance(element, Gravity):
        return {"acceleration": "uniform", "mu": "point", "center": "point"}.get(
            field.name, element.kind
        ) == element.kind
    if field is LENGTH_FIELD:
        return isinstance(element, Body) and model is not None and has_link_length(model, element.name)
    if isinstance(element, Body) and field.name in ("mass", "center_of_mass", "inertia"):
        return element.density is None
    if isinstance(element, Model):
        return field.name not in COLLECTIONS and not isinstance(field.kind, NestedElementsKind)
    return True


def _field_applies_to_joint(joint: Joint, field: str) -> bool:
    info = joint.info
    if field in ("axis", "second_axis", "pitch"):
        return field in info.uses
    if field in ("damping", "friction", "armature"):
        return info.nv > 0
    if field in (*LEVELS[1:], "stribeck_speed"):
        return info.nv > 0 and _friction_field_applies(joint, field)
    if field in BY_REACTION:
        return _bearing_field_applies(joint, field)
    if field == "limits":
        return info.nq > 0 and info.nq == info.nv
    if field in ("rest", "stiffness", "spring_rest"):
        return info.nq > 0 and (field != "spring_rest" or joint.stiffness != 0.0 or bool(joint.spring_rest))
    if field == "mimic":
        return info.nq == 1
    return True


def _friction_field_applies(joint: Joint, field: str) -> bool:
    """Return True if a friction field applies: the static level and transition speed need friction, backward levels
    need a joint that has them."""
    if field == "stribeck_speed":
        return joint.static_friction is not None or joint.backward_static_friction is not None
    if field in LEVELS[2:] and joint.info.nq != joint.info.nv:
        return getattr(joint, field) is not None
    return joint.friction != 0.0 or any(level is not None for level in joint.friction_levels[1:])


def _bearing_field_applies(joint: Joint, field: str) -> bool:
    """Return True if a field of reaction-dependent friction applies. It needs a joint kind with known bearing loads;
    radii need rotation, and the shoulder and second bearing a kind that can have them."""
    info = joint.info
    if info.bearing == "none":
        return getattr(joint, field) not in (None, 0.0)
    if field == "friction_coefficient":
        return True
    kinds = {"thrust_radius": ("pin",), "bearing_distance": ("pin", "guide")}.get(field, (info.bearing,))
    turns = field != "bearing_radius" or "angular_velocity" in info.speed_dimensions
    return joint.has_reaction_friction and info.bearing in kinds and turns


def _stop_field_applies(limit: Limit, field: str) -> bool:
    """Return True if a stop field applies: elastic stops have damping or restitution, rigid stops only restitution."""
    match field:
        case "stiffness":
            return limit.stop in ("elastic", "hunt_crossley")
        case "damping":
            return limit.stop == "elastic" and limit.restitution is None
        case "restitution":
            return limit.stop in ("rigid", "hunt_crossley") or (limit.stop == "elastic" and limit.damping is None)
        case _:
            return True


def _field_applies_to_kind(
    element: Force | Sensor | Constraint | Signal, field: str, used_fields: tuple[str, ...], model: Model | None
) -> bool:
    if field in ("name", "kind", "description"):
        return True
    if field == "coordinate":
        return "joint" in used_fields and has_several_coordinates(model, getattr(element, "joint", ""))
    if isinstance(element, Sensor) and {"joint", "force"} <= set(used_fields):  # one of them
        other = {"joint": element.force, "force": element.joint}.get(field, "")
        return field in used_fields and not other
    if field == "settings" and not isinstance(element, Sensor):
        return field in used_fields or bool(element.settings)
    return field in used_fields


def has_several_coordinates(model: Model | None, joint: str) -> bool:
    """Return True if a joint has more than one coordinate."""
    found = None if model is None else next((j for j in model.expanded.joints if j.name == joint), None)
    return found is not None and found.info.nq > 1


def _field_applies_to_driver(driver: Driver, field: str, model: Model | None) -> bool:
    match field:
        case "coordinate":
            return has_several_coordinates(model, driver.joint)
        case "times":
            return bool(driver.times)
        case "values":
            return False  # edited together with the times
        case "file" | "column":
            return bool(driver.file)
        case _:
            return True
