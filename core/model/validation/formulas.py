"""Findings about formulas, parameters and quantities: no finite value, out of range, assumed, unused, unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from core.errors import KinetostatError, near_misses
from core.model.fields import Element, SignalKind, fields_of, nested_elements
from core.model.formula.expression import names, parse
from core.model.formula.formula_fields import formulas_in
from core.model.model import QUESTIONS, Model
from core.model.parameters import value_of
from core.model.signal_texts import Owners, unknown_names
from core.model.units.units import amount
from core.model.validation.findings import Finding, Severity


def bad_formulas(model: Model) -> Iterator[Finding]:
    """Yield findings for formulas without a finite value at the current parameters."""
    values = model.values()
    for collection, element in [*model.elements(), ("world", model.world)]:
        yield from formulas_without_value(values, collection, element)


def formulas_without_value(values: Mapping[str, float], collection: str, element: Element) -> Iterator[Finding]:
    """Yield findings for formulas of an element without a finite value at these parameters."""
    for inner in nested_elements(element):
        for field, _, _, text in formulas_in(inner):
            known = names(parse(text)) <= values.keys()  # not time, not states
            if known and not np.isfinite(number_or_nan(text, values)):
                owner = getattr(element, "name", "")
                what, remedy = f"'{text}' has no finite value.", "Change it or its parameters."
                yield Finding("error", what, remedy, collection, owner, field.name)


def number_or_nan(value: Any, values: Mapping[str, float]) -> float:
    """Return a number field's value; NaN if the formula has none, and for None."""
    if value is None:
        return np.nan
    try:
        return float(value_of(value, values))
    except (KinetostatError, TypeError, ValueError, OverflowError):
        return np.nan


def parameters(model: Model) -> Iterator[Finding]:
    """Yield findings for parameters out of range, with an assumed value, or unused."""
    values = model.values()
    used = _used_names(model)
    for parameter in model.parameters:

        def found(severity: Severity, text: str, remedy: str, field: str, name: str = parameter.name) -> Finding:
            return Finding(severity, text, remedy, "parameters", name, field)

        value = values[parameter.name]
        low, high = number_or_nan(parameter.minimum, values), number_or_nan(parameter.maximum, values)
        if low > high:
            bounds = f"from {amount(low, parameter.dimension)} down to {amount(high, parameter.dimension)}"
            yield found("warning", f"Its range runs {bounds}.", "Swap the bounds.", "minimum")
        elif value < low or value > high:
            yield found(
                "warning",
                f"Its value {amount(value, parameter.dimension)} lies outside its range "
                f"{range_text(low, high, parameter.dimension)}.",
                "Change the value or the range.",
                "value",
            )
        if parameter.assumed:
            yield found("hint", f"The file gives it no value; {value:g} is assumed.", "Give its value.", "value")
        if parameter.name not in used:
            yield found("hint", "It is not used.", "Use it in a formula or remove it.", "value")


def range_text(low: float, high: float, dimension: str = "none") -> str:
    """Return bounds as text; NaN for none."""
    first, last = ("∞" if np.isnan(bound) else amount(bound, dimension) for bound in (low, high))
    return f"{'−' if np.isnan(low) else ''}{first} … {last}"


def _used_names(model: Model) -> set[str]:
    texts = (found.text for inner in nested_elements(model) for found in formulas_in(inner))
    return {name for text in texts for name in names(parse(text))}


def unknown_quantities(model: Model) -> Iterator[Finding]:
    """Yield findings for names of quantities that belong to no element, deleted or misspelled."""
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
                text, own = getattr(inner, field.name), getattr(inner, "own_names", ())
                for name in (each for each in unknown_names(text, owners) if each not in own):
                    head = name.partition(".")[0]
                    words = f"The name '{head}' is not defined" + (f" (in '{text[:80]}')." if head != text else ".")
                    yield Finding("warning", words, near_misses(head, known), collection, element.name, field.name)
