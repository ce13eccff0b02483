"""Elements of a sub-assembly under their full names: `knee` of `leg1` is called `leg1.knee`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from core.model.bodies import WORLD
from core.model.fields import (
    Element,
    FormulaKind,
    FormulaVectorKind,
    NameKind,
    ReferenceKind,
    ScalarKind,
    VectorKind,
    fields_of,
    mapped,
)
from core.model.formula.expression import Name, names, parse, substitute, text_of
from core.model.signals import TIME

AnyElement = TypeVar("AnyElement", bound=Element)

GROUND_IF_EMPTY = ("a", "resolve")
"""References that mean the ground when empty; for a sub-assembly, they are replaced by its own ground."""


def prefixed(element: AnyElement, prefix: str, ground: str) -> AnyElement:
    """Return the element with `prefix` before its name and before every name it uses; `ground` replaces its world."""
    return mapped(element, lambda part: _prefixed_fields(part, prefix, ground))


def _prefixed_fields(element: Element, prefix: str, ground: str) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for field in fields_of(type(element)):
        old = getattr(element, field.name)
        new = old
        match field.kind:
            case NameKind():
                new = prefix + old
            case ReferenceKind():
                new = _prefixed_reference(old, prefix, ground, empty=field.name in GROUND_IF_EMPTY)
            case ScalarKind():
                new = formula(old, prefix, own_names(field.kind))
            case VectorKind():
                new = tuple(formula(item, prefix, own_names(field.kind)) for item in old)
        if new != old:
            changes[field.name] = new
    return changes


def _prefixed_reference(name: str, prefix: str, ground: str, *, empty: bool) -> str:
    if name == WORLD or (not name and empty):
        return name if ground == WORLD else ground
    return prefix + name if name else name


def own_names(kind: ScalarKind | VectorKind) -> frozenset[str]:
    """Return the names with a special meaning in formulas of a field, neither parameters nor other elements."""
    if isinstance(kind, FormulaKind):
        return frozenset((*TIME, *kind.own)) if kind.states else frozenset(TIME)
    return frozenset(TIME) if isinstance(kind, FormulaVectorKind) else frozenset()


def formula(value: Any, prefix: str, own: frozenset[str]) -> Any:
    """Return a number field's value with `prefix` before every name that is not the element's own."""
    return with_renamed_names(value, lambda name: name if name in own else prefix + name)


def with_renamed_names(value: Any, new: Callable[[str], str]) -> Any:
    """Return a number field's value with every name in its formula changed."""
    if not isinstance(value, str):
        return value
    node = parse(value)
    replacements = {name: Name(changed) for name in names(node) if (changed := new(name)) != name}
    return text_of(substitute(node, replacements)) if replacements else value
