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
from core.model.formula.precedence_parser import Grammar, Infix, PrecedenceParser, Prefix, Token, tokenise
from core.model.units import UNITS

MAX_LENGTH = 4000
MAX_DEPTH = 60
MAX_OPERATORS = 400


def _token_pattern(exponent: str) -> re.Pattern[str]:
    return re.compile(
        rf"\s*(?:(?P<number>(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:{exponent}[+-]?[0-9]+)?)"
        r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
        r"|(?P<operator>\*\*|<=|>=|==|!=|&&|\|\||[-+*/^(),\[\]°<>≤≥≠!]))"
    )


_NUMPY = re.compile(r"(np|numpy)\.(float|u?int)\d+")
"""Prefix in NumPy's representation of numbers: "np.float64(0.3)"."""
_DEGREES = ("Degree", "deg", "°")
"""Angle units that may follow a number in Mathematica's dialect."""
_SPELLINGS = {"**": "^", "≤": "<=", "≥": ">=", "≠": "!=", "&&": "and", "||": "or"}
"""Alternative spellings of operators."""
_UNKNOWN = "Use numbers, names, + - * / ^, comparisons, parentheses and functions such as sin(x)."


def _infix_operator(name: str) -> Infix:
    grouping = {"^": "right", **dict.fromkeys(COMPARISONS, "none")}.get(name, "left")
    return Infix(name, PRECEDENCE[name], grouping)  # type: ignore[arg-type]


_SIGNS = {sign: _infix_operator(sign) for sign in PRECEDENCE if not sign.isalpha()}
_SIGNS |= {spelling: _infix_operator(name) for spelling, name in _SPELLINGS.items()}
_PREFIX = {"-": Prefix("-", PRODUCT), "+": Prefix("+", PRODUCT), "!": Prefix("not", NOT, "refused")}
_NATIVE = Grammar(
    _token_pattern("[eE]"),
    {**_SIGNS, "and": _infix_operator("and"), "or": _infix_operator("or")},
    {**_PREFIX, "not": _PREFIX["!"]},
    MAX_DEPTH,
)
_MATHEMATICA = Grammar(
    _token_pattern(r"(?:[eE]|\*\^)"), _SIGNS, _PREFIX, MAX_DEPTH, implied=_infix_operator("*"), openings=("(",)
)


