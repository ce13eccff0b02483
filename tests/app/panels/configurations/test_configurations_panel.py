"""The Configurations panel: it lists what the kernel finds, rows are taken, the frame moves by numbers and steps."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyle, QStyleOptionSlider

from app.document.frame_moves import jogged_pose, pose_from_numbers, pose_numbers
from app.document.session import Session
from app.panels.configurations.panel import ConfigurationsPanel, describe_list
from core.analysis.tool_frame import tool_frame
from core.files import load
from resources import examples
from tests.app.conftest import pump

ARMS = ("puma560", "kestrel", "ur5", "scara", "stanford", "panda")


def general_pose(mech):
    """A position within the limits away from singular ones, its wrist in the fixed place of the seventh joint's."""
    low = np.array([-2.0 if c.lower is None else max(c.lower, -2.0) for c in mech.coordinates])
    high = np.array([2.0 if c.upper is None else min(c.upper, 2.0) for c in mech.coordinates])
    return low + (high - low) * np.linspace(0.35, 0.6, mech.nq)


def open_arm(name):
    path = next(each.path for each in examples() if each.name == name)
    session = Session(load(path))
    session.pose("Away from rest", general_pose(session.mech))
    return session


def panel_for(qtbot, settings, session):
    widget = ConfigurationsPanel(session, settings)
    qtbot.addWidget(widget)
    widget.resize(340, 540)
    widget.show()
    assert pump(lambda: is_current(widget))
    return widget


def is_current(panel):
    listed = panel.listed
    return listed.found is not None and not listed.is_old and panel.list.count() == len(listed.solutions)


@pytest.fixture
def arm(qtbot, settings):
    session = open_arm("puma560")
    panel = panel_for(qtbot, settings, session)
    yield session, panel
    close(panel)


def close(panel):
    panel.hide()
    panel.close()
    panel.listed.close()


def tool_pose(session, q=None):
    return np.asarray(session.mech.frame(session.q if q is None else q, tool_frame(session.model)))


@pytest.mark.parametrize("name", ARMS)
def test_the_panel_lists_what_the_kernel_finds(qtbot, settings, name):
    session = open_arm(name)
    panel = panel_for(qtbot, settings, session)
    mech, frame = session.mech, tool_frame(session.model)
    kernel = mech.inverse_kinematics(mech.frame(session.q, frame), frame, q=session.q)
    rows = panel.list.rows()
    assert len(rows) == len(kernel.solutions) > 0
    places = [c.index for c in mech.coordinates if c.joint in kernel.joints]
    shown = {tuple(round(bar.value, 6) for bar in row.bars): row for row in rows}
    for each in kernel.solutions:
        row = shown[tuple(round(float(x), 6) for x in each.q[places])]
        assert {bar.joint for bar in row.bars if bar.is_beyond} == {v.joint for v in each.violations}
        if each.configuration is not None:
            assert row.name == str(each.configuration)
    assert [row.is_present for row in rows].count(True) == 1
    assert panel.note.words.startswith("At least these" if kernel.complete == "at least these" else "All")
    close(panel)


def test_a_double_click_takes_a_configuration_and_undo_returns(qtbot, arm):
    session, panel = arm
    before, X = session.q.copy(), tool_pose(session)
    row = next(k for k, each in enumerate(panel.list.rows()) if not each.is_present and not each.is_beyond)
    wanted = panel.listed.solutions[row].q
    center = panel.list.visualItemRect(panel.list.item(row)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=center)
    assert panel.listed.chosen == row
    assert np.array_equal(session.q, before)
    qtbot.mouseDClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=center)
    assert np.allclose(session.q, wanted, atol=1e-12)
    assert np.allclose(tool_pose(session), X, atol=1e-9)
    assert pump(lambda: is_current(panel) and panel.list.rows()[row].is_present)
    session.undo()
    assert np.array_equal(session.q, before)


def test_the_list_says_that_it_is_old_until_it_follows(arm):
    session, panel = arm
    session.preview(q=session.q + 0.1)
    assert panel.listed.is_old
    panel._update()
    assert "Old" in panel.note.words
    assert not panel.list.isEnabled()
    panel.listed.take(0)
    assert session.has_preview  # nothing is taken from an old list
    assert pump(lambda: is_current(panel))
    assert all(
        np.allclose(tool_pose(session, each.q), tool_pose(session), atol=1e-8) for each in panel.listed.solutions
    )
    session.cancel_preview()


