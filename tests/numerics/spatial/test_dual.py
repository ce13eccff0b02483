"""Dual numbers against CasADi's derivatives, of numbers and of graphs."""

import casadi as ca
import pytest

from core.codegen import graph_symbols
from core.numerics.spatial.dual import Dual, rate_at_level, value_at_level
from core.numerics.spatial.scalar import apply, minus, over, plus, times

assert graph_symbols  # SX is a scalar once it is loaded

FORMULAS = {
    "sum": lambda x, y: plus(times(2.0, x), minus(y, 3.0)),
    "operators": lambda x, y: (2.0 * x - y / 3.0 + 1.0) * -y / (1.0 - x) + (+y - 2.0),
    "quotient": lambda x, y: over(x, plus(2.0, times(y, y))),
    "powers": lambda x, y: x**3 + y**-2 + (x * x) ** 0.5 + 2.0**x + x**0 + y**x,
    **{
        name: (lambda x, y, name=name: apply(name, times(x, y)))
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "fabs")
    },
    **{name: (lambda x, y, name=name: apply(name, plus(x, y))) for name in ("sqrt", "log", "sign", "floor", "ceil")},
    "atan2": lambda x, y: apply("atan2", times(x, y), minus(x, y)),
    "fmin": lambda x, y: apply("fmin", times(x, x), y),
    "fmax": lambda x, y: apply("fmax", times(x, x), y),
    "if": lambda x, y: apply("if_else", apply("lt", x, y), times(x, y), y),
    "step": lambda x, y: times(x, apply("step", minus(x, y))),
    "logic": lambda x, y: times(y, apply("logic_and", apply("ge", x, y), apply("logic_not", apply("eq", x, y)))),
    "depth": lambda x, y: apply("sin", over(apply("exp", times(x, y)), apply("sqrt", plus(x, times(y, y))))),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("place", [(0.3, 0.7), (0.6, 0.45)])
def test_first_and_second_derivatives_along_a_direction(name, place):
    f, direction = FORMULAS[name], (0.9, -0.4)
    X = ca.SX.sym("X", 2)
    graph = f(X[0], X[1]) + 0.0 * X[0]
    once = ca.jtimes(graph, X, ca.DM(direction))
    expected = [
        float(each) for each in ca.Function("f", [X], [graph, once, ca.jtimes(once, X, ca.DM(direction))])(place)
    ]

    inner = [Dual(value, rate, 1) for value, rate in zip(place, direction, strict=True)]
    outer = f(*(Dual(value, rate, 2) for value, rate in zip(inner, direction, strict=True)))
    value, rate = value_at_level(outer, 2), rate_at_level(outer, 2)
    assert float(value_at_level(value, 1)) == pytest.approx(expected[0], rel=1e-13)
    assert float(value_at_level(rate, 1)) == pytest.approx(expected[1], rel=1e-12, abs=1e-13)
    assert float(rate_at_level(value, 1)) == pytest.approx(expected[1], rel=1e-12, abs=1e-13)
    assert float(rate_at_level(rate, 1)) == pytest.approx(expected[2], rel=1e-11, abs=1e-12)

    over_graph = f(*(Dual(X[k], direction[k], 1) for k in range(2)))
    result = ca.Function("g", [X], [ca.SX(value_at_level(over_graph, 1)), ca.SX(rate_at_level(over_graph, 1))])(place)
    assert [float(each) for each in result] == pytest.approx(expected[:2], rel=1e-12, abs=1e-13)


def test_symbols_meet_dual_numbers_on_either_side():
    a = ca.SX.sym("a")
    x = Dual(2.0, 1.0, 1)
    for f, slope in ((plus, 1.0), (minus, -1.0), (times, 5.0), (over, -5.0 / 4.0)):
        rate = ca.Function("f", [a], [ca.SX(rate_at_level(f(a, x), 1))])(5.0)
        assert float(rate) == pytest.approx(slope)


def test_a_literal_that_does_not_change_stays_one():
    assert times(Dual(3.0, 0.0, 1), 2.0) == 6.0
    assert apply("floor", Dual(2.5, 1.0, 1)) == 2.0


def test_what_has_no_derivative_is_refused_by_name():
    with pytest.raises(TypeError, match="erf"):
        apply("erf", Dual(0.5, 1.0, 1))
