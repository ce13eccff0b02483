"""Limits of joints that close loops hold while a loop is moved, as they do where the joint is in the tree."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.analysis.inverse_kinematics import coordinates_at_limits, move_frame_to_target
from core.constraints.assembly import random_pose
from core.constraints.cut_coordinates import most_exceeded_limit
from core.errors import AssemblyError
from core.mechanism import Mechanism
from core.model import Body, Joint, Limit, Model
from core.simulation import simulate
from tests.constraints.mobility import overconstrained as machines


def four_bar(joint: str, limit: Limit, cut: str) -> Mechanism:
    """J1 … J4 drawn where all angles are zero, one of them limited, cut anywhere."""
    model: Model = machines.planar_fourbar()
    joints = tuple(
        dataclasses.replace(j, limits=(limit,) if j.name == joint else (), cut="yes" if j.name == cut else "auto")
        for j in model.joints
    )
    return Mechanism(dataclasses.replace(model, joints=joints))


def angles(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    return np.array([float(mech.coordinate(q, f"J{k}")[0]) for k in (1, 2, 3, 4)])


@pytest.mark.parametrize("joint", ["J1", "J2", "J3", "J4"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_moving_a_loop_stops_at_the_limit_of_any_joint(joint, sign):
    """Wherever the loop is cut, the joint beside the limited one can be moved equally far."""
    limit = Limit(lower=-0.2, upper=0.2)
    mover = {"J1": "J2", "J2": "J3", "J3": "J2", "J4": "J3"}[joint]
    ends = []
    for cut in ("J1", "J2", "J3", "J4"):
        if cut == mover:
            continue
        mech = four_bar(joint, limit, cut)
        q = mech.move(mech.rest(), {mover: sign * 0.9})
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8
        ends.append(angles(mech, q))
        assert abs(ends[-1][int(joint[1]) - 1]) <= 0.2 + 1e-9
        if abs(ends[-1][int(joint[1]) - 1]) > 0.2 - 1e-3:
            assert abs(abs(ends[-1][int(joint[1]) - 1]) - 0.2) < 1e-8
            assert joint in coordinates_at_limits(mech, q)
    np.testing.assert_allclose(ends, np.tile(ends[0], (len(ends), 1)), atol=1e-8)


@pytest.mark.parametrize("cut", ["J1", "J4"])
def test_a_body_that_is_pulled_stops_there_too(cut):
    mech = four_bar("J4", Limit(lower=-0.15, upper=0.15), cut)
    start = mech.rest()
    target = np.array(mech.frame(start, "link2"))
    target[:3, 3] += (1.5, 0.3, 0.0)
    found = move_frame_to_target(mech, start, "link2", target[:3, 3], point=(2.0, 1.5, 0.0))
    assert not found.is_reached
    turned = angles(mech, found.q)[3]
    assert abs(turned) == pytest.approx(0.15, abs=1e-8)


def test_what_stands_beyond_a_limit_may_come_back():
    mech = four_bar("J4", Limit(lower=0.3, upper=0.9), "J4")
    start = mech.neutral()
    assert angles(mech, start)[3] == pytest.approx(0.0, abs=1e-9)
    for sign in (1.0, -1.0):
        q = mech.move(start, {"J1": sign * 0.4})
        assert angles(mech, q)[3] >= -1e-9


def test_only_joints_that_close_loops_are_listed():
    limit = Limit(lower=-0.2)
    assert four_bar("J1", limit, "J4").cut_limits == ()
    (found,) = four_bar("J4", limit, "J4").cut_limits
    assert (found.name, found.lower, found.upper, found.dimension) == ("J4", -0.2, np.inf, "angle")


@pytest.mark.parametrize("cut", ["J1", "J2", "J3", "J4"])
def test_rest_and_assembly_keep_the_limits_of_all_joints(cut):
    """The crank stands at the edge of its range wherever the loop is cut, and the loop is closed there."""
    mech = four_bar("J4", Limit(lower=0.3, upper=0.9), cut)
    for q in (mech.rest(), mech.assemble(mech.neutral())):
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-10
        assert 0.3 - 1e-9 <= angles(mech, q)[3] <= 0.3 + 5e-3
    inside = mech.assemble(mech.move(mech.rest(), {"J2" if cut == "J1" else "J1": 0.5}))
    assert 0.3 - 1e-9 <= angles(mech, inside)[3] <= 0.9 + 1e-9


def test_random_poses_keep_them():
    mech = four_bar("J4", Limit(lower=-0.2, upper=0.4), "J4")
    rng = np.random.default_rng(3)
    found = np.array([angles(mech, random_pose(mech.compiled, rng))[3] for _ in range(12)])
    assert (found >= -0.2 - 1e-9).all()
    assert (found <= 0.4 + 1e-9).all()
    assert np.ptp(found) > 0.1


def test_where_limits_contradict_each_other_the_joint_is_named():
    mech = contradictory()
    with pytest.raises(AssemblyError, match="closes only with 'J4' .* beyond its limit") as raised:
        mech.assemble(mech.neutral())
    assert raised.value.where == "joint 'J4'"
    assert np.max(np.abs(mech.constraint_residual(mech.rest()))) < 1e-8, "at rest it is closed all the same"


def test_a_position_of_a_run_stays_beyond_limits_which_do_not_act_there():
    mech = four_bar("J4", Limit(lower=0.3, upper=0.9), "J4")
    q = mech.neutral()
    np.testing.assert_allclose(mech.assemble(q, limits=False), q, atol=1e-12)
    run = simulate(mech, 0.01, q0=q, v0={"J1": 1.0})
    np.testing.assert_allclose(run.q[0], q, atol=1e-12)


def contradictory() -> Mechanism:
    """J1 within ±0.1, J4 from 0.8 on: a parallelogram turns both alike."""
    model = machines.planar_fourbar()
    limits = {"J1": (Limit(lower=-0.1, upper=0.1),), "J4": (Limit(lower=0.8, upper=1.2),)}
    joints = tuple(
        dataclasses.replace(j, limits=limits.get(j.name, ()), cut="yes" if j.name == "J4" else "auto")
        for j in model.joints
    )
    return Mechanism(dataclasses.replace(model, joints=joints))


@pytest.mark.parametrize("order", [(0.2, 0.05), (0.05, 0.2), (0.0, 0.2), (0.2, 0.0)])
def test_of_several_limits_the_one_passed_farthest_counts(order):
    """A floating bush on a bolt, turned and pushed beyond what the bolt's angle and displacement may be."""
    bush, bounds = Body(name="bush", mass=1.0), Limit(lower=-0.1, upper=0.1)
    joints = (
        Joint(name="loose", kind="free", parent="world", child="bush"),
        Joint(name="bolt", kind="cylindrical", parent="world", child="bush", limits=(bounds, bounds), cut="yes"),
    )
    mech = Mechanism(Model(name="bolted", bodies=(bush,), joints=joints))
    along = dict(zip(("bolt.angle", "bolt.displacement"), order, strict=True))
    turned, pushed = (0.1 + beyond for beyond in order)
    q = np.array([0.0, 0.0, pushed, 0.0, 0.0, np.sin(turned / 2), np.cos(turned / 2)])
    limit, beyond = most_exceeded_limit(mech.compiled, mech.cut_limits, q)
    assert beyond == pytest.approx(0.2)
    assert along[limit.name] == 0.2
    kept = mech.assemble(q)
    assert most_exceeded_limit(mech.compiled, mech.cut_limits, kept) is None