def test_a_typed_number_moves_the_frame_or_says_why_not(arm):
    session, panel = arm
    X = tool_pose(session)
    x = panel.form.fields[0]
    wanted = round(float(X[0, 3]) - 0.02, 4)
    x.setText(f"{wanted} m")
    x.setModified(True)
    x.commit_text()
    moved = tool_pose(session)
    assert moved[0, 3] == pytest.approx(wanted, abs=1e-8)
    assert np.allclose(moved[:3, :3], X[:3, :3], atol=1e-8)
    before = session.q.copy()
    x.setText("5 m")
    x.setModified(True)
    x.commit_text()
    assert "cannot be there" in panel.note.words
    assert np.array_equal(session.q, before)


def test_held_buttons_jog_in_the_tools_axes_as_one_undo_step(qtbot, arm):
    session, panel = arm
    listed, before, X = panel.listed, session.q.copy(), tool_pose(session)
    panel.form.axes.setCurrentIndex(1)
    panel.form.axes.activated.emit(1)
    button = panel.form.buttons[2, -1]
    label = session.undo_label
    button.setDown(True)
    button.click()
    button.setDown(True)
    panel.form._on_step(2, -1.0)
    button.setDown(False)
    button.released.emit()
    assert pump(lambda: not session.has_preview)
    moved = tool_pose(session)
    steps = (X[:3, :3].T @ (moved[:3, 3] - X[:3, 3])) / listed.jog_options.length
    assert np.allclose(steps, (0.0, 0.0, -2.0), atol=1e-4)
    assert np.allclose(moved[:3, :3], X[:3, :3], atol=1e-6)
    session.undo()
    assert np.array_equal(session.q, before)
    assert session.undo_label == label


def test_the_options_belong_to_the_machine(qtbot, arm):
    session, panel = arm
    listed = panel.listed
    listed.choose_frame("link4")
    panel.ghosts.setChecked(False)
    section = listed.options_section()
    session.start_document(load(next(each.path for each in examples() if each.name == "scara")))
    assert (listed.frame_choice, listed.shows_ghosts) == ("", True)
    session.start_document(load(next(each.path for each in examples() if each.name == "puma560")))
    listed.restore_options(section)
    assert (listed.frame, listed.shows_ghosts) == ("link4", False)
    with pytest.raises((ValueError, KeyError, TypeError)):
        listed.restore_options({**section, "jog": {"length": -1.0, "angle": 0.1, "axes": "base"}})


