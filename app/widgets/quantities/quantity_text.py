"""Conversion between numbers and text as users read and write them: with units, in the preferred unit, or as
formulas."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context
from typing import NamedTuple, Protocol

from core.errors import ExpressionError, KinetostatError
from core.model.fields import Value
from core.model.formula.expression import Binary, Call, Name, Negative, Node, Number, evaluate, names_in_formula, parse
from core.model.formula.numerals import readable_to_input
from core.model.units import DERIVED, SI, UNITS, DisplayUnit, display_unit, parse_compound_unit

WORDS = {
    "length": "a length",
    "angle": "an angle",
    "mass": "a mass",
    "time": "a time",
    "frequency": "a frequency",
    "force": "a force",
    "torque": "a torque",
    "energy": "an energy",
    "power": "a power",
    "angular_velocity": "an angular velocity",
    "velocity": "a velocity",
    "acceleration": "an acceleration",
    "angular_acceleration": "an angular acceleration",
    "inertia": "a moment of inertia",
    "density": "a density",
    "pitch": "a pitch",
    "gravitational_parameter": "a gravitational parameter",
    "none": "a plain number",
}
"""Names of physical dimensions for messages."""


class Units(Protocol):
    """Protocol of the user's choice of units (the window's settings)."""

    degrees: bool
    millimetres: bool


class SIUnits:
    """SI units and radians, used where there are no preferences."""

    degrees = False
    millimetres = False


class Measure(NamedTuple):
    """Physical dimension of a number: a dimension of `core.model.units.SI`, or just a unit symbol for a dimension
    without a name, such as N·m·s/rad."""

    dimension: str = "none"
    symbol: str = ""

    def display_unit(self, units: Units) -> DisplayUnit:
        """Return the displayed unit symbol and factor: shown value = SI value / factor."""
        if self.dimension == "none":
            return DisplayUnit(self.symbol, 1.0)
        return display_unit(self.dimension, degrees=units.degrees, millimetres=units.millimetres)


PLAIN = Measure()


def measure_of(dimension: str) -> Measure:
    """Return the measure for a dimension; a dimension without units is identified by its symbol."""
    return Measure("none", DERIVED[dimension]) if dimension in DERIVED else Measure(dimension)


STEPS = {"angle": 1.0, "length": 0.01, "mass": 0.1}
"""Step sizes for numbers that are zero, by dimension, in SI."""


# ------------------------------------------------------------------------------- writing


def format_number(value: float, measure: Measure, units: Units, digits: int = 8) -> str:
    """Format the number without its unit, in the preferred unit, e.g. 0.5 rad → "28.64789". Decimal digits are rounded
    half away from zero: 9.80665 to five digits is 9.8067, although the nearest float is slightly smaller."""
    shown = value / measure.display_unit(units).factor
    if math.isclose(shown, round(shown), rel_tol=1e-14) and abs(shown) < 1e9:
        return str(round(shown))
    rounded = float(Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(repr(float(shown))))
    return f"{rounded:.{digits}g}".replace("e-0", "e-").replace("e+0", "e+")


def append_unit(text: str, measure: Measure, units: Units) -> str:
    """Append the unit to a number's text: "30°", "0.5 m"."""
    symbol = measure.display_unit(units).symbol
    if not symbol:
        return text
    return f"{text}{symbol}" if symbol.startswith("°") else f"{text} {symbol}"


def format_quantity(value: float, measure: Measure, units: Units, digits: int = 8) -> str:
    """Format a number with its unit."""
    return append_unit(format_number(value, measure, units, digits), measure, units)


def default_step(value: float, measure: Measure, units: Units) -> float:
    """Return a sensible step size in SI: a degree, a centimetre, or a tenth of the number's decade."""
    factor = measure.display_unit(units).factor
    if measure.dimension == "angle":
        return factor if units.degrees else 0.01
    if measure.dimension == "length" and abs(value) >= 0.01:
        return 0.01
    magnitude = abs(value) or 10 * STEPS.get(measure.dimension, 0.1)
    return 10.0 ** (math.floor(math.log10(magnitude)) - 1)


# ------------------------------------------------------------------------------- reading


def read(text: str, measure: Measure, units: Units, values: Mapping[str, float], *, fold: bool = False) -> Value:
    """Convert typed text to a field's value: a float in SI, or the text of a formula in parameters.

    A bare number (or arithmetic of bare numbers) counts in the unit shown; with a unit behind it in that unit;
    a formula with names counts in SI. `fold` turns formulas of constants alone (pi/2) into numbers too.

    Raises ExpressionError with words for a person.
    """
    stripped = _replace_decimal_comma(readable_to_input(text.strip()))
    factor = measure.display_unit(units).factor
    for symbol, unit_factor in _unit_spellings(measure, units):
        head = stripped[: -len(symbol)].rstrip() if symbol and stripped.endswith(symbol) else ""
        if head and _is_arithmetic(head):
            stripped, factor = head, unit_factor
            break
    else:
        stripped, factor = _parse_compound_unit(stripped, measure, units, values) or (stripped, factor)
    stripped = stripped.replace("·", "*")
    node = parse(stripped)
    _check_unit(node, measure)
    result = _check_finite(evaluate(node, values), stripped)
    if names_in_formula(node):
        return stripped
    if _has_only_node_kinds(node, (Number, Negative, Binary)) and not _has_unit(node):
        return _check_finite(evaluate(node, {}) * factor, stripped)
    has_constant = any(isinstance(part, Name | Call) for part in _child_nodes(node))
    return stripped if has_constant and not fold else result


