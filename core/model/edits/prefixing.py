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
    declared_fields,
    map_elements,
)
from core.model.formula.expression import Name, format_formula, names_in_formula, parse, substitute
from core.model.signals import TIME

AnyElement = TypeVar("AnyElement", bound=Element)

GROUND_IF_EMPTY = ("a", "resolve")
"""References that mean the ground when empty; in a sub-assembly they are replaced by its own ground."""


def add_prefix(element: AnyElement, prefix: str, ground: str) -> AnyElement:
    """Return the element with `prefix` before its own name and before every name it refers to; its references to the
    world become `ground`."""
    return map_elements(element, lambda part: _prefix_fields(part, prefix, ground))


def _prefix_fields(element: Element, prefix: str, ground: str) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for field in declared_fields(type(element)):
        old = getattr(element, field.name)
        new = old
        match field.kind:
            case NameKind():
                new = prefix + old
            case ReferenceKind():
                new = _prefix_reference(old, prefix, ground, empty_is_ground=field.name in GROUND_IF_EMPTY)
            case ScalarKind():
                new = prefix_formula(old, prefix, special_names(field.kind))
            case VectorKind():
                new = tuple(prefix_formula(item, prefix, special_names(field.kind)) for item in old)
        if new != old:
            changes[field.name] = new
    return changes


def _prefix_reference(name: str, prefix: str, ground: str, *, empty_is_ground: bool) -> str:
    if name == WORLD or (not name and empty_is_ground):
        return name if ground == WORLD else ground
    return prefix + name if name else name


def special_names(kind: ScalarKind | VectorKind) -> frozenset[str]:
    """Return the names that have a special meaning in formulas of a field (neither parameters nor other elements)."""
    if isinstance(kind, FormulaKind):
        return frozenset((*TIME, *kind.own)) if kind.states else frozenset(TIME)
    return frozenset(TIME) if isinstance(kind, FormulaVectorKind) else frozenset()


def prefix_formula(value: Any, prefix: str, special_names: frozenset[str]) -> Any:
    """Return a number field's value with `prefix` before every name in it, except the element's special names."""
    return rename_in_formula(value, lambda name: name if name in special_names else prefix + name)


def rename_in_formula(value: Any, new_name: Callable[[str], str]) -> Any:
    """Return a number field's value with every name in its formula changed."""
    if not isinstance(value, str):
        return value
    node = parse(value)
    replacements = {name: Name(changed) for name in names_in_formula(node) if (changed := new_name(name)) != name}
    return format_formula(substitute(node, replacements)) if replacements else value
