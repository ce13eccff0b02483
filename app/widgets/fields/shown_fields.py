"""Fields of an element as forms show them: their titles, those that are columns of a table, those that apply to the
element's kind, and those hidden as rarely needed."""

from __future__ import annotations

from app.document.link_lengths import has_length
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
    TrimRow,
)
from core.model.bodies import Body
from core.model.fields import Element, Field, PartsKind, ScalarKind
from core.model.joints import BY_REACTION, LEVELS

FIELD_TITLES = {
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


def field_title(field: Field, element: type) -> str:
    """Return the label of a field."""
    if element is DHRow and field.name in _ROW_TITLES:
        return _ROW_TITLES[field.name]
    own = _OWN_TITLES.get(element, {}).get(field.name)
    return own or FIELD_TITLES.get(field.name) or field.name.replace("_", " ").capitalize()


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


ADVANCED: dict[type, tuple[str, ...]] = {
    Joint: ("cut", "given_in"),
    Sensor: ("minus", "offset"),
}
"""Rarely needed fields, by element type."""

LENGTH_FIELD = Field(
    "length",
    ScalarKind("length", False, None),
    (
        "Distance from the joint that carries the link to another joint or to its tip. If a parameter is"
        " the length, it takes the value; otherwise the far end, and the shapes that reach from one to "
        "the other, move along the line."
    ),
    None,
    False,
)
"""Additional field of bodies with two joints, or a joint and a tip: the link length."""


def applies(element: Element, field: Field, model: Model | None = None) -> bool:
    """Return True if a field of an element applies to its current kind."""
    if isinstance(element, Force | Sensor | Constraint):
        return _applies_to_kind(element, field.name, element.info.uses, model)
    if isinstance(element, Driver):
        return _applies_to_driver(element, field.name, model)
    if isinstance(element, Joint):
        return _applies_to_joint(element, field.name)
    if isinstance(element, TrimRow):
        roles = {"value": ("fixed", "target"), "minimum": ("free",), "maximum": ("free",), "weight": ("target",)}
        return element.role in roles.get(field.name, (element.role,))
    if isinstance(element, Limit):
        return _applies_to_stop(element, field.name)
    if isinstance(element, Gravity):
        return {"acceleration": "uniform", "mu": "point", "center": "point"}.get(
            field.name, element.kind
        ) == element.kind
    if field is LENGTH_FIELD:
        return isinstance(element, Body) and model is not None and has_length(model, element.name)
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
    if field in (*LEVELS[1:], "stribeck_speed"):
        return info.nv > 0 and _applies_to_friction(joint, field)
    if field in BY_REACTION:
        return _applies_to_bearing(joint, field)
    if field == "limits":
        return info.nq > 0 and info.nq == info.nv
    if field in ("rest", "stiffness", "spring_rest"):
        return info.nq > 0 and (field != "spring_rest" or joint.stiffness != 0.0 or bool(joint.spring_rest))
    if field == "mimic":
        return info.nq == 1
    return True


def _applies_to_friction(joint: Joint, field: str) -> bool:
    """Return True if a friction field applies: further levels and the transition speed with friction, backward levels
    where the joint has them."""
    if field == "stribeck_speed":
        return joint.static_friction is not None or joint.backward_static_friction is not None
    if field in LEVELS[2:] and joint.info.nq != joint.info.nv:
        return getattr(joint, field) is not None
    return joint.friction != 0.0 or any(level is not None for level in joint.friction_levels[1:])


def _applies_to_bearing(joint: Joint, field: str) -> bool:
    """Return True if a field of reaction-dependent friction applies: it needs a kind with known bearing loads; radii
    need rotation, a shoulder and a second bearing a kind that may have them."""
    info = joint.info
    if info.bearing == "none":
        return getattr(joint, field) not in (None, 0.0)
    if field == "friction_coefficient":
        return True
    kinds = {"thrust_radius": ("pin",), "bearing_distance": ("pin", "guide")}.get(field, (info.bearing,))
    turns = field != "bearing_radius" or "angular_velocity" in info.speed_dimensions
    return joint.has_reaction_friction and info.bearing in kinds and turns


def _applies_to_stop(limit: Limit, field: str) -> bool:
    """Return True if a stop field applies: elastic stops have damping or restitution, rigid ones only restitution."""
    match field:
        case "stiffness":
            return limit.stop in ("elastic", "hunt_crossley")
        case "damping":
            return limit.stop == "elastic" and limit.restitution is None
        case "restitution":
            return limit.stop in ("rigid", "hunt_crossley") or (limit.stop == "elastic" and limit.damping is None)
        case _:
            return True


def _applies_to_kind(
    element: Force | Sensor | Constraint, field: str, uses: tuple[str, ...], model: Model | None
) -> bool:
    if field in ("name", "kind", "description"):
        return True
    if field == "coordinate":
        return "joint" in uses and has_several_coordinates(model, getattr(element, "joint", ""))
    if isinstance(element, Sensor) and {"joint", "force"} <= set(uses):  # one of them
        other = {"joint": element.force, "force": element.joint}.get(field, "")
        return field in uses and not other
    if field == "settings" and not isinstance(element, Sensor):
        return field in uses or bool(element.info.numbers or element.settings)
    return field in uses


def has_several_coordinates(model: Model | None, joint: str) -> bool:
    """Return True if a joint has more than one coordinate."""
    found = None if model is None else next((j for j in model.expanded.joints if j.name == joint), None)
    return found is not None and found.info.nq > 1


def _applies_to_driver(driver: Driver, field: str, model: Model | None) -> bool:
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
