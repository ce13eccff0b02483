"""Deep machines by iteration, in segments, and many loops on one body: accelerations against full matrices, and work
that grows with their number."""

import ctypes
import dataclasses

import numpy as np
import pytest

from benchmarks.loop_machines import ROD, stewart_chain, tracked_vehicle
from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Model, Pose, World
from core.numerics.elimination import build_fronts, copy_shared_unknowns, elimination_tree, reduce_fill_in, tree_depths
from core.simulation import simulate
from core.simulation.equations.compiled_equations import CompiledEquations, plan_elimination

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)


def carousel(count, mass=1.0):
    """A wheel of 1 m with cranks of 2 m on it, each led by a rocker from one pivot: parallelograms that all share the
    wheel, none of them flat. mass: of a crank."""
    inertia = Inertia(ixx=ROD, iyy=ROD, izz=ROD)
    none = Inertia(ixx=0.0, iyy=0.0, izz=0.0)
    bodies = [Body(name="wheel", mass=5.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=2.0))]
    joints = [Joint(name="hub", parent="world", child="wheel")]
    for k in range(count):
        turn = 2.0 * np.pi * (k + 0.3) / count
        place = Pose(position=(float(np.cos(turn)), float(np.sin(turn)), 0.0))
        pivot = Pose(position=(2.0, 0.0, 0.0))
        bodies += [
            Body(name=f"crank{k}", mass=mass, center_of_mass=(1.0, 0.0, 0.0), inertia=inertia if mass else none),
            Body(name=f"rocker{k}", mass=1.0 + 0.1 * k, center_of_mass=place.position, inertia=inertia),
        ]
        joints += [
            Joint(name=f"crank{k}", parent="wheel", child=f"crank{k}", a=place),
            Joint(name=f"rocker{k}", parent="world", child=f"rocker{k}", a=pivot),
            Joint(name=f"pin{k}", parent=f"rocker{k}", child=f"crank{k}", a=place, b=pivot),
        ]
    world = World(gravity=Gravity(acceleration=(0.0, -9.81, 0.0)))
    return Model(name=f"carousel of {count}", world=world, bodies=tuple(bodies), joints=tuple(joints))


def moving(mech, seed=2):
    """A state in which loops are closed and follow each other's motion."""
    rng = np.random.default_rng(seed)
    q = np.array(mech.assemble(mech.rest()))
    G = mech.constraint_jacobian(q)
    speeds = rng.normal(size=mech.nv)
    return np.concatenate([q, speeds - np.linalg.pinv(G, rcond=1e-9) @ (G @ speeds)])


def derivative(mech, y):
    own = CompiledEquations(mech, None, mech.parameter_values(), y, closed_forms=False)
    out = np.zeros(len(y))
    assert ENTRY(int(own.system.derivative))(own.system.place, 0.0, y.ctypes.data, out.ctypes.data) == 0
    return out


def by_full_matrices(mech, y):
    """a of [M −Gᵀ; G 0] [a; λ] = [−h; −Ġ v], redundant rows or not; M + Gᵀ G in the place of M changes h."""
    q, v = y[: mech.nq], y[mech.nq :]
    M, G = mech.mass_matrix(q), mech.constraint_jacobian(q)
    h, drift = mech.compiled.call("bias_smooth", q, v), mech.compiled.call("constraint_bias", q, v)
    C = np.linalg.cholesky(M + G.T @ G)
    Y, free = np.linalg.solve(C, G.T).T, np.linalg.solve(C, -h - G.T @ drift)
    w = free + np.linalg.pinv(Y, rcond=1e-8) @ (-drift - Y @ free)
    return np.linalg.solve(C.T, w)


@pytest.mark.parametrize(
    "model",
    [stewart_chain(5), tracked_vehicle(200), carousel(40), carousel(40, 0.0)],
    ids=["platforms", "tracks", "carousel", "cranks without mass"],
)
def test_accelerations_are_those_of_full_matrices(model):
    mech = Mechanism(model)
    y = moving(mech)
    expected = by_full_matrices(mech, y)
    np.testing.assert_allclose(derivative(mech, y)[mech.nq :], expected, rtol=0, atol=1e-8 * np.max(np.abs(expected)))


def test_a_deep_machine_has_segments_and_a_shallow_one_has_none():
    assert Mechanism(stewart_chain(5)).compiled.program.symbolic.segments is not None
    assert Mechanism(carousel(40)).compiled.program.symbolic.segments is None


@pytest.mark.parametrize(
    ("make", "counts"), [(stewart_chain, (8, 12, 16)), (carousel, (60, 90, 120))], ids=["platforms", "carousel"]
)
def test_work_grows_with_the_number_of_loops_whatever_they_share(make, counts):
    """Numbers of L, of Y and of all fronts: from each count to the next the same is added."""
    sizes = []
    for count in counts:
        mech = Mechanism(make(count))
        found = plan_elimination(mech.compiled, mech.parameter_values(), np.array(mech.rest())).factors
        sizes.append(np.array([len(found.paths), len(found.reached), len(found.matrices)], dtype=float))
    np.testing.assert_allclose(sizes[2] - sizes[1], sizes[1] - sizes[0], rtol=0.15)


def test_what_all_share_is_eliminated_last():
    """Unknown 199 stands in one equation with each of the others: told last, it would fill everything."""
    order = reduce_fill_in(range(200), [[k, 199] for k in range(199)])
    places = {k: place for place, k in enumerate(order)}
    assert sorted(order) == list(range(200))
    assert max(tree_depths(elimination_tree(200, [(places[k], places[199]) for k in range(199)]))) == 1


def test_copies_of_what_many_share_serve_few():
    """100 groups share the unknowns 0 and 1: fronts stay small, and each copy is held to the next."""
    reached = [[0, 1, 2 + k] for k in range(100)]
    copies = copy_shared_unknowns(reached, 102)
    assert [[copies.of[k] for k in each] for each in copies.reached] == reached
    assert all(copies.of[one] == copies.of[other] for pairs in copies.glued for one, other in pairs)
    assert len(copies.glued) == copies.counts[0] - 1 == copies.counts[1] - 1
    order = build_fronts(
        [*copies.reached, *([k for pair in pairs for k in pair] for pairs in copies.glued)],
        [2] * 100 + [2] * len(copies.glued),
    )
    assert max(len(front.others) for front in order) < 8
    few = copy_shared_unknowns([[0, k] for k in range(1, 9)], 9)
    assert few.reached == [[0, k] for k in range(1, 9)]
    assert not few.glued


@pytest.mark.slow
def test_a_deep_machine_keeps_its_energy_and_its_loops():
    """Platforms that swing on springs, without their dampers."""
    model = stewart_chain(5)
    joints = tuple(dataclasses.replace(joint, damping=0.0) for joint in model.joints)
    mech = Mechanism(dataclasses.replace(model, joints=joints))
    speeds = {f"P{k}_0": 0.2 for k in range(1, 6)}
    run = simulate(mech, 0.05, rtol=1e-9, atol=1e-11, v0=speeds, closed_forms=False)
    assert np.max(run["constraint.residual"]) < 1e-9
    energy = run["energy.total"]
    assert np.ptp(energy) < 1e-6 * np.max(run["energy.kinetic"])
    assert np.max(run["energy.kinetic"]) > 1e-3
