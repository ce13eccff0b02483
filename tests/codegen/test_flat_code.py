"""Graphs too large to be compiled: common parts are looked for once many states are asked, and the numbers stay."""

import casadi as ca
import numpy as np

from core.codegen import flat_code
from core.codegen.flat_code import FEW_STATES, FlatCode


def test_the_numbers_are_the_same_bits_before_and_after_common_parts_are_shared(monkeypatch):
    monkeypatch.setattr(flat_code, "MOST_UNSHARED", 20)
    monkeypatch.setattr(flat_code, "MOST_INSTRUCTIONS", 10)
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    # the same sums and sines, written anew each time
    parts = [k * ca.sin(x[0] + p[0]) * ca.cos(x[1] * p[1]) + ca.sin(x[0] + p[0]) ** 2 / x[2] for k in range(1, 9)]
    code = FlatCode([x, p], [ca.vertcat(*parts)])
    states, numbers = np.random.default_rng(3).uniform(0.5, 2.0, (5, 3)), np.array([0.3, 0.7])
    assert not code.is_compiled
    before = code([states], numbers)[0]
    expected = [
        [k * np.sin(a + 0.3) * np.cos(b * 0.7) + np.sin(a + 0.3) ** 2 / c for k in range(1, 9)] for a, b, c in states
    ]
    np.testing.assert_allclose(before[..., 0], expected, rtol=1e-14)
    many = np.tile(states, (FEW_STATES, 1))
    after = code([many], numbers)[0]
    assert np.array_equal(after[:5], before)
    assert np.array_equal(code([states], numbers)[0], before)
