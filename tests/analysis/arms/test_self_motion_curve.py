"""Self-motions as curves: those of a planar arm are a four-bar's, those of seven axes keep the tool."""

import math

import numpy as np
import pytest

from core.errors import ModelError
from core.files import load
from core.mechanism import Mechanism
from core.model import Limit
from resources import EXAMPLES
from tests.analysis.arms.six_axis_arms import PUMA, arm

LINKS = (0.5, 0.4, 0.3)


def planar(limit=None):
    return arm([(length, 0.0, 0.0) for length in LINKS], "RRR", limit=limit)


def test_a_planar_arm_that_keeps_its_tip_is_a_four_bar():
    """The first link turns as far as the other two reach; the sum of lengths says that it is no crank."""
    mech = planar()
    q = np.array([0.3, 0.9, -0.4])
    tip = mech.frame(q, "tool")[:3, 3]
    curve = mech.self_motion(q, free=("rx", "ry", "rz"))
    places = mech.frame(curve.q, "tool")[:, :3, 3]
    np.testing.assert_allclose(places, np.broadcast_to(tip, places.shape), atol=1e-10)
    distance = np.linalg.norm(tip)
    # farthest from the tip's direction the other two links are stretched
    most = math.acos((LINKS[0] ** 2 + distance**2 - (LINKS[1] + LINKS[2]) ** 2) / (2 * LINKS[0] * distance))
    low, high = curve.range_of(0)
    middle = math.atan2(tip[1], tip[0])
    assert curve.is_closed
    assert curve.ends == ("", "")
    assert (low, high) == (pytest.approx(middle - most, abs=5e-3), pytest.approx(middle + most, abs=5e-3))
    np.testing.assert_allclose(curve.q[0], curve.q[-1], atol=0.2)
    assert np.min(np.max(np.abs(curve.q - q), axis=1)) < 1e-12
    for share in (0.0, 0.237, 0.8, 1.3):
        there = curve.at(share * curve.length[-1])
        np.testing.assert_allclose(mech.frame(there, "tool")[:3, 3], tip, atol=1e-10)


def test_a_limit_ends_the_curve():
    mech = planar(Limit(lower=-1.0, upper=1.0))
    q = np.array([0.3, 0.9, -0.4])
    curve = mech.self_motion(q, free=("rx", "ry", "rz"))
    assert not curve.is_closed
    for end, position in zip(curve.ends, (curve.q[0], curve.q[-1]), strict=True):
        name = end.removesuffix(" is at its limit")
        assert abs(position[mech.q_names.index(name)]) == pytest.approx(1.0, abs=1e-9)
    assert np.max(np.abs(curve.q)) <= 1.0 + 1e-9


def test_seven_axes_keep_the_tool():
    mech = Mechanism(load(EXAMPLES / "panda.kst"))
    q = mech.rest() + np.array([0.1, 0.2, -0.3, 0.1, 0.2, 0.1, 0.3])
    X = mech.frame(q, "tool")
    curve = mech.self_motion(q)
    np.testing.assert_allclose(mech.frame(curve.q, "tool"), np.broadcast_to(X, (len(curve.q), 4, 4)), atol=1e-9)
    assert all("is at its limit" in end for end in curve.ends)
    assert np.all(np.diff(curve.length) > 0.0)
    at = mech.joint_q("joint7").start
    low, high = curve.range_of(at)
    for x in np.linspace(low, high, 5)[1:-1]:  # inverse kinematics with this value has a solution on the curve
        found = mech.inverse_kinematics(X, q=q, self_motion=float(x))
        nearest = min(np.min(np.max(np.abs(curve.q - each.q), axis=1)) for each in found.solutions)
        assert nearest < 0.1


def test_an_aligned_wrist_turns_in_itself():
    mech = arm(PUMA, limit=Limit(lower=-2.0, upper=2.0))
    q = np.array([0.2, 0.6, -0.8, 0.3, 0.0, 0.1])
    curve = mech.self_motion(q)
    assert curve.joints == ("joint4", "joint6")
    np.testing.assert_allclose(curve.q[:, 3] + curve.q[:, 5], 0.4, atol=1e-9)
    assert curve.range_of(3) == (pytest.approx(-1.6), pytest.approx(2.0))


def test_poses_that_nothing_keeps_or_too_much():
    mech = planar()
    q = np.array([0.3, 0.9, -0.4])
    with pytest.raises(ModelError, match="No joint can move"):
        mech.self_motion(q)
    with pytest.raises(ModelError, match="2 independent motions"):
        mech.self_motion(q, free=("rx", "ry", "rz", "x"))
    with pytest.raises(ModelError, match="No joint moves"):
        mech.self_motion(q, "world")
