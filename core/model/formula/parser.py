"""Parser of formulas, by precedence climbing over tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from core.errors import ExpressionError
from core.model.formula.nodes import (
    COMPARISONS,
    FUNCTIONS,
    MATHEMATICA_FUNCTIONS,
    NOT,
    PRECEDENCE,
    PRODUCT,
    Binary,
    Call,
    Dialect,
    Name,
    Negative,
    Node,
    Number,
)
from core.model.units import UNITS

MAX_LENGTH = 4000
MAX_DEPTH = 60
MAX_OPERATORS = 400

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
    r"|(?P<operator>\*\*|<=|>=|==|!=|&&|\|\||[-+*/^(),\[\]°<>≤≥≠!]))"
)
_NUMPY = re.compile(r"(np|numpy)\.(float|u?int)\d+")
"""Prefix of NumPy's number representation: "np.float64(0.3)"."""
_DEGREES = ("Degree", "deg", "°")
"""Angle units that may follow a number in Mathematica's dialect."""
_END = ("end", "", 0)
_SAME = {"**": "^", "≤": "<=", "≥": ">=", "≠": "!=", "&&": "and", "||": "or"}
"""Other spellings of operators."""
_UNKNOWN = "Use numbers, names, + - * / ^, comparisons, parentheses and functions such as sin(x)."


