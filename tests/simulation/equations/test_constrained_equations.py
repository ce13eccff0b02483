"""Accelerations and constraint forces of runs, in machine code, against those of `core.constraints.multipliers`: two
forms of one statement, M a + h = τ + Gᵀ λ with G a = −(Ġ v − f̈), on random loops."""

import ctypes
import dataclasses

import numpy as np
import pytest
from scipy.linalg import null_space

from core.constraints.multipliers import solve_constrained_motion
from core.mechanism import Mechanism
from core.model import Driver, Inertia, Parameter
from core.simulation.equations.compiled_equations import CompiledEquations
from tests.constraints.mobility import overconstrained
from tests.simulation.equations.test_cut_coordinates import RINGS, loop

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)
TIME = 0.3
"""s"""
STATES = 20


def of_any_masses(model):
    """The model with a parameter for the mass of each body."""
    names = {body.name: f"mass_of_{body.name}" for body in model.bodies}
    bodies = tuple(
        dataclasses.replace(
            body,
            mass=names[body.name],
            inertia=Inertia(**{word: f"{size}*{names[body.name]}" for word, size in SHAPE.items()}),
        )
        for body in model.bodies
    )
    parameters = tuple(Parameter(name=name, value=1.0) for name in names.values())
    return dataclasses.replace(model, bodies=bodies, parameters=parameters)


SHAPE = {"ixx": 0.11, "iyy": 0.17, "izz": 0.23, "ixy": 0.02}
"""Inertia per mass, m²."""


def driven(model, joint):
    return dataclasses.replace(model, drivers=(Driver(name="motor", joint=joint, function="0.2*sin(3*t)"),))


LOOPS = {
    **{f"{', '.join(kinds)} ({seed})": loop(kinds, seed) for kinds in RINGS for seed in (1, 2)},
    "four-bar": overconstrained.planar_fourbar((0.2, -0.3, 0.9)),
    "Bennett": overconstrained.bennett(),
}
"""In space; the last two have rows that are redundant."""
CASES = {name: of_any_masses(model) for name, model in LOOPS.items()}
CASES["driven four-bar"] = driven(CASES["four-bar"], "J1")


def states(name):
    """(mechanism, (q, v, τ, p) at random: positions and speeds that loops allow, masses, of every second state one
    that is zero, if all that moves keeps some)."""
    rng, mech = np.random.default_rng(len(name)), Mechanism(CASES[name])
    found = []
    while len(found) < STATES:
        p = rng.uniform(0.5, 3.0, len(mech.p_names))
        if len(found) % 2:
            p[rng.integers(len(p))] = 0.0
        start = mech.integrate(mech.rest(p, t=TIME), 0.1 * rng.normal(size=mech.nv))
        q, v = mech.assemble(start, rng.normal(size=mech.nv), p=p, t=TIME)
        free = null_space(mech.constraint_jacobian(q, p=p), rcond=1e-6)
        if free.shape[1] == 0 or np.linalg.eigvalsh(free.T @ mech.mass_matrix(q, p=p) @ free)[0] > 1e-4:
            found.append((q, v, rng.normal(size=mech.nv), p))
    return mech, found


def accelerations_of_runs(mech, q, v, tau, p):
    return accelerations_by(CompiledEquations(mech, tau, p, np.concatenate([q, v]), closed_forms=False), q, v)


def accelerations_by(equations, q, v):
    y, out = np.concatenate([q, v]), np.zeros(len(q) + len(v))
    happened = ENTRY(int(equations.system.derivative))(equations.system.place, TIME, y.ctypes.data, out.ctypes.data)
    assert happened == 0
    return out[len(q) :]


@pytest.mark.parametrize("name", CASES)
def test_runs_and_multipliers_state_the_same(name):
    mech, drawn = states(name)
    for q, v, tau, p in drawn:
        a, multipliers = solve_constrained_motion(mech.compiled, q, v, tau, p, True, TIME)
        M, G, h = mech.mass_matrix(q, p=p), mech.constraint_jacobian(q, p=p), mech.bias(q, v, p=p, t=TIME)
        of_runs = accelerations_of_runs(mech, q, v, tau, p)
        np.testing.assert_allclose(of_runs, a, rtol=0, atol=1e-7 * np.max(np.abs(a)))
        forces = M @ of_runs + h - tau
        np.testing.assert_allclose(G.T @ multipliers, forces, rtol=0, atol=1e-7 * np.max(np.abs(forces)))


@pytest.mark.parametrize("name", CASES)
def test_factors_are_used_again_only_where_the_machine_stands_as_it_did(name):
    """Of one memory the same to the last bit as of a fresh one each time, wherever it was asked before."""
    mech, drawn = states(name)
    p = drawn[0][3]
    same = [(q, v, tau) for q, v, tau, other in drawn if other.all()][:3]
    asked = [same[k] for k in (0, 0, 1, 0, 2, 2, 1)]
    asked.insert(2, (same[0][0], same[1][1], same[2][2]))  # another speed and other forces at the same position
    equations = CompiledEquations(mech, np.zeros(mech.nv), p, np.concatenate(asked[0][:2]), closed_forms=False)
    for q, v, tau in asked:
        equations.system.u[:] = tau
        np.testing.assert_array_equal(accelerations_by(equations, q, v), accelerations_of_runs(mech, q, v, tau, p))


def test_the_loops_have_what_makes_them_hard():
    """Masses that vanish make M singular, rows are redundant."""
    mech, drawn = states("four-bar")
    massless = [mech.mass_matrix(q, p=p) for q, _, _, p in drawn if not p.all()]
    assert len(massless) == STATES // 2
    assert any(np.linalg.eigvalsh(M)[0] < 1e-12 * np.linalg.eigvalsh(M)[-1] for M in massless)
    for name in ("four-bar", "Bennett"):
        mech, drawn = states(name)
        ranks = {np.linalg.matrix_rank(mech.constraint_jacobian(q, p=p), tol=1e-6) for q, _, _, p in drawn}
        assert max(ranks) < len(mech.constraint_residual(drawn[0][0]))
