"""What number fields measure: rules for those whose dimension depends on other fields, and the one reader of all.

A field says its dimension where it is declared: `scalar("length")`, or by a rule, `scalar(by=along)`,
`scalar(by=rate_of(along))`. Elements that act along something have `along(model, index) -> str`, the dimension of the
coordinate, sensor or length; the fields of what lies in them (limits, couplings) follow them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.model.fields import Element, Field, PartsKind, Rule, ScalarKind, VectorKind, fields_of

Owners = tuple[Any, ...]
"""Elements, each inside the one before; the last has the field."""

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
    """What the rate of a quantity measures; "none" where that has no name."""
    return RATES.get(dimension, "none")


def dual(dimension: str) -> str:
    """What the force measures that acts along an angle or a length."""
    return _DUALS["force"].get(dimension, "none")


def along(owners: Owners, model: Any, index: int | None) -> str:
    """The rule of what is a coordinate, or a value of that along which the innermost owner acts that acts at all."""
    acting = next((owner for owner in reversed(owners) if hasattr(owner, "along")), None)
    return "none" if acting is None else str(acting.along(model, index))


def _mapped(rule: Rule, table: Mapping[str, str]) -> Rule:
    return lambda owners, model, index: table.get(rule(owners, model, index), "none")


def rate_of(rule: Rule) -> Rule:
    """The rule of its rate."""
    return _mapped(rule, RATES)


def force_of(rule: Rule) -> Rule:
    """The rule of the force along it."""
    return _mapped(rule, _DUALS["force"])


def stiffness_of(rule: Rule) -> Rule:
    """The rule of a force per value."""
    return _mapped(rule, _DUALS["stiffness"])


def damping_of(rule: Rule) -> Rule:
    """The rule of a force per rate."""
    return _mapped(rule, _DUALS["damping"])


def inertia_of(rule: Rule) -> Rule:
    """The rule of a force per second rate."""
    return _mapped(rule, _DUALS["inertia"])


def common(dimensions: Iterable[str]) -> str:
    """The dimension that all share; "none" when they differ."""
    found = set(dimensions)
    return found.pop() if len(found) == 1 else "none"


def one_of(dimensions: tuple[str, ...], index: int | None) -> str:
    """The dimension of one of several numbers, of all for None."""
    if index is None:
        return common(dimensions)
    return dimensions[index] if index < len(dimensions) else "none"


def of_joint(model: Any, name: str, coordinate: str = "") -> str:
    """What a coordinate of a joint measures, found by its suffix."""
    joint = next((each for each in model.expanded.joints if each.name == name), None)
    if joint is None:
        return "none"
    names = joint.info.coordinates
    return str(joint.along(model, names.index(coordinate) if coordinate in names else None))


def of_sensor(model: Any, name: str, index: int | None = None) -> str:
    """What a sensor measures, or one of its components."""
    sensor = next((each for each in model.expanded.sensors if each.name == name), None)
    return "none" if sensor is None else str(sensor.along(model, index))


# ------------------------------------------------------------------------------- reading


def field_of(element: type, name: str) -> Field:
    """The field of this name of an element type."""
    return next(field for field in fields_of(element) if field.name == name)


def dimension_of(model: Any, owners: Owners, field: Field, index: int | None = None) -> str:
    """What a number field of the last owner measures.

    index : which number of a vector, or which of several parts the last owner is; None: all of them, or the only one
    """
    kind = field.kind
    if not isinstance(kind, ScalarKind | VectorKind):
        return "none"
    return kind.dimension if kind.by is None else kind.by(owners, model, index)


def owned(element: Element, above: Owners = (), index: int | None = None) -> Iterator[tuple[Owners, int | None]]:
    """The element and all elements inside it, depth first: each with those it lies in before it, and which of several
    parts it is."""
    owners = (*above, element)
    yield owners, index
    for field in fields_of(type(element)):
        value = getattr(element, field.name)
        several = isinstance(field.kind, PartsKind)
        for number, item in enumerate(value if several else (value,)):
            if isinstance(item, Element):
                yield from owned(item, owners, number if several else None)
