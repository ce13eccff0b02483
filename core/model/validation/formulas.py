"""Findings about formulas, parameters and quantities: no finite value, out of range, assumed, unused, unknown; wrong
units ("30 mm" for a mass), and angles that were probably meant in degrees.

The dimension of a formula is inferred only where it is certain: a number with a unit, sums, multiples and choices of
such. Names have no unit of their own in a formula, so whatever holds them is taken to fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import degrees, pi
from typing import Any

import numpy as np

from core.errors import KinetostatError, suggest_names
from core.model.dimensions import dimension_of, nested_with_owners
from core.model.fields import Element, ScalarKind, SignalKind, VectorKind, declared_fields, nested_elements
from core.model.formula.expression import Binary, Call, Negative, Node, Number, names_in_formula, parse
from core.model.formula.formula_fields import list_formulas
from core.model.formula.formula_units import dimension_by_name
from core.model.formula.nodes import COMPARISONS
from core.model.model import QUESTIONS, Model
from core.model.parameters import evaluate_field
from core.model.signal_texts import NameOwners, unknown_names
from core.model.units import DERIVED, SI, UNITS, format_with_unit
from core.model.validation.findings import Finding, Severity


def check_formula_values(model: Model) -> Iterator[Finding]:
    """Yield findings for formulas without a finite value at the current parameters."""
    values = model.values()
    for collection, element in [*model.elements(), ("world", model.world)]:
        yield from check_element_formulas(values, collection, element)


def check_element_formulas(values: Mapping[str, float], collection: str, element: Element) -> Iterator[Finding]:
    """Yield findings for numbers of an element that are beyond all measure, and for formulas without a finite value at
    these parameters."""
    for inner in nested_elements(element):
        yield from _check_magnitudes(values, collection, element, inner)
        for field, _, _, text in list_formulas(inner):
            known = names_in_formula(parse(text)) <= values.keys()  # not time, not states
            if known and not np.isfinite(evaluate_or_nan(text, values)):
                owner = getattr(element, "name", "")
                what, remedy = f"'{text}' has no finite value.", "Change it or its parameters."
                yield Finding("error", what, remedy, collection, owner, field.name)


LARGEST = 1e60
"""Largest number that can be computed with: a moment of inertia has the fifth power of a length."""
_LIMIT_FIELDS = ("lower", "upper", "velocity", "effort")
"""Fields in which huge numbers mean "unlimited"."""
_number_fields: dict[type[Element], tuple[str, ...]] = {}


def _check_magnitudes(
    values: Mapping[str, float], collection: str, element: Element, inner: Element
) -> Iterator[Finding]:
    """Yield findings for numbers that are too large to be computed with. Bounds of limits may be (they are
    none), and directions, of which only the ratios matter."""
    names = _number_fields.get(type(inner))
    if names is None:
        kinds = ((field.name, field.kind) for field in declared_fields(type(inner)))
        names = tuple(
            name
            for name, kind in kinds
            if isinstance(kind, ScalarKind) or (isinstance(kind, VectorKind) and kind.dimension != "none")
        )
        _number_fields[type(inner)] = names
    for name in names:
        given = getattr(inner, name)
        for value in given if type(given) is tuple else (given,):
            number = value if type(value) is float else evaluate_or_nan(value, values) if type(value) is str else 0.0
            if LARGEST < abs(number) < np.inf and name not in _LIMIT_FIELDS:
                what, owner = f"The number {number:g} is too large to be computed with.", getattr(element, "name", "")
                yield Finding("error", what, "Check its unit and exponent.", collection, owner, name)


def evaluate_or_nan(value: Any, values: Mapping[str, float]) -> float:
    """Return a number field's value; NaN if the formula has none, and for None."""
    if value is None:
        return np.nan
    try:
        return float(evaluate_field(value, values))
    except (KinetostatError, TypeError, ValueError, OverflowError):
        return np.nan


