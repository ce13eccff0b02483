"""Formulas as people write them: parsed by our own parser into a small tree, evaluated over any scalars.

    parse("2*l1 + 50 mm")            native dialect (Python-like; ^ and ** are powers; units behind numbers)
    parse("1/2 a1 Sin[q1]", dialect="mathematica")     Robotica's dialect (implied product, Pi, Degree, Sin[])

Nothing is ever passed to Python's `eval`. Size and depth are bounded, so no text can hang the program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from core.errors import ExpressionError
from core.model.units import UNITS
from core.spatial.scalar import Scalar, apply

Dialect = Literal["native", "mathematica"]

MAX_LENGTH = 4000
MAX_DEPTH = 60
MAX_OPERATORS = 400
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
}
"""Function name in an expression → (name of the elementary function, number of arguments)."""

_MATHEMATICA_FUNCTIONS = {
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
    """−operand."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """left operator right, the operator one of + - * / ^."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call:
    """function(arguments)."""

    function: str
    arguments: tuple[Node, ...]


Node = Number | Name | Negative | Binary | Call


# ---------------------------------------------------------------------------------------- reading

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
    r"|(?P<operator>\*\*|[-+*/^(),\[\]°]))"
)
_END = ("end", "", 0)
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_PRODUCT = _PRECEDENCE["*"]


