"""Several states at a time: the same bits as one at a time, for every operation, tail, width and mechanism function."""

import time

import casadi as ca
import numpy as np
import pytest

from core.codegen import wide_code
from core.codegen.instructions import list_instructions
from core.codegen.llvm_ir import build_module
from core.codegen.machine_code import MachineCode
from core.codegen.object_code import PLAIN, LoadedLibrary
from core.codegen.wide_code import MANY_STATES, WideCode
from core.files import load
from core.mechanism import Mechanism
from core.programs.program import drop_programs
from resources import EXAMPLES
from tests.mechanism.codegen.test_machine_code import FUNCTIONS, X

EXPRESSIONS = [expression for group in FUNCTIONS.values() for expression in group]
COUNT = len(EXPRESSIONS)


def machine_code(expressions, monkeypatch, width, checked=False):
    monkeypatch.setattr(wide_code, "vector_width", lambda: width)
    p = ca.SX.sym("p", 2)
    function = ca.Function("f", [X, p], [ca.vertcat(*expressions) * p[0] + p[1]])
    instructions = list_instructions(function)
    text = build_module(instructions, [3, 2], len(expressions), checked=checked)
    wide = WideCode(lambda: instructions, [3, 2], len(expressions), checked=checked)
    return MachineCode(LoadedLibrary(text), [3, 2], len(expressions), len(instructions), wide)


def states_with_extremes(count):
    states = np.random.default_rng(2).uniform(-2.0, 2.0, (count, 3))
    rows = [[0, 0, 0], [-0.0, 1, -1], [np.nan, 1, 2], [1e9, -1e7, 1e300], [np.inf, -np.inf, 0], [1, 1, 1]]
    states[: len(rows)] = np.array(rows)[:count]
    return states


@pytest.mark.parametrize("width", [4, 8])
def test_every_operation_gives_the_bits_of_single_states(monkeypatch, width):
    """In arrays of every length around the width; nothing is written beyond the last state."""
    code, values = machine_code(EXPRESSIONS, monkeypatch, width), np.array([1.5, -0.25])
    states = states_with_extremes(5 * width)
    wanted = np.empty((len(states), COUNT))
    assert code.evaluate_batch([states], values, wanted) == 0
    code.wide.optimise()
    for count in (1, width - 1, width, width + 1, 3 * width - 1, 5 * width):
        out = np.full((count + 1, COUNT), 7.0)
        code.evaluate_batch([np.ascontiguousarray(states[-count:])], values, out[:count])
        np.testing.assert_array_equal(out[:count], wanted[-count:])
        assert (out[count] == 7.0).all()
    own = np.tile(values, (len(states), 1))  # a row of parameters for each state
    out = np.empty_like(wanted)
    code.evaluate_batch([states], own, out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("count", [8, 11, 24])
def test_results_that_are_not_finite_are_counted_once(monkeypatch, count):
    code, values = machine_code([1.0 / X[0], X[1]], monkeypatch, 8, checked=True), np.array([1.0, 0.0])
    states = np.ones((count, 3))
    states[[0, 5, count - 1], 0] = 0.0
    states[4, 1] = np.nan
    out = np.empty((count, 2))
    assert code.evaluate_batch([states], values, out) == 4
    code.wide.optimise()
    assert code.evaluate_batch([states], values, out) == 4


@pytest.mark.parametrize("name", ["ur5", "puma560", "stewart"])
def test_functions_of_mechanisms_give_the_same_bits(name):
    drop_programs()
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    rng = np.random.default_rng(3)
    q = np.array([mech.integrate(mech.rest(), 0.3 * rng.normal(size=mech.nv)) for _ in range(21)])
    v, u = rng.normal(size=(2, 21, mech.nv))
    asked = [
        lambda: mech.mass_matrix(q),
        lambda: mech.inverse_dynamics(q, v, u, passive=False),
        lambda: mech.jacobian(q, mech.frame_names[-1]),
    ]
    if not mech.constrained:
        asked.append(lambda: mech.forward_dynamics(q, v, u))
    for function in asked:
        function()
    program = mech.compiled.program
    program.wait()  # the interpreter rounds differently
    one_at_a_time = [function() for function in asked]
    wide = [code.wide for code in program._codes.values() if getattr(code, "wide", None) is not None]
    assert len(wide) >= len(asked)
    for code in wide:
        code.optimise()
    for function, wanted in zip(asked, one_at_a_time, strict=True):
        np.testing.assert_array_equal(function(), wanted)


def test_code_for_long_arrays_follows_once_they_are_many(monkeypatch):
    monkeypatch.delenv(PLAIN, raising=False)
    code, values = machine_code([X[0] * X[1] + ca.sin(X[2])], monkeypatch, 4), np.array([1.0, 0.0])
    states = np.random.default_rng(4).normal(size=(MANY_STATES // 2, 3))
    first, later = np.empty((2, len(states), 1))
    submitted = []
    monkeypatch.setattr(wide_code.OPTIMISER, "submit", submitted.append)
    code.evaluate_batch([states], values, first)
    assert not submitted
    for _ in range(3):
        code.evaluate_batch([states], values, first)
    assert submitted == [code.wide]
    monkeypatch.undo()
    wide_code.OPTIMISER.submit(code.wide)
    end = time.monotonic() + 60.0
    while not code.wide.is_optimised and time.monotonic() < end:
        time.sleep(0.02)
    assert code.wide.is_optimised
    code.evaluate_batch([states], values, later)
    np.testing.assert_array_equal(later, first)
