"""Replacement of formulas that are not polynomials (a root, a quotient by a symbol) by symbols of their own."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.model import Model, Parameter
from core.model.fields import (
    Element,
    FormulaKind,
    FormulaVectorKind,
    mapped,
    nested_elements,
)
from core.model.formula.expression import Binary, Call, Name, Negative, Node, Number, names, parse
from core.model.formula.formula_fields import formulas_in


def is_polynomial(node: Node) -> bool:
    """Return True if the formula is a polynomial in its names and in sines and cosines of integer combinations of
    them."""
    if isinstance(node, Number | Name):
        return True
    if isinstance(node, Negative):
        return is_polynomial(node.operand)
    if isinstance(node, Call):
        return not names(node) or (node.function in ("sin", "cos") and _is_whole_sum(node.arguments[0]))
    if node.operator == "^":
        exponent = node.right.value if isinstance(node.right, Number) and not node.right.unit else -1.0
        return not names(node) or (is_polynomial(node.left) and exponent >= 0 and exponent == int(exponent))
    if node.operator == "/":
        return is_polynomial(node.left) and not names(node.right)
    if node.operator not in "+-*":
        return not names(node)
    return is_polynomial(node.left) and is_polynomial(node.right)


def _is_whole_sum(node: Node) -> bool:
    if isinstance(node, Negative):
        return _is_whole_sum(node.operand)
    if isinstance(node, Binary) and node.operator in "+-":
        return _is_whole_sum(node.left) and _is_whole_sum(node.right)
    if isinstance(node, Binary) and node.operator == "*":
        number, other = (node.left, node.right) if isinstance(node.left, Number) else (node.right, node.left)
        whole = isinstance(number, Number) and number.value == int(number.value)
        return isinstance(other, Name) and whole
    return isinstance(node, Name) or not names(node)


def with_own_symbols(model: Model) -> tuple[Model, tuple[str, ...]]:
    """Return the model with a parameter in place of every field formula that is not a polynomial, and the names of all
    parameters, new and old, that stay symbols although they depend on others."""
    own = [
        p.name
        for p in model.parameters
        if isinstance(p.value, str) and not p.independent and not is_polynomial(parse(p.value))
    ]
    taken = {p.name for p in model.parameters}
    made: dict[str, Parameter] = {}
    for _, element in model.elements():
        for part in () if isinstance(element, Parameter) else nested_elements(element):
            for field, text in _formulas(part):
                if text not in made and not is_polynomial(parse(text)):
                    name = re.sub(r"\W", "_", f"{getattr(part, 'name', '') or 'k'}_{field}")
                    while name in taken:
                        name += "_"
                    taken.add(name)
                    made[text] = Parameter(name=name, value=text)
    if not made:
        return model, tuple(own)
    names_of = {text: parameter.name for text, parameter in made.items()}

    def change(element: Any) -> dict[str, Any]:
        if isinstance(element, Parameter):
            return {}
        fields = dict.fromkeys(field for field, text in _formulas(element) if text in names_of)
        return {field: _with_new_names(getattr(element, field), names_of) for field in fields}

    # the names come first, so that the model is valid while its fields change
    named = dataclasses.replace(model, parameters=(*model.parameters, *made.values()))
    return mapped(named, change), (*own, *names_of.values())


def _formulas(element: Element) -> Iterator[tuple[str, str]]:
    """Yield (field, text) of the formulas in an element's own fields, except formulas of time and state."""
    for field, kind, _, text in formulas_in(element):
        if not isinstance(kind, FormulaKind | FormulaVectorKind):
            yield field.name, text


def _with_new_names(value: Any, names_of: Mapping[str, str]) -> Any:
    if isinstance(value, tuple):
        return tuple(names_of.get(x, x) for x in value)
    return names_of.get(value, value)


def angles_in_formulas(model: Model) -> set[str]:
    """Return the names inside sines and cosines in the formulas of parameters."""
    found: set[str] = set()
    for parameter in model.parameters:
        if isinstance(parameter.value, str):
            found |= _angles(parse(parameter.value))
    return found


def _angles(node: Node) -> set[str]:
    if isinstance(node, Call):
        return set().union(*map(names, node.arguments)) if node.function in ("sin", "cos") else set()
    if isinstance(node, Binary):
        return _angles(node.left) | _angles(node.right)
    return _angles(node.operand) if isinstance(node, Negative) else set()
