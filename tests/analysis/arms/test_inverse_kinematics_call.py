"""The call around the closed forms: limits, turns, singular poses, targets out of reach, bad input."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.errors import ModelError
from core.files import load, loads
from core.functions import Context, call
from core.mechanism import Mechanism
from core.model import Limit
from core.numerics.spatial.pose import from_matrix
from resources import EXAMPLES
from tests.analysis.arms.six_axis_arms import OFFSET_SHOULDER, PUMA, arm, named_arm

REFERENCE = Path(__file__).parents[2] / "reference"
Q = np.array([0.2, 0.6, -0.8, 0.3, 0.7, 0.1])


def test_solutions_beyond_limits_come_last():
    """Two solutions of a joint are inside ±1 rad or not by its value alone."""
    mech = arm(PUMA, limit=Limit(lower=-1.5, upper=1.5))
    found = mech.inverse_kinematics(mech.frame(Q, "tool"), q=Q)
    assert len(found.solutions) == 8
    assert found.solutions[0].distance < 1e-9
    inside = [each.is_within_limits for each in found.solutions]
    assert inside == sorted(inside, reverse=True)
    assert inside == [bool(np.all(np.abs(each.q) <= 1.5)) for each in found.solutions]
    for each in found.solutions:
        assert {v.joint: v.by for v in each.violations} == pytest.approx(
            {name: abs(x) - 1.5 for name, x in zip(mech.q_names, each.q, strict=True) if abs(x) > 1.5}
        )
        assert np.all(np.abs(each.q) <= math.pi + 1e-9)  # a whole turn would be farther beyond


def test_whole_turns():
    mech = arm(OFFSET_SHOULDER, limit=Limit(lower=-2.5 * math.pi, upper=2.5 * math.pi))
    q = Q + np.array([2.0 * math.pi, 0.0, 0.0, 0.0, 0.0, -2.0 * math.pi])
    X = mech.frame(q, "tool")
    nearest = mech.inverse_kinematics(X, q=q).solutions
    np.testing.assert_allclose(nearest[0].q, q, atol=1e-9)
    assert nearest[0].turns == (1, 0, 0, 0, 0, -1)
    every = mech.inverse_kinematics(X, q=q, turns="limits", configuration="keep").solutions
    # each angle within ±π/2 has three values within ±5π/2
    assert len(every) == 3**6
    assert len({each.turns for each in every}) == 3**6
    assert [each.distance for each in every] == sorted(each.distance for each in every)
    for each in every:
        np.testing.assert_allclose(mech.frame(each.q, "tool"), X, atol=1e-9)


def test_an_aligned_wrist_turns_in_itself():
    """Published null vector of the Jacobian; the present position is among the infinitely many solutions."""
    given = json.loads((REFERENCE / "ik_singular_poses_puma.json").read_text())
    rows = [row[:3] for row in given["parameters"]["dh"]]
    mech = arm(rows)
    q = np.array(given["reference"]["wrist"]["q"])
    found = mech.inverse_kinematics(mech.frame(q, "tool"), q=q)
    rates = np.array(given["reference"]["wrist"]["self_motion_joint_rates"])
    assert found.continuum.joints == ("joint4", "joint6")
    np.testing.assert_allclose(found.continuum.rates, rates[[3, 5]] / rates[3], atol=1e-6)
    assert found.solutions[0].singularity == "wrist"
    np.testing.assert_allclose(found.solutions[0].q, q, atol=1e-6)
    low, high = found.continuum.ranges[0]
    for x in (low, 0.3 * low + 0.7 * high, high):
        moved = found.solutions[0].q.copy()
        moved[[3, 5]] += (x - moved[3]) * np.array(found.continuum.rates)
        np.testing.assert_allclose(mech.frame(moved, "tool"), mech.frame(q, "tool"), atol=1e-9)


def test_aligned_wrists_of_three_parallel_axes():
    """Then four axes are parallel: one branch is a continuum, found from any position q; another is regular or out of
    reach. Next to such poses rounding may hide branches, and nothing is called complete that is not."""
    mech = named_arm("ur5")
    poses = np.random.default_rng(0).uniform(-3.0, 3.0, (100, 6))
    poses[:, 4] = 0.0
    X = mech.frame(poses, "tool")
    found = mech.inverse_kinematics(X, q=np.zeros(6))
    assert found.complete == "all"
    shoulders = np.array([each.shoulder for each in found.configurations])
    for k, pose in enumerate(poses):
        own = mech.inverse_kinematics(X[k], q=pose).solutions[0].configuration.shoulder
        assert found.is_valid[k, shoulders == own].any()
    poses[:, 4] = 1e-8
    near = mech.inverse_kinematics(mech.frame(poses, "tool"), q=np.zeros(6))
    lost = ~near.is_valid.any(axis=1)
    assert near.complete == "at least these" or not lost.any()


@pytest.mark.parametrize("part", ["elbow", "shoulder"])
def test_other_singular_poses_are_named(part):
    """They are no continua: the machine cannot move on with the tool at rest."""
    given = json.loads((REFERENCE / "ik_singular_poses_puma.json").read_text())
    mech = arm([row[:3] for row in given["parameters"]["dh"]])
    q = np.array(given["reference"][part]["q"])
    found = mech.inverse_kinematics(mech.frame(q, "tool"), q=q, tolerance=1e-8)
    assert found.continuum is None
    assert found.solutions[0].singularity == part
    np.testing.assert_allclose(found.solutions[0].q, q, atol=1e-5)


def test_a_wrist_over_the_first_axis():
    """With no offsets axis 1 is free to turn when the wrist's centre is on it; the wrist turns back.

    Two links of equal length from a point on axis 1: folded by 2 rad, the second ends on the axis if the first is
    inclined to it by π/2 − 1 rad."""
    length = 0.4
    rows = (
        (0.0, math.pi / 2, 0.5),
        (length, 0.0, 0.0),
        (0.0, math.pi / 2, 0.0),
        (0.0, -math.pi / 2, length),
        (0.0, math.pi / 2, 0.0),
        (0.0, 0.0, 0.1),
    )
    mech = arm(rows)
    q = np.array([0.3, 1.0, 2.0 + math.pi / 2, 0.4, 0.8, 0.1])
    q[1] += math.pi / 2 - math.atan2(*_in_the_plane_of_the_arm(mech, q)[::-1])
    assert abs(_in_the_plane_of_the_arm(mech, q)[0]) < 1e-12
    found = mech.inverse_kinematics(mech.frame(q, "tool"), q=q)
    assert found.solutions[0].singularity == "shoulder"
    assert found.solutions[0].distance < 1e-6
    assert found.continuum is not None
    assert "joint1" in found.continuum.joints


def _in_the_plane_of_the_arm(mech, q):
    """Distance of the wrist's centre from axis 1 in the plane of the links, and its height over the shoulder."""
    centre, shoulder = (mech.frame(q, name)[:3, 3] for name in ("link4", "link1"))
    ahead = np.array([math.cos(q[0]), math.sin(q[0]), 0.0])
    return ahead @ (centre - shoulder), (centre - shoulder)[2]