def _replace_decimal_comma(text: str) -> str:
    """Replace the decimal comma of a number such as 0,5 with a point; leave any other text unchanged."""
    head, comma, tail = text.partition(",")
    looks_decimal = comma and head.lstrip("+-").isdigit() and tail[:1].isdigit() and "," not in tail and "(" not in text
    return f"{head}.{tail}" if looks_decimal else text


def _unit_spellings(measure: Measure, units: Units) -> list[tuple[str, float]]:
    """Return the spellings of units allowed after a plain number of this measure, longest first, with their factors to
    SI."""
    found = {measure.symbol: 1.0} if measure.dimension == "none" else {SI.get(measure.dimension, ""): 1.0}
    shown = measure.display_unit(units)
    found[shown.symbol] = shown.factor
    for degrees in (True, False):
        for millimetres in (True, False):
            other = display_unit(measure.dimension, degrees=degrees, millimetres=millimetres)
            found[other.symbol] = other.factor
            if other.symbol.startswith("°"):
                found[other.symbol.replace("°", "deg")] = other.factor
    found.update((unit.symbol, unit.factor) for unit in UNITS.values() if unit.dimension == measure.dimension)
    plain = {symbol.replace("²", "^2").replace("³", "^3").replace("·", "*"): f for symbol, f in found.items()}
    return sorted((found | plain).items(), key=lambda item: -len(item[0]))


def _parse_compound_unit(
    text: str, measure: Measure, units: Units, values: Mapping[str, float]
) -> tuple[str, float] | None:
    """Return (number, factor to SI) of a number followed by any unit of the same dimension ("62 N/mm"); None if there
    is no unit, or one that formulas know themselves. Raises ExpressionError if the dimension differs."""
    wanted = measure.symbol if measure.dimension == "none" else SI.get(measure.dimension, "")
    goal = parse_compound_unit(wanted)
    if goal is None:
        return None
    for match in re.finditer(r"(?<=[\d.)\s])(?=[A-Za-zµ°])", text):
        head, unit = text[: match.start()].rstrip(), text[match.start() :]
        given = parse_compound_unit(unit)
        if given is None or not _is_arithmetic(head) or any(each in values for each in re.findall(r"\w+", unit)):
            continue
        if given.powers == goal.powers:
            return head, given.factor / goal.factor
        if unit in UNITS and measure.dimension != "none":
            return None  # formulas know it, and say what is wrong
        here = WORDS.get(measure.dimension, "") if measure.dimension != "none" else wanted
        some = _example_units(measure.dimension) if measure.dimension != "none" else wanted
        raise ExpressionError(f"'{unit}' has the wrong dimension: {here} is needed here.", remedy=f"Use {some}.")
    return None


def _is_arithmetic(text: str) -> bool:
    try:
        node = parse(text)
    except ExpressionError:
        return False
    return _has_only_node_kinds(node, (Number, Negative, Binary)) and not _has_unit(node)


def _child_nodes(node: Node) -> list[Node]:
    match node:
        case Negative(operand):
            return [node, *_child_nodes(operand)]
        case Binary(_, left, right):
            return [node, *_child_nodes(left), *_child_nodes(right)]
        case Call(_, arguments):
            return [node, *(part for argument in arguments for part in _child_nodes(argument))]
        case _:
            return [node]


def _has_only_node_kinds(node: Node, kinds: tuple[type, ...]) -> bool:
    return all(isinstance(part, kinds) for part in _child_nodes(node))


def _has_unit(node: Node) -> bool:
    return any(isinstance(part, Number) and part.unit for part in _child_nodes(node))


def _check_unit(node: Node, measure: Measure) -> None:
    """Raise ExpressionError if the unit of a single number does not have the field's dimension."""
    inner = node.operand if isinstance(node, Negative) else node
    if not isinstance(inner, Number) or not inner.unit or measure.dimension == "none":
        return
    found = UNITS[inner.unit].dimension
    if found != measure.dimension:
        here = WORDS.get(measure.dimension, measure.dimension)
        raise ExpressionError(
            f"'{inner.unit}' is a unit for {WORDS.get(found, found)}; {here} is expected here.",
            remedy=f"Use {_example_units(measure.dimension)}.",
        )


def _example_units(dimension: str) -> str:
    known = [unit.symbol for unit in UNITS.values() if unit.dimension == dimension][:3]
    return " or ".join(known) if known else SI.get(dimension, "a plain number")


def _check_finite(value: float, text: str) -> float:
    if isinstance(value, complex) or not math.isfinite(value):
        raise ExpressionError(f"'{text}' has no finite value.", remedy="Change the formula.")
    return float(value)


def evaluate_value(value: Value | None, values: Mapping[str, float]) -> float | None:
    """Evaluate a field's value to an SI number; None if it is empty or cannot be evaluated."""
    if value is None or isinstance(value, float | int):
        return value
    try:
        return float(evaluate(parse(value), values))
    except (KinetostatError, TypeError):
        return None
