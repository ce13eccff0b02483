"""Machines with many loops: what is computed by sparse elimination is what singular values and closed forms say, and
takes work in proportion to the loops."""

import math

import numpy as np
import pytest

from benchmarks.loop_machines import four_bars
from core.constraints.multipliers import solve_constrained_motion
from core.constraints.reactions import compute_reactions
from core.errors import AssemblyError
from core.mechanism import Mechanism
from core.numerics import fronts, position_solver
from core.programs import compiled
from tests.constraints.mobility import overconstrained
from tests.walks import slow

MACHINES = {
    "planar": overconstrained.planar_fourbar,
    "inclined": lambda: overconstrained.planar_fourbar((0.6, 0.0, 0.8)),
    "sarrus": overconstrained.sarrus,
    "cardan": overconstrained.cardan_shaft,
    "stewart": overconstrained.stewart,
    "geared": overconstrained.geared,
    "truss": overconstrained.truss,
    "bricard": overconstrained.bricard_plane_symmetric,
    "bennett": overconstrained.bennett,
    "row": lambda: four_bars(4),
}


def both(model, monkeypatch):
    """The same machine as a small one, and as one of which all goes by the entries of G."""
    small, large = Mechanism(model), Mechanism(model)
    monkeypatch.setitem(large.compiled.__dict__, "is_sparse", True)
    assert not small.compiled.is_sparse
    return small, large


@pytest.mark.parametrize("name", MACHINES)
def test_mobility_says_the_same(name, monkeypatch):
    small, large = both(MACHINES[name](), monkeypatch)
    q = small.rest()
    assert str(large.mobility(q)) == str(small.mobility(q))


@pytest.mark.parametrize("name", MACHINES)
def test_motion_and_forces_are_the_same(name, monkeypatch):
    small, large = both(MACHINES[name](), monkeypatch)
    q, rng = small.rest(), np.random.default_rng(3)
    tau, first = rng.normal(size=small.nv), small.v_names[0]
    try:
        v = small.speeds(q, {first: 1.0})
    except AssemblyError:  # nothing moves
        v = np.zeros(small.nv)
    np.testing.assert_allclose(large.speeds(q, {}), small.speeds(q, {}), atol=1e-10)
    a = small.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(large.forward_dynamics(q, v, tau), a, atol=1e-8 * max(1.0, np.abs(a).max()))
    forces, own = small.reactions(q, v, tau), large.reactions(q, v, tau)
    assert own.note == forces.note
    size = max(np.abs(F).max() for F in forces.values())
    for joint, F in forces.items():
        np.testing.assert_allclose(own[joint], F, atol=1e-8 * max(1.0, size), err_msg=joint)


@pytest.mark.parametrize("count", [80, *slow(300)])
def test_loops_close_and_move_as_parallelograms_do(count):
    """All cranks of a row of parallelograms stand alike, and its couplers stay upright to their cranks."""
    mech = Mechanism(four_bars(count))
    assert mech.compiled.is_sparse
    q = mech.move(mech.rest(), {"A0": 0.4})
    cranks = [mech.joint_q(f"A{k}").start for k in range(count + 1)]
    couplers = [mech.joint_q(f"B{k}").start for k in range(1, count + 1)]
    np.testing.assert_allclose(q[cranks], 0.4, atol=1e-9)
    np.testing.assert_allclose(q[couplers], -0.4, atol=1e-9)
    v = mech.speeds(q, {"A0": 2.0})
    np.testing.assert_allclose(v[cranks], 2.0, atol=1e-9)
    # in phase they are one pendulum: cranks with 1/3 and couplers with 1 kg m² about the ground, g = 9.81
    inertia, moment = (count + 1) / 3.0 + count, ((count + 1) / 2.0 + count) * 9.81
    a = mech.forward_dynamics(q, v, np.zeros(mech.nv))
    np.testing.assert_allclose(a[cranks], moment / inertia * np.sin(0.4), rtol=1e-9)


def test_mobility_of_many_loops():
    """One freedom; every closing pin holds its plane thrice too much."""
    count = 120
    found = Mechanism(four_bars(count)).mobility(Mechanism(four_bars(count)).rest())
    assert (found.dof, found.at_pose, found.count) == (1, 1, 1 - 3 * count)
    assert found.equations - found.rank == 3 * count == len(found.redundant)
    assert {item.joint for item in found.redundant} == {f"C{k}" for k in range(1, count + 1)}
    assert [len(motion.joints) for motion in found.motions] == [3 * count + 1]
    assert sum(len(change.components) for change in found.proposal) == 3 * count


@pytest.mark.parametrize("count", [2, 30, *slow(120)])
def test_reactions_take_five_evaluations_a_sample_whatever_the_number_of_loops(count, monkeypatch):
    """States at which functions are evaluated for the reactions of a motion."""
    mech, samples = Mechanism(four_bars(count)), 20
    q = np.tile(mech.rest(), (samples, 1))
    v, tau = np.zeros((samples, mech.nv)), np.zeros((samples, mech.nv))
    motion = solve_constrained_motion(mech.compiled, q, v, tau, None, True)
    states, call = [], compiled.CompiledModel.call

    def counted(self, function, *arguments, **more):
        states.append(math.prod(np.shape(arguments[0])[:-1]))
        return call(self, function, *arguments, **more)

    monkeypatch.setattr(compiled.CompiledModel, "call", counted)
    compute_reactions(mech.compiled, q, v, *motion, None, True)
    assert sum(states) <= 5 * samples


@pytest.mark.slow
def test_the_work_of_a_drag_grows_with_the_loops(monkeypatch):
    """Entries that are eliminated and steps that are taken for a drag over the same angle."""
    eliminated, steps = [], []
    front, step = fronts._factorise_front, position_solver._step_within_limits
    monkeypatch.setattr(fronts, "_factorise_front", lambda A, *more: eliminated.append(A.size) or front(A, *more))
    monkeypatch.setattr(position_solver, "_step_within_limits", lambda G, *more: steps.append(G.nnz) or step(G, *more))
    work = []
    for count in (90, 360):
        mech = Mechanism(four_bars(count))
        q = mech.rest()
        eliminated.clear()
        steps.clear()
        mech.move(q, {"A0": 0.25})
        work.append((sum(eliminated), sum(steps)))
    (few, short), (many, long) = work
    assert few > 0
    assert many < 1.2 * 4.0 * few
    assert long <= 1.2 * 4.0 * max(short, 1)
