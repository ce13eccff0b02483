"""Inverse kinematics in closed form: the position that made a target is found, sets equal published ones."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.analysis.inverse_kinematics import solve_inverse_kinematics
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES
from tests.analysis.arms.six_axis_arms import ARMS, arm, named_arm

REFERENCE = Path(__file__).parents[2] / "reference"
TURN = 2.0 * math.pi


def differences(mech, one, other):
    """Differences of positions, angles within half a turn."""
    rotates = np.array([c.dimension == "angle" for c in mech.coordinates])
    return np.where(rotates, np.remainder(one - other + math.pi, TURN) - math.pi, one - other)


def positions(mech, count, seed):
    rng = np.random.default_rng(seed)
    rotates = np.array([c.dimension == "angle" for c in mech.coordinates])
    return np.where(rotates, math.pi, 0.5) * rng.uniform(-1.0, 1.0, (count, mech.nq))


@pytest.mark.parametrize("name", ARMS)
def test_a_thousand_poses(name):
    """Targets by forward kinematics: the position that made each is found, every solution meets it, none is twice, and
    roots come in pairs."""
    mech = named_arm(name)
    q = positions(mech, 1000, 4)
    X = mech.frame(q, "tool")
    found = mech.inverse_kinematics(X)
    assert found.form.startswith("closed form")
    assert found.q.shape == (1000, len(found.configurations), mech.nq)
    gaps = np.abs(differences(mech, found.q, q[:, None])).max(axis=-1)
    assert np.nanmin(gaps, axis=1).max() < 1e-7
    rows = np.argwhere(found.is_valid)
    reached = mech.frame(found.q[found.is_valid], "tool")
    assert np.abs(reached - X[rows[:, 0]]).max() < 1e-10
    assert not (found.is_valid.sum(axis=1) % 2).any()
    for k in range(len(found.configurations)):
        others = np.abs(differences(mech, found.q[:, k : k + 1], found.q)).max(axis=-1)
        others[:, k] = np.inf
        assert np.nanmin(others) > 1e-6


def reference(name):
    found = json.loads((REFERENCE / f"{name}.json").read_text())
    rows = found["parameters"]["dh"]
    mech = arm([row[:3] for row in rows], found["parameters"]["joint_types"], thetas=[row[3] for row in rows])
    return mech, np.array(found["parameters"]["target"]), np.array(found["reference"]["solutions"])


@pytest.mark.parametrize("name", ["ik_ur5_all", "ik_stanford_all"])
def test_sets_of_solutions(name):
    mech, target, expected = reference(name)
    found = mech.inverse_kinematics(target)
    assert found.complete == "all"
    assert len(found.solutions) == len(expected)
    for q in expected:
        assert min(np.abs(differences(mech, each.q, q)).max() for each in found.solutions) < 1e-8


@pytest.mark.parametrize("pose", ["qn", "generic"])
def test_published_solutions_of_the_puma(pose):
    """Paul and Zhang's eight, as the Robotics Toolbox gives them."""
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    given = json.loads((REFERENCE / "puma560_inverse_kinematics.json").read_text())["reference"][pose]
    found = mech.inverse_kinematics(np.array(given["T"]), tolerance=1e-7)
    assert len(found.solutions) == len(given["solutions"]) == 8
    for solution in given["solutions"]:
        q = np.array(solution["q"])
        assert min(np.abs(differences(mech, each.q, q)).max() for each in found.solutions) < 1e-7


@pytest.mark.parametrize("name", ["offset shoulder", "ur5"])
def test_the_numeric_search_finds_no_others(name):
    mech = named_arm(name)
    q = positions(mech, 1, 9)[0]
    X = mech.frame(q, "tool")
    named = mech.inverse_kinematics(X, q=q).solutions
    searched = solve_inverse_kinematics(mech, q, "tool", X, restarts=12)
    assert len(searched) > 1
    for each in searched:
        assert min(np.abs(differences(mech, each.q, other.q)).max() for other in named) < 1e-5


def test_an_array_is_its_targets_one_by_one():
    mech = named_arm("ur5")
    q = positions(mech, 20, 2)
    X = mech.frame(q, "tool")
    array = mech.inverse_kinematics(X, q=q[0])
    for k in range(20):
        single = {each.configuration: each.q for each in mech.inverse_kinematics(X[k], q=q[0]).solutions}
        assert set(single) == {c for c, valid in zip(array.configurations, array.is_valid[k], strict=True) if valid}
        for column, configuration in enumerate(array.configurations):
            if configuration in single:
                np.testing.assert_allclose(array.q[k, column], single[configuration], atol=1e-12)


def test_parameters_are_arguments():
    """Another length of a link changes the solutions; they meet the target of the longer arm."""
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    p = {"a2": 0.6}
    q = np.array([0.3, 0.7, -0.9, 0.4, 0.8, -0.5])
    X = mech.frame(q, "tool", p=p)
    found = mech.inverse_kinematics(X, q=q, p=p)
    assert len(found.solutions) == 8
    np.testing.assert_allclose(found.solutions[0].q, q, atol=1e-9)
    for each in found.solutions:
        np.testing.assert_allclose(mech.frame(each.q, "tool", p=p), X, atol=1e-10)


@pytest.mark.parametrize("name", ["ur5", "puma"])
def test_a_calibrated_arm(name):
    """Lengths off by 0.1 mm, twists by 0.2 mrad: no axes meet or are parallel. The position that made the target is
    found where the arm is not near a singular pose, and the search finds no others."""
    rows, _ = ARMS[name]
    rng = np.random.default_rng(12)
    mech = arm([tuple(np.array(row) + rng.uniform(-1.0, 1.0, 3) * (1e-4, 2e-4, 1e-4)) for row in rows])
    q = positions(mech, 300, 5)
    X = mech.frame(q, "tool")
    found = mech.inverse_kinematics(X)
    assert found.complete == "at least these"
    assert "nearest ideal arm" in found.form
    sigma = np.linalg.svd(mech.jacobian(q, "tool"), compute_uv=False)[:, -1]
    gaps = np.abs(differences(mech, found.q, q[:, None])).max(axis=-1)
    regular = sigma > 0.03
    assert regular.sum() > 100
    assert np.nanmin(gaps[regular], axis=1).max() < 1e-7
    rows_found = np.argwhere(found.is_valid)
    assert np.abs(mech.frame(found.q[found.is_valid], "tool") - X[rows_found[:, 0]]).max() < 1e-8
    one = int(np.argmax(sigma))
    named = mech.inverse_kinematics(X[one], q=q[one]).solutions
    for each in solve_inverse_kinematics(mech, q[one], "tool", X[one], restarts=8):
        assert min(np.abs(differences(mech, each.q, other.q)).max() for other in named) < 1e-5
