"""Dimension of a formula, as powers of kg, m, s and rad, derived from the dimensions of its names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from core.errors import ExpressionError
from core.model.formula.expression import Binary, Call, Name, Negative, Node, Number, format_formula
from core.model.formula.nodes import COMPARISONS, CONSTANTS, LOGIC
from core.model.units import DERIVED, SI, UNITS, parse_compound_unit

Powers = tuple[Fraction, Fraction, Fraction, Fraction]
"""Exponents of kg, m, s and rad."""


class Dimension(NamedTuple):
    """Physical dimension. powers : exponents of kg, m, s, rad (None: unknown); name : key of `SI`, if any; literal : a
    bare number, which takes the dimension of the value it is compared with"""

    powers: Powers | None = None
    name: str = ""
    literal: bool = False

    @property
    def kind(self) -> str:
        """Return the name of a dimension of `SI` or `DERIVED` with these powers; "none" if there is none."""
        if self.powers is None or self.literal:
            return "none"
        if self.name:
            return self.name
        known = {**SI, **DERIVED}
        named = next((name for name in known if dimension_by_name(name).powers == self.powers), "")
        if not named and self.powers[0]:  # N·m·rad is J; rad² s⁻² is no angular acceleration
            without = (*self.powers[:3], Fraction(0))
            named = next((name for name in reversed(known) if dimension_by_name(name).powers == without), "")
        return named or "none"

    @property
    def unit(self) -> str:
        """Return the SI unit as text."""
        if self.powers is None or self.literal:
            return ""
        if (kind := self.kind) != "none":
            return SI.get(kind) or DERIVED.get(kind, "")
        symbols = zip(("kg", "m", "s", "rad"), self.powers, strict=True)
        parts = [symbol + (str(power).translate(_RAISED) if power != 1 else "") for symbol, power in symbols if power]
        return "·".join(parts)


_RAISED = str.maketrans("-/0123456789", "⁻ᐟ⁰¹²³⁴⁵⁶⁷⁸⁹")
UNKNOWN = Dimension()
LITERAL = Dimension((Fraction(0),) * 4, literal=True)
PURE = Dimension((Fraction(0),) * 4, "none")


def dimension_by_name(name: str) -> Dimension:
    """Return the dimension with this name in `SI`; "none" gives an unknown dimension."""
    symbol = SI.get(name) or DERIVED.get(name, "")
    found = parse_compound_unit(symbol) if symbol else None
    if name == "pitch":
        return Dimension(tuple(map(Fraction, (0, 1, 0, -1))), name)  # type: ignore[arg-type]
    return UNKNOWN if found is None else Dimension(tuple(map(Fraction, found.powers)), name)  # type: ignore[arg-type]


SAME = ("abs", "floor", "ceil", "mean", "rms", "span")
"""Functions of one argument whose result has the argument's dimension."""
ALIKE = ("min", "max")
"""Functions whose arguments must all have the same dimension."""
ANGLES = ("asin", "acos", "atan")
SIGNS = ("sign", "step", "not")


def formula_dimension(node: Node, dimension_of_name: Callable[[str], Dimension]) -> Dimension:
    """Return the dimension of a formula; `dimension_of_name` returns the dimensions of the names in it.

    Raises ExpressionError where parts do not fit each other. A radian is a pure number there.
    """
    match node:
        case Number(_, unit):
            return dimension_by_name(UNITS[unit].dimension) if unit else LITERAL
        case Name(name):
            return LITERAL if name in CONSTANTS else dimension_of_name(name)
        case Negative(operand):
            return formula_dimension(operand, dimension_of_name)
        case Binary(operator, left, right):
            return _binary_dimension(
                node, operator, formula_dimension(left, dimension_of_name), formula_dimension(right, dimension_of_name)
            )
        case Call(function, arguments):
            return _function_dimension(
                node, function, [formula_dimension(each, dimension_of_name) for each in arguments]
            )


def _binary_dimension(node: Binary, operator: str, a: Dimension, b: Dimension) -> Dimension:
    if operator in LOGIC:
        return PURE
    if operator in ("+", "-") or operator in COMPARISONS:
        both = _common_dimension(node, a, b)
        return PURE if operator in COMPARISONS else both
    if operator == "^":
        return _power_dimension(node, a)
    if a.literal and b.literal:
        return LITERAL
    if b.literal or (a.literal and operator == "*"):
        return a if b.literal else b
    if a.powers is None or b.powers is None:
        return UNKNOWN
    sign = 1 if operator == "*" else -1
    return Dimension(tuple(x + sign * y for x, y in zip(a.powers, b.powers, strict=True)))  # type: ignore[arg-type]