def test_turning_a_frame_leaves_its_origin():
    X = pose_from_numbers((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    assert pose_numbers(X) == pytest.approx((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    for axes, e in (("base", np.eye(3)[1]), ("tool", X[:3, 1])):
        turned = jogged_pose(X, 4, 0.3, axes)
        R = turned[:3, :3] @ X[:3, :3].T
        assert np.allclose(turned[:3, 3], X[:3, 3])
        assert np.allclose(R @ e, e)
        assert np.arccos((np.trace(R) - 1.0) / 2.0) == pytest.approx(0.3)


def test_nothing_is_computed_while_the_panel_is_hidden(qtbot, arm):
    session, panel = arm
    panel.hide()
    assert pump(lambda: not panel.listed.is_wanted)
    session.preview(q=session.q + 0.1)
    assert not panel.listed.is_wanted
    assert not panel.listed._timer.isActive()
    session.cancel_preview()


def test_a_machine_without_an_arm_is_told_in_words(qtbot, settings):
    from core.model import Model

    session = Session(Model(name="empty"))
    panel = ConfigurationsPanel(session, settings)
    qtbot.addWidget(panel)
    panel.show()
    assert pump(lambda: panel.listed.problem)
    panel._update()
    assert "No joint moves" in panel.note.words
    close(panel)


def test_how_complete_a_list_is_stands_in_the_words():
    session = open_arm("puma560")
    frame = tool_frame(session.model)
    found = session.mech.inverse_kinematics(session.mech.frame(session.q, frame), frame, q=session.q)
    count = len(found.solutions)
    assert describe_list(frame, found)[0].startswith(f"All {count} configurations")
    some = replace(found, complete="at least these", form="numeric")
    words = describe_list(frame, some)[0]
    assert words.startswith(f"At least these {count} configurations")
    assert "Numeric" in words
    one = replace(some, solutions=some.solutions[:1])
    assert describe_list(frame, one)[0].startswith("At least this configuration")


def test_the_slowest_direction_is_that_of_a_planar_arm_of_two_links():
    """J of a 2R arm with an elbow of 90°: σ² are the eigenvalues of J Jᵀ, for any lengths."""
    from app.panels.configurations.slowest_directions import SlowestDirections

    path = next(each.path for each in examples() if each.name == "two_link")
    mech = Session(load(path)).mech
    frame, q = tool_frame(mech.model), np.array([0.0, np.pi / 2])
    a = mech.joint_poses(q)
    moving = [c.joint for c in mech.coordinates]
    origins = [np.asarray(a[name][0])[:3, 3] for name in moving]
    tip, z = np.asarray(mech.frame(q, frame))[:3, 3], np.asarray(a[moving[0]][0])[:3, 2]
    J = np.column_stack([np.cross(z, tip - origin) for origin in origins])
    sigma = np.linalg.svd(J, compute_uv=False)
    slowest = SlowestDirections(mech, frame, {})
    share, _ = slowest.shares(q, {})["translation"]
    assert share == pytest.approx(sigma[1] / sigma[0], rel=1e-9)
    assert slowest.describe(np.array([0.3, 0.0]), {})[0].startswith("Near a singular pose")


def test_the_slider_of_a_redundant_arm_moves_its_joints_while_the_tool_stays(qtbot, settings):
    session = open_arm("panda")
    panel = panel_for(qtbot, settings, session)
    row = panel.self_motion
    assert pump(lambda: row.motion.curve is not None)
    assert row.isVisible()
    start = row.motion.length
    assert row.motion.curve.at(start) == pytest.approx(session.q, abs=1e-6)
    X, before, label = tool_pose(session), session.q.copy(), session.undo_label
    at = row.slider.rect().center()
    QTest.mousePress(row.slider, Qt.MouseButton.LeftButton, pos=handle_center(row.slider))
    QTest.mouseMove(row.slider, at + QPoint(row.slider.width() // 3, 0))
    assert pump(lambda: np.max(np.abs(session.q - before)) > 0.05)
    assert tool_pose(session) == pytest.approx(X, abs=1e-7)
    QTest.mouseRelease(row.slider, Qt.MouseButton.LeftButton, pos=at + QPoint(row.slider.width() // 3, 0))
    assert not session.has_preview
    assert tool_pose(session) == pytest.approx(X, abs=1e-7)
    assert row.value.text().startswith(f"{row.motion.joints[0]} ")
    session.undo()
    assert np.array_equal(session.q, before)
    assert session.undo_label == label
    assert pump(lambda: row.motion.length == pytest.approx(start, abs=1e-6))
    session.pose("Another pose", before + 0.1)
    curve = row.motion.curve
    assert pump(lambda: row.motion.curve not in (None, curve))
    assert row.motion.curve.at(row.motion.length) == pytest.approx(session.q, abs=1e-6)
    close(panel)


def handle_center(slider):
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    part = QStyle.SubControl.SC_SliderHandle
    return slider.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, part, slider).center()


def test_an_arm_that_is_not_redundant_has_no_slider(arm):
    _session, panel = arm
    assert panel.self_motion.isHidden()


def test_the_nearest_singular_pose_is_named_with_its_distance(qtbot, settings):
    """The wrist of a UR5 is aligned with joint 5 at zero."""
    session = open_arm("ur5")
    session.pose("Near an aligned wrist", np.array([0.3, -1.2, 1.4, -0.6, 0.1, 0.2]))
    panel = panel_for(qtbot, settings, session)
    assert pump(lambda: panel.speeds.words.startswith(f"Wrist aligned in {np.degrees(0.1):.3g}°."))
    close(panel)
