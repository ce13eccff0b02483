"""Ranges: n divisions give n + 1 poses, together or one after another, coordinates, parameters and DH entries."""

import dataclasses
import math

import numpy as np
import pytest

from core.analysis.sweep import sweep, sweepable_variables, variable_dimension, variable_value
from core.analysis.tool_frame import tool_frame
from core.errors import ModelError
from core.files import load
from core.functions.options import Range
from core.mechanism import Mechanism
from core.model import Body, DHChain, DHRow, Frame, Joint, Limit, Model, Parameter
from resources import EXAMPLES

MODEL = Model(
    name="arm",
    parameters=(Parameter(name="l2", value=0.4, dimension="length"),),
    chains=(
        DHChain(name="arm", rows=(DHRow(a=0.6), DHRow(a="l2", variable="phi", limit=Limit(lower=-1.0, upper=1.0)))),
    ),
)
MECH = Mechanism(MODEL)
Q = np.array([0.1, 0.2])


def run(*ranges, **more):
    return sweep(MODEL, MECH, Q, {}, [Range(*r) for r in ranges], **more)


def test_what_may_run():
    names = sweepable_variables(MODEL, MECH)
    assert names["joint1"] == names["joint2"] == names["q1"] == names["phi"] == "coordinate"
    assert names["l2"] == "parameter"
    assert {n for n, kind in names.items() if kind == "entry"} == {"a1", "alpha1", "d1", "a2", "alpha2", "d2"}
    assert names["theta1"] == names["theta2"] == "coordinate"
    assert variable_dimension(MODEL, MECH, "alpha1") == "angle"
    assert variable_dimension(MODEL, MECH, "d1") == variable_dimension(MODEL, MECH, "l2") == "length"
    assert variable_dimension(MODEL, MECH, "phi") == "angle"


def test_present_values():
    assert variable_value(MODEL, MECH, Q, {}, "q1") == 0.1
    assert variable_value(MODEL, MECH, Q, {"l2": 0.9}, "l2") == 0.9
    assert variable_value(MODEL, MECH, Q, {}, "a1") == 0.6


def test_together():
    result = run(("joint1", 0.0, 1.0, 5), ("phi", -1.0, 1.0, 5))
    assert result.count == 6
    np.testing.assert_allclose(result.q[:, 0], np.linspace(0.0, 1.0, 6))
    np.testing.assert_allclose(result.q[:, 1], np.linspace(-1.0, 1.0, 6))


def test_unequal_divisions_together_are_refused():
    with pytest.raises(ModelError, match="equal numbers of divisions"):
        run(("joint1", 0.0, 1.0, 5), ("phi", -1.0, 1.0, 4))


def test_one_after_another():
    result = run(("joint1", 0.0, 1.0, 2), ("phi", -1.0, 1.0, 2), ("joint1", 1.0, 0.0, 1), sequential=True)
    expected = [(0, -1), (0.5, -1), (1, -1), (1, 0), (1, 1), (0, 1)]
    np.testing.assert_allclose(result.q, expected, atol=1e-15)


def test_no_range_is_the_present_pose():
    result = run()
    np.testing.assert_array_equal(result.q, [Q])


def test_parameters_and_entries():
    result = run(("l2", 0.2, 0.4, 2), ("a1", 1.0, 2.0, 2))
    assert result.model is not MODEL
    assert [p["l2"] for p in result.p] == pytest.approx([0.2, 0.3, 0.4])
    for q, p in zip(result.q, result.p, strict=True):
        x, y, _ = result.mech.frame(q, "tool", p=p)[:3, 3]
        # closed form of the planar arm: l1 cos q1 + l2 cos(q1 + q2)
        assert x == pytest.approx(p["a1"] * math.cos(0.1) + p["l2"] * math.cos(0.3))
        assert y == pytest.approx(p["a1"] * math.sin(0.1) + p["l2"] * math.sin(0.3))