def _power_dimension(node: Binary, base: Dimension) -> Dimension:
    exponent = node.right.operand if isinstance(node.right, Negative) else node.right
    if base.literal or base.powers is None or not any(base.powers):
        return base
    if not isinstance(exponent, Number) or exponent.unit:
        return UNKNOWN
    power = Fraction(exponent.value).limit_denominator(64) * (-1 if isinstance(node.right, Negative) else 1)
    return Dimension(tuple(power * each for each in base.powers))  # type: ignore[arg-type]


def _function_dimension(node: Call, function: str, arguments: list[Dimension]) -> Dimension:
    if function in SAME or (function in ALIKE and len(arguments) == 1):
        return arguments[0]
    if function in ALIKE:
        return _common_dimension(node, *arguments)
    if function == "if":
        return _common_dimension(node, *arguments[1:])
    if function == "at":
        _check_argument_dimension(node, 1, arguments[1], dimension_by_name("time"))
        return arguments[0]
    if function == "integral":
        pure = arguments[0]._replace(literal=False)
        return _binary_dimension(Binary("*", node, node), "*", pure, dimension_by_name("time"))
    if function == "sqrt":
        return _power_dimension(Binary("^", node.arguments[0], Number(0.5)), arguments[0])
    if function == "atan2":
        _common_dimension(node, *arguments)
        return dimension_by_name("angle")
    if function in SIGNS:
        return PURE
    _check_argument_dimension(node, 0, arguments[0], PURE)
    return dimension_by_name("angle") if function in ANGLES else PURE


def is_compatible(a: Dimension, b: Dimension) -> bool:
    """Return True if two dimensions can be added; a radian counts as dimensionless."""
    return a.literal or b.literal or a.powers is None or b.powers is None or a.powers[:3] == b.powers[:3]


def _common_dimension(node: Node, a: Dimension, b: Dimension) -> Dimension:
    if not is_compatible(a, b):
        raise ExpressionError(
            f"In '{format_formula(node)}' {_describe_dimension(a)} is combined with {_describe_dimension(b)}.",
            where="units",
            remedy="Add and compare only values of the same dimension; divide by a value to make both pure numbers.",
        )
    if a.literal or a.powers is None:
        return b if not b.literal else a
    return a


def _check_argument_dimension(node: Call, index: int, actual: Dimension, expected: Dimension) -> None:
    if not is_compatible(actual, expected):
        raise ExpressionError(
            f"'{format_formula(node.arguments[index])}' in '{format_formula(node)}' is "
            f"{_describe_dimension(actual)}, where "
            f"{_describe_dimension(expected)} is "
            "expected.",
            where="units",
            remedy="Divide by a value of the same unit.",
        )


def _describe_dimension(dimension: Dimension) -> str:
    words = dimension.name.replace("_", " ") if dimension.name not in ("", "none") else ""
    return f"{words or 'a quantity'} ({dimension.unit})" if dimension.unit else "a pure number"


def numbers_without_unit(
    node: Node, dimension_of_name: Callable[[str], Dimension]
) -> Iterator[tuple[Number, Dimension]]:
    """Yield the numbers without a unit that a formula adds to or compares with a quantity, each with the quantity's
    dimension: 180 in "180 - elbow.q". Zero is omitted, since it is the same in every unit."""
    match node:
        case Negative(operand):
            yield from numbers_without_unit(operand, dimension_of_name)
        case Binary(operator, left, right):
            if operator in ("+", "-") or operator in COMPARISONS:
                yield from _numbers_without_unit_in((left, right), dimension_of_name)
            yield from numbers_without_unit(left, dimension_of_name)
            yield from numbers_without_unit(right, dimension_of_name)
        case Call(function, arguments):
            if function in ALIKE or function == "if":
                yield from _numbers_without_unit_in(arguments[-2:], dimension_of_name)
            for each in arguments:
                yield from numbers_without_unit(each, dimension_of_name)


def _numbers_without_unit_in(
    operands: tuple[Node, ...], dimension_of_name: Callable[[str], Dimension]
) -> Iterator[tuple[Number, Dimension]]:
    measured = [formula_dimension(side, dimension_of_name) for side in operands]
    for side, other in zip(operands, reversed(measured), strict=True):
        plain = side.operand if isinstance(side, Negative) else side
        if isinstance(plain, Number) and not plain.unit and plain.value and other.powers and any(other.powers):
            yield plain, other
