"""Poses are stored with K, a motion leads through them, is played, changed by mouse and undone."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.document.motion_plans import motion_plans_of
from core.motions.plan import plan
from tests.app.conftest import settle

POSES = ([0.0, -1.2, 1.4, -1.5, -1.5, 0.0], [0.5, -1.0, 1.2, -1.7, -1.5, 0.3], [0.2, -1.5, 1.6, -1.4, -1.2, 0.1])


@pytest.fixture
def arm(bench):
    """UR5 without poses, with the panel in front."""
    bench.example("ur5")
    session = bench.session
    from dataclasses import replace

    session.apply("Empty", lambda model: replace(model, poses=(), targets=(), motions=()))
    bench.window.docks.show_panel("motions")
    settle()
    return bench


def press_k(bench):
    bench.view.setFocus()
    QTest.keyClick(bench.view, Qt.Key.Key_K)
    settle()


def teach(bench):
    for q in POSES:
        bench.session.pose("Move", np.array(q))
        press_k(bench)
    bench.window.run_command("motion.add")
    plans = motion_plans_of(bench.session)
    bench.wait(lambda: plans.planned is not None and not plans.is_old)
    return plans


def x_of_point(panel, point):
    return round(panel.chart.x_of_time(float(panel.plans.planned.points[point])))


def test_poses_are_stored_and_a_motion_through_them_is_played(arm):
    plans = teach(arm)
    session = arm.session
    assert [each.name for each in session.model.poses] == ["pose1", "pose2", "pose3"]
    np.testing.assert_allclose([[row.value for row in each.values] for each in session.model.poses], POSES, atol=1e-9)
    motion = session.model.motions[0]
    assert (motion.start, [each.to for each in motion.segments]) == ("pose1", ["pose2", "pose3"])
    arm.window.run_command("motion.play")
    arm.wait(lambda: plans.record is not None)
    record = session.runs.current
    assert record is plans.record
    trajectory = plan(session.mech, motion.name)
    assert record.run.time[-1] == pytest.approx(trajectory.duration)
    np.testing.assert_allclose(record.run.q[-1], POSES[-1], atol=1e-8)
    flags = [mark for mark in arm.window.timeline.scrubber.marks if mark.is_flag]  # its points on the main timeline
    assert [mark.text.splitlines()[0] for mark in flags] == ["pose1", "pose2", "pose3"]
    ends = [0.0, trajectory.pieces[1].start, trajectory.duration]
    np.testing.assert_allclose([mark.share for mark in flags], np.array(ends) / trajectory.duration, atol=1e-9)
    arm.window.player.pause()
    session.pose("Move", np.array(POSES[0]))
    press_k(arm)  # the motion that is shown also leads there
    assert session.model.motions[0].segments[-1].to == "pose4"
    session.undo()
    assert len(session.model.poses) == 3
    assert len(session.model.motions[0].segments) == 2


def test_points_are_dragged_and_undone(arm):
    plans = teach(arm)
    session, panel = arm.session, arm.window.docks.panels["motions"]
    before, chart = session.model, panel.chart
    x, y = x_of_point(panel, 2), 12
    QTest.mousePress(chart, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    chart.dragged.emit(2, float(plans.planned.points[2]) + 1.0, False)
    assert session.model.motions[0].segments[1].duration == pytest.approx(
        float(np.diff(plans.planned.points)[1]) + 1.0, abs=0.01
    )
    session.undo()
    assert session.model == before
    arm.wait(lambda: not plans.is_old)
    x0, x2 = x_of_point(panel, 0), x_of_point(panel, 1)
    QTest.mousePress(chart, Qt.MouseButton.LeftButton, pos=QPoint(x2, y))
    QTest.mouseMove(chart, QPoint(x2 - 40, y))
    QTest.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=QPoint(x0 - 20, y))
    motion = session.model.motions[0]
    assert motion.segments[0].to in ("pose1", "pose2")


def test_lanes_show_shares_of_limits(arm):
    plans = teach(arm)
    panel = arm.window.docks.panels["motions"]
    lanes = {lane.title: lane for lane in panel.chart.lanes}
    bounds, run = plans.planned.trajectory.bounds, plans.planned.run
    np.testing.assert_allclose(lanes["Speed"].shares, run.v / bounds.velocity)
    assert lanes["Acceleration"].largest == pytest.approx(1.0, rel=1e-6)
    assert not lanes["Acceleration"].is_exceeded
    assert lanes["Force"].largest == pytest.approx(np.max(np.abs(run.tau) / bounds.effort))


def test_a_motion_without_a_pose_asks_for_one(arm):
    arm.window.run_command("motion.add")
    assert any("none is stored" in text for text in arm.messages("hint"))


def test_unreachable_targets_are_named(arm):
    from core.model import Pose
    from core.model.edits import edits
    from core.model.motions import Motion, Segment, Target

    teach(arm)
    far = Target(name="far", pose=Pose(position=(4.0, 0.0, 0.0)))
    motion = Motion(name="away", start="pose1", segments=(Segment(to="far"),), joint_acceleration=1.0)
    arm.session.apply("Far", lambda model: edits.add(model, far, motion))
    plans = motion_plans_of(arm.session)
    plans.show_motion("away")
    arm.wait(lambda: bool(plans.problem))
    panel = arm.window.docks.panels["motions"]
    assert "'far'" in panel.note.words
    assert not panel.play.isEnabled()


def test_a_point_is_dragged_in_the_scene_and_undone(arm):
    plans = teach(arm)
    session, view = arm.session, arm.view
    arm.draw()
    before, place = session.model, plans.planned.places[1]
    x, y = np.array(view.scene.project(place)) / view.devicePixelRatioF()
    arm.drag([(x, y), (x + 4, y + 2), (x + 25, y + 12)])
    assert session.undo_label == "Move pose2"
    arm.wait(lambda: not plans.is_old)
    moved = np.array(view.scene.project(plans.planned.places[1])) / view.devicePixelRatioF()
    np.testing.assert_allclose(moved, (x + 25, y + 12), atol=1.5)
    assert session.model.motions == before.motions
    session.undo()
    assert session.model == before
