"""The curve of positions that leave a frame where it is, against closed forms."""

import numpy as np
import pytest

import kinetostat as ks
from core.analysis.arms.self_motion_curve import STEP, follow_self_motion
from core.analysis.tool_frame import tool_frame

PANDA = np.array([0.3, -0.5, 0.2, -1.8, 0.1, 1.6, 0.5])
ALIGNED = np.array([0.3, -1.2, 1.4, -0.6, 0.0, 0.2])


def test_positions_of_a_redundant_arm_are_those_of_its_closed_form():
    mech = ks.Mechanism(ks.load("panda"))
    frame = tool_frame(mech.model)
    X = mech.frame(PANDA, frame)
    curve = follow_self_motion(mech, PANDA, frame)
    assert np.max(np.abs(mech.frame(curve.q, frame) - X)) < 1e-8
    assert not curve.is_closed
    for length in (curve.lengths[0], -0.7, 0.4, curve.lengths[-1]):
        q = curve.at(length)
        known = mech.inverse_kinematics(X, frame, q=q, self_motion=float(q[6]))
        assert np.min([np.max(np.abs(each.q - q)) for each in known.solutions]) < 1e-6
    assert curve.at(0.0) == pytest.approx(PANDA, abs=1e-9)
    assert curve.length_of(curve.at(0.4)) == pytest.approx(0.4, abs=0.01)
    assert curve.length_of(PANDA + 0.5) is None


def test_ends_are_at_limits():
    mech = ks.Mechanism(ks.load("panda"))
    curve = follow_self_motion(mech, PANDA, tool_frame(mech.model))
    for q, words in zip((curve.q[0], curve.q[-1]), curve.ends, strict=True):
        joint = words.split()[0]
        limits = next((c.lower, c.upper) for c in mech.coordinates if c.joint == joint)
        value = float(q[mech.joint_q(joint)][0])
        assert min(abs(value - limit) for limit in limits) < 1e-4
        assert words == f"{joint} is at its limit"


def test_an_aligned_wrist_turns_on_the_spot():
    """With the axes 4 and 6 of a UR5 parallel, hence one behind the other, only the sum of their angles counts."""
    mech = ks.Mechanism(ks.load("puma560"))
    frame = tool_frame(mech.model)
    q = np.array([0.3, 0.4, -0.6, 0.2, 0.0, 0.3])
    curve = follow_self_motion(mech, q, frame)
    assert curve.q[:, [0, 1, 2, 4]] == pytest.approx(np.tile(q[[0, 1, 2, 4]], (len(curve.q), 1)), abs=1e-9)
    assert curve.q[:, 3] + curve.q[:, 5] == pytest.approx(np.full(len(curve.q), 0.5), abs=1e-9)


def test_a_motion_that_returns_is_closed():
    mech = ks.Mechanism(ks.load("ur5"))
    curve = follow_self_motion(mech, ALIGNED, tool_frame(mech.model))
    assert curve.is_closed
    gap = (curve.q[-1] - curve.q[0] + np.pi) % (2.0 * np.pi) - np.pi
    assert np.linalg.norm(gap) < STEP
    assert curve.ends == ("", "")


def test_a_frame_that_determines_the_joints_leaves_none():
    mech = ks.Mechanism(ks.load("ur5"))
    assert follow_self_motion(mech, ALIGNED + 0.5, tool_frame(mech.model)) is None


def test_a_step_may_stop_it():
    mech = ks.Mechanism(ks.load("panda"))

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        follow_self_motion(mech, PANDA, tool_frame(mech.model), step=stop)