def test_out_of_reach():
    """The farthest a planar two-link arm with a vertical slide can be; a tilt that a SCARA cannot make."""
    mech = named_arm("scara")
    q = np.array([0.2, 0.9, 0.05, 0.3])
    X = mech.frame(q, "tool")
    far = X.copy()
    far[:3, 3] = (2.0, 0.0, X[2, 3])
    found = mech.inverse_kinematics(far, q=q)
    assert not found.is_reached
    assert found.complete == "all"
    assert found.nearest.position_error == pytest.approx(2.0 - 0.325 - 0.225, abs=1e-3)
    assert found.nearest.prevents == ()
    tilted = X.copy()
    tilted[:3, :3] = Rotation.from_rotvec((0.2, 0.0, 0.0)).as_matrix() @ X[:3, :3]
    assert mech.inverse_kinematics(tilted, q=q).nearest.orientation_error == pytest.approx(0.2, abs=1e-3)


def test_forms_of_targets_agree():
    mech = named_arm("puma")
    X = mech.frame(Q, "tool")
    R = Rotation.from_matrix(X[:3, :3])
    base = mech.frame(Q, "link1")
    for target, reference in (
        (from_matrix(X), "world"),
        ({"position": X[:3, 3], "rotation": R.as_euler("xyz")}, "world"),
        ({"position": X[:3, 3], "quaternion": R.as_quat()}, "world"),
        (np.linalg.solve(base, X), "link1"),
    ):
        found = mech.inverse_kinematics(target, "tool", q=Q, reference=reference)
        assert len(found.solutions) == 8
        np.testing.assert_allclose(found.solutions[0].q, Q, atol=1e-9)
    (nearest,) = mech.inverse_kinematics(X, q=Q, all=False).solutions
    np.testing.assert_allclose(nearest.q, Q, atol=1e-9)


