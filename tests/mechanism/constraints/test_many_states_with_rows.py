"""Many states at once, in some of which friction holds or stops press: what each gives by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from core.model import Parameter
from resources import EXAMPLES

NAMES = ["puma560", "panda", "braked_arm", "block_on_block", "bouncing_pendulum", "joint_kinds", "clutch"]


def states(mech: Mechanism, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inside limits and beyond them, in motion and at rest."""
    rng = np.random.default_rng(4)
    q = np.array([mech.random(seed) for seed in range(count)])
    v, tau = rng.normal(size=(2, count, mech.nv))
    q[::4] = [mech.integrate(each, rng.normal(size=mech.nv), 1.0) for each in q[::4]]
    v[1::3] = 0.0
    v[2::5, 0] = 0.0
    return q, v, tau


@pytest.mark.parametrize("name", NAMES)
def test_arrays_are_their_states(name: str) -> None:
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    q, v, tau = states(mech, 40)
    a = mech.forward_dynamics(q, v, tau)
    scale = np.abs(a).max(initial=1.0)
    alone = [mech.forward_dynamics(*each) for each in zip(q, v, tau, strict=True)]
    np.testing.assert_allclose(a, alone, rtol=1e-9, atol=1e-12 * scale)
    forces = mech.inverse_dynamics(q, v, a)
    alone = [mech.inverse_dynamics(*each) for each in zip(q, v, a, strict=True)]
    np.testing.assert_allclose(forces, alone, rtol=1e-9, atol=1e-12 * np.abs(forces).max(initial=1.0))
    energy = mech.energy(q, v).potential
    np.testing.assert_allclose(energy, [mech.energy(*each).potential for each in zip(q, v, strict=True)], rtol=1e-12)


def test_parameter_values_of_all_states_and_of_each() -> None:
    """Levels of friction that are not the model's own."""
    model = load(EXAMPLES / "double_pendulum.kst")
    joints = tuple(replace(joint, friction="level") if joint.name == "phi1" else joint for joint in model.joints)
    parameters = (*model.parameters, Parameter(name="level", value=0.0))
    mech = Mechanism(replace(model, joints=joints, parameters=parameters))
    q, v, tau = states(mech, 20)
    rubbing = mech.forward_dynamics(q, v, tau, p={"level": 5.0})
    alone = [mech.forward_dynamics(*each, p={"level": 5.0}) for each in zip(q, v, tau, strict=True)]
    np.testing.assert_allclose(rubbing, alone, rtol=1e-9, atol=1e-12 * np.abs(rubbing).max())
    assert np.abs(rubbing - mech.forward_dynamics(q, v, tau)).max() > 0.01
    levels = np.linspace(0.0, 5.0, 20)
    each = mech.forward_dynamics(q, v, tau, p={"level": levels})
    np.testing.assert_allclose(each[-1], rubbing[-1], rtol=1e-9)


def test_leading_axes_are_kept_and_one_pose_serves_many_forces() -> None:
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    q, v, tau = (each.reshape(4, 10, -1) for each in states(mech, 40))
    a = mech.forward_dynamics(q, v, tau)
    assert a.shape == (4, 10, mech.nv)
    np.testing.assert_allclose(a[1], mech.forward_dynamics(q[1], v[1], tau[1]), rtol=1e-9)
    still = np.zeros(mech.nv)
    pushed = mech.forward_dynamics(q[0, 0], still, tau)
    np.testing.assert_allclose(pushed[2, 3], mech.forward_dynamics(q[0, 0], still, tau[2, 3]), rtol=1e-9)


def test_forces_give_the_motion_back() -> None:
    """Inverse dynamics of forward dynamics, for states in motion: friction and stops are in both."""
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    q, v, tau = states(mech, 40)
    v[np.abs(v) < 0.1] = 0.1
    found = mech.inverse_dynamics(q, v, mech.forward_dynamics(q, v, tau))
    np.testing.assert_allclose(found, tau, rtol=1e-7, atol=1e-7 * np.abs(mech.forward_dynamics(q, v, tau)).max())