def check_parameters(model: Model) -> Iterator[Finding]:
    """Yield findings for parameters out of range, with an assumed value, or unused."""
    values = model.values()
    used = _used_names(model)
    for parameter in model.parameters:

        def found(severity: Severity, text: str, remedy: str, field: str, name: str = parameter.name) -> Finding:
            return Finding(severity, text, remedy, "parameters", name, field)

        value = values[parameter.name]
        low, high = evaluate_or_nan(parameter.minimum, values), evaluate_or_nan(parameter.maximum, values)
        if low > high:
            bounds = (
                f"from {format_with_unit(low, parameter.dimension)} down to "
                f"{format_with_unit(high, parameter.dimension)}"
            )
            yield found("warning", f"Its range runs {bounds}.", "Swap the bounds.", "minimum")
        elif value < low or value > high:
            yield found(
                "warning",
                f"Its value {format_with_unit(value, parameter.dimension)} lies outside its range "
                f"{format_range(low, high, parameter.dimension)}.",
                "Change the value or the range.",
                "value",
            )
        if parameter.assumed:
            yield found("hint", f"The file gives it no value; {value:g} is assumed.", "Give its value.", "value")
        if parameter.name not in used:
            yield found("hint", "It is not used.", "Use it in a formula or remove it.", "value")


def format_range(low: float, high: float, dimension: str = "none") -> str:
    """Format bounds as text; NaN means no bound."""
    first, last = ("∞" if np.isnan(bound) else format_with_unit(bound, dimension) for bound in (low, high))
    return f"{'−' if np.isnan(low) else ''}{first} … {last}"


def _used_names(model: Model) -> set[str]:
    texts = (found.text for inner in nested_elements(model) for found in list_formulas(inner))
    return {name for text in texts for name in names_in_formula(parse(text))}


def check_quantity_names(model: Model) -> Iterator[Finding]:
    """Yield findings for names of quantities that belong to no element, deleted or misspelled."""
    if not any(getattr(model, collection) for collection in QUESTIONS):
        return
    owners, plain = NameOwners(model), model.expanded
    spaces = ("parameter", "joint", "frame", "sensor", "force")
    known = [name for space in spaces for name in plain.index(space)]
    for collection, element in model.elements():
        for inner in nested_elements(element):
            for field in declared_fields(type(inner)):
                if not isinstance(field.kind, SignalKind):
                    continue
                text, own = getattr(inner, field.name), getattr(inner, "own_names", ())
                for name in (each for each in unknown_names(text, owners) if each not in own):
                    head = name.partition(".")[0]
                    words = f"The name '{head}' is not defined" + (f" (in '{text[:80]}')." if head != text else ".")
                    yield Finding("warning", words, suggest_names(head, known), collection, element.name, field.name)


_JUDGED = frozenset(unit.dimension for unit in UNITS.values())
"""Dimensions with their own units, for which a wrong unit can be detected (a pitch may be given in mm)."""
_COMPARED = {**SI, **DERIVED}.keys() - _JUDGED - {"none"}
"""Further dimensions, for which a unit is wrong if its powers of kg, m and s are."""


_WITHOUT_UNIT = frozenset(
    ("restitution", "friction_coefficient", "static_friction_coefficient", "teeth", "turns", "weight", "count", "seed")
)
"""Fields of ratios and counts."""


def check_units(model: Model) -> Iterator[Finding]:
    """Yield findings for fields with a formula of the wrong dimension."""
    for collection, element in [*model.elements(), ("world", model.world)]:
        name = getattr(element, "name", "")
        for owners, which in nested_with_owners(element):
            for field, kind, index, text in list_formulas(owners[-1]):
                wanted = dimension_of(model, owners, field, index if isinstance(kind, VectorKind) else which)
                said = find_wrong_dimension(text, wanted)
                if said is None and field.name in _WITHOUT_UNIT and certain_formula_dimension(parse(text)):
                    said = f"'{text}' has a unit; a number without one is required here.", "Remove the unit."
                if said is not None:
                    yield Finding("warning", *said, collection, name, field.name)


def find_wrong_dimension(text: str, expected: str) -> tuple[str, str] | None:
    """Return (problem, remedy) for a formula that does not have the expected dimension; None if it has or may have
    it."""
    node = parse(text)
    if (pair := find_mixed_dimensions(node)) is not None:
        one, other = pair
        return (
            f"'{text}' combines {_dimension_with_article(one)} and {_dimension_with_article(other)}.",
            "Give both in units of one kind.",
        )
    given = certain_formula_dimension(node)
    if given in (None, expected) or not _is_judged(str(given), expected):
        return None
    return (
        f"'{text}' is {_dimension_with_article(str(given))}; {_dimension_with_article(expected)} is required here.",
        f"Give it in {_list_units(expected)}.",
    )


def _is_judged(given: str, expected: str) -> bool:
    """Return True if a unit of one dimension is certainly wrong for another one. Dimensions without units of their own
    (stiffness, damping) are compared by powers of kg, m and s, because angles are often left out."""
    if expected in _JUDGED:
        return True
    if expected not in _COMPARED:
        return False
    powers = dimension_by_name(given).powers, dimension_by_name(expected).powers
    return powers[0] is not None and powers[1] is not None and powers[0][:3] != powers[1][:3]


