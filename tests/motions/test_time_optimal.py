"""Time-optimal motions: closed forms, published durations, every limit kept and one of them met everywhere."""

import math
from dataclasses import replace

import numpy as np
import pytest

import kinetostat as ks
from core.errors import ModelError
from core.files.named import load
from core.motions.joined_paths import SplinePath
from core.motions.joint_bounds import JointBounds
from core.motions.path_laws import PathLaws, ToolLimits
from core.motions.plan import plan
from core.motions.time_optimal import fastest_law, grid_points, kinematic_rows
from tests.motions.test_motion_segments import CORNER, END, HOME, arm  # noqa: F401

V, A = np.array([0.8, 0.6]), np.array([2.0, 1.5])
"""Limits of the two axes of the reference problems (Bobrow et al. 1985; Pham and Pham 2018)."""


def duration(rate, change, count=400, velocity=V, acceleration=A):
    s = grid_points(count)
    return fastest_law(s, kinematic_rows(rate(s), change(s), velocity, acceleration)).duration


def test_a_double_integrator_takes_twice_the_root_of_its_distance():
    law = fastest_law(
        s := grid_points(100),
        kinematic_rows(np.ones((len(s), 1)), np.zeros((len(s), 1)), np.full(1, np.inf), np.ones(1)),
    )
    assert law.duration == pytest.approx(2.0, rel=1e-12)
    np.testing.assert_allclose(np.abs(law.at(np.linspace(0.01, 1.99, 40))[2]), 1.0, rtol=1e-9)


def test_durations_of_paths_of_two_axes():
    line = np.array([1.2, -0.7])
    assert duration(lambda s: np.tile(line, (len(s), 1)), lambda s: np.zeros((len(s), 2))) == pytest.approx(
        1.9, rel=1e-5
    )

    def turn(f, first, second):
        return np.column_stack([first(f), second(f)])

    half, radius = np.pi, 0.5
    arc = duration(
        lambda s: radius * half * turn(half * s, lambda f: -np.sin(f), np.cos),
        lambda s: -radius * half**2 * turn(half * s, np.cos, np.sin),
    )
    assert arc == pytest.approx(2.50051456883044, rel=1e-3)
    sine = duration(
        lambda s: 2.0 * turn(2.0 * s, np.ones_like, lambda f: 0.9 * np.cos(3.0 * f)),
        lambda s: 4.0 * turn(2.0 * s, np.zeros_like, lambda f: -2.7 * np.sin(3.0 * f)),
    )
    assert sine == pytest.approx(3.07442754522683, rel=1e-3)


TOPPRA = (8.909188274718197, 9.178335246502616, 8.751763328641363)
"""Durations of toppra 0.6.10 with 1001 grid points for splines through 8 random points of 6 joints."""


def test_splines_through_random_points_take_no_longer_than_with_toppra():
    random = np.random.default_rng(3)
    speed, acceleration, none = np.full(6, 2.0), np.full(6, 5.0), np.full(6, np.inf)
    bounds = JointBounds(speed, acceleration, acceleration, none, none)
    laws = PathLaws(ks.Mechanism(load("ur5")), "tool", bounds, ToolLimits(math.inf, math.inf, math.inf))
    for wanted in TOPPRA:
        path = SplinePath(random.uniform(-1.5, 1.5, (8, 6)))
        law = laws.find("time optimal", path, None, "")
        assert law.duration == pytest.approx(wanted, rel=2e-3)
        s, rate, change = law.at(np.linspace(0.0, law.duration, 100_001))
        moving = path.at(s)
        a = moving.rate * change[:, None] + moving.change * rate[:, None] ** 2
        assert np.max(np.abs(moving.rate * rate[:, None])) <= 2.0 * (1 + 1e-9)
        assert np.max(np.abs(a)) <= 5.0 * (1 + 1e-9)


