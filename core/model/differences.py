"""Differences between two models, element by element and field by field, and the consequences of deleting an
element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from core.joints import Free
from core.model.bodies import WORLD
from core.model.edits.edits import Owned, remove
from core.model.fields import Element, declared_fields
from core.model.model import COLLECTIONS, WORDS, Model


class Difference(NamedTuple):
    """A field that differs; `before` or `after` is None if the element is missing on that side."""

    place: str
    """The element, e.g. "body 'arm'"; "world" or "machine" for a field that belongs to no element."""
    field: str
    """Name of the field, dotted if nested; "" for a whole element."""
    before: str | None
    after: str | None


def find_differences(before: Model, after: Model) -> tuple[Difference, ...]:
    """Return the changes that turn `before` into `after`, in the order of files."""
    found = list(
        _compare_fields("machine", before, after, skipped_fields=frozenset((*COLLECTIONS, "world", "annotations")))
    )
    found += _compare_fields("world", before.world, after.world)
    for collection in COLLECTIONS:
        found += _compare_elements(
            WORDS[collection], _elements_by_name(before, collection), _elements_by_name(after, collection)
        )
    return tuple(found)


def _elements_by_name(model: Model, collection: str) -> dict[str, Element]:
    return {element.name: element for element in getattr(model, collection)}


def _compare_elements(noun: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys((*before, *after)):
        place = f"{noun} '{name}'"
        if name not in after:
            yield Difference(place, "", "there", None)
        elif name not in before:
            yield Difference(place, "", None, "there")
        else:
            yield from _compare_fields(place, before[name], after[name])
            if getattr(before[name], "content", None) != getattr(after[name], "content", None):
                yield Difference(place, "content", "as it was read", "changed in its file")


def _compare_fields(
    element: str, before: Element, after: Element, path: str = "", skipped_fields: frozenset[str] = frozenset()
) -> Iterator[Difference]:
    for field in declared_fields(type(before)):
        if field.name in skipped_fields:
            continue
        old, new = getattr(before, field.name), getattr(after, field.name)
        name = f"{path}{field.name}"
        if old == new:
            continue
        if isinstance(old, Element) and type(old) is type(new):
            yield from _compare_fields(element, old, new, f"{name}.")
        else:
            yield Difference(element, name, _format_value(old), _format_value(new))


def _format_value(value: Any) -> str:
    """Return a value as text, as written in a file."""
    if isinstance(value, Element):
        filled = {field.name: getattr(value, field.name) for field in declared_fields(type(value))}
        return ", ".join(f"{name} {_format_value(part)}" for name, part in filled.items() if part not in (None, "", ()))
    if isinstance(value, tuple):
        return f"[{', '.join(map(_format_value, value))}]"
    return f"{value:.9g}" if isinstance(value, float) else "—" if value is None else str(value)


class RemovalConsequences(NamedTuple):
    """Consequences of a deletion. gone : elements deleted with it; kept : elements that are changed (they keep the
    removed value or colour); world : True if the ground or gravity is among these; adrift : bodies that lose their
    connection to the ground"""

    gone: Owned
    kept: Owned
    world: bool
    adrift: tuple[str, ...]

    @property
    def is_harmless(self) -> bool:
        """Return True if no other element is affected."""
        return not (self.gone or self.kept or self.world)


def removal_consequences(model: Model, collection: str, name: str) -> RemovalConsequences:
    """Return the other elements that are deleted, changed or disconnected when an element is deleted."""
    after = remove(model, collection, name)
    left: dict[tuple[str, str], Any] = {(owner, element.name): element for owner, element in after.elements()}
    others = [(owner, element) for owner, element in model.elements() if (owner, element.name) != (collection, name)]
    return RemovalConsequences(
        tuple((owner, element) for owner, element in others if (owner, element.name) not in left),
        tuple((owner, element) for owner, element in others if left.get((owner, element.name), element) != element),
        after.world != model.world,
        tuple(
            sorted((_grounded_bodies(model) - _grounded_bodies(after)) & {body.name for body in after.expanded.bodies})
        ),
    )


def _grounded_bodies(model: Model) -> set[str]:
    """Return the bodies that are connected to the ground by joints."""
    plain = model.expanded
    neighbours: dict[str, set[str]] = {}
    for joint in plain.joints:
        if joint.kind != Free.name:
            sides = [plain.carrier(frame).name for frame in (joint.parent, joint.child)]
            for one, other in (sides, sides[::-1]):
                neighbours.setdefault(one, set()).add(other)
    reached, waiting = {WORLD}, [WORLD]
    while waiting:
        new = neighbours.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached
