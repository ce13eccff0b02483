"""Payloads: torques from the transposed Jacobian; numbers, not code, change from one payload to the next."""

import math

import numpy as np
import pytest

from core.errors import ModelError
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES

Q = np.array([0.2, -0.9, 1.1, 0.3, 0.7, 0.1])


@pytest.fixture(scope="module")
def mech():
    return Mechanism(load(EXAMPLES / "ur5.kst"))


def test_the_weight_of_a_payload(mech):
    """τ − τ₀ = −Jᵀ m g at the payload's centre of mass."""
    center = np.array([0.02, -0.01, 0.05])
    loaded = mech.with_payload(2.0, center, frame="tool")
    X = mech.frame(Q, "tool")
    J = mech.jacobian(Q, "tool", point=center, reference="tool")
    g = np.array(mech.model.world.gravity.acceleration, dtype=float)
    np.testing.assert_allclose(loaded.gravity(Q) - mech.gravity(Q), -J[3:].T @ (2.0 * g), atol=1e-9)
    moment = np.diag([0.01, 0.02, 0.03])
    heavy = mech.with_payload(3.0, center, moment, frame="tool")
    R = X[:3, :3]
    expected = 3.0 * J[3:].T @ J[3:] + J[:3].T @ (R @ moment @ R.T) @ J[:3]
    np.testing.assert_allclose(heavy.mass_matrix(Q) - mech.mass_matrix(Q), expected, atol=1e-9)


def test_another_payload_takes_the_code_of_the_first(mech):
    first, second = mech.with_payload(1.0, frame="tool"), mech.with_payload(2.5, (0.0, 0.0, 0.1), frame="tool")
    assert first.compiled.program is second.compiled.program
    changed = first.with_payload(2.5, (0.0, 0.0, 0.1))
    np.testing.assert_allclose(changed.gravity(Q), second.gravity(Q))
    assert {"payload_mass", "payload_x"} <= set(first.p_names)


@pytest.mark.parametrize(
    ("mass", "options", "words"),
    [
        (-1.0, {"frame": "tool"}, "not negative"),
        (math.nan, {"frame": "tool"}, "finite"),
        (1.0, {"frame": "hand"}, "no frame 'hand'"),
        (1.0, {"frame": "tool", "center": (1.0, 2.0)}, "three numbers"),
        (1.0, {"frame": "tool", "inertia": [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}, "not symmetric"),
    ],
)
def test_payloads_that_cannot_be(mech, mass, options, words):
    with pytest.raises(ModelError, match=words):
        mech.with_payload(mass, **options)


def test_a_jacobian_by_actuators():
    """Of a four-bar with a driven crank: the coupler's twist is the column times the crank's speed."""
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    q = mech.rest()
    J = mech.jacobian(q, "coupler_point", actuators=("crank_pin",))
    v = mech.speeds(q, {"crank_pin": 1.0})
    assert J.shape == (6, 1)
    np.testing.assert_allclose(J[:, 0], mech.frame_velocity(q, v, "coupler_point"), atol=1e-9)
    both = mech.jacobian(np.array([q, q]), "coupler_point", actuators=("crank_pin",))
    np.testing.assert_allclose(both, [J, J], atol=1e-12)
    with pytest.raises(ModelError, match="no joint 'motor'"):
        mech.jacobian(q, "coupler_point", actuators=("motor",))


def test_the_actuators_of_an_open_chain(mech):
    J = mech.jacobian(Q, "tool")
    np.testing.assert_array_equal(mech.jacobian(Q, "tool", actuators=("joint5", "joint2")), J[:, [4, 1]])
