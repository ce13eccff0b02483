"""Poses found in machine code meet their targets, as those that NumPy finds; bad starts concern their rows only."""

import numpy as np
import pytest

from core.constraints.assembly import random_pose
from core.files import load
from core.mechanism import Mechanism
from core.studies.workspace.pose_solver import MappedMachine, PoseTargets, solve_poses, solve_poses_together
from resources import EXAMPLES

COUNT = 12


@pytest.fixture(scope="module", params=[("ur5", "tool"), ("four_bar", "coupler_point")], ids=["ur5", "four_bar"])
def machine(request):
    example, frame = request.param
    mech = Mechanism(load(EXAMPLES / f"{example}.kst"))
    return MappedMachine(mech, frame, mech.compiled.parameter_values(None))


@pytest.fixture(scope="module")
def poses(machine):
    rng = np.random.default_rng(7)
    return np.array([random_pose(machine.mech.compiled, rng) for _ in range(COUNT)])


def test_places_are_attained_with_loops_closed(machine, poses):
    places = machine.frame_positions(poses)
    starts = poses[::-1].copy()
    found = solve_poses(machine, starts, PoseTargets(place=places))
    together = solve_poses_together(machine, starts, PoseTargets(place=places))
    np.testing.assert_array_equal(found.met, together.met)
    assert found.met.any()
    np.testing.assert_allclose(machine.frame_positions(found.q[found.met]), places[found.met], atol=1e-9)
    np.testing.assert_allclose(found.q[found.met], together.q[found.met], atol=1e-6)
    if machine.closing is not None:
        assert np.max(np.abs(machine.constraint_residuals(found.q[found.met]))) < 1e-9


def test_a_plane_and_a_coordinate_are_attained(machine, poses):
    normal, offset = np.array([0.6, 0.0, 0.8]), float(machine.frame_positions(poses)[0] @ (0.6, 0.0, 0.8))
    index, speed = (part[:1] for part in machine.scalar_coordinate_indices)
    flat = solve_poses(machine, poses, PoseTargets(plane=(normal, offset)))
    turned = solve_poses(machine, poses[::-1], PoseTargets(coordinates=(index, speed, poses[:, index])))
    assert flat.met[0]
    np.testing.assert_allclose(machine.frame_positions(flat.q[flat.met]) @ normal, offset, atol=1e-9)
    assert turned.met.all()
    np.testing.assert_allclose(turned.q[:, index], poses[:, index], atol=1e-9)


def test_a_bad_row_leaves_the_others_as_they_are(machine, poses):
    places = machine.frame_positions(poses)
    good = solve_poses(machine, poses[::-1], PoseTargets(place=places))
    starts = poses[::-1].copy()
    starts[3] = np.nan
    places[5] = np.inf
    mixed = solve_poses(machine, starts, PoseTargets(place=places))
    others = np.setdiff1d(np.arange(COUNT), (3, 5))
    np.testing.assert_array_equal(mixed.q[others], good.q[others])
    assert not mixed.met[[3, 5]].any()


def test_the_observer_is_asked_between_pieces_and_may_stop(machine, poses):
    class StopError(Exception):
        pass

    def look():
        raise StopError

    stopping = MappedMachine(machine.mech, machine.frame, machine.p, look=look)
    with pytest.raises(StopError):
        solve_poses(stopping, poses, PoseTargets(place=machine.frame_positions(poses[::-1])))
