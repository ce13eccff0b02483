"""Differences between two models, element by element and field by field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from core.model.fields import Element, fields_of
from core.model.model import COLLECTIONS, WORDS, Model


class Difference(NamedTuple):
    """A field that differs; `before` or `after` is None if the element is missing on that side."""

    place: str
    """The element, e.g. "body 'arm'"; "world" or "machine" for a field that belongs to no element."""
    field: str
    """Name of the field, dotted if nested; "" for a whole element."""
    before: str | None
    after: str | None


def differences(before: Model, after: Model) -> tuple[Difference, ...]:
    """Return the changes that turn `before` into `after`, in the order of files."""
    found = list(_field_differences("machine", before, after, skip=frozenset((*COLLECTIONS, "world", "annotations"))))
    found += _field_differences("world", before.world, after.world)
    for collection in COLLECTIONS:
        found += _element_differences(
            WORDS[collection], _elements_by_name(before, collection), _elements_by_name(after, collection)
        )
    return tuple(found)


def _elements_by_name(model: Model, collection: str) -> dict[str, Element]:
    return {element.name: element for element in getattr(model, collection)}


def _element_differences(word: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys((*before, *after)):
        place = f"{word} '{name}'"
        if name not in after:
            yield Difference(place, "", "there", None)
        elif name not in before:
            yield Difference(place, "", None, "there")
        else:
            yield from _field_differences(place, before[name], after[name])
            if getattr(before[name], "content", None) != getattr(after[name], "content", None):
                yield Difference(place, "content", "as it was read", "changed in its file")


def _field_differences(
    place: str, before: Element, after: Element, path: str = "", skip: frozenset[str] = frozenset()
) -> Iterator[Difference]:
    for field in fields_of(type(before)):
        if field.name in skip:
            continue
        old, new = getattr(before, field.name), getattr(after, field.name)
        name = f"{path}{field.name}"
        if old == new:
            continue
        if isinstance(old, Element) and type(old) is type(new):
            yield from _field_differences(place, old, new, f"{name}.")
        else:
            yield Difference(place, name, _value_text(old), _value_text(new))


def _value_text(value: Any) -> str:
    """Return a value as text, as written in a file."""
    if isinstance(value, Element):
        filled = {field.name: getattr(value, field.name) for field in fields_of(type(value))}
        return ", ".join(f"{name} {_value_text(part)}" for name, part in filled.items() if part not in (None, "", ()))
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value_text, value))}]"
    return f"{value:.9g}" if isinstance(value, float) else "—" if value is None else str(value)
