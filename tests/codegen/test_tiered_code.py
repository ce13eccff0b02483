"""Code that was compiled quickly, and the optimised code that replaces it, give the same bits."""

import ctypes
import threading
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

from core.codegen import tiered_code
from core.codegen.instructions import list_instructions
from core.codegen.llvm_ir import build_module
from core.codegen.machine_code import MachineCode
from core.codegen.object_code import PLAIN
from core.codegen.processor import has_fused_multiply_add
from core.codegen.tiered_code import BackgroundOptimiser, TieredLibrary
from core.files import load
from core.mechanism import Mechanism
from core.programs.program import drop_programs
from core.simulation import simulate
from resources import EXAMPLES

x = ca.SX.sym("x", 4)
a, b, c, d = (x[k] for k in range(4))
EXPRESSIONS = (
    a * b + c, a * b - c, c - a * b, -(a * b) - c, c + a**2, a * b + c * d, a * b - c * d, a / d + b / d, b / 3.0 - c,
    (a * b) * (a * b + c), a / b, ca.sin(a) * ca.cos(b) + ca.exp(c), ca.sqrt(a * a + b * b), ca.fmin(a, b) * c + d,
    a**2.5 + ca.hypot(a, b), ca.atan2(a, b) * c - ca.fabs(d), ca.if_else(a < b, a * c + d, b * c - d),
)  # fmt: skip


@pytest.fixture(autouse=True)
def cold(tmp_path, monkeypatch):
    """Nothing was compiled before, and optimisation is not skipped."""
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path))
    monkeypatch.delenv(PLAIN, raising=False)


@pytest.fixture
def submitted(monkeypatch):
    """Libraries of which optimised code was requested; nobody compiles it."""
    found = []
    monkeypatch.setattr(tiered_code.OPTIMISER, "submit", found.append)
    return found


def text():
    function = ca.Function("f", [x, ca.SX.sym("p", 0)], [ca.vertcat(*EXPRESSIONS)])
    return build_module(list_instructions(function), [4, 0], len(EXPRESSIONS), checked=False)


def states():
    return np.random.default_rng(0).uniform(0.1, 3.0, (50, 4))


def evaluate(code):
    out = np.empty((50, len(EXPRESSIONS)))
    code.evaluate_batch([states()], np.zeros(0), out)
    return out


def test_optimised_code_gives_the_same_bits(submitted):
    library = TieredLibrary(text())
    assert submitted == [library]
    assert not library.is_optimised
    code = MachineCode(library, [4, 0], len(EXPRESSIONS), len(EXPRESSIONS))
    first = evaluate(code)
    code.optimise()
    assert library.is_optimised
    assert evaluate(code).tobytes() == first.tobytes()  # by the same addresses
    assert TieredLibrary(text()).is_optimised  # the cache has it now


def test_products_in_sums_are_rounded_once(submitted):
    """The first four and the eighth sums against exact arithmetic; without fused operations, rounded twice."""
    found = evaluate(MachineCode(TieredLibrary(text()), [4, 0], len(EXPRESSIONS), 1))
    for row, (a, b, c, _) in zip(found, states(), strict=True):
        product = Fraction(a) * Fraction(b) if has_fused_multiply_add() else Fraction(a * b)
        expected = [product + Fraction(c), product - Fraction(c), Fraction(c) - product, -product - Fraction(c)]
        assert list(row[:4]) == [float(each) for each in expected]


def test_optimised_code_of_another_process_is_taken_by_who_holds_the_address(monkeypatch):
    optimiser = BackgroundOptimiser()
    monkeypatch.setattr(tiered_code, "OPTIMISER", optimiser)
    monkeypatch.setattr(tiered_code, "DELAY", 0.0)
    monkeypatch.setattr(tiered_code, "IDLE", 0.0)
    arrived, install = threading.Event(), TieredLibrary.install
    monkeypatch.setattr(TieredLibrary, "install", lambda self, data: (install(self, data), arrived.set()))
    library = TieredLibrary("define i64 @single(ptr %base) nounwind {\n  ret i64 41\n}")
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(library.address("single"))
    assert call(None) == 41
    try:
        assert arrived.wait(60.0)
    finally:
        optimiser.close()
    quick = ctypes.c_uint64.from_address(library.variable_address("single.code")).value
    assert quick != library.address("single.first")
    assert call(None) == 41


@pytest.mark.parametrize("example", ["puma560", "four_bar", "scara_mobile"])
def test_a_first_run_is_the_same_as_one_with_optimised_code(submitted, example):
    drop_programs()
    mech = Mechanism(load(EXAMPLES / f"{example}.kst"))
    cold = simulate(mech, 0.2)
    assert [each for each in submitted if not each.is_optimised]
    for each in submitted:
        each.optimise()
    warm = simulate(mech, 0.2)
    drop_programs()
    for name in ("time", "q", "v", "a", "tau"):
        assert getattr(cold, name).tobytes() == getattr(warm, name).tobytes(), name