@lru_cache(maxsize=4096)
def parse(text: str, dialect: Dialect = "native") -> Node:
    """The tree of a formula.

    Raises ExpressionError naming the column and what was expected there.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"The formula is {len(text)} characters long; {MAX_LENGTH} is the limit.",
            remedy="Split it with named parameters.",
        )
    return _Parser(text, dialect).whole()


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            at = position + len(text[position:]) - len(text[position:].lstrip())
            raise ExpressionError(
                f"'{text[at]}' in column {at + 1} of '{_clip(text)}' is not part of a formula.",
                remedy="Use numbers, names, + - * / ^, parentheses and functions such as sin(x).",
            )
        kind = match.lastgroup or ""
        yield kind, match.group(kind), match.start(kind)
        position = match.end()


def _clip(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


class _Parser:
    """Precedence climbing over the token list."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.mathematica = dialect == "mathematica"
        self.tokens = [*_tokens(text), _END]
        self.index = 0
        self.depth = 0
        self.operators = 0

    def whole(self) -> Node:
        if self.tokens[0] is _END:
            raise ExpressionError("The formula is empty.", remedy="Write a number or a formula.")
        node = self.expression(0)
        if self.tokens[self.index] is not _END:
            raise self.unexpected("an operator")
        return node

    def unexpected(self, wanted: str) -> ExpressionError:
        kind, token, column = self.tokens[self.index]
        found = "the formula ends" if kind == "end" else f"'{token}' stands in column {column + 1}"
        what = f"In '{_clip(self.text)}' {found} where {wanted} was expected."
        return ExpressionError(what, remedy="Correct the formula there.")

    def take(self, token: str) -> bool:
        if self.tokens[self.index][0] == "operator" and self.tokens[self.index][1] == token:
            self.index += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise self.unexpected(f"'{token}'")

    def operator(self) -> str:
        """The binary operator at the current place, '' if none; an implied product counts as '*'."""
        kind, token, _ = self.tokens[self.index]
        token = "^" if token == "**" else token
        if kind == "operator" and token in _PRECEDENCE:
            return token
        starts_operand = kind in ("number", "name") or token == "("
        return " " if self.mathematica and starts_operand else ""

    def expression(self, minimum: int) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(
                f"The formula '{_clip(self.text)}' is nested more than {MAX_DEPTH} levels deep.",
                remedy="Split it with named parameters.",
            )
        left = self.operand(max(minimum, _PRODUCT))
        while symbol := self.operator():
            name = "*" if symbol == " " else symbol
            precedence = _PRECEDENCE[name]
            if precedence < minimum:
                break
            if symbol != " ":
                self.index += 1
            right = self.expression(precedence if name == "^" else precedence + 1)
            left = Binary(name, left, right)
            self.count_operator()
        self.depth -= 1
        return left

    def count_operator(self) -> None:
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise ExpressionError(
                f"The formula '{_clip(self.text)}' has more than {MAX_OPERATORS} operators.",
                remedy="Split it with named parameters.",
            )

    def operand(self, minimum: int) -> Node:
        """A number, name, call or parenthesis; a sign in front of it binds like a product."""
        kind, token, _ = self.tokens[self.index]
        if kind == "number":
            self.index += 1
            return self.with_unit(_literal(token))
        if kind == "name":
            self.index += 1
            return self.name(token)
        if self.take("("):
            node = self.expression(0)
            self.expect(")")
            return node
        if self.take("-"):
            return Negative(self.expression(minimum))
        if self.take("+"):
            return self.expression(minimum)
        raise self.unexpected("a number, a name or '('")

    def with_unit(self, value: float) -> Node:
        kind, token, _ = self.tokens[self.index]
        if self.mathematica:
            if token == "Degree":
                self.index += 1
                return Number(value, "deg")
            return Number(value)
        if self.take("°"):
            return Number(value, "deg")
        follows = self.tokens[self.index + 1][1] if kind != "end" else ""
        if kind == "name" and token in UNITS and follows != "(":
            self.index += 1
            return Number(value, token)
        return Number(value)

    def name(self, token: str) -> Node:
        opening, closing = ("[", "]") if self.mathematica else ("(", ")")
        known = _MATHEMATICA_FUNCTIONS.get(token) if self.mathematica else token
        follows = self.tokens[self.index][1]
        if follows == "(" and self.mathematica and known is not None:
            opening, closing = "(", ")"
        if follows != opening or (self.mathematica and known is None and opening == "("):
            return self.constant(token)
        if known not in FUNCTIONS:
            raise ExpressionError(
                f"'{token}' in '{_clip(self.text)}' is not a function.",
                remedy="Known functions: " + ", ".join(sorted(FUNCTIONS)) + ".",
            )
        self.index += 1
        arguments = [self.expression(0)]
        while self.take(","):
            arguments.append(self.expression(0))
        self.expect(closing)
        return self.call(known, arguments)

    def call(self, name: str, arguments: list[Node]) -> Node:
        if self.mathematica and name == "atan" and len(arguments) == 2:
            return Call("atan2", (arguments[1], arguments[0]))  # ArcTan[x, y] = atan2(y, x)
        wanted = FUNCTIONS[name][1]
        if len(arguments) != wanted:
            raise ExpressionError(
                f"{name} in '{_clip(self.text)}' takes {wanted} argument{'s' * (wanted > 1)}, not {len(arguments)}."
            )
        return Call(name, tuple(arguments))

    def constant(self, token: str) -> Node:
        if self.mathematica:
            if token == "Pi":
                return Name("pi")
            if token == "E":
                return Name("e")
            if token == "Degree":
                return Number(1.0, "deg")
        return Name(token)


def _literal(token: str) -> float:
    value = float(token)
    if not math.isfinite(value):
        raise ExpressionError(f"The number {_clip(token)} is too large.", remedy="Use a finite number.")
    return value


# ---------------------------------------------------------------------------------------- meaning


def names(node: Node) -> frozenset[str]:
    """All names in the formula except constants (pi, tau, e)."""
    match node:
        case Number():
            return frozenset()
        case Name(name):
            return frozenset() if name in CONSTANTS else frozenset((name,))
        case Negative(operand):
            return names(operand)
        case Binary(_, left, right):
            return names(left) | names(right)
        case Call(_, arguments):
            return frozenset().union(*map(names, arguments))


