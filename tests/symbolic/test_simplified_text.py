"""Typed expressions in short form: Robotica's and ordinary notation alike, and roots that keep their sign."""

import math

import pytest

from core.errors import ExpressionError
from core.symbolic.factoring import simplify_text
from core.symbolic.notation import to_sympy


def value(text, **numbers):
    """The number of a simplified expression, by SymPy."""
    import sympy

    return float(to_sympy(simplify_text(text), sympy.Symbol).subs(numbers))


@pytest.mark.parametrize(
    ("robotica", "ordinary"),
    [
        ("Cos[q1]^2 + Sin[q1]^2", "cos(q1)^2 + sin(q1)**2"),
        ("Sin[q1] Cos[q2] + Cos[q1] Sin[q2]", "sin(q1)*cos(q2) + cos(q1)*sin(q2)"),
        ("2 l1 Cos[q1 + 30 Degree]", "2*l1*cos(q1 + 30 deg)"),
        ("ArcTan[2, 1] a", "atan2(1, 2)*a"),
        ("Sqrt[2] Pi b/Exp[1]", "sqrt(2)*pi*b/exp(1)"),
    ],
)
def test_both_notations_mean_the_same(robotica, ordinary):
    assert simplify_text(robotica) == simplify_text(ordinary)
    numbers = {"q1": 0.7, "q2": -1.1, "l1": 0.4, "a": 3.0, "b": -2.0}
    environment = {**vars(math), **numbers, "deg": math.pi / 180.0}
    assert value(ordinary, **numbers) == pytest.approx(
        eval(ordinary.replace("^", "**").replace("30 deg", "30*deg"), environment)
    )


@pytest.mark.parametrize("text", ["sin q1", "2 Sin q1", "cos^2(q1) + sin^2(q1)", "atan(1, 2)"])
def test_functions_need_their_argument(text):
    with pytest.raises(ExpressionError, match=r"function|argument"):
        simplify_text(text)


@pytest.mark.parametrize(
    ("text", "root"),
    [("Sqrt[q1^4]", lambda q: q**2), ("sqrt((q1^2 + 2)^2)", lambda q: q**2 + 2), ("Sqrt[9]", lambda q: 3.0)],
)
def test_roots_of_certain_sign(text, root):
    assert [value(text, q1=q) for q in (2.0, -3.0)] == [root(q) for q in (2.0, -3.0)]


@pytest.mark.parametrize(
    "text", ["Sqrt[q1^2]", "Sqrt[Cos[q1]^2]", "sqrt(9*a^2)", "Sqrt[(q1^2 - 2)^2]", "Sqrt[q1^2 q2^2]"]
)
def test_roots_whose_sign_is_open_are_refused(text):
    with pytest.raises(ExpressionError, match="or its negative"):
        simplify_text(text)
