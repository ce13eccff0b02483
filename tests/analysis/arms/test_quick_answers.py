"""Answers at machine speed against the careful ones, and targets that they leave to these."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import DHChain, DHRow, Model, Parameter
from tests.analysis.arms.six_axis_arms import PUMA, UR5, H, arm, named_arm
from tests.analysis.arms.test_closed_form import positions

BALL_AT_THE_BASE = ((0.0, -H, 0.3), (0.0, H, 0.0), (0.0, -H, 0.4), (0.35, 0.0, 0.05), (0.03, H, 0.02), (0.0, 0.0, 0.2))
OTHER_TOLERANCE = 2e-9
"""A tolerance with which a call takes the careful way."""


def same(one, other):
    """Compare two answers."""
    assert (one.complete, one.form, one.joints) == (other.complete, other.form, other.joints)
    assert len(one.solutions) == len(other.solutions)
    for a, b in zip(one.solutions, other.solutions, strict=True):
        np.testing.assert_allclose(a.q, b.q, rtol=0.0, atol=1e-7)
        assert (a.configuration, a.turns, a.method, a.singularity) == (
            b.configuration,
            b.turns,
            b.method,
            b.singularity,
        )
        assert [(v.joint, v.limit) for v in a.violations] == [(v.joint, v.limit) for v in b.violations]
        assert math.isclose(a.distance, b.distance, abs_tol=1e-7)
        assert max(a.position_error, a.orientation_error) < 1e-10


@pytest.mark.parametrize("name", ["puma", "offset shoulder", "ur5", "skew", "stanford", "scara", "limited ur5"])
def test_quick_and_careful_answers_are_the_same(name):
    """Poses anywhere, start positions several turns away; the first call prepares the arm."""
    mech = arm(UR5, limit=(-2.0, 7.5)) if name == "limited ur5" else named_arm(name)
    q = positions(mech, 12, 8)
    X = np.asarray(mech.frame(q, "tool"))
    for k in range(12):
        near = 3.0 * q[k - 1]
        same(mech.inverse_kinematics(X[k], q=near), mech.inverse_kinematics(X[k], q=near, tolerance=OTHER_TOLERANCE))


@pytest.mark.parametrize("name", ["puma", "ur5"])
def test_singular_targets_are_answered_with_care(name):
    """An aligned wrist among regular targets: the continuum is reported, and an array has the same solutions."""
    mech = named_arm(name)
    q = positions(mech, 4, 9)
    q[2, 4] = 0.0
    X = np.asarray(mech.frame(q, "tool"))
    found = mech.inverse_kinematics(X)
    for k in range(4):
        one = mech.inverse_kinematics(X[k])
        assert (one.continuum is not None) == (k == 2)
        for each in one.solutions:
            rows = np.abs(np.exp(1j * found.q[k]) - np.exp(1j * each.q)).max(axis=1)
            assert np.nanmin(rows) < 1e-7


def test_poses_of_an_array_are_checked():
    """One bad pose among many."""
    mech = named_arm("puma")
    X = np.asarray(mech.frame(positions(mech, 30, 3), "tool"))
    for place, value, words in (
        ((0, 0), math.nan, "not finite"),
        ((2, 3), math.inf, "not finite"),
        ((1, 1), 0.3, "not orthonormal"),
        ((3, 3), 2.0, "last row"),
    ):
        bad = X.copy()
        bad[17][place] = value
        with pytest.raises(ModelError, match=words):
            mech.inverse_kinematics(bad)
    slightly = X.copy()
    slightly[:, :3, :3] *= 1.0 + 1e-7
    np.testing.assert_allclose(mech.inverse_kinematics(slightly).q, mech.inverse_kinematics(X).q, atol=1e-9)


def test_an_arm_read_from_the_tool():
    """An arm with three axes that meet at its base: the joints keep their order."""
    mech = arm(BALL_AT_THE_BASE)
    q = positions(mech, 20, 5)
    X = np.asarray(mech.frame(q, "tool"))
    found = mech.inverse_kinematics(X)
    assert "from the tool to the base" in found.form
    assert np.nanmin(np.abs(np.exp(1j * found.q) - np.exp(1j * q[:, None])).max(axis=-1), axis=1).max() < 1e-7
    reached = np.asarray(mech.frame(found.q[found.is_valid], "tool"))
    assert np.abs(reached - X[np.argwhere(found.is_valid)[:, 0]]).max() < 1e-10
    same(mech.inverse_kinematics(X[0]), mech.inverse_kinematics(X[0], tolerance=OTHER_TOLERANCE))


def test_limits_of_an_array():
    """Distances beyond the limits are those of the solutions."""
    mech = arm(UR5, limit=(-1.0, 1.5))
    X = np.asarray(mech.frame(positions(mech, 10, 2), "tool"))
    found = mech.inverse_kinematics(X)
    expected = np.maximum(np.maximum(-1.0 - found.q, found.q - 1.5), 0.0)
    np.testing.assert_allclose(found.violations, expected, atol=2e-9)
    assert np.isnan(found.violations[~found.is_valid]).all()


def test_a_parameter_that_breaks_the_family():
    """A slider opens a gap between the axes of the wrist and closes it again: each answer names its own form."""
    made = [DHRow(kind="revolute", a=a, alpha=alpha, d=d) for a, alpha, d in PUMA]
    made[4] = replace(made[4], a="gap")
    gap = Parameter(name="gap", value=0.0, dimension="length")
    mech = Mechanism(Model(name="arm", parameters=(gap,), chains=(DHChain(name="arm", rows=tuple(made)),)))
    q = positions(mech, 1, 6)[0]
    for value, form in ((0.0, "closed form:"), (0.03, "elimination"), (0.0, "closed form:")):
        target = np.asarray(mech.frame(q, "tool", p={"gap": value}))
        found = mech.inverse_kinematics(target, p={"gap": value})
        assert found.form.startswith(form)
        for each in found.solutions:
            np.testing.assert_allclose(mech.frame(each.q, "tool", p={"gap": value}), target, atol=1e-8)
        assert min(np.abs(np.exp(1j * s.q) - np.exp(1j * q)).max() for s in found.solutions) < 1e-6
