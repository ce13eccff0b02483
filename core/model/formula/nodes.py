"""Nodes of formula trees, with the operators and functions of formulas."""

from __future__ import annotations

import math
from typing import Literal

from core.later import dataclass

Dialect = Literal["native", "mathematica"]

CONSTANTS = {"pi": math.pi, "tau": 2.0 * math.pi, "e": math.e}
FUNCTIONS: dict[str, tuple[str, int]] = {
    "sin": ("sin", 1),
    "cos": ("cos", 1),
    "tan": ("tan", 1),
    "asin": ("asin", 1),
    "acos": ("acos", 1),
    "atan": ("atan", 1),
    "atan2": ("atan2", 2),
    "sinh": ("sinh", 1),
    "cosh": ("cosh", 1),
    "tanh": ("tanh", 1),
    "sqrt": ("sqrt", 1),
    "exp": ("exp", 1),
    "log": ("log", 1),
    "abs": ("fabs", 1),
    "sign": ("sign", 1),
    "floor": ("floor", 1),
    "ceil": ("ceil", 1),
    "min": ("fmin", 2),
    "max": ("fmax", 2),
    "step": ("step", 1),
    "if": ("if_else", 3),
    "not": ("logic_not", 1),
}
"""Function name in an expression → (name of the elementary function, number of arguments).

step(x) is 0 for x < 0 and 1 from 0 on; if(condition, a, b) is a where the condition holds, b elsewhere.
"""

COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
"""Comparison → elementary function, which returns 1 if true, else 0."""
LOGIC = {"and": "logic_and", "or": "logic_or"}
"""Logical operator → elementary function; nonzero counts as true."""

PRECEDENCE = {"or": 1, "and": 2, **dict.fromkeys(COMPARISONS, 4), "+": 5, "-": 5, "*": 6, "/": 6, "^": 8}
"""Precedence of operators; `not` is between `and` and comparisons, a unit after a number between * and ^."""
NOT, PRODUCT, UNIT = 3, PRECEDENCE["*"], 7

MATHEMATICA_FUNCTIONS = {
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "ArcSin": "asin",
    "ArcCos": "acos",
    "ArcTan": "atan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Log": "log",
    "Abs": "abs",
    "Sign": "sign",
    "Floor": "floor",
    "Ceiling": "ceil",
    "Min": "min",
    "Max": "max",
    "UnitStep": "step",
    "If": "if",
    "Not": "not",
}


@dataclass(frozen=True, slots=True)
class Number:
    """A literal number, in SI once `unit` is applied."""

    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter, variable or constant."""

    name: str


@dataclass(frozen=True, slots=True)
class Negative:
    """The negation −operand."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """The operation left operator right, with one of the operators of `PRECEDENCE`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call:
    """The function call function(arguments)."""

    function: str
    arguments: tuple[Node, ...]


Node = Number | Name | Negative | Binary | Call
