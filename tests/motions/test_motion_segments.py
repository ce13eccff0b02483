"""Splines, formulas, sets and blends: through their points, twice differentiable, within limits, or refused."""

from dataclasses import replace

import numpy as np
import pytest

import kinetostat as ks
from core.errors import ModelError
from core.files.named import load
from core.model.motions import CoordinateFunction, JointValue, ViaPoint
from core.motions.plan import plan

HOME = np.array([0.0, -1.57, 0.5, -1.57, -1.0, 0.0])
CORNER = np.array([0.0, -1.2, 1.4, -1.5, -1.5, 0.0])
END = np.array([0.7, -1.0, 1.2, -1.7, -1.5, 0.3])
RADIUS = 0.2
LIMITS = {"joint_acceleration": 5.0, "joint_jerk": 50.0, "tool_speed": 0.5}


@pytest.fixture(scope="module")
def arm():
    """UR5 with three poses."""
    model = load("ur5")
    names = ks.Mechanism(model).q_names
    poses = [
        ks.StoredPose(
            name=name, values=[JointValue(coordinate=each, value=float(x)) for each, x in zip(names, q, strict=True)]
        )
        for name, q in (("home", HOME), ("corner", CORNER), ("end", END))
    ]
    return replace(model, poses=poses, targets=[], motions=[])


def planned(model, *segments, **fields):
    motion = ks.Motion(name="m", segments=segments, **{"start": "home", **LIMITS, **fields})
    whole = replace(model, motions=[motion])
    whole.validate()
    return plan(ks.Mechanism(whole), "m")


def formula(text):
    rows = [CoordinateFunction(coordinate="joint1", function=text)]
    return ks.Segment(kind="formula", functions=rows, duration=1.0)


def check_derivatives(trajectory, times):
    step = 1e-4
    (ahead, v_ahead, _), (_, v, a), (behind, v_behind, _) = (trajectory.at(times + k * step) for k in (1, 0, -1))
    np.testing.assert_allclose((ahead - behind) / (2 * step), v, atol=2e-6 * max(1.0, np.max(np.abs(v))))
    np.testing.assert_allclose((v_ahead - v_behind) / (2 * step), a, atol=5e-3 * max(1.0, np.max(np.abs(a))))


def check_limits(trajectory):
    _, v, a = trajectory.at(np.linspace(0.0, trajectory.duration, 5001))
    assert np.max(np.abs(v) / trajectory.bounds.velocity) < 1 + 1e-6
    assert np.max(np.abs(a)) < 5.0 * (1 + 1e-6)


def test_a_spline_leads_through_its_points(arm):
    trajectory = planned(arm, ks.Segment(kind="spline", through=[ViaPoint(place="corner")], to="end", law="quintic"))
    q, v, _ = trajectory.at(np.linspace(0.0, trajectory.duration, 4001))
    np.testing.assert_allclose(q[[0, -1]], [HOME, END], atol=1e-12)
    nearest = np.argmin(np.linalg.norm(q - CORNER, axis=1))
    np.testing.assert_allclose(q[nearest], CORNER, atol=2e-3)
    assert np.linalg.norm(v[nearest]) > 0.1  # it does not stop there
    check_derivatives(trajectory, trajectory.duration * np.array([0.1, 0.33, 0.6, 0.9]))
    check_limits(trajectory)


def test_a_formula_gives_positions_over_time(arm):
    rows = [CoordinateFunction(coordinate="joint1", function="0.2*(1 - cos(pi*t))")]
    trajectory = planned(arm, ks.Segment(kind="formula", functions=rows, duration=2.0), ks.Segment(to="end"))
    t = np.linspace(0.0, 1.99, 50)
    q, v, a = trajectory.at(t)
    np.testing.assert_allclose(q[:, 0], 0.2 * (1 - np.cos(np.pi * t)), atol=1e-12)
    np.testing.assert_allclose(v[:, 0], 0.2 * np.pi * np.sin(np.pi * t), atol=1e-10)
    np.testing.assert_allclose(a[:, 0], 0.2 * np.pi**2 * np.cos(np.pi * t), atol=1e-9)
    np.testing.assert_allclose(q[:, 1:], np.broadcast_to(HOME[1:], (50, 5)), atol=1e-12)


