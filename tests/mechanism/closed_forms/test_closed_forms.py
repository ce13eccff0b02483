"""Closed forms: every listed type of loop, permuted, turned round, cut anywhere, coupled; against assembly by iteration
and the multipliers of the cut joints."""

from dataclasses import replace

import numpy as np
import pytest

from core.constraints.closed_forms.closed_forms import get_analytic_closure
from core.mechanism import Mechanism
from core.model import Body, Driver, Joint, Model, Parameter, Pose
from tests.mechanism.closed_forms import random_loops as loops

KINDS = (*loops.PLANAR, *loops.SPATIAL, *loops.BALLS, *loops.OTHERS)
LISTED = ("RRR", "RRP", "RPR", "PRR", "SSR", "SSP", "USR", "USP", "UPS")
PAIRS = (
    ("RRR", "RRR"),
    ("RRP", "RRR", "RPR"),
    ("RRR", "PRR", "RRR", "RPP"),
    ("USR", "SSR"),
    ("RRR", "UPS"),
    ("RRR", "UPS", "SSP", "RRP"),
    ("SSR", "USP"),
    ("UPS", "UPS", "UPS"),
    ("DDD", "SSR"),
    ("SCR", "USR"),
)


def reduced(mech, q, v):
    """(q, v, b, Φ, M, h, reach, sine) of the explicit equations."""
    forms = get_analytic_closure(mech.compiled.program)
    code, out = forms.reduction_code, np.empty((1, forms.output_layout.size))
    code.evaluate_batch([np.array([q]), np.array([v])], mech.parameter_values(), out)
    nq, nv, n = mech.nq, mech.nv, len(forms.independent_speeds)
    columns, pairs = forms.sparsity.columns, forms.sparsity.pairs
    parts = np.split(out[0], np.cumsum([nq, nv, nv, sum(map(len, columns)), len(pairs), n, 1, 1]))
    Phi, M = np.zeros((nv, n)), np.zeros((n, n))
    Phi[[k for column in columns for k in column], [i for i, column in enumerate(columns) for _ in column]] = parts[3]
    for (i, j), x in zip(pairs, parts[4], strict=True):
        M[i, j] = M[j, i] = x
    parts[3], parts[4] = Phi, M
    parts[6], parts[7] = float(parts[6][0]), float(parts[7][0])
    return parts[:8]


def check(mech, seed):
    """Position from a guess, speeds, Φ and accelerations at a closed pose away from where branches meet."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        q, v = mech.assemble(mech.integrate(mech.rest(), rng.uniform(-0.25, 0.25, mech.nv)), rng.normal(size=mech.nv))
        closed = reduced(mech, q, v)
        if closed[6] > 0.02 and closed[7] > 1e-3:
            break
    forms = get_analytic_closure(mech.compiled.program)
    own = [speed.v for speed in forms.independent_speeds if not speed.spin]
    shift = rng.uniform(-1e-3, 1e-3, mech.nv)
    shift[own] = 0.0
    off = reduced(mech, mech.integrate(q, shift), v)[0]
    np.testing.assert_allclose(mech.constraint_residual(off), 0.0, atol=1e-10)
    if not any(speed.spin for speed in forms.independent_speeds):
        np.testing.assert_allclose(mech.difference(q, off), 0.0, atol=1e-7)
    scale = 1.0 / min(closed[7], 1.0) ** 2
    np.testing.assert_allclose(mech.difference(q, closed[0]), 0.0, atol=1e-8)
    np.testing.assert_allclose(closed[1], v, atol=1e-9 * scale)
    Phi = closed[3]
    np.testing.assert_allclose(mech.constraint_jacobian(q) @ Phi, 0.0, atol=1e-10 * scale)
    M = Phi.T @ mech.mass_matrix(q) @ Phi
    np.testing.assert_allclose(closed[4], M, rtol=1e-9, atol=1e-9 * np.max(M))
    tau = rng.normal(size=mech.nv)
    a = Phi @ np.linalg.solve(closed[4], Phi.T @ tau - closed[5]) + closed[2]
    expected = mech.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, expected, rtol=1e-7 * scale, atol=1e-8 * scale * np.max(np.abs(expected)))


def mobility(mech):
    """Freedoms by the rank of the loops' Jacobian at an assembled pose."""
    q = mech.assemble(mech.integrate(mech.rest(), np.random.default_rng(0).uniform(-0.2, 0.2, mech.nv)))
    return mech.nv - np.linalg.matrix_rank(mech.constraint_jacobian(q), tol=1e-7)


@pytest.mark.parametrize(("kind", "seed"), [(kind, 1) for kind in KINDS] + [(kind, 2) for kind in LISTED])
def test_every_type_wherever_it_is_cut(kind, seed):
    model, _ = loops.single(kind, seed)
    mech = Mechanism(model)
    forms = get_analytic_closure(mech.compiled.program)
    assert forms.has_solutions
    assert forms.rows_left_to_iteration == []
    assert len(forms.independent_speeds) == mobility(mech)
    check(mech, seed)


