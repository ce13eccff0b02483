"""Guards of quick calls: numbers beyond bounds take the other path, in machine code as in the interpreter."""

from __future__ import annotations

import gc

import casadi as ca
import numpy as np
import pytest

from core.codegen.evaluator import Evaluator, Interpreter, Signature
from core.codegen.instructions import list_instructions
from core.codegen.llvm_ir import build_module
from core.codegen.machine_code import MachineCode
from core.codegen.object_code import LoadedLibrary
from core.codegen.single_state import Guard, RangeCheck
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES

GUARD = Guard(
    (RangeCheck(0, 0, -0.5, 0.5), RangeCheck(0, 2, -np.inf, 0.25), RangeCheck(1, 1, -1e-9, 1e-9, outside=True))
)
Q, V = np.zeros(3), np.ones(2)


def codes() -> tuple[Interpreter, MachineCode]:
    """q₀ + 2 q₁ + 3 q₂ + v₀ v₁ as both evaluate it."""
    q, v, p = ca.SX.sym("q", 3), ca.SX.sym("v", 2), ca.SX.sym("p", 0)
    function = ca.Function("f", [q, v, p], [q[0] + 2 * q[1] + 3 * q[2] + v[0] * v[1]])
    instructions = list_instructions(function)
    library = LoadedLibrary(build_module(instructions, [3, 2, 0], 1, checked=False))
    return Interpreter(function, checked=False), MachineCode(library, [3, 2, 0], 1, len(instructions))


def evaluator(code: Interpreter | MachineCode) -> Evaluator:
    return Evaluator("f", Signature(("q", "v"), (1,)), (3, 2), code, np.zeros(0))


def moved(array: np.ndarray, k: int, value: float) -> np.ndarray:
    result = array.copy()
    result[k] = value
    return result


PASSES = [
    (Q, V),
    (moved(Q, 0, 0.5), V),
    (moved(Q, 0, -0.5), V),
    (moved(Q, 2, -1e300), V),
    (moved(Q, 1, 9.0), V),
    (Q, moved(V, 1, -1.1e-9)),
    (Q, moved(V, 0, 0.0)),
]
BEYOND = [
    (moved(Q, 0, np.nextafter(0.5, 1.0)), V),
    (moved(Q, 0, np.nextafter(-0.5, -1.0)), V),
    (moved(Q, 2, 0.3), V),
    (moved(Q, 0, np.nan), V),
    (Q, moved(V, 1, 0.0)),
    (Q, moved(V, 1, 1e-9)),
]


@pytest.mark.parametrize("code", codes(), ids=["interpreter", "machine code"])
def test_what_is_beyond_takes_the_other_path(code: Interpreter | MachineCode) -> None:
    asked: list[tuple[np.ndarray, ...]] = []
    quick = evaluator(code).build_guarded_function(GUARD, lambda *states: asked.append(states) or "other")
    for q, v in PASSES:
        np.testing.assert_allclose(quick.call(q, v), [q @ [1.0, 2.0, 3.0] + v[0] * v[1]], rtol=1e-15)
    assert not asked
    for q, v in BEYOND:
        assert quick.call(q, v) == "other"
    assert len(asked) == len(BEYOND)
    assert quick.call(np.array([Q, Q]), V) == "other"  # arrays of states
    assert quick.call(Q) == "other"
    assert quick.call(Q, [1.0, "fast"]) == "other"


def test_machine_code_that_comes_later_is_taken_up() -> None:
    first, later = codes()
    found = evaluator(first)
    quick = found.build_guarded_function(GUARD, lambda *states: "other")
    before = quick.call
    found.switch_code(later)
    assert quick.call is not before
    assert quick.call(moved(Q, 0, 1.0), V) == "other"
    np.testing.assert_array_equal(quick.call(Q, V), [1.0])


def test_an_evaluator_keeps_no_quick_call_that_nobody_has() -> None:
    found = evaluator(codes()[0])
    kept = [found.build_guarded_function(GUARD, lambda *states: "other") for _ in range(3)]
    assert len(found._guarded) == 3
    kept.clear()
    gc.collect()
    assert len(found._guarded) == 0


@pytest.mark.parametrize("function", ["forward_dynamics", "inverse_dynamics"])
def test_an_arm_between_its_limits_takes_one_call(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it gives is what its other path gives there, and only there."""
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    mech.compile(function)
    q, v = mech.rest(), np.ones(mech.nv)
    call = getattr(mech, function)
    call(q, v, v)
    quick = mech._inverse_dynamics_evaluator if function == "inverse_dynamics" else mech._forward_dynamics_evaluator
    many = call(np.array([q, q]), v, v)
    np.testing.assert_allclose(many, [call(q, v, v)] * 2, rtol=1e-12)
    asked: list[int] = []
    quick._otherwise = lambda *states: asked.append(1)
    quick.switch_code(mech.compiled.evaluator(function).code)
    call(q, v, v)
    assert not asked
    call(q, 0.0 * v, v)
    assert asked == [1]
