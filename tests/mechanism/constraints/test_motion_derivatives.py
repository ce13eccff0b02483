"""Derivatives of inverse and forward dynamics: against Pinocchio for trees, against Richardson's extrapolation of
differences of the dynamics themselves for loops, springs and parameters."""

from __future__ import annotations

import numpy as np
import pytest

import kinetostat as ks
from core.numerics.rank import null_space
from resources import EXAMPLES
from tests.mechanism.test_peers import to_pinocchio

H = 1e-4
"""rad, m: of the squeezer, whose bodies are small, a tenth."""


def example(name):
    return ks.Mechanism(ks.load(str(EXAMPLES / f"{name}.kst")))


def slope(f, h=H):
    """f'(0) by differences of fourth order."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def moving(mech, seed=0):
    """A state that loops allow, and joint forces."""
    rng = np.random.default_rng(seed)
    q, v = mech.assemble(mech.rest(), rng.uniform(-0.5, 0.5, mech.nv))
    return q, v, rng.uniform(-1.0, 1.0, mech.nv)


def close(found, wanted, part=1e-7):
    np.testing.assert_allclose(
        found, wanted, rtol=0.0, atol=part * max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    )


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_derivatives_of_an_arm_are_pinocchios(name, tmp_path):
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "arm.urdf"
    ks.save(example(name).model, path)
    mech = ks.Mechanism(ks.load(path))
    model = pin.buildModelFromUrdf(str(path))
    data, rng = model.createData(), np.random.default_rng(1)
    q_pin, q, order = to_pinocchio(pin, mech, model, rng)
    v, tau = rng.normal(size=(2, mech.nv))
    mech = ks.Mechanism(_without_resistance(mech.model))
    found = mech.derivatives(q, v, tau)
    pin.computeABADerivatives(model, data, q_pin, v[np.argsort(order)], tau[np.argsort(order)])
    close(found.a_q, data.ddq_dq[np.ix_(order, order)], 1e-12)
    close(found.a_v, data.ddq_dv[np.ix_(order, order)], 1e-12)
    M_inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    close(found.a_tau, M_inverse[np.ix_(order, order)], 1e-12)
    a = found.a
    pin.computeRNEADerivatives(model, data, q_pin, v[np.argsort(order)], a[np.argsort(order)])
    close(found.tau_q, data.dtau_dq[np.ix_(order, order)], 1e-12)
    close(found.tau_v, data.dtau_dv[np.ix_(order, order)], 1e-12)
    close(found.tau_a, mech.mass_matrix(q), 1e-13)


def _without_resistance(model):
    """What Pinocchio does not have."""
    import dataclasses

    plain = [dataclasses.replace(joint, damping=0.0, friction=0.0, limits=()) for joint in model.joints]
    return dataclasses.replace(model, joints=tuple(plain))


LOOPS = ("four_bar", "squeezer", "spatial_four_bar", "pantograph", "body_on_springs", "double_pendulum")


@pytest.mark.parametrize("name", LOOPS)
def test_derivatives_by_state_and_forces_are_those_of_differences(name):
    mech = example(name)
    h = 0.1 * H if name == "squeezer" else H
    q, v, tau = moving(mech)
    found = mech.derivatives(q, v, tau)
    G = mech.compiled.call("constraint_jacobian", q) if mech.compiled.rows else np.zeros((0, mech.nv))
    for xi in null_space(G).T if len(G) else np.eye(mech.nv):
        wanted = slope(lambda h, xi=xi: mech.forward_dynamics(mech.integrate(q, h * xi), v, tau), h)
        close(found.a_q @ xi, wanted)
        wanted = slope(lambda h, xi=xi: mech.forward_dynamics(q, v + h * xi, tau), 0.1)  # at most cubic in speeds
        close(found.a_v @ xi, wanted)
    for k in range(mech.nv):
        unit = np.eye(mech.nv)[k]
        wanted = slope(
            lambda h, unit=unit: mech.forward_dynamics(q, v, tau + h * unit), 1.0
        )  # they are linear in forces
        close(found.a_tau[:, k], wanted)


def test_derivatives_of_both_dynamics_belong_together():
    """M ∂a/∂x + ∂τ/∂x = 0 at the accelerations that the forces produce, and M ∂a/∂τ = 1, of arrays of states."""
    for name in ("ur5", "panda"):
        mech, rng = example(name), np.random.default_rng(5)
        q, v, tau = rng.normal(size=(3, 9, mech.nv))
        for function in ("motion_slopes", "force_slopes"):
            mech.compiled.program.evaluator(function, mech.parameter_values())
            mech.compiled.program.wait([function])
        found = mech.derivatives(q, v, tau)
        M = mech.mass_matrix(q)
        close(M @ found.a_q, -found.tau_q, 1e-12)
        close(M @ found.a_v, -found.tau_v, 1e-12)
        close(M @ found.a_tau, np.broadcast_to(np.eye(mech.nv), M.shape), 1e-12)


def test_many_states_are_each_one():
    for name in ("four_bar", "ur5"):
        mech = example(name)
        states = [moving(mech, seed) for seed in range(7)]  # those of arms are taken four at a time
        if name == "ur5":
            mech.compiled.program.evaluator("motion_slopes", mech.parameter_values())
            mech.compiled.program.wait(["motion_slopes"])
        q, v, tau = (np.stack(each) for each in zip(*states, strict=True))
        many = mech.derivatives(q, v, tau)
        for k, (own_q, own_v, own_tau) in enumerate(states):
            one = mech.derivatives(own_q, own_v, own_tau)
            for word in ("a_q", "a_v", "a_tau", "tau_q", "tau_v", "tau_a"):
                close(getattr(many, word)[k], getattr(one, word), 1e-12)


@pytest.mark.parametrize(("name", "by"), [("four_bar", ("a", "b", "c", "d")), ("pantograph", ())])
def test_lengths_move_the_manifold(name, by):
    mech = example(name)
    by = by or mech.p_names[:2]
    q, v, tau = moving(mech)
    found = mech.derivatives(q, v, tau, by=by)
    held = np.flatnonzero(np.abs(found.q_p).max(axis=1) == 0.0)
    names = [mech.q_names[k] for k in held]  # joints of one coordinate
    speeds = dict(zip([mech.v_names[k] for k in held], v[held], strict=True))
    values = dict(zip(mech.p_names, mech.parameter_values(), strict=True))
    for k, parameter in enumerate(by):

        def moved(h, parameter=parameter):
            p = {**values, parameter: values[parameter] + h}
            own_q, own_v = mech.assemble(q, speeds, p=p, fixed=names)
            return np.concatenate([own_q, own_v, mech.forward_dynamics(own_q, own_v, tau, p=p)])

        position, speed, acceleration = np.split(slope(moved, 1e-5), 3)
        close(found.q_p[:, k], position, 1e-6)
        close(found.v_p[:, k], speed, 1e-6)
        close(found.a_p[:, k], acceleration, 1e-5)


def test_masses_of_an_arm():
    mech = example("ur5")
    q, v, tau = moving(mech)
    found = mech.derivatives(q, v, tau, by=mech.p_names[:2])
    values = dict(zip(mech.p_names, mech.parameter_values(), strict=True))
    for k, name in enumerate(mech.p_names[:2]):
        wanted = slope(lambda h, name=name: mech.forward_dynamics(q, v, tau, p={**values, name: values[name] + h}))
        close(found.a_p[:, k], wanted)
        wanted = slope(lambda h, name=name: mech.inverse_dynamics(q, v, found.a, p={**values, name: values[name] + h}))
        close(found.tau_p[:, k], wanted)


def test_multipliers_that_are_not_unique_are_refused():
    mech = example("bricard")
    q, v, tau = moving(mech)
    found = mech.derivatives(q, v, tau)
    assert not found.has_unique_multipliers
    with pytest.raises(ks.ModelError, match="not unique"):
        _ = found.lambda_tau
    assert np.isfinite(found.a_q).all()


def test_an_unknown_parameter_is_named():
    with pytest.raises(ks.ModelError, match="Did you mean|There is"):
        example("four_bar").derivatives(np.zeros(3), np.zeros(3), np.zeros(3), by=("aa",))
