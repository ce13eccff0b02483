"""Formulas in the number fields of elements."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from core.model.fields import Element, Field, ScalarKind, VectorKind, declared_fields


class FieldFormula(NamedTuple):
    """A formula of an element: the field and its kind, the index of the number in the field (from 0), and the text."""

    field: Field
    kind: ScalarKind | VectorKind
    number: int
    text: str


@cache
def _number_fields(cls: type[Element]) -> list[tuple[str, Field, ScalarKind | VectorKind]]:
    """Return the fields of a class that hold numbers: name, field and kind."""
    return [(f.name, f, f.kind) for f in declared_fields(cls) if isinstance(f.kind, ScalarKind | VectorKind)]


def list_formulas(element: Element) -> list[FieldFormula]:
    """Return all formulas of an element (without nested elements)."""
    found = []
    for name, field, kind in _number_fields(type(element)):
        value = getattr(element, name)
        if isinstance(value, str):
            found.append(FieldFormula(field, kind, 0, value))
        elif isinstance(value, tuple) and str in map(type, value):
            found += [FieldFormula(field, kind, k, each) for k, each in enumerate(value) if isinstance(each, str)]
    return found
