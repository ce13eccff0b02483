"""Formulas in the number fields of elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from core.model.fields import Element, Field, ScalarKind, VectorKind, declared_fields


class FieldFormula(NamedTuple):
    """A formula of an element: the field and its kind, the index of the number in the field (from 0), and the text."""

    field: Field
    kind: ScalarKind | VectorKind
    number: int
    text: str


def iterate_formulas(element: Element) -> Iterator[FieldFormula]:
    """Yield all formulas of an element (without nested elements)."""
    for field in declared_fields(type(element)):
        if isinstance(field.kind, ScalarKind | VectorKind):
            value = getattr(element, field.name)
            for index, item in enumerate(value if isinstance(value, tuple) else (value,)):
                if isinstance(item, str):
                    yield FieldFormula(field, field.kind, index, item)
