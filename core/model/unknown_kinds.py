"""Elements of unknown kinds, reported by name, and the user-defined kinds of a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from core.errors import ModelError
from core.joints import JOINT_KINDS
from core.kinds import own_kinds, why_unknown
from core.model.constraints import CONSTRAINT_KINDS
from core.model.fields import Element
from core.model.forces import FORCE_KINDS
from core.model.sensors import SENSOR_KINDS

FAMILIES: dict[str, tuple[str, Collection[str]]] = {
    "joints": ("joint", JOINT_KINDS),
    "sensors": ("sensor", SENSOR_KINDS),
    "forces": ("force", FORCE_KINDS),
    "constraints": ("constraint", CONSTRAINT_KINDS),
}
"""Collection → noun of its kinds, and the known kinds."""


def elements_of_unknown_kind(model: Element) -> Iterator[tuple[str, Any]]:
    """Yield (collection, element) of elements whose kind is unknown."""
    for collection, (_, known) in FAMILIES.items():
        yield from ((collection, each) for each in getattr(model, collection) if each.kind not in known)


def reason(collection: str, element: Any) -> tuple[str, str]:
    """Return the reason why the kind of such an element is unknown, and the remedy."""
    family, known = FAMILIES[collection]
    return why_unknown(family, element.kind, known)


def refusal(model: Element) -> ModelError | None:
    """Return the error about the first element of unknown kind; None if all are known."""
    for collection, element in elements_of_unknown_kind(model):
        what, remedy = reason(collection, element)
        return ModelError(what, where=f"{FAMILIES[collection][0]} '{element.name}', kind", remedy=remedy)
    return None


def refuse_unknown_kinds(model: Element) -> None:
    """Raise ModelError naming the first element of unknown kind."""
    if (error := refusal(model)) is not None:
        raise error


def user_kinds_of(model: Element) -> tuple[type[Any], ...]:
    """Return the user-defined kinds used by an expanded model."""
    named = ((family, e.kind) for collection, (family, _) in FAMILIES.items() for e in getattr(model, collection))
    return tuple(own_kinds(named).values())