def evaluate(node: Node, environment: Mapping[str, Scalar]) -> Scalar:
    """The value of the formula over the scalars in `environment` (floats, symbols, graph nodes).

    Raises ExpressionError for an unknown name, a division by a literal zero, or an overflow.
    """
    try:
        return _value(node, environment)
    except ZeroDivisionError:
        raise ExpressionError(f"'{text_of(node)}' divides by zero.", remedy="Change the formula.") from None
    except (ValueError, OverflowError):
        raise ExpressionError(f"'{text_of(node)}' has no finite value.", remedy="Change the formula.") from None


def _value(node: Node, environment: Mapping[str, Scalar]) -> Scalar:
    match node:
        case Number(value, unit):
            return value * UNITS[unit].factor if unit else value
        case Name(name):
            if name in environment:
                return environment[name]
            if name in CONSTANTS:
                return CONSTANTS[name]
            raise ExpressionError(
                f"Nothing is called '{name}'.", remedy="Define a parameter of this name or correct the formula."
            )
        case Negative(operand):
            return -_value(operand, environment)
        case Binary(operator, left, right):
            return _OPERATIONS[operator](_value(left, environment), _value(right, environment))
        case Call(function, arguments):
            return apply(FUNCTIONS[function][0], *(_value(argument, environment) for argument in arguments))


def _power(base: Scalar, exponent: Scalar) -> Scalar:
    if isinstance(base, (int, float)) and isinstance(exponent, (int, float)):
        return math.pow(base, exponent)  # never a complex or a giant integer
    return base**exponent


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": _power,
}


def substitute(node: Node, replacements: Mapping[str, Node]) -> Node:
    """The formula with names replaced by formulas (renaming a parameter, inlining a value)."""
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


# ---------------------------------------------------------------------------------------- writing


def text_of(node: Node, dialect: Dialect = "native") -> str:
    """The formula as text that `parse` reads back to an equal tree."""
    return _write(node, 0, dialect)


def number_text(value: float) -> str:
    """A float as short text that reads back exactly; whole numbers without a decimal point."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def _write(node: Node, outer: int, dialect: Dialect) -> str:
    match node:
        case Number(value, unit):
            if dialect == "mathematica":
                text = _mathematica_number(value)
                text = f"{text} Degree" if unit == "deg" else (f"{text}*{UNITS[unit].factor!r}" if unit else text)
            else:
                text = f"{number_text(value)} {unit}" if unit else number_text(value)
            tight = _PRODUCT if dialect == "mathematica" else 3  # in Mathematica a unit is a factor
            return f"({text})" if unit and outer > tight else text
        case Name(name):
            return {"pi": "Pi", "e": "E", "tau": "(2 Pi)"}.get(name, name) if dialect == "mathematica" else name
        case Negative(operand):
            text = "-" + _write(operand, _PRODUCT, dialect)
            return f"({text})" if outer >= _PRODUCT else text
        case Binary(operator, left, right):
            precedence = _PRECEDENCE[operator]
            is_power = operator == "^"
            first = _write(left, precedence + is_power, dialect)
            second = _write(right, precedence + (not is_power), dialect)
            space = "" if operator in "*/^" else " "
            text = f"{first}{space}{operator}{space}{second}"
            return f"({text})" if precedence < outer else text
        case Call(function, arguments):
            return _write_call(function, arguments, dialect)


def _write_call(function: str, arguments: tuple[Node, ...], dialect: Dialect) -> str:
    if dialect == "native":
        return f"{function}({', '.join(_write(a, 0, dialect) for a in arguments)})"
    if function == "atan2":
        arguments = (arguments[1], arguments[0])
        function = "atan"
    title = next(theirs for theirs, ours in _MATHEMATICA_FUNCTIONS.items() if ours == function)
    return f"{title}[{', '.join(_write(a, 0, dialect) for a in arguments)}]"


def _mathematica_number(value: float) -> str:
    text = number_text(value)
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"({mantissa}*10^({int(exponent)}))"
    return text