def test_a_set_moves_what_it_names(arm):
    trajectory = planned(arm, ks.Segment(kind="set", values=[JointValue(coordinate="joint6", value=0.5)]))
    end = trajectory.at(trajectory.duration)[0]
    np.testing.assert_allclose(end, [*HOME[:5], 0.5], atol=1e-12)


@pytest.mark.parametrize("kind", ["joint", "line"])
def test_blends_stay_near_the_corner_and_do_not_stop(arm, kind):
    segments = [ks.Segment(kind=kind, to="corner", blend=RADIUS), ks.Segment(kind=kind, to="end")]
    trajectory = planned(arm, *segments)
    stopping = planned(arm, *(replace(each, blend=None) for each in segments))
    assert trajectory.duration < stopping.duration
    assert [piece.number for piece in trajectory.pieces] == [1, 2]
    t = np.linspace(0.0, trajectory.duration, 2001)
    q, v, _ = trajectory.at(t)
    assert np.min(np.linalg.norm(v[100:-100], axis=1)) > 0.05
    np.testing.assert_allclose(q[[0, -1]], [HOME, END], atol=1e-8)
    check_derivatives(trajectory, trajectory.duration * np.linspace(0.03, 0.97, 25))
    check_limits(trajectory)
    # points farther than the radius from the corner are on the two segments
    points = trajectory.tool(t)[0][:, :3, 3]
    corner = trajectory.mech.frame(CORNER, "tool")[:3, 3]
    away = points[np.linalg.norm(points - corner, axis=1) > RADIUS]
    path = stopping.tool(np.linspace(0.0, stopping.duration, 20001))[0][:, :3, 3]
    from scipy.spatial import KDTree

    assert np.max(KDTree(path).query(away)[0]) < 1e-4
    if kind == "line":
        speeds = np.linalg.norm(trajectory.tool(t)[1][:, 3:], axis=1)
        assert np.max(speeds) == pytest.approx(0.5, rel=1e-3)


def test_blends_that_overlap_are_cut_and_reported(arm):
    segments = [ks.Segment(to="corner", blend=3.0), ks.Segment(to="end", blend=3.0), ks.Segment(to="home")]
    trajectory = planned(arm, *segments)
    assert any("overlap" in note for note in trajectory.notes)
    check_derivatives(trajectory, trajectory.duration * np.linspace(0.03, 0.97, 25))
    assert not planned(arm, replace(segments[0], blend=0.01), ks.Segment(to="end")).notes


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ([ks.Segment(to="corner", blend=0.1), ks.Segment(kind="wait", duration=1.0)], "cannot be blended"),
        ([ks.Segment(to="corner", blend=0.1), ks.Segment(to="corner"), ks.Segment(to="end")], "no length"),
        ([ks.Segment(to="corner", blend=0.1, duration=2.0), ks.Segment(to="end")], "Some of the segments"),
        (
            [
                ks.Segment(
                    kind="formula", functions=[CoordinateFunction(coordinate="joint1", function="t + 1")], duration=1
                )
            ],
            "begins at 1",
        ),
        (
            [
                ks.Segment(
                    kind="formula", functions=[CoordinateFunction(coordinate="joint1", function="9*t^2")], duration=1
                )
            ],
            "exceed the limits",
        ),
        (
            [
                ks.Segment(
                    kind="formula", functions=[CoordinateFunction(coordinate="joint1", function="log(t)")], duration=1
                )
            ],
            "no finite value",
        ),
    ],
)
def test_what_is_not_possible_is_refused(arm, segments, message):
    with pytest.raises(ModelError, match=message):
        planned(arm, *segments)


def test_incomplete_segments_are_refused():
    with pytest.raises(ModelError, match="no functions"):
        ks.Segment(kind="formula", duration=1.0)
    with pytest.raises(ModelError, match="no values"):
        ks.Segment(kind="set")
    with pytest.raises(ModelError, match="blend of -1 m"):
        ks.Segment(to="home", blend=-1.0)
