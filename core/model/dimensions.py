"""Physical dimensions of number fields: rules for those that depend on other fields, and the function that evaluates
them.

A field says its dimension where it is declared: `scalar("length")`, or by a rule, `scalar(by=along)`,
`scalar(by=rate_of(along))`. Elements that act along something have `along(model, index) -> str`, the dimension of the
coordinate, sensor or length; the fields of what lies in them (limits, couplings) follow them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.model.fields import Element, Field, PartsKind, Rule, ScalarKind, VectorKind, fields_of

Owners = tuple[Any, ...]
"""Nested elements, outermost first; the last one has the field."""

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


def rate(dimension: str) -> str:
    """Return the dimension of a quantity's time derivative; "none" if that has no name."""
    return RATES.get(dimension, "none")


def dual(dimension: str) -> str:
    """Return the dimension of the force along an angle or a length."""
    return _DUALS["force"].get(dimension, "none")


def along(owners: Owners, model: Any, index: int | None) -> str:
    """Return the dimension of the coordinate or value along which the innermost acting element acts; "none" if there is
    none."""
    acting = next((owner for owner in reversed(owners) if hasattr(owner, "along")), None)
    return "none" if acting is None else str(acting.along(model, index))


def _mapped_rule(rule: Rule, table: Mapping[str, str]) -> Rule:
    return lambda owners, model, index: table.get(rule(owners, model, index), "none")


def rate_of(rule: Rule) -> Rule:
    """Return the rule for the dimension of the time derivative."""
    return _mapped_rule(rule, RATES)


def force_of(rule: Rule) -> Rule:
    """Return the rule for the dimension of the conjugate force."""
    return _mapped_rule(rule, _DUALS["force"])


def stiffness_of(rule: Rule) -> Rule:
    """Return the rule for the dimension of force per value."""
    return _mapped_rule(rule, _DUALS["stiffness"])


def damping_of(rule: Rule) -> Rule:
    """Return the rule for the dimension of force per rate."""
    return _mapped_rule(rule, _DUALS["damping"])


def inertia_of(rule: Rule) -> Rule:
    """Return the rule for the dimension of force per second derivative."""
    return _mapped_rule(rule, _DUALS["inertia"])


def common_dimension(dimensions: Iterable[str]) -> str:
    """Return the dimension that all share; "none" if they differ."""
    found = set(dimensions)
    return found.pop() if len(found) == 1 else "none"


def one_of(dimensions: tuple[str, ...], index: int | None) -> str:
    """Return the dimension at an index; for None, the common dimension of all."""
    if index is None:
        return common_dimension(dimensions)
    return dimensions[index] if index < len(dimensions) else "none"


def of_joint(model: Any, name: str, coordinate: str = "") -> str:
    """Return the dimension of a joint's coordinate, given by its suffix."""
    joint = next((each for each in model.expanded.joints if each.name == name), None)
    if joint is None:
        return "none"
    names = joint.info.coordinates
    return str(joint.along(model, names.index(coordinate) if coordinate in names else None))


def of_sensor(model: Any, name: str, index: int | None = None) -> str:
    """Return the dimension of a sensor, or of one of its components."""
    sensor = next((each for each in model.expanded.sensors if each.name == name), None)
    return "none" if sensor is None else str(sensor.along(model, index))


# ------------------------------------------------------------------------------- reading


def field_of(element: type, name: str) -> Field:
    """Return the field with this name of an element type."""
    return next(field for field in fields_of(element) if field.name == name)


def dimension_of(model: Any, owners: Owners, field: Field, index: int | None = None) -> str:
    """Return the dimension of a number field of the last owner.

    index : which number of a vector, or which of several parts the last owner is; None: all of them, or the only one
    """
    kind = field.kind
    if not isinstance(kind, ScalarKind | VectorKind):
        return "none"
    return kind.dimension if kind.by is None else kind.by(owners, model, index)


def nested_with_owners(
    element: Element, above: Owners = (), index: int | None = None
) -> Iterator[tuple[Owners, int | None]]:
    """Yield the element and all nested elements, depth first, each with its chain of owners and its index among several
    parts."""
    owners = (*above, element)
    yield owners, index
    for field in fields_of(type(element)):
        value = getattr(element, field.name)
        several = isinstance(field.kind, PartsKind)
        for number, item in enumerate(value if several else (value,)):
            if isinstance(item, Element):
                yield from nested_with_owners(item, owners, number if several else None)
