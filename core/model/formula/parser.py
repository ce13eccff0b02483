"""Parsers of formulas: the grammars of the native dialect and of Mathematica's."""

from __future__ import annotations

import math
import re
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
from core.model.formula.precedence_parser import Grammar, Infix, PrecedenceParser, Prefix, Token, tokens_of
from core.model.units import UNITS

MAX_LENGTH = 4000
MAX_DEPTH = 60
MAX_OPERATORS = 400


def _token(exponent: str) -> re.Pattern[str]:
    return re.compile(
        rf"\s*(?:(?P<number>(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:{exponent}[+-]?[0-9]+)?)"
        r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
        r"|(?P<operator>\*\*|<=|>=|==|!=|&&|\|\||[-+*/^(),\[\]°<>≤≥≠!]))"
    )


_NUMPY = re.compile(r"(np|numpy)\.(float|u?int)\d+")
"""Prefix of NumPy's number representation: "np.float64(0.3)"."""
_DEGREES = ("Degree", "deg", "°")
"""Angle units that may follow a number in Mathematica's dialect."""
_SPELLINGS = {"**": "^", "≤": "<=", "≥": ">=", "≠": "!=", "&&": "and", "||": "or"}
"""Other spellings of operators."""
_UNKNOWN = "Use numbers, names, + - * / ^, comparisons, parentheses and functions such as sin(x)."


def _infix(name: str) -> Infix:
    grouping = {"^": "right", **dict.fromkeys(COMPARISONS, "none")}.get(name, "left")
    return Infix(name, PRECEDENCE[name], grouping)  # type: ignore[arg-type]


_SIGNS = {sign: _infix(sign) for sign in PRECEDENCE if not sign.isalpha()}
_SIGNS |= {spelling: _infix(name) for spelling, name in _SPELLINGS.items()}
_PREFIX = {"-": Prefix("-", PRODUCT), "+": Prefix("+", PRODUCT), "!": Prefix("not", NOT, "refused")}
_NATIVE = Grammar(
    _token("[eE]"), {**_SIGNS, "and": _infix("and"), "or": _infix("or")}, {**_PREFIX, "not": _PREFIX["!"]}, MAX_DEPTH
)
_MATHEMATICA = Grammar(_token(r"(?:[eE]|\*\^)"), _SIGNS, _PREFIX, MAX_DEPTH, implied=_infix("*"), openings=("(",))