def test_entries_that_are_formulas_and_entries_that_the_joint_moves():
    rows = (DHRow(a=0.6, alpha="pi/2", theta=0.25), DHRow(kind="prismatic", d="2*l2", theta="pi/6"))
    model = Model(parameters=MODEL.parameters, chains=(DHChain(name="arm", rows=rows),))
    mech = Mechanism(model)
    q, p = np.array([0.1, 0.2]), {"l2": 0.4}
    assert variable_value(model, mech, q, p, "theta1") == pytest.approx(0.35)
    assert variable_value(model, mech, q, p, "d2") == pytest.approx(1.0)
    assert variable_value(model, mech, q, p, "alpha1") == pytest.approx(math.pi / 2)
    ranges = [Range(*r) for r in (("theta1", 0.0, 1.0, 2), ("alpha1", 0.2, 0.4, 2), ("d2", 1.0, 3.0, 2))]
    result = sweep(model, mech, q, p, ranges)
    for k, (theta, alpha, d) in enumerate(((0.0, 0.2, 1.0), (0.5, 0.3, 2.0), (1.0, 0.4, 3.0))):
        tip = result.mech.frame(result.q[k], "tool", p=result.p[k])[:3, 3]
        # frame 1 stands at a1 along its x axis, its z axis is tilted by alpha1 about x
        along = np.array([math.sin(theta) * math.sin(alpha), -math.cos(theta) * math.sin(alpha), math.cos(alpha)])
        foot = 0.6 * np.array([math.cos(theta), math.sin(theta), 0.0])
        np.testing.assert_allclose(tip, foot + d * along, atol=1e-12)


def test_beyond_a_limit_is_refused_by_name():
    with pytest.raises(ModelError, match=r"joint2.*57\.2958°"):
        run(("phi", 0.0, 2.0, 4))


def test_four_bar_stays_closed_along_a_range():
    model = load(EXAMPLES / "four_bar.kst")
    mech = Mechanism(model)
    q = mech.rest()
    result = sweep(model, mech, q, {}, [Range(mech.q_names[0], q[0], q[0] + 0.6, 6)])
    np.testing.assert_allclose(result.q[:, 0], np.linspace(q[0], q[0] + 0.6, 7), atol=1e-9)
    assert max(np.abs(mech.constraint_residual(pose)).max() for pose in result.q) < 1e-8


def test_tool_frame():
    assert tool_frame(MODEL) == "tool"
    bodies = tuple(Body(name=n) for n in ("base", "upper", "lower", "panda_hand"))
    joints = (
        Joint(name="j0", kind="fixed", parent="world", child="base"),
        Joint(name="j1", parent="base", child="upper"),
        Joint(name="j2", parent="upper", child="lower"),
    )
    plain = Model(name="m", bodies=bodies[:3], joints=joints)
    assert tool_frame(plain) == "lower"
    framed = Model(name="m", bodies=bodies[:3], joints=joints, frames=(Frame(name="tcp", parent="upper"),))
    assert tool_frame(framed) == "tcp"
    hand = Joint(name="j3", kind="fixed", parent="lower", child="panda_hand")
    assert tool_frame(Model(name="m", bodies=bodies, joints=(*joints, hand))) == "panda_hand"
    assert tool_frame(Model(name="empty")) == "world"


def test_the_tool_of_a_chain_is_its_last_body_also_behind_a_fixed_joint():
    """Robots of URDF files end with links that are fixed to the last moving one."""
    bodies = tuple(Body(name=name, mass=1.0) for name in ("tip", "base", "arm"))
    joints = (
        Joint(name="pan", kind="revolute", parent="base", child="arm"),
        Joint(name="ground", kind="fixed", parent="world", child="base"),
        Joint(name="end", kind="fixed", parent="arm", child="tip"),
    )
    model = Model(bodies=bodies, joints=joints)
    assert tool_frame(model) == "tip"
    framed = dataclasses.replace(model, frames=(Frame(name="pen", parent="arm"),))
    assert tool_frame(framed) == "pen"
