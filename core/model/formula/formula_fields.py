"""Formulas in the number fields of elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from core.model.fields import Element, Field, ScalarKind, VectorKind, fields_of


class FormulaIn(NamedTuple):
    """A formula of an element: the field and its kind, the index of the number in the field (from 0), and the text."""

    field: Field
    kind: ScalarKind | VectorKind
    number: int
    text: str


def formulas_in(element: Element) -> Iterator[FormulaIn]:
    """Yield all formulas of an element (without nested elements)."""
    for field in fields_of(type(element)):
        if isinstance(field.kind, ScalarKind | VectorKind):
            value = getattr(element, field.name)
            for index, item in enumerate(value if isinstance(value, tuple) else (value,)):
                if isinstance(item, str):
                    yield FormulaIn(field, field.kind, index, item)
