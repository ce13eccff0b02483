"""Random formulas together with what they mean: value and slope by arithmetic of their own, not by the program's."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

OR, AND, NOT, COMPARE, SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4, 5, 6, 8, 9
"""How tightly a formula binds, as docs/notation.md and Python say."""


@dataclass(frozen=True)
class Dual:
    """A value, its slope by x, and the largest magnitude met on the way to them."""

    value: float
    slope: float = 0.0
    size: float = 1.0


Meaning = Callable[[Mapping[str, float]], Dual]


@dataclass(frozen=True)
class Formula:
    """A text, how tightly it binds, and what it means."""

    text: str
    level: int
    meaning: Meaning

    def within(self, luck: random.Random, level: int) -> str:
        """The text as part of another; parentheses where they are needed, and sometimes where they are not."""
        return f"({self.text})" if self.level < level or luck.random() < 0.1 else self.text


def dual(value: float, slope: float, *parts: Dual) -> Dual:
    """A result of parts."""
    size = max(1.0, abs(value), abs(slope), *(part.size for part in parts)) if parts else max(1.0, abs(value))
    return Dual(value, slope, size)


# ------------------------------------------------------------------------------------------- operators


def add(a: Dual, b: Dual) -> Dual:
    return dual(a.value + b.value, a.slope + b.slope, a, b)


def subtract(a: Dual, b: Dual) -> Dual:
    return dual(a.value - b.value, a.slope - b.slope, a, b)


def multiply(a: Dual, b: Dual) -> Dual:
    return dual(a.value * b.value, a.slope * b.value + a.value * b.slope, a, b)


def divide(a: Dual, b: Dual) -> Dual:
    value = a.value / b.value
    return dual(value, (a.slope - value * b.slope) / b.value, a, b, Dual(0.0, 0.0, 1.0 / min(abs(b.value), 1.0)))


def power(a: Dual, b: Dual) -> Dual:
    value = math.pow(a.value, b.value)
    if a.value <= 0.0:  # slopes there are another matter
        return Dual(value, math.nan, math.inf)
    slope = value * (b.slope * math.log(a.value) + b.value * a.slope / a.value)
    return dual(value, slope, a, b, Dual(0.0, 0.0, 1.0 / min(a.value, 1.0)))


OPERATORS: dict[str, tuple[int, Callable[[Dual, Dual], Dual]]] = {
    "+": (SUM, add),
    "-": (SUM, subtract),
    "*": (PRODUCT, multiply),
    "/": (PRODUCT, divide),
    "^": (POWER, power),
}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}

# ------------------------------------------------------------------------------------------- functions


def _root(x: float) -> tuple[float, float]:
    return math.sqrt(x), 0.5 / math.sqrt(x) if x else math.inf


def _logarithm(x: float) -> tuple[float, float]:
    return math.log(x), 1.0 / x


def _arc(function: Callable[[float], float], sign: float) -> Callable[[float], tuple[float, float]]:
    def both(x: float) -> tuple[float, float]:
        rest = 1.0 - x * x
        return function(x), sign / math.sqrt(rest) if rest > 0.0 else math.inf

    return both


FUNCTIONS: dict[str, Callable[[float], tuple[float, float]]] = {
    "sin": lambda x: (math.sin(x), math.cos(x)),
    "cos": lambda x: (math.cos(x), -math.sin(x)),
    "tan": lambda x: (math.tan(x), 1.0 + math.tan(x) ** 2),
    "asin": _arc(math.asin, 1.0),
    "acos": _arc(math.acos, -1.0),
    "atan": lambda x: (math.atan(x), 1.0 / (1.0 + x * x)),
    "sinh": lambda x: (math.sinh(x), math.cosh(x)),
    "cosh": lambda x: (math.cosh(x), math.sinh(x)),
    "tanh": lambda x: (math.tanh(x), 1.0 - math.tanh(x) ** 2),
    "sqrt": _root,
    "exp": lambda x: (math.exp(x), math.exp(x)),
    "log": _logarithm,
    "abs": lambda x: (abs(x), math.copysign(1.0, x)),
    "sign": lambda x: (float((x > 0.0) - (x < 0.0)), 0.0),
    "floor": lambda x: (math.copysign(math.floor(x), x), 0.0),
    "ceil": lambda x: (math.copysign(math.ceil(x), x), 0.0),
    "step": lambda x: (float(x >= 0.0), 0.0),
}
"""Name → value and slope at an argument."""
UNITS = {"deg": math.pi / 180.0, "mm": 1e-3, "cm": 1e-2, "s": 1.0, "kg": 1.0, "m": 1.0}
NAMES = ("x", "y", "l1", "q_2", "arm.q", "ä")
CONSTANTS = {"pi": math.pi, "tau": 2.0 * math.pi, "e": math.e}


# ------------------------------------------------------------------------------------------- makers


def formula(luck: random.Random, depth: int = 5) -> Formula:
    """A random formula."""
    if depth <= 0 or luck.random() < 0.12:
        return leaf(luck)
    return luck.choices((binary, call, negative, choice, condition, pair), (10, 5, 2, 1, 1, 1))[0](luck, depth)


def leaf(luck: random.Random) -> Formula:
    """A number, a number with a unit, a name, a constant."""
    match luck.randrange(6):
        case 0 | 1:
            name = luck.choice(NAMES)
            return Formula(name, ATOM, lambda given: Dual(given[name], float(name == "x")))
        case 2:
            name = luck.choice(list(CONSTANTS))
            return Formula(name, ATOM, lambda given: Dual(CONSTANTS[name]))
        case 3:
            value, unit = round(luck.uniform(0, 100), 2), luck.choice(list(UNITS))
            return Formula(f"{value!r} {unit}", PRODUCT + 1, lambda given: Dual(value * UNITS[unit]))
        case _:
            value = luck.choice((float(luck.randint(0, 12)), round(luck.uniform(0, 10), 3), luck.lognormvariate(0, 5)))
            return Formula(repr(value), ATOM, lambda given: Dual(value, 0.0, max(1.0, value)))


def binary(luck: random.Random, depth: int) -> Formula:
    """One operator between two formulas; a power binds to the right, all others to the left."""
    operator = luck.choice("++--**//^")
    level, law = OPERATORS[operator]
    a, b = formula(luck, depth - 1), formula(luck, depth - 1)
    left, right = (level + 1, level) if operator == "^" else (level, level + 1)
    sign = luck.choice((operator, f" {operator} ", f"{operator} "))
    if operator == "^" and luck.random() < 0.3:
        sign = "**"
    text = a.within(luck, left) + sign + b.within(luck, right)
    return Formula(text, level, lambda given: law(a.meaning(given), b.meaning(given)))


def negative(luck: random.Random, depth: int) -> Formula:
    """A sign."""
    a = formula(luck, depth - 1)
    return Formula(f"-{a.within(luck, POWER)}", SUM, lambda given: multiply(Dual(-1.0), a.meaning(given)))


def call(luck: random.Random, depth: int) -> Formula:
    """A function of one formula."""
    name = luck.choice(list(FUNCTIONS))
    a = formula(luck, depth - 1)

    def meaning(given: Mapping[str, float]) -> Dual:
        inner = a.meaning(given)
        value, slope = FUNCTIONS[name](inner.value)
        return dual(value, slope * inner.slope if inner.slope else 0.0, inner, Dual(0.0, 0.0, abs(slope)))

    return Formula(f"{name}({a.text})", ATOM, meaning)


def pair(luck: random.Random, depth: int) -> Formula:
    """A function of two formulas."""
    name = luck.choice(("min", "max", "atan2"))
    a, b = formula(luck, depth - 1), formula(luck, depth - 1)

    def meaning(given: Mapping[str, float]) -> Dual:
        one, two = a.meaning(given), b.meaning(given)
        if name == "atan2":
            square = one.value * one.value + two.value * two.value  # ** would raise beyond all numbers
            rise = two.value * one.slope - one.value * two.slope
            steep = Dual(0.0, 0.0, 1.0 / square if square else math.inf)
            return dual(math.atan2(one.value, two.value), rise / square if square else math.nan, one, two, steep)
        chosen = (min if name == "min" else max)((one, two), key=lambda each: each.value)
        slope = chosen.slope if one.value != two.value else math.nan
        return dual((min if name == "min" else max)(one.value, two.value), slope, one, two)

    return Formula(f"{name}({a.text}, {b.text})", ATOM, meaning)


def condition(luck: random.Random, depth: int) -> Formula:
    """A comparison, or two of them together."""
    match luck.randrange(4):
        case 0:
            a, b, word = formula(luck, depth - 1), formula(luck, depth - 1), luck.choice(("and", "or"))
            level = AND if word == "and" else OR
            text = f"{a.within(luck, level)} {word} {b.within(luck, level + 1)}"

            def both(given: Mapping[str, float]) -> Dual:
                one, two = a.meaning(given), b.meaning(given)
                truths = bool(one.value), bool(two.value)
                return dual(float(all(truths) if word == "and" else any(truths)), 0.0, one, two)

            return Formula(text, level, both)
        case 1:
            c = formula(luck, depth - 1)
            return Formula(f"not ({c.text})", NOT, lambda given: dual(float(not c.meaning(given).value), 0.0))
        case _:
            sign = luck.choice(list(COMPARISONS))
            d, e = formula(luck, depth - 1), formula(luck, depth - 1)
            text = f"{d.within(luck, SUM)} {sign} {e.within(luck, SUM)}"

            def compared(given: Mapping[str, float]) -> Dual:
                one, two = d.meaning(given), e.meaning(given)
                return dual(float(COMPARISONS[sign](one.value, two.value)), 0.0, one, two)

            return Formula(text, COMPARE, compared)


def choice(luck: random.Random, depth: int) -> Formula:
    """One of two formulas."""
    c, a, b = condition(luck, depth - 2), formula(luck, depth - 1), formula(luck, depth - 1)
    text = f"if({c.text}, {a.text}, {b.text})"
    return Formula(text, ATOM, lambda given: (a if c.meaning(given).value else b).meaning(given))
