"""Machines of many loops by iteration: accelerations as the least change of Gauss's principle, found here by NumPy from
full matrices; and work that grows with their number."""

import ctypes

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.numerics.elimination import add_ancestors, build_fronts, elimination_tree, tree_depths
from core.simulation.equations.compiled_equations import CompiledEquations, plan_elimination
from tests.simulation.equations.test_closed_form_runs import four_bars, machines

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)
P, _, _ = machines.read("iftomm_A02_nfourbar_N1")


def leaning(count, angle=0.7):
    """(mechanism, state): a ladder of four-bars, its rods turned by an angle, its couplers level."""
    mech = Mechanism(four_bars(P, count))
    rods = np.array([name.startswith("A") for name in mech.v_names])
    return mech, np.concatenate([np.where(rods, angle, -angle), np.where(rods, 1.3, -1.3)])


def equations(mech, y):
    return CompiledEquations(mech, None, mech.parameter_values(), y, closed_forms=False)


def derivative(mech, y):
    own, out = equations(mech, y), np.zeros(len(y))
    assert ENTRY(int(own.system.derivative))(own.system.place, 0.0, y.ctypes.data, out.ctypes.data) == 0
    return out


@pytest.mark.parametrize("count", [3, 12, 40])
def test_accelerations_are_the_least_change(count):
    """min |a − a₀| in the metric of M with G a = −Ġ v, a₀ = M⁻¹ (τ − h): with M = C Cᵀ, w = Cᵀ a."""
    mech, y = leaning(count)
    q, v = y[: mech.nq], y[mech.nq :]
    M, G = mech.mass_matrix(q), mech.constraint_jacobian(q)
    h, drift = mech.bias(q, v), mech.compiled.call("constraint_bias", q, v)
    C = np.linalg.cholesky(M)
    Y, free = np.linalg.solve(C, G.T).T, np.linalg.solve(C, -h)
    w = free + np.linalg.pinv(Y, rcond=1e-9) @ (-drift - Y @ free)
    expected = np.linalg.solve(C.T, w)
    np.testing.assert_allclose(derivative(mech, y)[mech.nq :], expected, rtol=0, atol=1e-9 * np.max(np.abs(expected)))


def test_a_ladder_moves_as_one_pendulum():
    """All rods stay parallel and the couplers level, however many there are: (N + 1) (I + m L²/4) + N m L² is what
    turns, its weight that of all rods at half their length and of all couplers at their whole."""
    m, L, g, inertia = P["m_kg"], P["L_m"], P["g_m_s2"], P["rod_inertia_about_com_kg_m2"]
    for count in (1, 30, 150):
        mech, y = leaning(count)
        a = derivative(mech, y)[mech.nq :]
        turned = (count + 1) * (inertia + m * L**2 / 4) + count * m * L**2
        weight = ((count + 1) * m * L / 2 + count * m * L) * g * np.sin(0.7)
        rods = np.array([name.startswith("A") for name in mech.v_names])
        np.testing.assert_allclose(a[rods], weight / turned, rtol=1e-9)
        np.testing.assert_allclose(a[~rods], -weight / turned, rtol=1e-9)


def test_work_grows_with_the_number_of_loops():
    """Entries that are traced, numbers that are kept, and blocks of code; nothing is refused."""
    sizes = {}
    for count in (50, 100, 200):
        mech, y = leaning(count)
        context = mech.compiled.program.symbolic
        places, room, *_ = plan_elimination(mech.compiled, mech.parameter_values(), y[: mech.nq])
        blocks = [
            len(context.trace(name).content.blocks)
            for name in ("mass_entries", "constraint_entries", "constraint_bias", "constraint_residual")
        ]
        work = [len(context.row_expressions.pattern.rows), len(context.mass_pattern.rows), room, len(places.reached)]
        sizes[count] = np.array(work), blocks
    assert sizes[200][1] == sizes[100][1]
    growth = [sizes[200][0] - sizes[100][0], 2 * (sizes[100][0] - sizes[50][0])]
    np.testing.assert_array_equal(*growth)


def test_a_row_that_is_switched_off_lets_go():
    """Of a level above all others: the accelerations are those of the machine without its cut joint, with the pattern
    that was found before."""
    mech, y = leaning(30)
    own, out = equations(mech, y), np.zeros(len(y))
    last = [k for k, row in enumerate(mech.compiled.rows) if row.element == mech.compiled.cuts[-1].name]
    levels = own.system.levels
    stated = levels.copy()
    levels[last] = 3
    assert ENTRY(int(own.system.derivative))(own.system.place, 0.0, y.ctypes.data, out.ctypes.data) == 0
    levels[:] = stated
    q, v = y[: mech.nq], y[mech.nq :]
    kept = np.setdiff1d(np.arange(len(levels)), last)
    M, G = mech.mass_matrix(q), mech.constraint_jacobian(q)[kept]
    drift, n = mech.compiled.call("constraint_bias", q, v)[kept], mech.nv
    both = np.block([[M, -G.T], [G, np.zeros((len(kept), len(kept)))]])
    expected = (np.linalg.pinv(both, rcond=1e-10) @ np.concatenate([-mech.bias(q, v), -drift]))[:n]
    np.testing.assert_allclose(out[mech.nq :], expected, rtol=0, atol=1e-8 * np.max(np.abs(expected)))


def test_the_elimination_tree_is_that_of_the_filled_matrix():
    """Against elimination carried out on a full matrix at random."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        n = 14
        full = np.eye(n, dtype=bool)
        pairs = [tuple(sorted(rng.choice(n, 2, replace=False))) for _ in range(16)]
        for j, i in pairs:
            full[i, j] = full[j, i] = True
        for k in range(n - 1, -1, -1):
            before = np.flatnonzero(full[k, :k])
            full[np.ix_(before, before)] = True
        expected = [int(max(np.flatnonzero(full[k, :k]), default=-1)) for k in range(n)]
        parents = elimination_tree(n, [(int(i), int(j)) for j, i in pairs])
        assert parents == expected
        assert tree_depths(parents) == [len(add_ancestors(parents, [k])) - 1 for k in range(n)]


def test_fronts_of_a_chain_stay_small_and_bring_in_everything_once():
    reached = [[k, k + 1, 200 + k] for k in range(100)]
    order = build_fronts(reached, [2] * 100)
    assert sorted(front.group for front in order) == list(range(100))
    assert sorted(k for front in order for k in front.unknowns) == sorted({k for each in reached for k in each})
    assert max(len(front.others) for front in order) <= 2
