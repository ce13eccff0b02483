"""Traces in machine code against CasADi's interpreter: every elementary function, extremes, sine and cosine."""

import math

import casadi as ca
import numpy as np
import pytest

from core.codegen import object_code
from core.codegen.evaluator import Interpreter
from core.codegen.instructions import list_instructions
from core.codegen.llvm_ir import build_module
from core.codegen.machine_code import MachineCode
from core.codegen.object_code import LoadedLibrary

X = ca.SX.sym("x", 3)
a, b, c = (X[i] for i in range(3))
FUNCTIONS = {
    "arithmetic": [a + b, a - b, a * b, a / b, -a, a * a, 2 * a, 1 / b],
    "roots and powers": [ca.sqrt(ca.fabs(a)), ca.fabs(a) ** b, ca.fabs(a) ** 2.5, ca.exp(a), ca.log(ca.fabs(b) + 1e-3)],
    "trigonometry": [ca.sin(a), ca.cos(a), ca.tan(b), ca.atan(c), ca.atan2(a, b)],
    "inverse trigonometry": [ca.asin(ca.tanh(a)), ca.acos(ca.tanh(b))],
    "hyperbolic": [ca.sinh(a), ca.cosh(b), ca.tanh(c), ca.asinh(a), ca.acosh(1 + b * b), ca.atanh(0.9 * ca.tanh(c))],
    "steps": [ca.sign(a), ca.floor(3 * b), ca.ceil(3 * c), ca.fmin(a, b), ca.fmax(b, c), ca.fmod(a, b), ca.erf(a)],
    "logic": [
        a < b,
        a <= b,
        ca.eq(a, b),
        ca.ne(a, b),
        ca.logic_and(a, b),
        ca.logic_or(a, 0),
        ca.logic_not(a),
        ca.if_else(a < b, c, 2 * c),
    ],
    "more": [ca.log1p(ca.fabs(a)), ca.expm1(b), ca.hypot(a, c), ca.copysign(a, b), ca.remainder(a, b)],
}


def codes(expressions, checked=False):
    p = ca.SX.sym("p", 0)
    function = ca.Function("f", [X, p], [ca.vertcat(*expressions)])
    instructions = list_instructions(function)
    text = build_module(instructions, [3, 0], len(expressions), checked=checked)
    code = MachineCode(LoadedLibrary(text), [3, 0], len(expressions), len(instructions))
    return Interpreter(function, checked=checked), code


def both(expressions, states):
    results = []
    for code in codes(expressions):
        out = np.empty((len(states), len(expressions)))
        code.evaluate_batch([np.ascontiguousarray(states)], np.zeros(0), out)
        results.append(out)
    return results


@pytest.mark.parametrize("group", FUNCTIONS)
def test_every_operation_agrees_with_the_interpreter(group):
    states = np.random.default_rng(0).uniform(-2.0, 2.0, (200, 3))
    states[:4] = [[0, 0, 0], [1, 1, 1], [-1, 2, 0], [0, -1, 1]]
    interpreted, compiled = both(FUNCTIONS[group], states)
    np.testing.assert_allclose(compiled, interpreted, rtol=1e-13, atol=1e-14)


def test_sine_and_cosine_against_the_c_library():
    """Within two units in the last place, near multiples of π/2 and far away too."""
    rng = np.random.default_rng(1)
    angles = np.concatenate(
        [
            rng.uniform(-10, 10, 3000),
            rng.uniform(-1e6, 1e6, 3000),
            rng.uniform(-1e12, 1e12, 200),
            np.arange(-60, 61) * math.pi / 2,
            np.arange(-60, 61) * math.pi / 4,
            rng.normal(size=100) * 1e-9,
            [0.0, -0.0, 5e-324, 1e300],
        ]
    )
    states = np.column_stack([angles, angles, angles])
    _, compiled = both([ca.sin(a), ca.cos(a)], states)
    for k, function in enumerate((math.sin, math.cos)):
        exact = np.array([function(x) for x in angles])
        np.testing.assert_array_less(np.abs(compiled[:, k] - exact), 2.01 * np.spacing(np.abs(exact)) + 1e-320)


def test_nan_and_infinity_keep_their_meaning():
    states = np.array([[np.nan, 1.0, 1.0], [np.inf, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    _, compiled = both([a * b - a, a / b, ca.sin(a), ca.sqrt(-1.0 - b * b)], states)
    assert np.isnan(compiled[0, :3]).all()
    assert np.isnan(compiled[1, 0])
    assert np.isinf(compiled[1, 1])
    assert np.isnan(compiled[1, 2])
    assert np.isinf(compiled[2, 1])
    assert np.isnan(compiled[3, 1])
    assert np.isnan(compiled[:, 3]).all()


def test_results_that_are_not_finite_are_reported():
    for code in codes([a / b, c], checked=True):
        asked = []
        call = code.path(np.zeros(0), (2,), lambda *states: asked.append(states))  # noqa: B023
        np.testing.assert_allclose(call(np.array([1.0, 2.0, 3.0])), [0.5, 3.0])
        assert not asked
        assert call(np.array([1.0, 0.0, 3.0])) is None
        assert len(asked) == 1
        states = np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 3.0], [0.0, 0.0, 3.0]])
        assert code.evaluate_batch([states], np.zeros(0), np.empty((3, 2))) == 2


def test_a_function_missing_in_the_c_library_does_not_end_the_process(monkeypatch):
    monkeypatch.setattr(object_code, "LIBRARY", {0: ("no_such_function", 1)})
    text = (
        "declare double @no_such_function(double)\ndefine double @single(double %x) {\n"
        " %y = call double @no_such_function(double %x)\n ret double %y\n}"
    )
    with pytest.raises(OSError, match="no_such_function"):
        LoadedLibrary(text)
