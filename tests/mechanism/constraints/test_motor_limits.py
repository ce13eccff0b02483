"""Limits of effort and speed outside of runs: a motor on a rotor, against closed forms."""

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Limit, Model, World

INERTIA = 0.5


@pytest.fixture(scope="module")
def rotor():
    """At most 6 N·m and 4 rad/s, dry friction of 1 N·m."""
    body = Body(name="body", mass=1.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=INERTIA))
    limit = Limit(velocity=4.0, effort=6.0)
    joint = Joint(name="pin", parent="world", child="body", friction=1.0, limits=(limit,))
    world = World(gravity=Gravity(acceleration=(0.0, 0.0, 0.0)))
    return Mechanism(Model(name="rotor", world=world, bodies=(body,), joints=(joint,)))


@pytest.mark.parametrize(
    ("speed", "asked", "expected"),
    [
        (1.0, 5.0, (5.0 - 1.0) / INERTIA),
        (1.0, 50.0, (6.0 - 1.0) / INERTIA),  # no more than its effort
        (-1.0, 50.0, (6.0 + 1.0) / INERTIA),
        (4.0, 5.0, 0.0),  # the speed stays: friction takes 1 N·m of it
        (-4.0, -5.0, 0.0),
        (4.0, 0.5, (0.5 - 1.0) / INERTIA),  # too little to stay there
        (4.0, -5.0, (-5.0 - 1.0) / INERTIA),  # it brakes as it is asked
        (5.0, 5.0, -1.0 / INERTIA),  # faster than it may drive
        (5.0, -5.0, -6.0 / INERTIA),
    ],
)
def test_a_motor_within_its_limits(rotor, speed, asked, expected):
    found = rotor.forward_dynamics([0.0], [speed], [asked], motors=True)
    np.testing.assert_allclose(found, [expected], atol=1e-9)


def test_without_being_asked_joint_forces_are_what_joints_get(rotor):
    np.testing.assert_allclose(rotor.forward_dynamics([0.0], [4.0], [50.0]), [(50.0 - 1.0) / INERTIA])


def test_at_a_limit_of_speed_others_hold_as_they_must():
    """Two carriages one on the other: the lower one at its limit, the upper one at rest on it by friction."""
    low = Body(name="low", mass=2.0, inertia=Inertia(ixx=1e-3, iyy=1e-3, izz=1e-3))
    high = Body(name="high", mass=1.0, inertia=Inertia(ixx=1e-3, iyy=1e-3, izz=1e-3))
    along = {"kind": "prismatic", "axis": (1.0, 0.0, 0.0)}
    joints = (
        Joint(name="x", parent="world", child="low", limits=(Limit(velocity=2.0),), **along),
        Joint(name="y", parent="low", child="high", friction=3.0, **along),
    )
    mech = Mechanism(Model(name="carriages", bodies=(low, high), joints=joints))
    np.testing.assert_allclose(mech.forward_dynamics([0, 0], [2.0, 0.0], [9.0, 0.0], motors=True), 0.0, atol=1e-9)
    np.testing.assert_allclose(
        mech.forward_dynamics([0, 0], [2.0, 0.0], [9.0, 5.0], motors=True), [0.0, (5.0 - 3.0) / 1.0], atol=1e-9
    )