@lru_cache(maxsize=4096)
def parse(text: str, dialect: Dialect = "native", further: frozenset[tuple[str, int]] = frozenset()) -> Node:
    """Return the tree of a formula.

    further : functions that the formula may have in addition to `FUNCTIONS`: (name, number of arguments)
    Raises ExpressionError naming the column and what was expected there.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"The formula is {len(text)} characters long; {MAX_LENGTH} is the limit.",
            remedy="Split it with named parameters.",
        )
    return (_MathematicaParser if dialect == "mathematica" else _NativeParser)(text, further).whole_formula()


def _clipped(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


class _NativeParser(PrecedenceParser[Node]):
    """Parser of the native dialect."""

    language = _NATIVE

    def __init__(self, text: str, further: frozenset[tuple[str, int]]) -> None:
        super().__init__(self.language, tokens_of(text, self.language))
        self.text = text
        self.further = further
        self.operators = 0

    def whole_formula(self) -> Node:
        if self.tokens[-1].kind == "unknown":
            raise self.unknown_token_error(self.tokens[-1])
        if self.now.kind == "end":
            raise ExpressionError("The formula is empty.", remedy="Write a number or a formula.")
        node = self.expression()
        if self.now.kind != "end":
            raise self.unexpected_token_error("an operator")
        return node

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            raise self.unexpected_token_error(f"'{sign}'")

    # ------------------------------------------------------------------------------- operators

    def joined(self, name: str, left: Node, right: Node) -> Node:
        self.count_operator()
        return Binary(name, left, right)

    def prefixed(self, name: str, minimum: int, sign: Token) -> Node:
        if name == "not":
            self.count_operator()
            return Call("not", (self.expression(minimum),))
        operand = self.expression(minimum)
        return Negative(operand) if name == "-" else operand

    def is_prefix(self) -> bool:
        """Return True except for a word "not" without an operand after it, which is a name."""
        if self.now.text != "not":
            return True
        after, following, _ = self.tokens[self.index + 1]
        return (after in ("number", "name") and following not in PRECEDENCE) or following in ("(", "-", "+")

    def count_operator(self) -> None:
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise ExpressionError(
                f"The formula '{_clipped(self.text)}' has more than {MAX_OPERATORS} operators.",
                remedy="Split it with named parameters.",
            )

    # ------------------------------------------------------------------------------- operands

    def operand(self) -> Node:
        """Parse a number, name, call or parenthesis."""
        if self.now.kind == "number":
            return self.quantity(_parsed_number(self.advance().text))
        if self.now.kind == "name":
            return self.named(self.advance().text)
        if self.take("("):
            node = self.expression()
            self.expect(")")
            return node
        raise self.unexpected_token_error("a number, a name or '('")

    def quantity(self, value: float) -> Node:
        """Parse the unit after a number."""
        if self.take("°"):
            return Number(value, "deg")
        kind, token, _ = self.now
        if kind == "name" and token in UNITS and self.tokens[self.index + 1].text != "(":
            self.advance()
            return Number(value, token)
        return Number(value)

    def named(self, token: str) -> Node:
        """Parse the arguments after the name of a function; return other names as they are."""
        if self.now.text != "(":
            return Name(token)
        return self.operand() if _NUMPY.fullmatch(token) else self.call(token, token, ")")

    def call(self, token: str, function: str | None, closing: str) -> Node:
        """Parse the arguments of a call in their brackets."""
        if function is None or not (function in FUNCTIONS or any(function == name for name, _ in self.further)):
            known = sorted({*FUNCTIONS, *(name for name, _ in self.further)})
            raise ExpressionError(
                f"'{token}' in '{_clipped(self.text)}' is not a function.",
                remedy="Known functions: " + ", ".join(known) + ".",
            )
        self.advance()
        arguments = self.comma_separated()
        self.expect(closing)
        if token == "ArcTan" and len(arguments) == 2:  # ArcTan[x, y] = atan2(y, x)
            return Call("atan2", (arguments[1], arguments[0]))
        self.check_arguments(function, len(arguments))
        return Call(function, tuple(arguments))

    def check_arguments(self, name: str, given: int) -> None:
        wanted = FUNCTIONS[name][1] if name in FUNCTIONS else next(n for known, n in self.further if known == name)
        if given != wanted and (name, given) not in self.further:
            raise ExpressionError(
                f"{name} in '{_clipped(self.text)}' takes {wanted} argument{'s' * (wanted > 1)}, not {given}.",
                remedy="Write if(condition, value if true, value if false)."
                if name == "if"
                else f"Write {name}({', '.join('xyz'[:wanted])}).",
            )

    # ------------------------------------------------------------------------------- errors

    def unknown_token_error(self, token: Token) -> ExpressionError:
        return ExpressionError(
            f"'{token.text}' in column {token.at + 1} of '{_clipped(self.text)}' is not allowed in a formula.",
            remedy="Write == to compare." if token.text == "=" else _UNKNOWN,
        )

    def unexpected_token_error(self, wanted: str) -> ExpressionError:
        kind, token, at = self.now
        found = "the formula ends" if kind == "end" else f"there is '{token}' in column {at + 1}"
        what = f"In '{_clipped(self.text)}' {found} where {wanted} was expected."
        return ExpressionError(what, remedy="Correct the formula there.")

    def depth_error(self) -> ExpressionError:
        return ExpressionError(
            f"The formula '{_clipped(self.text)}' is nested more than {MAX_DEPTH} levels deep.",
            remedy="Split it with named parameters.",
        )

    def grouping_error(self) -> ExpressionError:
        return ExpressionError(
            f"In '{_clipped(self.text)}' '{self.now.text}' in column {self.now.at + 1} compares the result of a "
            "comparison.",
            remedy="Join two comparisons with 'and', or put one in parentheses.",
        )


class _MathematicaParser(_NativeParser):
    """Parser of Mathematica's dialect; functions in Mathematica's notation or in the native one: Cos[q1] or cos(q1)."""

    language = _MATHEMATICA

    def quantity(self, value: float) -> Node:
        if self.now.text in _DEGREES:
            self.advance()
            return Number(value, "deg")
        return Number(value)

    def named(self, token: str) -> Node:
        if token == "Boole" and self.take("["):
            node = self.expression()
            self.expect("]")
            return node
        function = MATHEMATICA_FUNCTIONS.get(token, token if token in FUNCTIONS else None)
        follows = self.now.text
        if follows == "[":
            return self.call(token, function, "]")
        if follows == "(" and _NUMPY.fullmatch(token):
            return self.operand()
        if function is not None:
            if follows == "(":
                return self.call(token, function, ")")
            if self.operator() is self.grammar.implied:
                raise self.missing_brackets_error(token)
        return _CONSTANTS.get(token) or Name(token)

    def missing_brackets_error(self, token: str) -> ExpressionError:
        return ExpressionError(
            f"'{token}' in '{_clipped(self.text)}' is a function, whose argument must be in brackets.",
            remedy=f"Write {token}[…] or {token}(…); if '{token}' is meant as a symbol, write * after it.",
        )


_CONSTANTS: dict[str, Node] = {"Pi": Name("pi"), "E": Name("e"), "Degree": Number(1.0, "deg")}
"""Constants of Mathematica's dialect."""


def _parsed_number(token: str) -> float:
    value = float(token.replace("*^", "e"))
    if not math.isfinite(value):
        raise ExpressionError(f"The number {_clipped(token)} is too large.", remedy="Use a finite number.")
    return value
