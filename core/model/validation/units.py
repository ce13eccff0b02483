"""Formulas with wrong units: "30 mm" where a mass is wanted.

The dimension of a formula is inferred only where it is certain: a number with a unit, sums, multiples and choices of
such.
Names have no unit of their own in a formula, so whatever holds them is taken to fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.model.dimensions import dimension_of as declared
from core.model.dimensions import nested_with_owners
from core.model.fields import VectorKind
from core.model.formula.expression import Binary, Call, Negative, Node, Number, names, parse
from core.model.formula.formula_fields import formulas_in
from core.model.formula.nodes import COMPARISONS
from core.model.model import Model
from core.model.units.units import SI, UNITS
from core.model.validation.findings import Finding

_JUDGED = frozenset(unit.dimension for unit in UNITS.values())
"""Dimensions with units of their own, for which a unit can be wrong (a pitch may be given in mm)."""


def wrong_units(model: Model) -> Iterator[Finding]:
    """Yield findings for fields with a formula of the wrong dimension."""
    for collection, element in [*model.elements(), ("world", model.world)]:
        name = getattr(element, "name", "")
        for owners, which in nested_with_owners(element):
            for field, kind, index, text in formulas_in(owners[-1]):
                wanted = declared(model, owners, field, index if isinstance(kind, VectorKind) else which)
                if (said := wrong_dimension(text, wanted)) is not None:
                    yield Finding("warning", *said, collection, name, field.name)


def wrong_dimension(text: str, wanted: str) -> tuple[str, str] | None:
    """Return (problem, remedy) for a formula that does not have the wanted dimension; None if it does or may."""
    node = parse(text)
    if (pair := mixed_dimensions(node)) is not None:
        one, other = pair
        return f"'{text}' combines {_with_article(one)} and {_with_article(other)}.", "Give both in units of one kind."
    given = dimension_of(node)
    if given in (None, wanted) or wanted not in _JUDGED:
        return None
    return (
        f"'{text}' is {_with_article(str(given))}; {_with_article(wanted)} is required here.",
        f"Give it in {_unit_list(wanted)}.",
    )


def dimension_of(node: Node) -> str | None:
    """Return the dimension of a formula, None if it is not certain."""
    match node:
        case Number(_, unit):
            return UNITS[unit].dimension if unit else None
        case Negative(operand):
            return dimension_of(operand)
        case Binary("+" | "-", left, right):
            return dimension_of(left) or dimension_of(right)
        case Call("if", (_, one, other)) | Call("min" | "max", (one, other)):
            return dimension_of(one) or dimension_of(other)
        case Call("abs", (operand,)):
            return dimension_of(operand)
        case Binary("*", left, right) if _is_plain(left):
            return dimension_of(right)
        case Binary("*" | "/", left, right) if _is_plain(right):
            return dimension_of(left)
        case _:
            return None


def mixed_dimensions(node: Node) -> tuple[str, str] | None:
    """Return (problem, remedy) if a formula adds, compares or chooses between values of different dimensions; None
    otherwise."""
    pairs: tuple[tuple[Node, Node], ...] = ()
    inner: tuple[Node, ...]
    match node:
        case Negative(operand):
            return mixed_dimensions(operand)
        case Binary(operator, left, right):
            pairs, inner = ((left, right),) if operator in ("+", "-", *COMPARISONS) else (), (left, right)
        case Call(function, arguments):
            inner = arguments
            pairs = ((arguments[-2], arguments[-1]),) if function in ("if", "min", "max") else ()
        case _:
            return None
    for one, other in pairs:
        both = dimension_of(one), dimension_of(other)
        if None not in both and both[0] != both[1]:
            return str(both[0]), str(both[1])
    return next(filter(None, map(mixed_dimensions, inner)), None)


def _is_plain(node: Node) -> bool:
    """Return True for a number without names and units."""
    match node:
        case Number(_, unit):
            return not unit
        case Negative(operand):
            return _is_plain(operand)
        case Binary(_, left, right):
            return _is_plain(left) and _is_plain(right)
        case _:
            return not names(node)


def _with_article(dimension: str) -> str:
    word = dimension.replace("_", " ")
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _unit_list(dimension: str) -> str:
    symbols = list(dict.fromkeys([SI[dimension], *(u.symbol for u in UNITS.values() if u.dimension == dimension)]))
    return ", ".join(symbols)