def certain_formula_dimension(node: Node) -> str | None:
    """Return the dimension of a formula; None if it cannot be determined with certainty."""
    match node:
        case Number(_, unit):
            return UNITS[unit].dimension if unit else None
        case Negative(operand):
            return certain_formula_dimension(operand)
        case Binary("+" | "-", left, right):
            return certain_formula_dimension(left) or certain_formula_dimension(right)
        case Call("if", (_, one, other)) | Call("min" | "max", (one, other)):
            return certain_formula_dimension(one) or certain_formula_dimension(other)
        case Call("abs", (operand,)):
            return certain_formula_dimension(operand)
        case Binary("*", left, right) if _is_plain_number(left):
            return certain_formula_dimension(right)
        case Binary("*" | "/", left, right) if _is_plain_number(right):
            return certain_formula_dimension(left)
        case _:
            return None


def find_mixed_dimensions(node: Node) -> tuple[str, str] | None:
    """Return (problem, remedy) if a formula adds, compares or selects between values of different dimensions; None
    otherwise."""
    pairs: tuple[tuple[Node, Node], ...] = ()
    inner: tuple[Node, ...]
    match node:
        case Negative(operand):
            return find_mixed_dimensions(operand)
        case Binary(operator, left, right):
            pairs, inner = ((left, right),) if operator in ("+", "-", *COMPARISONS) else (), (left, right)
        case Call(function, arguments):
            inner = arguments
            pairs = ((arguments[-2], arguments[-1]),) if function in ("if", "min", "max") else ()
        case _:
            return None
    for one, other in pairs:
        both = certain_formula_dimension(one), certain_formula_dimension(other)
        if None not in both and both[0] != both[1]:
            return str(both[0]), str(both[1])
    return next(filter(None, map(find_mixed_dimensions, inner)), None)


def _is_plain_number(node: Node) -> bool:
    """Return True for a number without names and units."""
    match node:
        case Number(_, unit):
            return not unit
        case Negative(operand):
            return _is_plain_number(operand)
        case Binary(_, left, right):
            return _is_plain_number(left) and _is_plain_number(right)
        case _:
            return not names_in_formula(node)


def _dimension_with_article(dimension: str) -> str:
    word = dimension.replace("_", " ")
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _list_units(dimension: str) -> str:
    symbols = list(
        dict.fromkeys(
            [SI.get(dimension) or DERIVED[dimension], *(u.symbol for u in UNITS.values() if u.dimension == dimension)]
        )
    )
    return ", ".join(symbols)


FEWEST, MOST = 4.0 * pi, 3600.0
"""rad; within two turns a number may well be in rad; far beyond ten turns in degrees it counts something else."""
ROUNDING = 1e-3
"""Relative tolerance for two turns that a file rounded."""


def find_angles_in_degrees(model: Model) -> Iterator[Finding]:
    """Yield a finding for each field with an angle that is implausible in rad."""
    for collection, element in [*model.elements(), ("world", model.world)]:
        for owners, which in nested_with_owners(element):
            for field, number in _plain_angles(model, owners, which):
                yield Finding(
                    "hint",
                    f"{number:g} is read in radians, as {degrees(number):.0f}°: it is likely meant in degrees.",
                    f'Write "{number:g} deg" if so.',
                    collection,
                    getattr(element, "name", ""),
                    field,
                )


def _plain_angles(model: Model, owners: tuple[Element, ...], part_index: int | None) -> Iterator[tuple[str, float]]:
    for field in declared_fields(type(owners[-1])):
        if not isinstance(field.kind, ScalarKind | VectorKind):
            continue
        value = getattr(owners[-1], field.name)
        several = isinstance(field.kind, VectorKind)
        for index, item in enumerate(value if several else (value,)):
            number = _plain_number_or_zero(item)
            if FEWEST * (1.0 + ROUNDING) < abs(number) <= MOST:
                index_in = index if several else part_index
                if dimension_of(model, owners, field, index_in) == "angle":
                    yield field.name, number
                    break


def _plain_number_or_zero(value: object) -> float:
    """Return a number given without a unit; 0 for anything else."""
    if isinstance(value, str):
        match parse(value):
            case Number(number, ""):
                return number
            case Negative(Number(number, "")):
                return -number
        return 0.0
    return value if isinstance(value, float) else 0.0
