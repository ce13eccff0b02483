"""Numbers that are hard to read go into sums; the value stays."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import resources
from core.files import load
from core.symbolic import robot
from core.symbolic.forms import Number, Product, Sum, Symbol, evaluate, names_in_form, walk_subexpressions
from core.symbolic.notation import format_number, is_short_fraction, make_legible

A, B = Symbol("a"), Symbol("b")
FRACTIONS = st.fractions(min_value=-100, max_value=100, max_denominator=10**8).filter(bool)


@given(FRACTIONS, FRACTIONS, FRACTIONS)
def test_the_value_stays(x, y, z):
    form = Product((Number(x), A, Sum((Product((Number(y), B)), Product((Number(z), Sum((A, B))))))))
    values = {"a": 1.25, "b": -0.75}
    assert evaluate(make_legible(form), values) == pytest.approx(evaluate(form, values), rel=1e-12, abs=1e-12)


def test_a_long_denominator_goes_into_the_sum():
    form = Product((Number(Fraction(1, 10**6)), Sum((Product((Number(Fraction(2_500_000)), A)), B))))
    found = make_legible(form)
    assert found == Sum((Product((Number(Fraction(5, 2)), A)), Product((Number(Fraction(1, 10**6)), B))))


def test_short_factors_stay_outside():
    form = Product((Number(Fraction(1, 4)), Sum((A, B))))
    assert make_legible(form) == form


def test_no_long_numbers_before_sums_in_the_stanford_arm():
    path = next(path.path for path in resources.examples() if Path(path.path).stem == "stanford")
    made = robot(load(path))
    values = {
        name: 0.3 + 0.1 * k
        for k, name in enumerate(sorted({n for r in made.form("M") for f in r for n in names_in_form(f)}))
    }
    for row in made.form("M"):
        for form in row:
            found = make_legible(form)
            assert evaluate(found, values) == pytest.approx(evaluate(form, values), rel=1e-9, abs=1e-12)
            for part in walk_subexpressions(found):
                if isinstance(part, Product) and any(isinstance(f, Sum) for f in part.factors):
                    assert all(is_short_fraction(f.value) for f in part.factors if isinstance(f, Number))


def test_numbers_are_written_with_few_digits():
    assert format_number(Fraction(1337, 10000)) == "0.1337"
    assert format_number(Fraction(-1, 3)) == "−0.333333"
    assert format_number(Fraction(10**9)) == "10⁹"
