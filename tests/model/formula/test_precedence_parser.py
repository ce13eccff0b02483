"""Precedence climbing: with Python's table of operators, expressions are grouped as Python groups them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ExpressionError
from core.model.formula.precedence_parser import Grammar, Infix, PrecedenceParser, Prefix, tokenise

PATTERN = re.compile(r" *(?:(?P<number>\d+)|(?P<operator><<|\*\*|[-+*&|^~()<.!]))")
INFIX = {
    "<": Infix("<", 1, "none"),
    "|": Infix("|", 2),
    "^": Infix("^", 3),
    "&": Infix("&", 4),
    "-": Infix("-", 5),
    "+": Infix("+", 5),
    "*": Infix("*", 6),
    "**": Infix("**", 8, "right"),
}
"""Infix operators with Python's order of precedence."""
PREFIX = {"-": Prefix("-", 7), "~": Prefix("~", 7)}
GRAMMAR = Grammar(PATTERN, INFIX, PREFIX, max_depth=200)


class Shapes(PrecedenceParser[str]):
    """Writes an expression with all its parentheses."""

    def parse_operand(self):
        if self.now.kind == "number":
            return self.advance().text
        if self.accept("("):
            inner = self.expression()
            assert self.accept(")")
            return inner
        raise ExpressionError(f"'{self.now.text}'")

    def parse_prefixed(self, name, minimum, sign):
        return f"({name}{self.expression(minimum)})"

    def build_operation(self, name, left, right):
        return f"({left}{name}{right})"

    def depth_error(self):
        return ExpressionError("deep")


def shape(text, grammar=GRAMMAR):
    return Shapes(grammar, tokenise(text, grammar)).expression()


class Free:
    """Value whose operations write themselves with all parentheses, in Python's order."""

    def __init__(self, text):
        self.text = text

    def __neg__(self):
        return Free(f"(-{self.text})")

    def __invert__(self):
        return Free(f"(~{self.text})")


def _written(sign):
    return lambda a, b: Free(f"({a.text}{sign}{b.text})")


for _sign, _name in {"|": "or", "^": "xor", "&": "and", "-": "sub", "+": "add", "*": "mul", "**": "pow"}.items():
    setattr(Free, f"__{_name}__", _written(_sign))


def texts(inner):
    signs = st.sampled_from(sorted(set(INFIX) - {"<"}))
    return st.one_of(
        st.tuples(inner, signs, inner).map("".join),
        st.tuples(st.sampled_from("-~"), inner).map("".join),
        inner.map("({})".format),
    )


@settings(max_examples=100)
@given(text=st.recursive(st.sampled_from("0123456789"), texts, max_leaves=12))
def test_operators_group_as_in_python(text):
    assert shape(text) == eval(re.sub(r"(\d)", r"Free('\1')", text), {"Free": Free}).text


@pytest.mark.parametrize(
    ("after", "expected"),
    [("narrow", "((2**(-3))*4)"), ("own", "(2**(-(3*4)))")],
)
def test_a_sign_after_a_tighter_operator_reaches_as_far_as_its_grammar_says(after, expected):
    grammar = GRAMMAR._replace(prefix={"-": Prefix("-", 6, after)})
    assert shape("2**-3*4", grammar) == expected
    assert shape("-3*4", grammar) == "(-(3*4))"


def test_a_loose_prefix_may_be_refused_after_a_tighter_operator():
    grammar = GRAMMAR._replace(prefix={"!": Prefix("!", 1, "refused")})
    assert shape("!1<2", grammar) == "(!(1<2))"
    with pytest.raises(ExpressionError, match="'!'"):
        shape("1+!2", grammar)


def test_operands_side_by_side_are_joined_by_the_implied_operator():
    grammar = GRAMMAR._replace(implied=Infix("*", 6), openings=("(",))
    assert shape("2 3**2 (4+5) - 6", grammar) == "(((2*(3**2))*(4+5))-6)"


def test_an_operator_without_grouping_needs_parentheses():
    assert shape("(1<2)<3") == "((1<2)<3)"
    with pytest.raises(ExpressionError, match="'<' needs parentheses"):
        shape("1<2<3")


def test_depth_is_bounded():
    """An operand is one expression inside the signs before it."""
    grammar = GRAMMAR._replace(max_depth=10)
    assert shape("-" * 9 + "1", grammar).count("-") == 9
    with pytest.raises(ExpressionError, match="deep"):
        shape("-" * 10 + "1", grammar)
