"""Assembly branches, instantaneous screws and swings against what geometry says."""

import dataclasses

import numpy as np
import pytest

from core.analysis.body_motions import oscillating_poses, relative_velocity, screw, screw_from_twist
from core.analysis.branches import find_branches, independent_coordinates
from core.errors import AssemblyError, ModelError
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES
from tests.constraints.mobility import overconstrained as machines


def test_a_planar_four_bar_has_two_branches_mirror_images_of_each_other():
    mech = Mechanism(machines.planar_fourbar())
    found = find_branches(mech, ["J1"], mech.neutral())
    assert len(found) == 2
    np.testing.assert_allclose(found[0], mech.neutral(), atol=1e-9)  # the guess first
    knots = [mech.joint_poses(q)["J3"][0][:3, 3] for q in found]
    head, foot = (mech.joint_poses(mech.neutral())[name][0][:3, 3] for name in ("J2", "J4"))
    along = (foot - head) / np.linalg.norm(foot - head)
    offset = knots[0] - head
    mirrored = head + 2.0 * along * (along @ offset) - offset
    np.testing.assert_allclose(knots[1], mirrored, atol=1e-7)
    for q in found:
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-9
        assert q[0] == 0.0


def test_a_slider_crank_has_two():
    assert len(find_branches(Mechanism(machines.slider_crank()), ["J1"])) == 2


def test_turns_of_weightless_rings_are_no_other_branch():
    """A coupler of fixed length from the crank's pin meets the slider's line twice; its ball joint is made of three
    hinges, which reach each of its directions in two ways."""
    mech = Mechanism(load(EXAMPLES / "spatial_four_bar.kst"))
    q = mech.rest()
    found = find_branches(mech, ["j1"], q)
    poses = mech.joint_poses(q)
    slider, pin = poses["j3"][0][0, 3], poses["j5"][0][0, 3]
    places = sorted(mech.joint_poses(pose)["j3"][0][0, 3] for pose in found)
    np.testing.assert_allclose(places, sorted([slider, 2.0 * pin - slider]), atol=1e-8)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "shaker", "squeezer", "spatial_four_bar", "macpherson"])
def test_no_two_branches_have_the_same_places(name):
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    q = mech.rest()
    found = find_branches(mech, independent_coordinates(mech, q), q)
    heavy = [body.name for body in mech.model.expanded.bodies if body.mass or body.density]
    for i, one in enumerate(found):
        assert np.max(np.abs(mech.constraint_residual(one))) < 1e-9
        for other in found[:i]:
            assert max(np.max(np.abs(mech.frame(one, body) - mech.frame(other, body))) for body in heavy) > 1e-4


def test_values_can_be_given_and_may_be_out_of_reach():
    mech = Mechanism(machines.slider_crank())
    found = find_branches(mech, {"J1": 0.7})
    assert [q[0] for q in found] == [0.7, 0.7]
    narrow = machines.planar_fourbar()
    joints = [
        dataclasses.replace(j, a=dataclasses.replace(j.a, position=(5.0, 0.0, 0.0))) if j.name == "J3" else j
        for j in narrow.joints
    ]
    with pytest.raises(AssemblyError, match="No pose closes the loops"):
        find_branches(Mechanism(dataclasses.replace(narrow, joints=tuple(joints))), ["J1"], starts=40)


def test_a_platform_with_held_legs_stands_in_several_ways():
    mech = Mechanism(machines.stewart())
    legs = [f"leg{i}" for i in range(1, 7)]
    found = find_branches(mech, legs)
    assert len(found) > 4
    places = [mech.joint_poses(q) for q in found]
    for q, pairs in zip(found, places, strict=True):
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-9
        for i in range(1, 7):  # all legs have the lengths they had
            now = np.linalg.norm(pairs[f"top{i}"][1][:3, 3] - pairs[f"base{i}"][0][:3, 3])
            was = np.linalg.norm(places[0][f"top{i}"][1][:3, 3] - places[0][f"base{i}"][0][:3, 3])
            assert now == pytest.approx(was, abs=1e-9)
    heights = [mech.frame(q, "platform")[:3, :] for q in found]
    for i, one in enumerate(heights):
        assert all(np.max(np.abs(one - other)) > 1e-4 for other in heights[:i])


