"""Arms outside the named families: general ones, other numbers of joints, free directions, wrists at the base."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES
from tests.analysis.arms.six_axis_arms import UR5, H, arm, named_arm

REFERENCE = Path(__file__).parents[2] / "reference"
BALL = ((0.0, H, 0.3), (0.0, -H, 0.0), (0.0, 0.0, 0.1))
SKEW_AXES = ((0.1, 1.1, 0.3), (0.4, 0.5, 0.1), (0.3, 0.7, 0.1))
GENERAL = ((0.1, 1.1, 0.3), (0.4, 0.5, 0.1), (0.3, 0.7, 0.1), (0.2, 1.3, 0.3), (0.1, -H, 0.0), (0.1, 0.4, 0.1))
PLANAR = ((0.4, 0.0, 0.0), (0.3, 0.0, 0.0))
ARMS = {  # rows, kinds, angles, and the largest number of solutions that is known for the kind of arm
    "general": (GENERAL, "RRRRRR", None, 16),
    "general with a slide": (GENERAL, "RRPRRR", None, 16),
    "spherical wrist": (SKEW_AXES + BALL, "RRRRRR", None, 8),
    "spherical wrist, slide": (SKEW_AXES + BALL, "RPRRRR", None, 8),
    "spherical wrist, first axes parallel": (((0.4, 0.0, 0.3), *SKEW_AXES[1:], *BALL), "RRRRRR", None, 8),
    "gantry": (((0.0, H, 0.0), (0.0, H, 0.0), (0.0, 0.4, 0.0), *BALL), "PPPRRR", (0.0, H, 0.0, 0.0, 0.0, 0.0), 2),
    "five joints": (((0.0, H, 0.3), *PLANAR, (0.0, H, 0.0), (0.0, 0.0, 0.1)), "RRRRR", None, 4),
    "palletiser": (((0.0, H, 0.3), *PLANAR, (0.1, 0.0, 0.0)), "RRRR", None, 2),
    "planar": ((*PLANAR, (0.1, 0.0, 0.0)), "RRR", None, 2),
    "general, five joints": (GENERAL[:5], "RRRRR", None, 2),
}


def differences(mech, one, other):
    rotates = np.array([c.dimension == "angle" for c in mech.coordinates])
    return np.where(rotates, np.remainder(one - other + math.pi, 2.0 * math.pi) - math.pi, one - other)


def positions(mech, count):
    rotates = np.array([c.dimension == "angle" for c in mech.coordinates])
    return np.where(rotates, math.pi, 0.5) * np.random.default_rng(4).uniform(-1.0, 1.0, (count, mech.nq))


def check_solutions(mech, found, q, X):
    """The position that made the target is among the solutions, all meet it, and none is there twice."""
    gaps = [np.abs(differences(mech, each.q, q)).max() for each in found.solutions]
    assert min(gaps) < 1e-7
    for k, each in enumerate(found.solutions):
        np.testing.assert_allclose(mech.frame(each.q, "tool"), X, atol=1e-9)
        for other in found.solutions[:k]:
            assert np.abs(differences(mech, each.q, other.q)).max() > 1e-6


@pytest.mark.parametrize("name", ARMS)
def test_poses(name):
    rows, kinds, thetas, most = ARMS[name]
    mech = arm(rows, kinds, thetas=thetas)
    for q in positions(mech, 8):
        X = mech.frame(q, "tool")
        found = mech.inverse_kinematics(X)
        check_solutions(mech, found, q, X)
        assert len(found.solutions) <= most
        if len(kinds) == 6 and found.complete == "all":
            assert len(found.solutions) % 2 == 0


def test_sixteen_solutions():
    """The arm of Manseur and Doty (Int. J. Robotics Research 8, 1989) and the pose with sixteen real solutions."""
    rows = ((0.3, H, 0.0), (1.0, math.radians(1.0), 0.0), (0.0, H, 0.2), (1.5, math.radians(1.0), 0.0), (0.0, H, 0.0))
    mech = arm((*rows, (0.0, 0.0, 0.0)))
    X = np.array(
        [
            [-0.760117, -0.641689, 0.102262, -1.140175],
            [0.133333, 0.0, 0.991071, 0.0],
            [-0.635959, 0.766965, 0.085558, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    U, _, V = np.linalg.svd(X[:3, :3])
    X[:3, :3] = U @ V
    assert len(mech.inverse_kinematics(X).solutions) == 16


def test_a_fixed_last_joint_of_the_panda():
    """The set that two independent searches found."""
    given = json.loads((REFERENCE / "ik_panda_fixed_q7.json").read_text())
    mech = Mechanism(load(EXAMPLES / "panda.kst"))
    q = np.array(given["parameters"]["q_generating"])
    X = mech.frame(q, "tool")
    found = mech.inverse_kinematics(X, q=q)
    assert "joint7 held" in found.form
    check_solutions(mech, found, q, X)
    assert len(found.solutions) == given["reference"]["number_of_solutions"]
    for expected in given["reference"]["solutions"]:
        assert min(np.abs(differences(mech, each.q, np.array(expected))).max() for each in found.solutions) < 1e-7


def test_a_position_without_rotation():
    """A planar arm has two elbows; a shoulder doubles them."""
    for rows, kinds, count in ((PLANAR, "RR", 2), (((0.0, H, 0.3), *PLANAR), "RRR", 4)):
        mech = arm(rows, kinds)
        q = np.array([0.4, 0.5, -0.9])[: len(kinds)]
        found = mech.inverse_kinematics(mech.frame(q, "tool")[:3, 3])
        assert len(found.solutions) == count
        assert found.complete == "all"
        for each in found.solutions:
            np.testing.assert_allclose(mech.frame(each.q, "tool")[:3, 3], mech.frame(q, "tool")[:3, 3], atol=1e-10)
    beyond = mech.inverse_kinematics((2.0, 0.0, 0.3))
    assert beyond.nearest.position_error == pytest.approx(2.0 - 0.7, abs=1e-3)


def test_free_directions():
    """A spindle: the tool's z axis and origin are met, the turn about it is what the held joint makes it."""
    mech = named_arm("puma")
    q = np.array([0.2, 0.6, -0.8, 0.3, 0.7, 0.1])
    X = mech.frame(q, "tool")
    turned = X.copy()
    turned[:3, :2] = X[:3, :2] @ np.array([[math.cos(1.1), -math.sin(1.1)], [math.sin(1.1), math.cos(1.1)]])
    found = mech.inverse_kinematics(turned, q=q, free="rz")
    np.testing.assert_allclose(found.solutions[0].q, q, atol=1e-9)
    assert len(found.solutions) == 8
    for each in found.solutions:
        np.testing.assert_allclose(mech.frame(each.q, "tool")[:3, 2:], X[:3, 2:], atol=1e-9)
    five = arm(UR5[:5], "RRRRR")
    found = five.inverse_kinematics(five.frame(q[:5], "tool"), q=q[:5], free="z")
    assert min(np.abs(differences(five, each.q, q[:5])).max() for each in found.solutions) < 1e-8