def test_a_general_arm():
    """All solutions by elimination; they have no names."""
    given = json.loads((REFERENCE / "ik_general_6r.json").read_text())
    mech = arm([row[:3] for row in given["parameters"]["dh"]])
    q = np.array(given["parameters"]["q_generating"])
    found = mech.inverse_kinematics(np.array(given["parameters"]["target"]), q=q)
    assert found.complete == "all"
    assert len(found.solutions) == len(given["reference"]["solutions"])
    assert "do not meet" in found.form
    np.testing.assert_allclose(found.solutions[0].q, q, atol=1e-6)
    with pytest.raises(ModelError, match="have no names"):
        mech.inverse_kinematics(mech.frame(q, "tool"), configuration="keep")


def test_a_redundant_arm_keeps_a_self_motion():
    """A joint is held: at its value in q, or at those asked for."""
    mech = Mechanism(load(EXAMPLES / "panda.kst"))
    q = mech.rest()
    X = mech.frame(q, "tool")
    found = mech.inverse_kinematics(X, q=q)
    assert found.complete == "all for these self-motion values"
    solution = found.solutions[0]
    np.testing.assert_allclose(solution.q, q, atol=1e-9)
    rates = np.zeros(7)
    for joint, rate in zip(found.continuum.joints, found.continuum.rates, strict=True):
        rates[mech.q_names.index(joint)] = rate
    np.testing.assert_allclose(mech.jacobian(q, "tool") @ rates, 0.0, atol=1e-9 * np.abs(rates).max())
    held = mech.q_names.index(found.continuum.parameter)
    values = q[held] + np.array([0.1, 0.2])
    others = mech.inverse_kinematics(X, q=q, self_motion=values).solutions
    assert {round(each.q[held], 9) for each in others} == set(np.round(values, 9))
    for each in others:
        np.testing.assert_allclose(mech.frame(each.q, "tool"), X, atol=1e-9)


def test_joints_off_the_chain_stay():
    """A camera on the third link does not move the tool."""
    text = load(EXAMPLES / "puma560.kst")
    from core.model import Body, Joint

    model = dataclasses.replace(
        text,
        bodies=(*text.bodies, Body(name="camera")),
        joints=(*text.joints, Joint(name="pan", kind="revolute", parent="link3", child="camera")),
    )
    mech = Mechanism(model)
    q = mech.rest()
    q[mech.q_names.index("pan")] = 0.7
    found = mech.inverse_kinematics(mech.frame(q, "tool"), "tool", q=q)
    assert len(found.solutions) == 8
    assert {float(each.q[mech.q_names.index("pan")]) for each in found.solutions} == {0.7}


TURNED_AXES = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<link name="e"/><link name="tool"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="a"/><origin xyz="0 0 0.3"/><axis xyz="0 0 -1"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="j2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0.1"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="j3" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.4 0.02 0"/><axis xyz="0 -1 0"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="j4" type="revolute"><parent link="c"/><child link="d"/><origin xyz="0.4 0 0.03"/><axis xyz="-1 0 0"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="j5" type="revolute"><parent link="d"/><child link="e"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="j6" type="revolute"><parent link="e"/><child link="tool"/><origin xyz="0.1 0 0"/><axis xyz="-1 0 0"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