@pytest.fixture(scope="module")
def strong(arm):  # noqa: F811
    """Motions of the UR5 through three poses with lines and a spline."""
    spline = ks.Segment(kind="spline", through=[ks.ViaPoint(place="corner")], to="end", law="time optimal")
    line = ks.Segment(kind="line", to="corner", law="time optimal")
    fields = {"start": "home", "joint_acceleration": 8.0, "tool_speed": 0.6}
    return [
        plan(ks.Mechanism(replace(arm, motions=[ks.Motion(name="m", segments=[each], **fields)])), "m")
        for each in (spline, line)
    ]


def test_limits_are_kept_between_grid_points_and_one_is_met(strong):
    for trajectory in strong:
        t = np.linspace(0.0, trajectory.duration, 20011)
        q, v, a = trajectory.at(t)
        forces = trajectory.mech.inverse_dynamics(q, v, a)
        shares = [np.abs(v) / trajectory.bounds.velocity, np.abs(a) / 8.0, np.abs(forces) / trajectory.bounds.effort]
        if trajectory.pieces[0].kind == "line":
            shares.append(np.linalg.norm(trajectory.tool(t)[1][:, 3:], axis=1, keepdims=True) / 0.6)
        largest = np.max(np.concatenate(shares, axis=1), axis=1)
        assert np.max(largest) < 1 + 1e-6
        assert np.mean(largest > 0.97) > 0.9


def test_it_is_faster_than_laws_of_constant_limits(strong, arm):  # noqa: F811
    segment = ks.Segment(kind="line", to="corner", law="trapezoid")
    motion = ks.Motion(name="m", start="home", segments=[segment], joint_acceleration=8.0, tool_speed=0.6)
    other = plan(ks.Mechanism(replace(arm, motions=[motion])), "m")
    assert strong[1].duration < other.duration


def test_weak_motors_take_longer_and_too_weak_ones_are_refused():
    model = load("double_pendulum")
    mech = ks.Mechanism(model)
    pose = ks.StoredPose(name="there", values=[ks.JointValue(coordinate=mech.q_names[0], value=1.0)])
    motion = ks.Motion(name="m", segments=[ks.Segment(to="there", law="time optimal")], joint_acceleration=30.0)
    still = np.zeros(mech.nv)
    rest = np.max(np.abs(mech.inverse_dynamics(mech.rest(), still, still)))

    def with_effort(effort):
        joints = [replace(joint, limits=[ks.Limit(effort=effort)] * joint.info.nv) for joint in model.joints]
        return plan(ks.Mechanism(replace(model, joints=joints, poses=[pose], motions=[motion])), "m")

    strong, weak = with_effort(8.0 * rest), with_effort(1.5 * rest)
    assert weak.duration > 1.1 * strong.duration
    t = np.linspace(0.0, weak.duration, 3001)
    assert np.max(np.abs(weak.mech.inverse_dynamics(*weak.at(t)))) == pytest.approx(1.5 * rest, rel=1e-3)
    with pytest.raises(ModelError, match="permit no motion"):
        with_effort(0.5 * rest)


def test_a_given_duration_slows_it_down(arm):  # noqa: F811
    segment = ks.Segment(to="end", law="time optimal", duration=5.0)
    motion = ks.Motion(name="m", start="home", segments=[segment], joint_acceleration=8.0)
    trajectory = plan(ks.Mechanism(replace(arm, motions=[motion])), "m")
    assert trajectory.duration == pytest.approx(5.0)
    np.testing.assert_allclose(trajectory.at(5.0)[0], END, atol=1e-9)


def test_nothing_that_limits_is_refused(arm):  # noqa: F811
    joints = load("double_pendulum")
    motion = ks.Motion(name="m", segments=[ks.Segment(to="there", law="time optimal")])
    name = ks.Mechanism(joints).q_names[0]
    pose = ks.StoredPose(name="there", values=[ks.JointValue(coordinate=name, value=1.0)])
    with pytest.raises(ModelError, match="Nothing limits the acceleration"):
        plan(ks.Mechanism(replace(joints, poses=[pose], motions=[motion])), "m")
