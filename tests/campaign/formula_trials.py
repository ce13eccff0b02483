"""Formulas: good ones have the value and the slope they mean, spoiled ones a number or words."""

from __future__ import annotations

import math
import random
from pathlib import Path

import casadi as ca

from core.errors import ExpressionError
from core.model.formula.expression import Dialect, Node, evaluate, format_formula, names_in_formula, parse
from core.model.formula.parser import MAX_LENGTH
from tests.campaign.formula_makers import FUNCTIONS, NAMES, Dual, Formula, formula
from tests.campaign.mutations import NAMES as WORDS
from tests.campaign.mutations import NUMBERS
from tests.campaign.trials import Unexpected, message

MATHEMATICA = 0.15
"""Share of spoiled formulas that are read as Mathematica's."""
SLOPES = 0.2
"""Share of good formulas whose slope is examined."""
ROUNDING = 1e-9
"""of the largest number met on the way"""
WELL = 1e8
"""Largest number met on the way for which rounding says anything about a slope."""
PIECES = (
    *"+-*/^(),[]<>=!&|°.;:{}'\"\\_",
    "**",
    "<=",
    ">=",
    "==",
    "!=",
    "&&",
    "||",
    "≤",
    "≥",
    "≠",
    " ",
    "\t",
    "\n",
    " and ",
    " or ",
    " not ",
    "if(",
    "deg",
    " mm",
    "e",
    "E5",
    "1e",
    "sin",
    "sin(",
    "Sin[",
    "pi",
    "Pi",
    "²",
    "−",
    "×",
    "()",
    "((",
    "))",
    *FUNCTIONS,
    *NAMES,
)
BOMBS = (
    lambda n: "(" * n + "x" + ")" * n,
    lambda n: "-" * n + "x",
    lambda n: "+".join("x" * n),
    lambda n: "^".join("9" * n),
    lambda n: "sin(" * n,
    lambda n: "not " * n + "x",
    lambda n: "if(x," * n,
    lambda n: "x" * n,
    lambda n: "1" * n,
    lambda n: "x" + "[" * n,
    lambda n: " " * n,
    lambda n: "1e" + "9" * n,
    lambda n: "." * n,
    lambda n: "!" * n + "x",
    lambda n: "a" + ".b" * n,
    lambda n: "x<" * n + "x",
    lambda n: "sqrt(" * n + "x" + ")" * n,
    lambda n: "2 " * n,
)
"""Texts that grow with a number."""


class FormulaTrials:
    """Makes formulas, good ones and others."""

    patience = 20.0
    long = 1.0

    def __init__(self, folder: Path) -> None:
        pass

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One formula."""
        match luck.randrange(20):
            case 0:
                text = luck.choice(BOMBS)(luck.choice((10, 55, 61, 200, 399, 3000, 100_000)))
                return self.any(luck, folder, text)
            case 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9:
                return self.any(luck, folder, spoiled(luck, formula(luck, luck.randint(0, 5)).text))
            case _:
                return self.good(luck, folder, formula(luck, luck.randint(0, 6)))

    def any(self, luck: random.Random, folder: Path, text: str) -> str:
        """A text that may be a formula."""
        keep(folder, text)
        dialect = "mathematica" if luck.random() < MATHEMATICA else "native"
        given = {name: luck.uniform(-3.0, 3.0) for name in NAMES}
        try:
            node = parse(text, dialect)
            written(node, dialect, given)
            value = evaluate(node, {**dict.fromkeys(names_in_formula(node), 0.5), **given})
        except ExpressionError as error:
            return f"spoiled: {message(error)}"
        if not isinstance(value, int | float):
            raise Unexpected(f"A value of type {type(value).__name__}")
        return "spoiled: value"

    def good(self, luck: random.Random, folder: Path, made: Formula) -> str:
        """A formula that is right."""
        given = {name: luck.uniform(-3.0, 3.0) for name in NAMES}
        keep(folder, f"{made.text}\n{given}")
        try:
            node = parse(made.text)
        except ExpressionError as error:
            if "4000 is the limit" in str(error) or "more than" in str(error):
                return "good: too large"
            raise Unexpected(f"A formula is refused: {str(error)[:80]}") from error
        written(node, "native", given)
        expected = meant(made, given)
        try:
            value = evaluate(node, given)
        except ExpressionError as error:
            if expected is not None and math.isfinite(expected.size):
                raise Unexpected("A formula with a value has none") from error
            return f"good: {message(error)}"
        if expected is None:
            raise Unexpected("A formula without a value has one")
        if not alike(value, expected.value):
            raise Unexpected("A formula has another value than it means")
        if luck.random() < SLOPES:
            slope_examined(node, given, expected)
        return "good: value"

    def close(self) -> None:
        """Nothing is open."""


TRIALS = FormulaTrials


def keep(folder: Path, text: str) -> None:
    """The input of a trial."""
    (folder / "formula.txt").write_text(text[:100_000], encoding="utf-8", errors="replace")


def spoiled(luck: random.Random, text: str) -> str:
    """A formula with something cut out, put in, doubled or exchanged."""
    for _ in range(luck.choice((1, 1, 2, 3, 6))):
        first = luck.randrange(len(text) + 1)
        last = min(first + luck.choice((0, 1, 1, 2, 5, 20)), len(text))
        piece = luck.choice((luck.choice(PIECES), luck.choice(PIECES), luck.choice(NUMBERS), luck.choice(WORDS)))
        text = luck.choice((text[:first] + piece + text[last:], text[:first] + text[last:], text[:last] + text[first:]))
    return text


def meant(made: Formula, given: dict[str, float]) -> Dual | None:
    """What a formula means; None where it has no value."""
    try:
        return made.meaning(given)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def alike(value: float, other: float) -> bool:
    """The same number, up to a few units of its last place."""
    if math.isnan(value) or math.isnan(other):
        return math.isnan(value) and math.isnan(other)
    return value == other or math.isclose(value, other, rel_tol=1e-13, abs_tol=1e-300)


def written(node: Node, dialect: Dialect, given: dict[str, float]) -> None:
    """The text of a formula is read as the same formula, Mathematica's as one of the same value."""
    text = format_formula(node)
    if dialect == "native" and format_formula(parse(text)) != text:
        raise Unexpected("The text of a formula is read as another formula")
    other = format_formula(node, "mathematica")
    if (
        len(other) > MAX_LENGTH or not names_in_formula(node) <= given.keys()
    ):  # names that mean something in Mathematica
        return
    try:
        value = evaluate(node, given)
    except ExpressionError:
        return
    again = evaluate(parse(other, "mathematica"), given)
    if not alike(value, again) and math.isfinite(value):
        raise Unexpected("Mathematica's text of a formula has another value")


def slope_examined(node: Node, given: dict[str, float], expected: Dual) -> None:
    """The value and the slope by x that the graph of the formula gives, which becomes machine code."""
    symbols = {name: ca.SX.sym(name) for name in given}
    try:
        graph = ca.SX(evaluate(node, symbols))
    except ExpressionError:  # numbers without a value in a branch that is not taken
        return
    function = ca.Function("f", [*symbols.values()], [graph, ca.jacobian(graph, symbols["x"])])
    value, slope = (float(each) for each in function(*given.values()))
    if not expected.size < WELL:
        return
    if not abs(value - expected.value) <= ROUNDING * expected.size:
        raise Unexpected("The graph of a formula has another value")
    if math.isfinite(expected.slope) and not abs(slope - expected.slope) <= ROUNDING * expected.size**2:
        raise Unexpected("The graph of a formula has another slope")
