"""Physical dimensions of number fields: the rules for dimensions that depend on other fields, and their evaluation.

A field says its dimension where it is declared: `scalar("length")`, or by a rule, `scalar(by=along)`,
`scalar(by=rate_of(along))`. Elements that act along something have `along(model, index) -> str`, the dimension of the
coordinate, sensor or length; the fields of what lies in them (limits, couplings) follow them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.model.fields import Element, Field, NestedElementsKind, Rule, ScalarKind, VectorKind, declared_fields

Owners = tuple[Any, ...]
"""Chain of nested elements, outermost first; the last one has the field."""

RATES = {
    "angle": "angular_velocity",
    "length": "velocity",
    "angular_velocity": "angular_acceleration",
    "velocity": "acceleration",
}
_DUALS = {
    "force": {"angle": "torque", "length": "force"},
    "stiffness": {"angle": "rotational_stiffness", "length": "stiffness"},
    "damping": {"angle": "rotational_damping", "length": "damping"},
    "inertia": {"angle": "inertia", "length": "mass"},
}


def rate_dimension(dimension: str) -> str:
    """Return the dimension of a quantity's time derivative; "none" if that has no name."""
    return RATES.get(dimension, "none")


def force_dimension(dimension: str) -> str:
    """Return the dimension of the force conjugate to an angle or a length."""
    return _DUALS["force"].get(dimension, "none")


def dimension_along(owners: Owners, model: Any, index: int | None) -> str:
    """Return the dimension of the coordinate or sensor value on which the innermost element acts; "none" if there is
    none."""
    acting = next((owner for owner in reversed(owners) if hasattr(owner, "along")), None)
    return "none" if acting is None else str(acting.along(model, index))


def _map_rule(rule: Rule, table: Mapping[str, str]) -> Rule:
    return lambda owners, model, index: table.get(rule(owners, model, index), "none")


def rate_rule(rule: Rule) -> Rule:
    """Return the rule for the dimension of the time derivative."""
    return _map_rule(rule, RATES)


def force_rule(rule: Rule) -> Rule:
    """Return the rule for the dimension of the conjugate force."""
    return _map_rule(rule, _DUALS["force"])


def stiffness_rule(rule: Rule) -> Rule:
    """Return the rule for the dimension of force per displacement."""
    return _map_rule(rule, _DUALS["stiffness"])


def damping_rule(rule: Rule) -> Rule:
    """Return the rule for the dimension of force per rate."""
    return _map_rule(rule, _DUALS["damping"])


def inertia_rule(rule: Rule) -> Rule:
    """Return the rule for the dimension of force per second time derivative."""
    return _map_rule(rule, _DUALS["inertia"])


def common_dimension(dimensions: Iterable[str]) -> str:
    """Return the dimension that all share; "none" if they differ."""
    found = set(dimensions)
    return found.pop() if len(found) == 1 else "none"


def component_dimension(dimensions: tuple[str, ...], index: int | None) -> str:
    """Return the dimension at an index, or, without an index, the common dimension of all."""
    if index is None:
        return common_dimension(dimensions)
    return dimensions[index] if index < len(dimensions) else "none"


def joint_dimension(model: Any, name: str, coordinate: str = "") -> str:
    """Return the dimension of a joint coordinate, given by its suffix."""
    joint = next((each for each in model.expanded.joints if each.name == name), None)
    if joint is None:
        return "none"
    names = joint.info.coordinates
    return str(joint.along(model, names.index(coordinate) if coordinate in names else None))


def sensor_dimension(model: Any, name: str, index: int | None = None) -> str:
    """Return the dimension of a sensor, or of one of its components."""
    sensor = next((each for each in model.expanded.sensors if each.name == name), None)
    return "none" if sensor is None else str(sensor.along(model, index))


# ------------------------------------------------------------------------------- reading


def field_by_name(element: type, name: str) -> Field:
    """Return the field with this name of an element type."""
    return next(field for field in declared_fields(element) if field.name == name)


def dimension_of(model: Any, owners: Owners, field: Field, index: int | None = None) -> str:
    """Return the dimension of a number field of the last owner.

    index : which number of a vector, or which of several parts the last owner is; None: all of them, or the only one
    """
    kind = field.kind
    if not isinstance(kind, ScalarKind | VectorKind):
        return "none"
    return kind.dimension if kind.by is None else kind.by(owners, model, index)


def nested_with_owners(
    element: Element, outer_owners: Owners = (), index: int | None = None
) -> Iterator[tuple[Owners, int | None]]:
    """Yield the element and all nested elements, depth first, each with its chain of owners and its index among sibling
    parts."""
    owners = (*outer_owners, element)
    yield owners, index
    for field in declared_fields(type(element)):
        value = getattr(element, field.name)
        several = isinstance(field.kind, NestedElementsKind)
        for number, item in enumerate(value if several else (value,)):
            if isinstance(item, Element):
                yield from nested_with_owners(item, owners, number if several else None)
