"""Poses given by the names of coordinates: what is named is kept, what is not follows, what contradicts is told."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest

from core.errors import AssemblyError, ModelError
from core.files import load
from core.mechanism import Mechanism
from core.model import Driver
from core.numerics.rank import null_space
from core.simulation.run.initial_state import start_state
from resources import EXAMPLES, examples
from tests.mechanism.constraints.test_redundant_drivers import four_bar

STEPS = (0.1, 0.3, 0.7, 1.2)
"""rad, of the first coordinate from rest."""
FILES = ("four_bar", "slider_crank", "squeezer", "engine_v6", "spatial_four_bar")
TURN = 2.0 * np.pi


@cache
def machine(name: str) -> Mechanism:
    return Mechanism(load(next(example.path for example in examples() if example.name == name)))


LOOPED = [example.name for example in examples() if machine(example.name).constrained]
"""Everything that loops, rods, gears or drivers hold."""


def closed_poses(mech: Mechanism, count: int = 4) -> list[np.ndarray]:
    """Closed poses that lie about the rest pose, made by moving one coordinate after the other."""
    random, poses = np.random.default_rng(7), []
    plain = [c for c in mech.coordinates if c.dimension != "none"]
    for _ in range(count):
        q = mech.rest()
        for k in random.integers(len(plain), size=2):
            reach = 1.0 if plain[k].dimension == "angle" else 0.05
            q = mech.move(q, {plain[k].name: q[plain[k].index] + random.uniform(-reach, reach)})
        assert np.max(np.abs(mech.constraint_residual(q)), initial=0.0) < 1e-8
        poses.append(q)
    return poses


def leading(mech: Mechanism, q: np.ndarray) -> list[str]:
    """As many coordinates as there are freedoms, of which none follows from the others."""
    N = null_space(mech.constraint_jacobian(q))
    names: list[str] = []
    rows = np.zeros((0, N.shape[1]))
    for name, row in zip(mech.v_names, N, strict=True):
        more = np.vstack([rows, row])
        if len(more) > N.shape[1]:
            break
        if name in mech.q_names and np.linalg.svd(more, compute_uv=False)[-1] > 0.05:
            names, rows = [*names, name], more
    return names


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("file", FILES)
def test_a_closed_pose_by_all_its_names_is_where_the_machine_goes(file, step):
    mech = Mechanism(load(EXAMPLES / f"{file}.kst"))
    lead, rest = mech.q_names[0], mech.rest()
    closed = mech.move(rest, {lead: rest[0] + step})
    assert closed[0] == pytest.approx(rest[0] + step, abs=1e-9)
    assert np.linalg.norm(mech.constraint_residual(closed)) < 1e-8
    moved = mech.move(rest, dict(zip(mech.q_names, map(float, closed), strict=True)))
    np.testing.assert_allclose(moved, closed, atol=1e-6)


@pytest.mark.parametrize("name", LOOPED)
def test_every_closed_pose_is_a_start(name):
    """By all names, in any order, a turn farther, as an array, as a list: moves and runs begin there."""
    mech = machine(name)
    p = mech.parameter_values()
    model = mech.model.expanded
    counted = {each.joint for each in model.drivers} | {name for each in model.constraints for name in each.joints}
    turning = np.array(
        [
            c.dimension == "angle" and c.lower is None and c.upper is None and c.joint not in counted
            for c in mech.coordinates
        ]
    )
    for q in closed_poses(mech):
        for pose in (q, q + TURN * turning):
            named = dict(reversed(list(zip(mech.q_names, pose, strict=True))))
            np.testing.assert_allclose(mech.move(mech.rest(), named), pose, rtol=0.0, atol=1e-9)
            for given in (named, pose, pose.tolist(), {f"{key}.q": value for key, value in named.items()}):
                np.testing.assert_allclose(start_state(mech, given, None, p)[: mech.nq], pose, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", LOOPED)
def test_what_is_named_is_kept_and_the_others_follow(name):
    mech = machine(name)
    for q in closed_poses(mech):
        names = leading(mech, q)
        values = {each: q[mech.q_names.index(each)] for each in names}
        found = mech.move(mech.rest(), values, exact=True)
        assert [found[mech.q_names.index(each)] for each in names] == pytest.approx(list(values.values()), abs=1e-12)
        assert np.max(np.abs(mech.constraint_residual(found)), initial=0.0) < 1e-8


@pytest.mark.parametrize("name", [name for name in LOOPED if name != "shaker_bodies"])  # nothing that turns follows
def test_values_that_contradict_each_other_are_told_with_how_far_they_are_apart(name):
    """One coordinate that follows is given 0.02 rad or 1 mm beside where it stands with those that lead."""
    mech = machine(name)
    q = closed_poses(mech, 1)[0]
    names = leading(mech, q)
    turning = [c for c in mech.coordinates if c.dimension == "angle" and c.name in mech.v_names and c.name not in names]
    if not turning:
        pytest.skip("nothing that turns follows")
    follower = turning[0]
    near = {each: q[mech.q_names.index(each)] for each in names}
    named = {**near, follower.name: q[follower.index] + 0.02}
    with pytest.raises(AssemblyError) as caught:
        mech.move(q, named, exact=True)
    error = caught.value
    assert error.where == f"coordinate '{follower.name}'"
    assert "1.146°" in error.what
    assert error.together[-1] == error.where
    assert all(f"'{each.split(chr(39))[1]}'" in error.what for each in error.together[:-1])
    with pytest.raises(AssemblyError, match=follower.name):
        start_state(
            mech,
            {**dict(zip(mech.q_names, q, strict=True)), follower.name: q[follower.index] + 0.02},
            None,
            mech.parameter_values(),
        )


def test_the_branch_that_a_way_along_the_loops_leads_to_is_taken():
    """A four-bar's crank turns round: the rocker's angle is that of the branch the machine is on, not the mirrored."""
    mech = machine("four_bar")
    rest = mech.rest()
    q = rest
    for k in range(1, 29):
        q = mech.move(q, {"crank_pin": rest[0] + 0.1 * k})
    np.testing.assert_allclose(mech.move(rest, {"crank_pin": rest[0] + 2.8}, exact=True), q, atol=1e-9)


def test_a_pose_is_reached_though_no_way_leads_there():
    """Of the other branch: the same crank angle, the triangle coupler–rocker mirrored about its diagonal."""
    mech = machine("four_bar")
    q = mech.rest()
    x, z = 0, 2
    joints = {name: poses[1][[x, z], 3] for name, poses in mech.joint_poses(q).items()}
    diagonal, rocker_side = (joints[name] - joints["rocker_pin"] for name in ("moving_pin_a", "moving_pin_b"))
    mirroring = 2.0 * (np.arctan2(*diagonal[::-1]) - np.arctan2(*rocker_side[::-1]))
    rocker = q[2] + mirroring  # about −y: from x to z
    found = mech.move(q, {"crank_pin": q[0], "rocker_pin": rocker})
    assert found[0] == q[0]
    assert found[2] == pytest.approx(rocker, abs=1e-12)
    assert np.max(np.abs(mech.constraint_residual(found))) < 1e-8
    assert abs(found[2] - q[2]) > 0.1


def test_a_hand_gives_way_where_a_value_that_is_asked_for_is_refused():
    mech = machine("slider_crank")
    q, slide = mech.rest(), next(c for c in mech.coordinates if c.dimension == "length")
    end = mech.move(q, {slide.name: 9.0})[slide.index]
    assert 0.0 < end < 1.0
    with pytest.raises(
        AssemblyError, match=f"coordinate '{slide.name}'.*could only be moved to {1000.0 * end:.4g} mm"
    ) as caught:
        mech.move(q, {slide.name: 9.0}, exact=True)
    assert caught.value.q[slide.index] == pytest.approx(end, abs=1e-9)


@pytest.mark.parametrize("angle", [100.0, 1000.0, -1e5])
def test_whole_turns_are_turned(angle):
    mech = machine("slider_crank")
    for exact in (True, False):
        q = mech.move(mech.rest(), {"shaft": angle}, exact=exact)
        assert q[mech.q_names.index("shaft")] == angle
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8


def test_what_a_driver_holds_is_told():
    mech = Mechanism(
        dataclasses.replace(four_bar().model, drivers=(Driver(name="motor", joint="A", function="1 + t"),))
    )
    assert mech.move(mech.rest(), {"A": 1.0}, exact=True)[0] == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(
        AssemblyError, match=r"coordinate 'A'.*could only be moved to 57.3°, 5.73° from 63.03°.*driver 'motor'"
    ):
        mech.move(mech.rest(), {"A": 1.1}, exact=True)
    with pytest.raises(AssemblyError, match="driver 'motor'"):
        start_state(mech, {"A": 1.1}, None, mech.parameter_values())
    assert start_state(mech, {"A": 1.1}, None, mech.parameter_values(), t=0.1)[0] == pytest.approx(1.1, abs=1e-12)


def test_a_component_of_a_pose_is_kept_and_its_others_follow():
    """Of a quaternion, and of a body that is tied to the ground by legs."""
    mech = machine("stewart")
    rest = mech.rest()
    body = next(c for c in mech.coordinates if c.dimension == "none").joint
    part = mech.joint_q(body)
    quaternion = slice(part.stop - 4, part.stop)
    for k, value in ((quaternion.start, 0.05), (quaternion.start + 2, -0.04)):
        found = mech.move(rest, {mech.q_names[k]: value}, exact=True)
        assert found[k] == pytest.approx(value, abs=1e-8)
        assert np.linalg.norm(found[quaternion]) == pytest.approx(1.0, abs=1e-12)
        assert np.max(np.abs(mech.constraint_residual(found))) < 1e-8


def test_names_that_there_are_not():
    mech = machine("four_bar")
    with pytest.raises(ModelError, match=r"no coordinate 'crank_pn'. Did you mean crank_pin"):
        mech.move(mech.rest(), {"crank_pn": 1.0})
