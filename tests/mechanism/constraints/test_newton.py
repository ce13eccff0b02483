"""Newton's method in machine code agrees with NumPy's position solver, state by state, and with kinematics itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.analysis.frame_search import FrameSearch, FrameTarget
from core.analysis.inverse_kinematics import move_frame_to_target
from core.constraints.assembly import random_pose
from core.constraints.closed_positions import find_nearest_closed_position
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.newton.position_newton import borrow_newton
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Joint, Limit, Model
from core.numerics import position_solver
from resources import EXAMPLES
from tests.constraints.mobility import overconstrained as machines

TIGHT, LOOSE = 1e-9, 1e-5
COUNT = 6


@pytest.fixture(scope="module")
def stewart() -> Mechanism:
    return Mechanism(load(EXAMPLES / "stewart.kst"))


def _position_rows(mech: Mechanism) -> np.ndarray:
    return np.flatnonzero(mech.compiled.levels == 0)


def _closed(mech: Mechanism, starts: np.ndarray, bounded: bool = False, oriented: bool = False):
    with borrow_newton(mech.compiled, _position_rows(mech)) as newton:
        values = mech.compiled.parameter_values(None)
        newton.prepare(values, mech.compiled.time_argument(0.0), bounded=bounded, oriented=oriented)
        return newton.close(starts)


@pytest.mark.parametrize(("bounded", "oriented"), [(False, True), (True, False)])
def test_positions_are_those_of_the_position_solver(stewart, bounded, oriented):
    compiled, constraints = stewart.compiled, PositionConstraints(stewart.compiled)
    starts = compiled.coordinates.random(np.random.default_rng(1), COUNT)
    problem = constraints.oriented_problem if oriented else constraints.position_problem
    if bounded:
        own = compiled.coordinates
        problem = problem._replace(move=own.integrate_within_limits, room=own.displacement_bounds)
    problem, still = problem._replace(search=None), np.zeros(stewart.nv, dtype=bool)
    wanted = [position_solver.solve_position(problem, start, np.ones(stewart.nv), still) for start in starts]
    found = _closed(stewart, starts, bounded, oriented)
    np.testing.assert_allclose(found.q, [q for q, _ in wanted], atol=1e-7)
    np.testing.assert_array_equal(found.gap < 1e-8, [gap < 1e-8 for _, gap in wanted])


def test_joints_with_quaternions_move_as_elsewhere():
    """Without constraints that count, a single step of a ball and a free body is that of the coordinates."""
    bodies = (Body(name="free", mass=1.0), Body(name="ball", mass=1.0))
    joints = (Joint(name="J", kind="spherical", parent="free", child="ball"),)
    mech = Mechanism(Model(bodies=bodies, joints=joints))
    rng = np.random.default_rng(2)
    q0, q1 = (mech.random(rng) for _ in range(2))
    target = np.array(mech.frame(q1, "ball"))
    found = move_frame_to_target(mech, q0, "ball", target, iterations=100)
    assert found.is_reached
    np.testing.assert_allclose(mech.frame(found.q, "ball"), target, atol=1e-8)
    for at in mech.compiled.coordinates.quaternions:
        assert np.linalg.norm(found.q[at : at + 4]) == pytest.approx(1.0, abs=1e-14)
    near = FrameSearch(mech, "ball", FrameTarget(target[:3, 3], target[:3, :3], np.zeros(3)), None).solve(q0, 100)
    np.testing.assert_allclose(found.q, near.q, atol=1e-7)


def test_a_bad_position_among_good_ones_says_so_alone(stewart):
    starts = stewart.compiled.coordinates.random(np.random.default_rng(3), 4)
    good = _closed(stewart, starts)
    starts[1] = np.nan
    starts[2, 0] = np.inf
    mixed = _closed(stewart, starts)
    assert good.valid[[0, 3]].tolist() == mixed.valid[[0, 3]].tolist()
    np.testing.assert_array_equal(mixed.q[[0, 3]], good.q[[0, 3]])
    assert not mixed.valid[1:3].any()


@pytest.mark.parametrize("cut", ["J1", "J4"])
def test_limits_of_joints_that_close_loops_hold_on_the_way_to_a_target(cut):
    joints = tuple(
        dataclasses.replace(
            joint,
            limits=(Limit(lower=-0.15, upper=0.15),) if joint.name == "J4" else (),
            cut="yes" if joint.name == cut else "auto",
        )
        for joint in machines.planar_fourbar().joints
    )
    mech = Mechanism(dataclasses.replace(machines.planar_fourbar(), joints=joints))
    target = np.array(mech.frame(mech.rest(), "link2"))[:3, 3] + (1.5, 0.3, 0.0)
    found = move_frame_to_target(mech, mech.rest(), "link2", target)
    search = FrameSearch(mech, "link2", FrameTarget(target, None, np.zeros(3)), None).solve(mech.rest(), 24)
    np.testing.assert_allclose(found.q, search.q, atol=LOOSE)
    assert abs(float(mech.coordinate(found.q, "J4")[0])) < 0.15 + 1e-8


@pytest.mark.parametrize(("example", "frame"), [("ur5", "tool"), ("four_bar", "coupler_point")])
def test_frames_reach_targets_in_the_steps_of_numpy(example, frame):
    mech = Mechanism(load(EXAMPLES / f"{example}.kst"))
    rng = np.random.default_rng(5)
    for _ in range(3):
        q, away = (random_pose(mech.compiled, rng) for _ in range(2))
        place = np.array(mech.frame(away, frame))[:3, 3]
        found = move_frame_to_target(mech, q, frame, place, iterations=100)
        search = FrameSearch(mech, frame, FrameTarget(place, None, np.zeros(3)), None).solve(q, 100)
        assert found.is_reached == (search.position_error < 1e-6)
        if found.is_reached:
            np.testing.assert_allclose(mech.frame(found.q, frame)[:3, 3], place, atol=1e-6)
            np.testing.assert_allclose(found.q, search.q, atol=LOOSE)
        assert found.residual < search.residual * 1.001 + 1e-8


def test_the_nearest_closed_position_is_the_same_with_functions_that_are_not_compiled_yet():
    """The first search runs before machine code of the machine is ready, the second with it."""
    mech = Mechanism(load(EXAMPLES / "four_bar.kst"))
    starts = mech.compiled.coordinates.random(np.random.default_rng(6), COUNT)
    early = _closed(mech, starts)
    mech.compile()
    late = _closed(mech, starts)
    np.testing.assert_allclose(early.q, late.q, atol=TIGHT)
    nearest = find_nearest_closed_position(mech.compiled, starts[0], None, start=starts[0])
    if nearest is not None:
        assert np.max(np.abs(mech.constraint_residual(nearest))) < 1e-8
