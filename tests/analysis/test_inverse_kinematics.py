"""Inverse kinematics: targets made by forward kinematics, limits kept, all branches of the PUMA found."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.analysis.equal_poses import count_other_turns, shift_to_nearest_turns
from core.analysis.frame_search import rotation_vector
from core.analysis.inverse_kinematics import (
    coordinates_at_limits,
    coordinates_without_effect,
    count_self_motions,
    move_frame_to_target,
    solve_inverse_kinematics,
)
from core.files import load, loads
from core.functions import Context, call
from core.mechanism import Mechanism
from core.model import DHChain, DHRow, Limit, Model
from resources import EXAMPLES

REFERENCE = Path(__file__).parents[1] / "reference"


def without_limits(model):
    """The model with every DH row free to turn round."""
    chains = tuple(
        dataclasses.replace(chain, rows=tuple(dataclasses.replace(row, limit=None) for row in chain.rows))
        for chain in model.chains
    )
    return dataclasses.replace(model, chains=chains)


@pytest.fixture(scope="module")
def panda():
    return Mechanism(load(EXAMPLES / "panda.kst"))


@pytest.mark.parametrize("seed", range(8))
def test_reach_follows_a_hand_that_moves_a_little(panda, seed):
    start = panda.random(seed)
    step = np.random.default_rng(seed).uniform(-0.05, 0.05, panda.nv)
    goal = panda.frame(panda.clamp(panda.integrate(start, step, 1.0)), "tool")
    for target in (goal[:3, 3], goal):
        found = move_frame_to_target(panda, start, "tool", target)
        assert found.is_reached, found
        assert found.iterations < 30
        np.testing.assert_allclose(panda.frame(found.q, "tool")[:3, 3], goal[:3, 3], atol=1e-6)
    np.testing.assert_allclose(panda.frame(found.q, "tool"), goal, atol=2e-6)
    np.testing.assert_array_equal(found.q, panda.clamp(found.q))


def test_a_point_of_the_hand_reaches(panda):
    q = panda.rest()
    point = np.array([0.05, -0.02, 0.1])
    X = panda.frame(q, "tool")
    goal = X[:3, :3] @ point + X[:3, 3] + [0.02, 0.03, -0.01]
    found = move_frame_to_target(panda, q, "tool", goal, point=point)
    X = panda.frame(found.q, "tool")
    np.testing.assert_allclose(X[:3, :3] @ point + X[:3, 3], goal, atol=1e-6)


def test_all_branches_of_the_puma():
    mech = Mechanism(without_limits(load(EXAMPLES / "puma560.kst")))
    expected = json.loads((REFERENCE / "puma560_inverse_kinematics.json").read_text())["reference"]["generic"]
    found = solve_inverse_kinematics(mech, np.array(expected["q_true"]), "tool", np.array(expected["T"]), restarts=150)
    turned = [np.exp(1j * branch.q) for branch in found]
    assert len(found) == 8
    for solution in expected["solutions"]:
        gaps = [np.abs(t - np.exp(1j * np.array(solution["q"]))).max() for t in turned]
        assert min(gaps) < 1e-5, solution["config"]
    np.testing.assert_allclose(found[0].q, expected["q_true"], atol=1e-6)  # nearest first


def two_link(limit=None):
    rows = (DHRow(a=0.6, limit=limit), DHRow(a=0.4))
    return Mechanism(Model(name="arm", chains=(DHChain(name="arm", rows=rows),)))


def test_two_link_elbow_up_and_down():
    # closed form: cos q2 = (x² + y² − l1² − l2²)/(2 l1 l2)
    x, y = 0.5, 0.4
    found = solve_inverse_kinematics(two_link(), np.array([0.1, 0.1]), "tool", np.array([x, y, 0.0]), restarts=20)
    q2 = math.acos((x * x + y * y - 0.36 - 0.16) / 0.48)
    angles = sorted(math.remainder(branch.q[1], 2 * math.pi) for branch in found)
    np.testing.assert_allclose(angles, [-q2, q2], atol=1e-6)


def test_out_of_reach_gives_the_nearest_pose():
    (best,) = solve_inverse_kinematics(two_link(), np.array([0.3, 0.5]), "tool", np.array([0.0, 2.0, 0.0]))
    assert not best.is_reached
    assert best.position_error == pytest.approx(1.0, abs=1e-6)  # stretched arm of length 1 toward (0, 2)
    assert best.q[0] == pytest.approx(math.pi / 2, abs=1e-3)


def test_limits_hold_and_are_named():
    mech = two_link(Limit(lower=-0.5, upper=0.5))
    (best,) = solve_inverse_kinematics(mech, np.array([0.0, 0.5]), "tool", np.array([0.0, 2.0, 0.0]))
    assert best.q[0] == pytest.approx(0.5)
    assert "joint1" in best.at_limits
    assert coordinates_at_limits(mech, np.array([0.0, 0.0])) == ()


def test_parameters_count():
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    p = {"a2": 0.6}
    goal = mech.frame(mech.random(2), "tool", p=p)
    found = solve_inverse_kinematics(mech, mech.rest(), "tool", goal, p, restarts=30)
    assert found[0].is_reached
    np.testing.assert_allclose(mech.frame(found[0].q, "tool", p=p), goal, atol=2e-6)


def test_loops_stay_closed():
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    q = mech.rest()
    frame = next(name for name in mech.frame_names if np.abs(mech.jacobian(q, name)[3:]).max() > 1e-3)
    goal = mech.frame(mech.move(q, {mech.q_names[0]: q[0] + 0.05}), frame)[:3, 3]
    found = move_frame_to_target(mech, q, frame, goal)
    assert found.position_error < 1e-6
    assert np.abs(mech.constraint_residual(found.q)).max() < 1e-6


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 2.0, math.pi - 1e-8, math.pi])
def test_rotation_vector(angle):
    axis = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])
    R = Rotation.from_rotvec(angle * axis).as_matrix()
    np.testing.assert_allclose(Rotation.from_rotvec(rotation_vector(R)).as_matrix(), R, atol=1e-7)
    assert np.linalg.norm(rotation_vector(R)) == pytest.approx(angle, abs=1e-7)


def planar(count, bound=None):
    limit = Limit(lower=-bound, upper=bound) if bound else Limit()
    rows = tuple(DHRow(a=0.5, limit=limit) for _ in range(count))
    return Mechanism(Model(name="planar", chains=(DHChain(name="arm", rows=rows),)))


@pytest.mark.parametrize(
    ("count", "q", "pose", "left"),
    [
        (2, (0.3, 0.9), False, 0),
        (2, (0.3, 0.0), False, 0),  # stretched: the rank is lower, and the motion ends at once
        (3, (0.3, 0.9, 0.4), False, 1),
        (3, (0.3, 0.9, 0.4), True, 0),
        (4, (0.3, 0.9, 0.4, -0.7), False, 2),
        (4, (0.3, 0.9, 0.4, -0.7), True, 1),
    ],
)
def test_freedoms_left_at_a_target_of_a_planar_arm(count, q, pose, left):
    """n joints, two numbers of place, one of direction."""
    mech, q = planar(count), np.array(q)
    X = mech.frame(q, "tool")
    assert count_self_motions(mech, q, "tool", X if pose else X[:3, 3]) == left


def test_freedoms_left_do_not_count_joints_that_follow():
    """A Stewart platform has twenty-one speeds and six freedoms; its plate in a given pose keeps none."""
    mech = Mechanism(load(EXAMPLES / "stewart.kst"))
    q = mech.rest()
    X = mech.frame(q, "platform")
    assert count_self_motions(mech, q, "platform", X) == 0
    assert count_self_motions(mech, q, "platform", X[:3, 3]) == 3


def test_a_wrist_in_line_turns_in_itself():
    mech = Mechanism(without_limits(load(EXAMPLES / "puma560.kst")))
    bent, straight = (np.array([0.2, 0.7, -0.6, 0.3, wrist, 0.4]) for wrist in (0.8, 0.0))
    assert count_self_motions(mech, bent, "tool", mech.frame(bent, "tool")) == 0
    assert count_self_motions(mech, straight, "tool", mech.frame(straight, "tool")) == 1


def test_whole_turns_are_no_other_solution():
    """The two elbows of an arm whose joints go round twice to each side, once each, next to where it stands."""
    mech = planar(2, 4.0 * math.pi)
    q = np.array([0.3 + 2.0 * math.pi, 0.9])
    found = solve_inverse_kinematics(mech, q, "tool", mech.frame(q, "tool")[:3, 3], restarts=40)
    assert len(found) == 2
    np.testing.assert_allclose(found[0].q, q, atol=1e-8)
    np.testing.assert_allclose(found[1].q, [q[0] + 0.9, -0.9], atol=1e-7)
    assert count_other_turns(mech, q) == {"joint1": 3, "joint2": 3}
    for turns in range(-2, 3):
        turned = q + np.array([2.0 * math.pi * turns, 0.0])
        inside = abs(turned[0]) <= 4.0 * math.pi
        assert np.allclose(shift_to_nearest_turns(mech, q, turned), turned) == inside


@pytest.mark.parametrize("name", ["ur5", "puma560"])
def test_no_two_solutions_are_whole_turns_apart(name):
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    q = mech.rest()
    found = solve_inverse_kinematics(mech, q, "tool", mech.frame(q, "tool"), restarts=60)
    circles = [np.concatenate([np.cos(each.q), np.sin(each.q)]) for each in found]
    for i, one in enumerate(circles):
        assert all(np.max(np.abs(one - other)) > 1e-5 for other in circles[:i])
    assert all(each.is_reached for each in found)


CAMERA_ARM = """<robot name="arm"><link name="base"/><link name="upper"/><link name="fore"/><link name="tool"/>
<link name="camera"/><link name="finger"/>
<joint name="m1" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="m2" type="continuous"><parent link="upper"/><child link="fore"/>
<origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
<joint name="roll" type="continuous"><parent link="fore"/><child link="tool"/>
<origin xyz="0.3 0 0"/><axis xyz="1 0 0"/></joint>
<joint name="pan" type="continuous"><parent link="upper"/><child link="camera"/><axis xyz="0 0 1"/></joint>
<joint name="grip" type="prismatic"><parent link="tool"/><child link="finger"/><axis xyz="0 1 0"/>
<limit lower="0" upper="0.04" effort="1" velocity="1"/></joint></robot>"""


def test_what_does_not_move_the_target_stays_where_it_is():
    """Elbow up and down of two links: a camera, a gripper, and for a place alone the roll of the tool are none."""
    mech = Mechanism(loads(CAMERA_ARM, "urdf"))
    q = np.array([{"pan": 0.4, "grip": 0.01, "roll": 0.2}.get(name, 0.0) for name in mech.q_names])
    place = (0.4 * math.cos(0.3) + 0.3 * math.cos(1.2), 0.0, -0.4 * math.sin(0.3) - 0.3 * math.sin(1.2))
    found = solve_inverse_kinematics(mech, q, "tool", place)
    assert len(found) == 2
    for reach_ in found:
        for name in ("pan", "grip", "roll"):
            assert reach_.q[mech.q_names.index(name)] == q[mech.q_names.index(name)]
    assert coordinates_without_effect(mech, "tool") == ("pan", "grip")
    assert set(coordinates_without_effect(mech, "tool", translation=True)) == {"pan", "grip", "roll"}
    assert (
        count_self_motions(mech, found[0].q, "tool", np.array(place)) == 1
    )  # the roll; camera and gripper do not count


def test_flips_of_universal_joints_are_no_other_pose_of_a_platform():
    """The lengths of six legs follow from the pose of the platform: it is reached in one way."""
    mech = Mechanism(load(EXAMPLES / "stewart.kst"))
    q = mech.rest()
    target = np.array(mech.frame(q, "platform"))
    target[:3, 3] += (0.02, 0.0, 0.01)
    assert len(solve_inverse_kinematics(mech, q, "platform", target, restarts=6)) == 1


def test_the_card_says_how_far_a_search_goes():
    given = json.loads((REFERENCE / "ik_general_6r.json").read_text())["parameters"]
    kinds = ("revolute", "prismatic", "revolute", "prismatic", "revolute", "revolute")  # two slides: no elimination
    rows = tuple(
        DHRow(kind=kind, a=a, alpha=alpha, d=d) for kind, (a, alpha, d, *_) in zip(kinds, given["dh"], strict=True)
    )
    mech = Mechanism(Model(name="arm", chains=(DHChain(name="arm", rows=rows),)))
    context = Context(mech.model, mech, np.array(given["q_generating"]))
    text = call("inverse_kinematics", context, restarts=3).to_text()
    assert "at least" in text
    assert "may have missed" in text
