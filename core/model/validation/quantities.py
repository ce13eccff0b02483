"""Quantities that elements of the document ask for by name, and that nothing in the machine has."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import near_misses
from core.model.fields import SignalKind, fields_of, nested_elements
from core.model.model import QUESTIONS, Model
from core.model.signal_texts import Owners, unknown_names
from core.model.validation.findings import Finding


def unknown_quantities(model: Model) -> Iterator[Finding]:
    """Names in texts of quantities that no element has: it was deleted, or the name is misspelled."""
    if not any(getattr(model, collection) for collection in QUESTIONS):
        return
    owners, plain = Owners(model), model.expanded
    spaces = ("parameter", "joint", "frame", "sensor", "force")
    known = [name for space in spaces for name in plain.index(space)]
    for collection, element in model.elements():
        for inner in nested_elements(element):
            for field in fields_of(type(inner)):
                if not isinstance(field.kind, SignalKind):
                    continue
                text = getattr(inner, field.name)
                for name in unknown_names(text, owners):
                    head = name.partition(".")[0]
                    words = f"Nothing is called '{head}'" + (f" (in '{text[:80]}')." if head != text else ".")
                    yield Finding("warning", words, near_misses(head, known), collection, element.name, field.name)
