"""Formulas that are no polynomials (a root, a quotient by a symbol) get a symbol of their own."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from core.model import Model, Parameter
from core.model.expression import Binary, Call, Name, Negative, Node, Number, names, parse
from core.model.fields import FormulaKind, FormulaVectorKind, ScalarKind, VectorKind, fields_of, mapped, nested_elements


def is_polynomial(node: Node) -> bool:
    """True if the formula is one in its names, and in sines and cosines of whole sums of them."""
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
    """The model with a parameter in place of every formula of a field that is no polynomial, and the names of all
    parameters, new and old, that are to be symbols although they follow from others."""
    own = [p.name for p in model.parameters if isinstance(p.value, str) and not is_polynomial(parse(p.value))]
    taken = {p.name for p in model.parameters}
    made: dict[str, Parameter] = {}

    def named(text: Any, stem: str) -> Any:
        if not isinstance(text, str) or is_polynomial(parse(text)):
            return text
        if text not in made:
            name = re.sub(r"\W", "_", stem)
            while name in taken:
                name += "_"
            taken.add(name)
            made[text] = Parameter(name=name, value=text)
        return made[text].name

    def change(element: Any) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if isinstance(element, Parameter):
            return changes
        for field in fields_of(type(element)):
            old = getattr(element, field.name)
            if isinstance(field.kind, FormulaKind | FormulaVectorKind):
                continue
            stem = f"{getattr(element, 'name', '') or 'k'}_{field.name}"
            if isinstance(field.kind, ScalarKind):
                new = named(old, stem)
            elif isinstance(field.kind, VectorKind):
                new = tuple(named(item, stem) for item in old)
            else:
                continue
            if new != old:
                changes[field.name] = new
        return changes

    if not any(_has_other(element) for _, element in model.elements()):
        return model, tuple(own)
    # names first, so that the model with them is valid while its fields change
    mapped(model, lambda element: change(element) and {})
    changed = mapped(dataclasses.replace(model, parameters=(*model.parameters, *made.values())), change)
    return changed, (*own, *(parameter.name for parameter in made.values()))


def _has_other(element: Any) -> bool:
    """True if a formula of an element (not of a parameter) is no polynomial."""
    if isinstance(element, Parameter):
        return False
    for part in nested_elements(element):
        for field in fields_of(type(part)):
            if isinstance(field.kind, FormulaKind | FormulaVectorKind) or not isinstance(
                field.kind, ScalarKind | VectorKind
            ):
                continue
            value = getattr(part, field.name)
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, str) and not is_polynomial(parse(item)):
                    return True
    return False


def angles_in_formulas(model: Model) -> set[str]:
    """Names inside sines and cosines of parameters' formulas."""
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