@lru_cache(maxsize=4096)
def parse(text: str, dialect: Dialect = "native", further: frozenset[tuple[str, int]] = frozenset()) -> Node:
    """Return the tree of a formula.

    further : functions that the formula may have beside `FUNCTIONS`: (name, number of arguments)
    Raises ExpressionError naming the column and what was expected there.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"The formula is {len(text)} characters long; {MAX_LENGTH} is the limit.",
            remedy="Split it with named parameters.",
        )
    return _Parser(text, dialect, further).whole_formula()


def _tokens_of(text: str) -> Iterator[tuple[str, str, int]]:
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            at = position + len(text[position:]) - len(text[position:].lstrip())
            raise ExpressionError(
                f"'{text[at]}' in column {at + 1} of '{_clipped(text)}' is not allowed in a formula.",
                remedy="Write == to compare." if text[at] == "=" else _UNKNOWN,
            )
        kind = match.lastgroup or ""
        yield kind, match.group(kind), match.start(kind)
        position = match.end()


def _clipped(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


class _Parser:
    """Precedence-climbing parser over the token list."""

    def __init__(self, text: str, dialect: Dialect, further: frozenset[tuple[str, int]]) -> None:
        self.text = text
        self.further = further
        self.functions = {*FUNCTIONS, *(name for name, _ in further)}
        self.mathematica = dialect == "mathematica"
        self.tokens = [*_tokens_of(text), _END]
        self.index = 0
        self.depth = 0
        self.operators = 0

    def whole_formula(self) -> Node:
        if self.tokens[0] is _END:
            raise ExpressionError("The formula is empty.", remedy="Write a number or a formula.")
        node = self.parse_expression(0)
        if self.tokens[self.index] is not _END:
            raise self.unexpected_token_error("an operator")
        return node

    def unexpected_token_error(self, wanted: str) -> ExpressionError:
        kind, token, column = self.tokens[self.index]
        found = "the formula ends" if kind == "end" else f"there is '{token}' in column {column + 1}"
        what = f"In '{_clipped(self.text)}' {found} where {wanted} was expected."
        return ExpressionError(what, remedy="Correct the formula there.")

    def accept(self, token: str) -> bool:
        if self.tokens[self.index][0] == "operator" and self.tokens[self.index][1] == token:
            self.index += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise self.unexpected_token_error(f"'{token}'")

    def next_operator(self) -> str:
        """Return the binary operator at the current position, "" if none; an implied product counts as "*"."""
        kind, token, _ = self.tokens[self.index]
        token = _SAME.get(token, token)
        if token in PRECEDENCE and (kind == "operator" or not self.mathematica):
            return token
        starts_operand = kind in ("number", "name") or token == "("
        return " " if self.mathematica and starts_operand else ""

    def parse_expression(self, minimum: int) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(
                f"The formula '{_clipped(self.text)}' is nested more than {MAX_DEPTH} levels deep.",
                remedy="Split it with named parameters.",
            )
        left = (
            self.parse_negation() if minimum <= NOT and self.accept_not() else self.parse_operand(max(minimum, PRODUCT))
        )
        compared = False
        while symbol := self.next_operator():
            name = "*" if symbol == " " else symbol
            precedence = PRECEDENCE[name]
            if precedence < minimum:
                break
            if compared and name in COMPARISONS:
                raise self.chained_comparison_error()
            if symbol != " ":
                self.index += 1
            right = self.parse_expression(precedence if name == "^" else precedence + 1)
            left, compared = Binary(name, left, right), name in COMPARISONS
            self.count_operator()
        self.depth -= 1
        return left

    def accept_not(self) -> bool:
        """Consume a `not` (or !) before a condition and return True; a name "not" on its own is a name."""
        kind, token, _ = self.tokens[self.index]
        after, following, _ = self.tokens[self.index + 1] if kind != "end" else _END
        word = (
            token == "not"
            and not self.mathematica
            and ((after in ("number", "name") and following not in PRECEDENCE) or following in ("(", "-", "+"))
        )
        taken = word or (kind == "operator" and token == "!")
        self.index += taken
        return taken

    def parse_negation(self) -> Node:
        """Parse the operand of a `not`."""
        self.count_operator()
        return Call("not", (self.parse_expression(NOT),))

    def chained_comparison_error(self) -> ExpressionError:
        _, token, column = self.tokens[self.index]
        return ExpressionError(
            f"In '{_clipped(self.text)}' '{token}' in column {column + 1} compares the result of a comparison.",
            remedy="Join two comparisons with 'and', or put one in parentheses.",
        )

    def count_operator(self) -> None:
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise ExpressionError(
                f"The formula '{_clipped(self.text)}' has more than {MAX_OPERATORS} operators.",
                remedy="Split it with named parameters.",
            )

    def parse_operand(self, minimum: int) -> Node:
        """Parse a number, name, call or parenthesis; a sign before it binds like a product."""
        kind, token, _ = self.tokens[self.index]
        if kind == "number":
            self.index += 1
            return self.parse_unit(_parsed_number(token))
        if kind == "name":
            self.index += 1
            return self.parse_name(token)
        if self.accept("("):
            node = self.parse_expression(0)
            self.expect(")")
            return node
        if self.accept("-"):
            return Negative(self.parse_expression(minimum))
        if self.accept("+"):
            return self.parse_expression(minimum)
        raise self.unexpected_token_error("a number, a name or '('")

    def parse_unit(self, value: float) -> Node:
        kind, token, _ = self.tokens[self.index]
        if self.mathematica:
            if token in _DEGREES:
                self.index += 1
                return Number(value, "deg")
            return Number(value)
        if self.accept("°"):
            return Number(value, "deg")
        follows = self.tokens[self.index + 1][1] if kind != "end" else ""
        if kind == "name" and token in UNITS and follows != "(":
            self.index += 1
            return Number(value, token)
        return Number(value)

    def parse_name(self, token: str) -> Node:
        opening, closing = ("[", "]") if self.mathematica else ("(", ")")
        known = self.function_called(token) if self.mathematica else token
        if self.mathematica and token == "Boole" and self.accept("["):
            node = self.parse_expression(0)
            self.expect("]")
            return node
        follows = self.tokens[self.index][1]
        if follows == "(" and self.mathematica and known is not None:
            opening, closing = "(", ")"
        if follows == "(" and _NUMPY.fullmatch(token):
            return self.parse_operand(0)
        if known is not None and self.mathematica and self.next_operator() == " " and follows != opening:
            raise self.missing_brackets_error(token)
        if follows != opening or (self.mathematica and known is None and opening == "("):
            return self.parse_constant(token)
        if known is None or known not in self.functions:
            raise ExpressionError(
                f"'{token}' in '{_clipped(self.text)}' is not a function.",
                remedy="Known functions: " + ", ".join(sorted(self.functions)) + ".",
            )
        self.index += 1
        arguments = [self.parse_expression(0)]
        while self.accept(","):
            arguments.append(self.parse_expression(0))
        self.expect(closing)
        if token == "ArcTan" and self.mathematica and len(arguments) == 2:
            return Call("atan2", (arguments[1], arguments[0]))  # ArcTan[x, y] = atan2(y, x)
        return self.parse_call(known, arguments)

    @staticmethod
    def function_called(token: str) -> str | None:
        """Return the function with this name in Mathematica's notation or in the native one: cos(q1) is Cos[q1]
        there."""
        return MATHEMATICA_FUNCTIONS.get(token, token if token in FUNCTIONS else None)

    def missing_brackets_error(self, token: str) -> ExpressionError:
        return ExpressionError(
            f"'{token}' in '{_clipped(self.text)}' is a function, whose argument must be in brackets.",
            remedy=f"Write {token}[…] or {token}(…); if '{token}' is meant as a symbol, write * after it.",
        )

    def parse_call(self, name: str, arguments: list[Node]) -> Node:
        wanted = FUNCTIONS[name][1] if name in FUNCTIONS else next(n for known, n in self.further if known == name)
        if len(arguments) != wanted and (name, len(arguments)) not in self.further:
            raise ExpressionError(
                f"{name} in '{_clipped(self.text)}' takes {wanted} argument{'s' * (wanted > 1)}, not {len(arguments)}.",
                remedy="Write if(condition, value if true, value if false)."
                if name == "if"
                else f"Write {name}({', '.join('xyz'[:wanted])}).",
            )
        return Call(name, tuple(arguments))

    def parse_constant(self, token: str) -> Node:
        if self.mathematica:
            if token == "Pi":
                return Name("pi")
            if token == "E":
                return Name("e")
            if token == "Degree":
                return Number(1.0, "deg")
        return Name(token)


def _parsed_number(token: str) -> float:
    value = float(token)
    if not math.isfinite(value):
        raise ExpressionError(f"The number {_clipped(token)} is too large.", remedy="Use a finite number.")
    return value
