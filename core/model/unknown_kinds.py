"""Elements whose kind nobody here knows: found and refused by name; and those whose kind people have added."""

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
"""Collection → what its elements are kinds of, and the kinds there are."""


def of_unknown_kind(model: Element) -> Iterator[tuple[str, Any]]:
    """(collection, element) of what is of a kind that is not known."""
    for collection, (_, known) in FAMILIES.items():
        yield from ((collection, each) for each in getattr(model, collection) if each.kind not in known)


def reason(collection: str, element: Any) -> tuple[str, str]:
    """Why the kind of such an element is not known, and the remedy."""
    family, known = FAMILIES[collection]
    return why_unknown(family, element.kind, known)


def refusal(model: Element) -> ModelError | None:
    """What is to be raised of the first element whose mechanics nobody knows."""
    for collection, element in of_unknown_kind(model):
        what, remedy = reason(collection, element)
        return ModelError(what, where=f"{FAMILIES[collection][0]} '{element.name}', kind", remedy=remedy)
    return None


def refuse_unknown_kinds(model: Element) -> None:
    """Raises ModelError naming the first element whose mechanics nobody knows."""
    if (error := refusal(model)) is not None:
        raise error


def own_kinds_of(model: Element) -> tuple[type[Any], ...]:
    """The classes of kinds that people have added and elements of an expanded model are of."""
    named = ((family, e.kind) for collection, (family, _) in FAMILIES.items() for e in getattr(model, collection))
    return tuple(own_kinds(named).values())