def test_locked_joints():
    mech = named_arm("ur5")
    q = np.array([0.2, 0.6, -0.8, 0.3, 0.7, 0.1])
    found = mech.inverse_kinematics(mech.frame(q, "tool"), q=q, locked=("joint6",))
    np.testing.assert_allclose(found.solutions[0].q, q, atol=1e-9)
    assert len(found.solutions) == 2  # the elbow moves three parallel axes only, so both have the same last angle
    assert {round(each.q[5], 9) for each in found.solutions} == {0.1}


def test_a_spherical_shoulder():
    """Seven joints of which three meet at the base and three at the tool, at a self-motion value."""
    rows = (
        (0.0, -H, 0.34),
        (0.0, H, 0.0),
        (0.0, H, 0.4),
        (0.0, -H, 0.0),
        (0.0, -H, 0.4),
        (0.0, H, 0.0),
        (0.0, 0.0, 0.1),
    )
    mech = arm(rows, "RRRRRRR")
    q = np.array([0.3, 0.7, -0.4, 1.1, 0.5, -0.8, 0.2])
    X = mech.frame(q, "tool")
    found = mech.inverse_kinematics(X, q=q)
    check_solutions(mech, found, q, X)
    assert len(found.solutions) == 8
    assert found.complete == "all for these self-motion values"
    assert len({str(each.configuration) for each in found.solutions}) == 8
