"""Formulas as polynomials of a name."""

import math

import pytest

from core.model.formula.expression import parse
from core.model.formula.polynomials import degree_in


@pytest.mark.parametrize(
    ("text", "degree"),
    [
        ("3", 0),
        ("k*(x + 1)", 0),
        ("sin(x)^2", 0),
        ("t", 1),
        ("-100*(x + 0.1*t)", 1),
        ("3*t - time*sin(x)", 1),
        ("(1 + t)*(t - x)", 2),
        ("t^3/k - t", 3),
        ("(t^2)^2", 4),
        ("1/t", math.inf),
        ("2^t", math.inf),
        ("t^0.5", math.inf),
        ("step(t - 1)", math.inf),
        ("if(t < 1, 2, 3)", math.inf),
        ("x < t", math.inf),
        ("x*exp(-t)", math.inf),
    ],
)
def test_degree_in_time(text, degree):
    assert degree_in(parse(text), {"t", "time"}) == degree
