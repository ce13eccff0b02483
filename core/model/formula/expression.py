"""Formulas typed by users: parsed into a small tree, and evaluated over any kind of scalar.

    parse("2*l1 + 50 mm")            native dialect (Python-like; ^ and ** are powers; units behind numbers)
    parse("if(t < 1 s, 2*t, 2) + 5*(x > 0 and not y > 0)")       conditions are 1 where they hold, 0 elsewhere
    parse("1/2 a1 Sin[q1]", dialect="mathematica")     Robotica's dialect (implied product, Pi, Degree, Sin[])

Nothing is ever passed to Python's `eval`. Size and depth are bounded, so no text can hang the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from core.errors import ExpressionError, find_likely_names
from core.model.formula.nodes import (
    COMPARISONS,
    CONSTANTS,
    FUNCTIONS,
    LOGIC,
    Binary,
    Call,
    Dialect,
    Name,
    Negative,
    Node,
    Number,
)
from core.model.formula.parser import parse
from core.model.formula.text import format_formula, format_number
from core.model.units import UNITS
from core.numerics.spatial.scalar import Scalar, apply

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "Binary",
    "Call",
    "Dialect",
    "Name",
    "Negative",
    "Node",
    "Number",
    "evaluate",
    "format_formula",
    "format_number",
    "names_in_formula",
    "names_in_text",
    "parse",
    "substitute",
]


def names_in_formula(node: Node) -> frozenset[str]:
    """Return all names in the formula except constants (pi, tau, e)."""
    match node:
        case Number():
            return frozenset()
        case Name(name):
            return frozenset() if name in CONSTANTS else frozenset((name,))
        case Negative(operand):
            return names_in_formula(operand)
        case Binary(_, left, right):
            return names_in_formula(left) | names_in_formula(right)
        case Call(_, arguments):
            return frozenset().union(*map(names_in_formula, arguments))


@lru_cache(maxsize=4096)
def names_in_text(text: str) -> frozenset[str]:
    """Return all names in a formula's text except constants. Raises ExpressionError if the text is not a formula."""
    return names_in_formula(parse(text))


def evaluate(node: Node, environment: Mapping[str, Scalar]) -> Scalar:
    """Return the value of the formula over the scalars in `environment` (floats, symbols, graph nodes).

    Raises ExpressionError for an unknown name, a division by a literal zero, or an overflow.
    """
    try:
        return _NodeEvaluator(environment).evaluate(node)
    except ZeroDivisionError:
        raise ExpressionError(f"'{format_formula(node)}' divides by zero.", remedy="Change the formula.") from None
    except (ValueError, OverflowError):
        raise ExpressionError(f"'{format_formula(node)}' has no finite value.", remedy="Change the formula.") from None


SAFE = 0.5
"""An argument at which every function and its derivative is finite."""


class _NodeEvaluator:
    """Evaluator of formula nodes. If a condition is symbolic, both branches are evaluated; in the branch not selected,
    functions get `SAFE` as their argument, so that neither its value nor its derivative affects the result (0 · ∞)."""

    def __init__(self, environment: Mapping[str, Scalar], counts: Scalar = None) -> None:
        self.environment = environment
        self.counts = counts
        """The condition under which what is evaluated counts; None: always."""

    def evaluate(self, node: Node) -> Scalar:
        """Return the value of a node."""
        match node:
            case Number(value, unit):
                return value * UNITS[unit].factor if unit else value
            case Name(name):
                return self.look_up_name(name)
            case Negative(operand):
                return -self.evaluate(operand)
            case Binary(operator, left, right):
                return self.evaluate_binary(operator, self.evaluate(left), self.evaluate(right))
            case Call("if", (condition, one, other)):
                return self.select_branch(self.evaluate(condition), one, other)
            case Call(function, arguments):
                return apply(
                    FUNCTIONS[function][0], *(self.safe_argument(self.evaluate(argument)) for argument in arguments)
                )

    def look_up_name(self, name: str) -> Scalar:
        """Return the value of a name."""
        if name in self.environment:
            value = self.environment[name]
            return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value
        if name in CONSTANTS:
            return CONSTANTS[name]
        close = find_likely_names(name, self.environment)
        remedy = f"Did you mean {', '.join(close)}?" if close else "Define a parameter of this name."
        raise ExpressionError(f"The name '{name}' is not defined.", remedy=remedy)

    def evaluate_binary(self, operator: str, a: Scalar, b: Scalar) -> Scalar:
        """Return a operator b."""
        if operator in _ARITHMETIC:
            return _ARITHMETIC[operator](a, b)
        if operator == "/":
            return a / self.safe_argument(b)
        if operator == "^":
            return _evaluate_power(self.safe_argument(a), self.safe_argument(b))
        return apply((COMPARISONS.get(operator) or LOGIC[operator]), a, b)

    def select_branch(self, condition: Scalar, first: Node, second: Node) -> Scalar:
        """Return the branch selected by a condition; both are evaluated if the condition is symbolic."""
        if isinstance(condition, int | float):
            return self.evaluate(first if condition else second)
        sides = (condition, apply("logic_not", condition))
        values = [
            _NodeEvaluator(self.environment, self.combine_conditions(side)).evaluate(node)
            for side, node in zip(sides, (first, second), strict=True)
        ]
        return apply("if_else", condition, *values)

    def combine_conditions(self, condition: Scalar) -> Scalar:
        return condition if self.counts is None else apply("logic_and", self.counts, condition)

    def safe_argument(self, x: Scalar) -> Scalar:
        """Return a function's argument, replaced by a harmless value in a branch that is not selected."""
        return x if self.counts is None or isinstance(x, int | float) else apply("if_else", self.counts, x, SAFE)


def _evaluate_power(base: Scalar, exponent: Scalar) -> Scalar:
    if isinstance(base, (int, float)) and isinstance(exponent, (int, float)):
        return math.pow(base, exponent)  # never a complex or a giant integer
    return base**exponent


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


def substitute(node: Node, replacements: Mapping[str, Node]) -> Node:
    """Return the formula with names replaced by formulas (renaming a parameter, inlining a value)."""
    match node:
        case Name(name):
            return replacements.get(name, node)
        case Negative(operand):
            return Negative(substitute(operand, replacements))
        case Binary(operator, left, right):
            return Binary(operator, substitute(left, replacements), substitute(right, replacements))
        case Call(function, arguments):
            return Call(function, tuple(substitute(a, replacements) for a in arguments))
        case _:
            return node