def test_axes_in_opposite_directions():
    """As URDF files of industrial arms have them."""
    mech = Mechanism(loads(TURNED_AXES, "urdf"))
    q = np.array([0.3, -0.8, -0.9, 0.5, 0.6, -0.2])
    X = mech.frame(q, "tool")
    found = mech.inverse_kinematics(X, "tool", q=q)
    assert len(found.solutions) == 4  # stretched to the front, where the rear is too far from axis 2
    np.testing.assert_allclose(found.solutions[0].q, q, atol=1e-9)
    assert str(found.solutions[0].configuration).startswith("front up")
    for each in found.solutions:
        np.testing.assert_allclose(mech.frame(each.q, "tool"), X, atol=1e-10)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (np.full((4, 4), math.nan), "not finite"),
        (np.diag([1.1, 1.0, 1.0, 1.0]), "not orthonormal"),
        (np.diag([-1.0, 1.0, 1.0, 1.0]), "right-handed"),
        ((1.0, 2.0), "shape"),
        ({"position": (0, 0, 1), "turn": 1}, "entries"),
        ({"position": (0, 0, 1), "quaternion": (0, 0, 0, 0)}, "zero"),
        ("there", "numbers"),
    ],
)
def test_bad_targets(target, words):
    with pytest.raises(ModelError, match=words):
        named_arm("puma").inverse_kinematics(target)


def test_bad_arguments():
    mech = named_arm("puma")
    X = mech.frame(Q, "tool")
    for arguments, words in (
        ({"configuration": "sideways"}, "front up no-flip"),
        ({"configuration": {"elbow": "left"}}, "no configuration"),
        ({"turns": "many"}, "turns"),
        ({"q": (0.0, 0.0)}, "6 finite numbers"),
        ({"frame": "base"}, "No joint moves"),
        ({"free": ("rx", "ry")}, "combine"),
        ({"free": ("up",)}, "no direction"),
        ({"locked": ("joint9",)}, "no joint"),
        ({"locked": tuple(f"joint{k}" for k in range(1, 7))}, "not locked"),
        ({"self_motion": 0.3}, "no redundant joint"),
    ):
        with pytest.raises(ModelError) as error:
            mech.inverse_kinematics(X, **arguments)
        assert words in str(error.value)


def test_the_card_lists_configurations():
    """Without a target it begins from the tool as it is."""
    context = Context.of(load(EXAMPLES / "puma560.kst"))
    message, table, poses = call("inverse_kinematics", context, show="all").parts
    assert "8 configurations" in message.text
    assert "no others" in message.text
    assert len(set(table.column("Configuration"))) == 8
    beyond = table.column("Beyond limits")
    assert len(poses.q) == sum(not text for text in beyond) < 8
    assert list(map(bool, beyond)) == sorted(map(bool, beyond))
    np.testing.assert_allclose(poses.q[0], context.q, atol=1e-9)


def test_one_of_several_solutions_is_not_all():
    mech = arm(PUMA)
    X = mech.frame(Q, "tool")
    one = mech.inverse_kinematics(X, q=Q, all=False)
    assert (len(one.solutions), one.complete) == (1, "at least these")
    np.testing.assert_allclose(one.solutions[0].q, Q, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerance": math.nan}, "not a valid tolerance"),
        ({"tolerance": 0.0}, "not a valid tolerance"),
        ({"q": "home"}, "6 finite numbers"),
        ({"free": 3}, "not a name"),
        ({"locked": (1, 2)}, "not a name"),
    ],
)
def test_arguments_of_the_wrong_kind(options, words):
    mech = arm(PUMA)
    with pytest.raises(ModelError, match=words):
        mech.inverse_kinematics(mech.frame(Q, "tool"), **options)


def test_a_given_self_motion_is_kept_where_it_does_not_reach():
    """With the last joint turned away the Panda does not reach the pose that it reaches with other values."""
    mech = Mechanism(load(EXAMPLES / "panda.kst"))
    q = mech.rest()
    X = mech.frame(q, "tool")
    values = np.linspace(-2.8, 2.8, 15)
    each = [mech.inverse_kinematics(X, q=q, self_motion=float(x)) for x in values]
    assert {found.complete for found in each} == {"all for these self-motion values"}
    assert {found.is_reached for found in each} == {True, False}
    for x, found in zip(values, each, strict=True):
        for solution in found.solutions:
            assert solution.q[mech.joint_q("joint7")][0] == pytest.approx(x)