def test_too_few_held_coordinates_are_told():
    mech = Mechanism(machines.stewart())
    with pytest.raises(ModelError, match="2 more coordinates must be fixed"):
        find_branches(mech, ["leg1", "leg2", "leg3", "leg4"])
    with pytest.raises(ModelError, match="no coordinate 'leg9'"):
        find_branches(mech, ["leg9"])


def test_independent_coordinates_are_those_a_person_would_name():
    assert independent_coordinates(*closed(machines.slider_crank())) == ("J1",)
    assert independent_coordinates(*closed(machines.stewart())) == tuple(f"leg{i}" for i in range(1, 7))


def closed(model):
    mech = Mechanism(model)
    return mech, mech.neutral()


def test_the_coupler_turns_about_the_poles_of_its_linkage():
    """The instant centre of a four-bar's coupler is where crank and rocker meet (Aronhold–Kennedy)."""
    mech, q = closed(machines.planar_fourbar())
    v = mech.mobility(q).motions[0].speeds
    found = screw(mech, q, v, "link2")
    assert found.kind == "rotation"
    assert abs(found.direction[2]) == pytest.approx(1.0)
    J = {name: pair[0][:2, 3] for name, pair in mech.joint_poses(q).items()}
    (s, _) = np.linalg.solve(np.column_stack([J["J2"] - J["J1"], J["J4"] - J["J3"]]), J["J4"] - J["J1"])
    np.testing.assert_allclose(found.point[:2], J["J1"] + s * (J["J2"] - J["J1"]), atol=1e-8)
    against_crank = screw(mech, q, v, "link2", "link1")
    np.testing.assert_allclose(against_crank.point[:2], J["J2"], atol=1e-8)


def test_relative_motion_is_that_of_the_joint():
    mech, q = closed(machines.cardan_shaft())
    v = mech.mobility(q).motions[0].speeds
    V = relative_velocity(mech, q, v, "tube", "input")
    np.testing.assert_allclose(V[:3] @ mech.frame(q, "input")[:3, 0], 0.0, atol=1e-9)  # both axes are normal to x
    assert screw(mech, q, v, "output").kind == "rotation"
    assert screw(mech, q, v, "output", "output").kind == "rest"


def test_screws_of_known_twists():
    point = np.array([1.0, 2.0, 3.0])
    w, h, r = np.array([0.0, 0.0, 2.0]), 0.1, np.array([0.5, -1.0, 0.0])
    found = screw_from_twist(np.concatenate([w, np.cross(w, point - r) + h * w]), point)
    assert (found.kind, found.pitch, found.angular) == ("screw", pytest.approx(h), 2.0)
    np.testing.assert_allclose(found.point, [0.5, -1.0, 3.0], atol=1e-12)
    assert found.advance_per_turn == pytest.approx(2.0 * np.pi * h)
    slide = screw_from_twist(np.array([0.0, 0.0, 0.0, 0.0, 3.0, 0.0]), point)
    assert (slide.kind, slide.linear) == ("translation", 3.0)
    np.testing.assert_allclose(slide.direction, [0.0, 1.0, 0.0])


@pytest.mark.parametrize("model", [machines.bennett(), machines.bricard_reference()[0], machines.stewart()])
def test_swings_stay_closed_and_come_back(model):
    mech, q = closed(model)
    for motion in mech.mobility(q).motions[:2]:
        poses = oscillating_poses(mech, q, motion.speeds)
        assert len(poses) > 20
        assert max(np.max(np.abs(mech.constraint_residual(pose))) for pose in poses) < 1e-8
        np.testing.assert_allclose(poses[-1], q, atol=1e-12)
        assert np.max(np.abs(mech.difference(q, poses[len(poses) // 4]))) > 0.2


def test_what_moves_only_infinitesimally_is_shown_strained():
    mech, q = closed(machines.truss(2, flat=True))
    motion = mech.mobility(q).motions[0]
    poses = oscillating_poses(mech, q, motion.speeds)
    assert 1e-4 < np.max(np.abs(mech.constraint_residual(poses[3]))) < 0.2