@pytest.mark.parametrize("kinds", PAIRS, ids="+".join)
def test_coupled_loops_are_solved_one_after_another(kinds):
    seed = 3
    model, _ = loops.coupled(kinds, seed)
    mech = Mechanism(model)
    forms = get_analytic_closure(mech.compiled.program)
    assert len(mech.loops) == len(kinds)
    assert forms.rows_left_to_iteration == []
    assert len(forms.independent_speeds) == mobility(mech)
    check(mech, seed)


def test_the_order_of_solution_can_be_read():
    x = (0.0, 1.0, 0.0)
    bodies = tuple(Body(name=name, mass=1.0) for name in ("wheel", "rod", "piston"))
    joints = (
        Joint(name="shaft", parent="world", child="wheel", axis=x),
        Joint(name="pin", parent="wheel", child="rod", axis=x, a=Pose(position=(0.1, 0.0, 0.0))),
        Joint(name="wrist", parent="rod", child="piston", axis=x, a=Pose(position=(0.3, 0.0, 0.0))),
        Joint(name="guide", kind="prismatic", parent="world", child="piston", axis=(1.0, 0.0, 0.0)),
    )
    model = Model(name="engine", bodies=bodies, joints=joints)
    steps = Mechanism(model).solution_order
    assert [str(step) for step in steps] == [
        "shaft: independent",
        "loop 1: pin, wrist, guide – RRP dyad; follows from shaft",
    ]
    driven = replace(model, drivers=(Driver(name="pump", joint="guide", function="0.3 + 0.05*sin(t)"),))
    first, second = Mechanism(driven).solution_order
    assert str(first) == "guide: independent"
    assert second.follows_from == ("guide",)


def test_a_loop_without_a_closed_form_is_left_to_iteration_and_the_others_are_not():
    """A spatial loop of seven revolutes, and a four-bar on one of its bodies: explicit and iterated parts together."""
    builder = loops.Builder(5)
    builder.loop("RRRRRRR")
    builder.normal = np.array([0.0, 0.0, 1.0])
    names, _ = builder.loop("rrrr", "b2", "b2")
    mech = Mechanism(builder.model())
    forms = get_analytic_closure(mech.compiled.program)
    (left,) = (step for step in mech.solution_order if step.kind == "iteration")
    assert left.joints[0] not in {name for group in names for name in group}
    assert str(left) == f"loop {left.loops[0]}: cut at {left.joints[0]}: iteration"
    assert len(forms.closed_joints) == 1
    assert len(forms.rows_left_to_iteration) == 5


def test_a_parameter_that_tilts_an_axis_makes_no_plane():
    """At tilt = 0 the four-bar is planar, but nothing in its structure says so: it is left to iteration."""
    bodies = tuple(Body(name=name, mass=1.0) for name in ("crank", "coupler", "rocker"))
    at = lambda x: Pose(position=(x, 0.0, 0.0))  # noqa: E731
    joints = (
        Joint(name="A", parent="world", child="crank"),
        Joint(name="B", parent="crank", child="coupler", a=at(0.2), axis=("tilt", 0.0, 1.0)),
        Joint(name="C", parent="coupler", child="rocker", a=at(0.5), b=at(0.4)),
        Joint(name="D", parent="world", child="rocker", a=at(0.45)),
    )
    model = Model(name="m", parameters=(Parameter(name="tilt", value=0.0),), bodies=bodies, joints=joints)
    assert not get_analytic_closure(Mechanism(model).compiled.program).has_solutions
    straight = replace(joints[1], axis=(0.0, 0.0, 1.0), a=Pose(position=("r", 0.0, 0.0)))
    lengths = replace(model, parameters=(Parameter(name="r", value=0.2),), joints=(joints[0], straight, *joints[2:]))
    assert get_analytic_closure(Mechanism(lengths).compiled.program).has_solutions


def test_moving_a_coordinate_closes_without_iteration(monkeypatch):
    model, _ = loops.coupled(("RRR", "RRP", "RRR"), 3)
    mech = Mechanism(model)
    forms = get_analytic_closure(mech.compiled.program)
    name = mech.v_names[forms.independent_speeds[0].v]
    q = mech.rest()
    index = mech.q_names.index(name)
    expected = mech.move(q, {name: q[index] + 0.02})
    monkeypatch.setattr("core.constraints.closed_forms.closed_forms.close_analytically", lambda *_: None)
    np.testing.assert_allclose(mech.move(q, {name: q[index] + 0.02}), expected, atol=1e-8)
    np.testing.assert_allclose(mech.constraint_residual(expected), 0.0, atol=1e-12)