@lru_cache(maxsize=4096)
def parse(text: str, dialect: Dialect = "native", extra_functions: frozenset[tuple[str, int]] = frozenset()) -> Node:
    """Return the tree of a formula.

    extra_functions : functions that the formula may have in addition to `FUNCTIONS`: (name, number of arguments)
    Raises ExpressionError naming the column and what was expected there.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"The formula is {len(text)} characters long; {MAX_LENGTH} is the limit.",
            remedy="Split it with named parameters.",
        )
    return (_MathematicaParser if dialect == "mathematica" else _NativeParser)(text, extra_functions).parse_formula()


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


class _NativeParser(PrecedenceParser[Node]):
    """Parser of the native dialect."""

    language = _NATIVE

    def __init__(self, text: str, extra_functions: frozenset[tuple[str, int]]) -> None:
        super().__init__(self.language, tokenise(text, self.language))
        self.text = text
        self.further = extra_functions
        self.operators = 0

    def parse_formula(self) -> Node:
        if self.tokens[-1].kind == "unknown":
            raise self.unknown_token_error(self.tokens[-1])
        if self.now.kind == "end":
            raise ExpressionError("The formula is empty.", remedy="Write a number or a formula.")
        node = self.expression()
        if self.now.kind != "end":
            raise self.unexpected_token_error("an operator")
        return node

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            raise self.unexpected_token_error(f"'{symbol}'")

    # ------------------------------------------------------------------------------- operators

    def build_operation(self, name: str, left: Node, right: Node) -> Node:
        self.count_operator()
        return Binary(name, left, right)

    def parse_prefixed(self, name: str, minimum: int, sign: Token) -> Node:
        if name == "not":
            self.count_operator()
            return Call("not", (self.expression(minimum),))
        operand = self.expression(minimum)
        return Negative(operand) if name == "-" else operand

    def is_prefix(self) -> bool:
        """Return True unless the token is the word "not" without an operand after it, which is a name."""
        if self.now.text != "not":
            return True
        after, following, _ = self.tokens[self.index + 1]
        return (after in ("number", "name") and following not in PRECEDENCE) or following in ("(", "-", "+")

    def count_operator(self) -> None:
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise ExpressionError(
                f"The formula '{_shorten(self.text)}' has more than {MAX_OPERATORS} operators.",
                remedy="Split it with named parameters.",
            )

    # ------------------------------------------------------------------------------- operands

    def parse_operand(self) -> Node:
        """Parse a number, name, call or parenthesis."""
        if self.now.kind == "number":
            return self.parse_unit(_parse_number(self.advance().text))
        if self.now.kind == "name":
            return self.parse_name_or_call(self.advance().text)
        if self.accept("("):
            node = self.expression()
            self.expect(")")
            return node
        raise self.unexpected_token_error("a number, a name or '('")

    def parse_unit(self, value: float) -> Node:
        """Parse the unit after a number."""
        if self.accept("°"):
            return Number(value, "deg")
        kind, token, _ = self.now
        if kind == "name" and token in UNITS and self.tokens[self.index + 1].text != "(":
            self.advance()
            return Number(value, token)
        return Number(value)

    def parse_name_or_call(self, token: str) -> Node:
        """Parse the arguments after the name of a function and the indices after M; return other names as they are."""
        if token == "M" and self.accept("["):
            return self.parse_indices(token)
        if self.now.text != "(":
            return Name(token)
        return self.parse_operand() if _NUMPY.fullmatch(token) else self.parse_call(token, token, ")")

    def parse_indices(self, token: str) -> Node:
        """Parse the two indices of an entry of a matrix."""
        indices = []
        for closing in (",", "]"):
            if self.now.kind != "number" or not self.now.text.isdigit():
                raise self.unexpected_token_error("a whole number")
            indices.append(self.advance().text)
            self.expect(closing)
        return Name(f"{token}[{','.join(indices)}]")

    def parse_call(self, token: str, function: str | None, closing: str) -> Node:
        """Parse the arguments of a call in their brackets."""
        if function is None or not (function in FUNCTIONS or any(function == name for name, _ in self.further)):
            known = sorted({*FUNCTIONS, *(name for name, _ in self.further)})
            raise ExpressionError(
                f"'{token}' in '{_shorten(self.text)}' is not a function.",
                remedy="Known functions: " + ", ".join(known) + ".",
            )
        self.advance()
        arguments = self.parse_comma_separated()
        self.expect(closing)
        if token == "ArcTan" and len(arguments) == 2:  # ArcTan[x, y] = atan2(y, x)
            return Call("atan2", (arguments[1], arguments[0]))
        self.check_argument_count(function, len(arguments))
        return Call(function, tuple(arguments))

    def check_argument_count(self, name: str, count: int) -> None:
        wanted = FUNCTIONS[name][1] if name in FUNCTIONS else next(n for known, n in self.further if known == name)
        if count != wanted and (name, count) not in self.further:
            raise ExpressionError(
                f"{name} in '{_shorten(self.text)}' takes {wanted} argument{'s' * (wanted > 1)}, not {count}.",
                remedy="Write if(condition, value if true, value if false)."
                if name == "if"
                else f"Write {name}({', '.join('xyz'[:wanted])}).",
            )

    # ------------------------------------------------------------------------------- errors

    def unknown_token_error(self, token: Token) -> ExpressionError:
        return ExpressionError(
            f"'{token.text}' in column {token.at + 1} of '{_shorten(self.text)}' is not allowed in a formula.",
            remedy="Write == to compare." if token.text == "=" else _UNKNOWN,
        )

    def unexpected_token_error(self, expected: str) -> ExpressionError:
        kind, token, at = self.now
        found = "the formula ends" if kind == "end" else f"there is '{token}' in column {at + 1}"
        what = f"In '{_shorten(self.text)}' {found} where {expected} was expected."
        return ExpressionError(what, remedy="Correct the formula there.")

    def depth_error(self) -> ExpressionError:
        return ExpressionError(
            f"The formula '{_shorten(self.text)}' is nested more than {MAX_DEPTH} levels deep.",
            remedy="Split it with named parameters.",
        )

    def grouping_error(self) -> ExpressionError:
        return ExpressionError(
            f"In '{_shorten(self.text)}' '{self.now.text}' in column {self.now.at + 1} compares the result of a "
            "comparison.",
            remedy="Join two comparisons with 'and', or put one in parentheses.",
        )


class _MathematicaParser(_NativeParser):
    """Parser of Mathematica's dialect; functions may be written in Mathematica's or in native notation: Cos[q1] or
    cos(q1)."""

    language = _MATHEMATICA

    def parse_unit(self, value: float) -> Node:
        if self.now.text in _DEGREES:
            self.advance()
            return Number(value, "deg")
        return Number(value)

    def parse_name_or_call(self, token: str) -> Node:
        if token == "Boole" and self.accept("["):
            node = self.expression()
            self.expect("]")
            return node
        function = MATHEMATICA_FUNCTIONS.get(token, token if token in FUNCTIONS else None)
        follows = self.now.text
        if follows == "[":
            return self.parse_call(token, function, "]")
        if follows == "(" and _NUMPY.fullmatch(token):
            return self.parse_operand()
        if function is not None:
            if follows == "(":
                return self.parse_call(token, function, ")")
            if self.current_operator() is self.grammar.implied:
                raise self.missing_brackets_error(token)
        return _CONSTANTS.get(token) or Name(token)

    def missing_brackets_error(self, token: str) -> ExpressionError:
        return ExpressionError(
            f"'{token}' in '{_shorten(self.text)}' is a function, whose argument must be in brackets.",
            remedy=f"Write {token}[…] or {token}(…); if '{token}' is meant as a symbol, write * after it.",
        )


_CONSTANTS: dict[str, Node] = {"Pi": Name("pi"), "E": Name("e"), "Degree": Number(1.0, "deg")}
"""Constants of Mathematica's dialect."""


def _parse_number(token: str) -> float:
    value = float(token.replace("*^", "e"))
    if not math.isfinite(value):
        raise ExpressionError(f"The number {_shorten(token)} is too large.", remedy="Use a finite number.")
    return value
