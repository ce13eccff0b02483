"""Sliders moved by mouse and keys; the scene, the boxes and undo follow."""

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyle, QStyleOptionSlider

from app.document.session import Session
from core.files import load, loads
from core.model import Driver
from core.model.edits import edits
from core.simulation import simulate
from resources import examples
from tests.walks import walk


def thumb(slider):
    """Middle of a slider's thumb."""
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    place = slider.style().subControlRect(
        QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider
    )
    return place.center()


def slide(slider, pixels):
    """Drag the thumb so many pixels."""
    start = thumb(slider)
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    QTest.mousePress(slider, left, none, start)
    return start, start + QPoint(pixels, 0), left, none


def test_one_slider_per_coordinate_inside_its_limits(bench):
    bench.example("puma560")
    rows = bench.window.sliders.rows
    for coordinate in bench.session.mech.coordinates:
        quantity = rows[coordinate.name].quantity
        assert (quantity.lower, quantity.upper) == (coordinate.lower, coordinate.upper)
        assert rows[coordinate.name].box.value() == pytest.approx(
            bench.session.reference_configuration[coordinate.index]
        )


def test_what_closing_left_is_not_shown_in_any_unit(bench):
    """A millionth of a degree beside a round value is nobody's wish; steps that can be meant are shown."""
    bench.example("puma560")
    row = bench.window.sliders.rows["joint1"]
    for degrees, dust, meant, texts in (
        (True, math.radians(4.69825e-6), math.radians(2e-5), ("0°", "30°", "2e-5°")),
        (False, 3e-8, 2e-7, ("0 rad", "0.523599 rad", "2e-7 rad")),
    ):
        bench.window.settings.degrees = degrees
        for value, text in zip((dust, math.pi / 6.0 - dust, meant), texts, strict=True):
            row.show_value(value)
            assert row.box.text() == text
    row.show_value(math.radians(30.0) + 1e-8)
    bench.window.settings.degrees = True
    assert row.box.text() == "30°"


def test_dragging_a_slider_moves_the_joint_and_is_one_undo_step(bench, monkeypatch):
    bench.example("puma560")
    session = bench.session
    row = bench.window.sliders.rows["joint1"]
    moves = []
    count = lambda: moves.append(session.q[0])  # noqa: E731
    session.moved.connect(count)
    states = session.state
    row.slider.setSliderDown(True)
    for position in (2300, 2600, 3000):
        row.slider.setSliderPosition(position)
        assert session.has_preview
        assert session.state is states
    low, high = row.quantity.lower, row.quantity.upper
    expected = low + (high - low) * 3000 / 4000
    assert session.q[0] == pytest.approx(expected, abs=1e-12)
    row.slider.setSliderDown(False)
    assert not session.has_preview
    assert session.undo_label == "Move joint1"
    bench.wait(lambda: row.box.value() == pytest.approx(expected))
    assert len(moves) >= 3
    session.moved.disconnect(count)
    session.undo()
    assert np.array_equal(session.q, session.reference_configuration)
    bench.wait(lambda: row.box.value() == 0.0 and row.slider.value() == 2000)
    session.redo()
    assert session.q[0] == pytest.approx(expected, abs=1e-12)


def test_a_slider_is_dragged_with_the_mouse(bench):
    bench.example("puma560")
    row = bench.window.sliders.rows["joint1"]
    _, end, left, none = slide(row.slider, 40)
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    event = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(end), QPointF(row.slider.mapToGlobal(end)), Qt.MouseButton.NoButton, left, none
    )
    QApplication.sendEvent(row.slider, event)
    assert bench.session.has_preview
    QTest.mouseRelease(row.slider, left, none, end)
    assert not bench.session.has_preview
    assert bench.session.q[0] > 0.2
    assert bench.session.undo_label == "Move joint1"


def test_keys_move_a_slider_and_rest_commits(bench):
    bench.example("puma560")
    row = bench.window.sliders.rows["joint2"]
    row.slider.setFocus()
    before = bench.session.q[1]
    for _ in range(3):
        QTest.keyClick(row.slider, Qt.Key.Key_Up)
    assert bench.session.q[1] > before
    assert bench.session.has_preview
    bench.wait(lambda: not bench.session.has_preview)
    assert bench.session.undo_label == "Move joint2"
    bench.session.undo()
    assert bench.session.q[1] == before


def test_a_typed_number_is_in_the_shown_unit_and_limited(bench):
    bench.example("puma560")
    row = bench.window.sliders.rows["joint1"]

    def type_(text):
        row.box.setFocus()
        row.box.selectAll()
        QTest.keyClicks(row.box, text)
        QTest.keyClick(row.box, Qt.Key.Key_Return)

    type_("30")
    assert bench.session.q[0] == pytest.approx(math.radians(30.0))
    bench.window.settings.degrees = False
    type_("0.5")
    assert bench.session.q[0] == pytest.approx(0.5)
    type_("45 deg")
    assert bench.session.q[0] == pytest.approx(math.pi / 4)
    type_("9")
    assert bench.session.q[0] == pytest.approx(bench.session.mech.coordinates[0].upper)
    for _ in range(4):
        bench.session.undo()
    assert bench.session.q[0] == 0.0


def test_undo_in_a_box_that_is_not_being_typed_in_is_the_documents(bench):
    bench.example("puma560")
    session = bench.session
    name = session.mech.q_names[0]
    box = bench.window.sliders.rows[name].box
    first = float(session.q[0])
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "12")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert session.q[0] == pytest.approx(math.radians(12.0))
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.q[0] == pytest.approx(first)
    bench.wait(lambda: box.value() == pytest.approx(first))
    box.setFocus()  # Return gave the keys back to the scene
    box.selectAll()
    QTest.keyClicks(box, "4")
    QTest.keyClick(box, Qt.Key.Key_Escape)
    assert box.value() == pytest.approx(first)
    assert box.text() == box.textFromValue(first)


def test_the_unit_switch_changes_all_boxes(bench):
    bench.example("scara")
    panel = bench.window.sliders
    slide_name = next(c.name for c in bench.session.mech.coordinates if c.dimension == "length")
    panel.length_unit.activated.emit(1)
    assert bench.window.settings.millimetres
    assert "mm" in panel.rows[slide_name].box.text()
    panel.angle_unit.activated.emit(1)
    assert "rad" in next(r for r in panel.rows.values() if r.quantity.dimension == "angle").box.text()


def test_a_parameter_slider_changes_the_machine_without_a_new_mechanism_structure(bench):
    bench.example("four_bar")
    session = bench.session
    name = session.mech.p_names[0]
    row = bench.window.sliders.rows[name]
    before = session.p[name]
    model = session.model
    row.slider.setSliderDown(True)
    row.slider.setSliderPosition(row.slider.value() + 100)
    assert session.p[name] != before
    assert session.model is model
    loop = session.mech.loops[0]
    X_WA, X_WB = session.mech.joint_poses(session.q, p=session.p)[loop.cut]
    assert np.linalg.norm(X_WA[:3, 3] - X_WB[:3, 3]) < 1e-8
    row.slider.setSliderDown(False)
    assert session.model.find("parameters", name).value == pytest.approx(session.p[name])
    session.undo()
    assert session.p[name] == before


MIMIC = """
<robot name="fingers">
  <link name="palm"/><link name="left"/><link name="right"/>
  <joint name="grip" type="revolute"><parent link="palm"/><child link="left"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="copy" type="revolute"><parent link="palm"/><child link="right"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="grip" multiplier="-0.5" offset="0.1"/></joint>
</robot>
"""


def test_a_follower_is_shown_but_not_moved_by_hand(bench):
    bench.session.start_document(loads(MIMIC, "urdf"))
    bench.draw()
    rows = bench.window.sliders.rows
    assert rows["grip"].slider.isEnabled()
    assert not rows["copy"].slider.isEnabled()
    bench.session.preview_coordinates({"grip": 0.6})
    bench.wait(lambda: rows["copy"].box.value() == pytest.approx(-0.5 * 0.6 + 0.1))


def test_three_sliders_turn_a_ball(bench):
    from scipy.spatial.transform import Rotation

    bench.example("joint_kinds")
    session = bench.session
    rows = bench.window.sliders.rows
    index = session.mech.joint_q("spherical")
    for axis, position in (("x", 2600), ("y", 1500)):
        row = rows[f"spherical.rotation {axis}"]
        row.slider.setSliderDown(True)
        row.slider.setSliderPosition(position)
        row.slider.setSliderDown(False)
    expected = [2 * math.pi * 2600 / 4000 - math.pi, 2 * math.pi * 1500 / 4000 - math.pi, 0.0]
    assert Rotation.from_quat(session.q[index]).as_rotvec() == pytest.approx(expected, abs=1e-9)
    bench.wait(lambda: rows["spherical.rotation x"].box.value() == pytest.approx(expected[0]))


def test_reset_brings_the_rest_pose_back(bench):
    bench.example("puma560")
    session = bench.session
    session.preview_coordinates({"joint1": 1.0, "joint4": 0.5})
    session.commit("Pose")
    QTest.mouseClick(bench.window.sliders.reset, Qt.MouseButton.LeftButton)
    assert np.array_equal(session.q, session.reference_configuration)
    assert session.undo_label == "Reset to the reference configuration"


def test_a_model_without_joints_says_what_the_panel_is_for(bench):
    from PySide6.QtWidgets import QLabel

    page = bench.window.sliders.joints
    bench.wait(lambda: any("slider" in label.text() for label in page.findChildren(QLabel)))


def test_a_press_beside_the_thumb_brings_it_there_and_drags_on_as_one_step(bench):
    bench.example("puma560")
    row = bench.window.sliders.rows["joint1"]
    slider, before = row.slider, bench.session.q.copy()
    place = QPoint(slider.width() * 3 // 4, slider.height() // 2)
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    QTest.mousePress(slider, left, none, place)
    assert slider.isSliderDown()
    assert abs(thumb(slider).x() - place.x()) <= 1
    low, high = row.quantity.lower, row.quantity.upper
    assert bench.session.q[0] == pytest.approx(low + 0.75 * (high - low), abs=0.04 * (high - low))
    bench.wait(lambda: not row._pause.isActive())
    assert bench.session.has_preview
    QTest.mouseRelease(slider, left, none, place)
    assert not bench.session.has_preview
    bench.session.undo()
    assert np.array_equal(bench.session.q, before)
    assert bench.session.undo_label == ""


def test_sliders_and_boxes_follow_a_run_that_plays(bench):
    bench.example("four_bar")
    session = bench.session
    run = simulate(session.mech, 2.0, output=0.01, q0=session.q)
    session.runs.add(run)
    shown = set()
    rows = bench.window.sliders.rows
    row = rows[session.mech.q_names[0]]
    bench.window.player.play()
    bench.wait(lambda: shown.add(row.slider.value()) or (len(shown) > 3 and session.runs.time > 0.5))
    bench.window.player.pause()
    q = run.at(session.runs.time)
    bench.wait(lambda: row.box.value() == pytest.approx(q[0], abs=1e-6))
    for name, value in zip(session.mech.q_names, q, strict=True):
        assert rows[name].box.value() == pytest.approx(value, abs=1e-6)


DRIVEN = """
kinetostat: 1
parameters:
  start: {value: 0.3, dimension: angle}
bodies:
  arm: {mass: 1, center_of_mass: [0.1, 0, 0]}
  hand: {mass: 1, center_of_mass: [0.1, 0, 0]}
joints:
  shoulder: {parent: world, child: arm, kind: revolute, axis: [0, 0, 1]}
  elbow: {parent: arm, child: hand, kind: revolute, axis: [0, 0, 1]}
drivers:
  motor: {joint: shoulder, function: start + t}
"""


def test_a_driven_joint_says_so_and_stands_where_its_driver_has_it(bench):
    session = bench.session
    session.start_document(loads(DRIVEN, "kst"))
    bench.draw()
    row = bench.window.sliders.rows["shoulder"]
    assert row.label.text() == "shoulder · driven"
    assert row.label.toolTip() == "shoulder is driven by motor"
    assert not row.slider.isEnabled()
    assert not row.box.isEnabled()
    assert bench.window.sliders.rows["elbow"].slider.isEnabled()
    session.preview_coordinates({"elbow": 0.4})
    session.preview(parameters={"start": 0.5})
    bench.wait(lambda: row.box.value() == pytest.approx(0.5))
    np.testing.assert_allclose(session.q, [0.5, 0.4], atol=1e-9)
    session.commit("Start")
    np.testing.assert_allclose(session.q, [0.5, 0.4], atol=1e-9)
    np.testing.assert_allclose(session.mech.rest(), [0.5, 0.0], atol=1e-9)


def test_what_follows_from_a_driver_is_not_moved_by_hand(bench):
    """The one freedom of the four-bar is taken by the driver of its crank."""
    bench.example("four_bar")
    session, rows = bench.session, bench.window.sliders.rows
    assert rows["rocker_pin"].slider.isEnabled()
    session.apply("Add", lambda m: edits.add(m, Driver(name="motor", joint="crank_pin", function="60 deg + t")))
    bench.wait(lambda: not bench.window.sliders.rows["rocker_pin"].slider.isEnabled())
    row = bench.window.sliders.rows["rocker_pin"]
    assert row.label.toolTip() == "rocker_pin is determined by motor"
    assert not row.box.isEnabled()
    session.undo()
    bench.wait(lambda: bench.window.sliders.rows["rocker_pin"].slider.isEnabled())


def test_a_range_that_a_run_has_left_is_the_own_one_again_once_it_is_back(bench):
    """A driven joint turns ten times in a run; back at the start its slider has the range that it had before."""
    session = bench.session
    session.start_document(loads(DRIVEN, "kst"))
    bench.draw()
    row = bench.window.sliders.rows["shoulder"]
    before, start = row.slider.value(), session.q.copy()
    session.show_run_pose(np.array([20.0 * np.pi, 0.0]), {})
    bench.wait(lambda: row.box.value() == pytest.approx(20.0 * np.pi, abs=1e-6))
    assert row.slider.value() == row.slider.maximum()
    session.show_run_pose(start, {})
    bench.wait(lambda: row.box.value() == pytest.approx(start[0], abs=1e-6))
    assert row.slider.value() == before


@pytest.mark.parametrize("example", walk(examples(), name=lambda example: example.name))
def test_what_is_committed_is_what_was_seen(example):
    """Pose and parameters, of every example."""
    model = load(example.path)
    session = Session(model)
    for name in session.mech.p_names[:4]:
        session.start_document(model)
        value = session.p[name]
        session.preview(parameters={name: 1.02 * value if value else 0.02})
        seen = session.q.copy()
        session.commit("Parameter")
        np.testing.assert_allclose(session.mech.difference(seen, session.q), 0.0, atol=1e-8, err_msg=name)
    for coordinate in session.mech.coordinates[:4]:
        session.start_document(model)
        session.preview_coordinates({coordinate.name: float(session.q[coordinate.index]) + 0.1})
        seen = session.q.copy()
        session.commit("Move")
        np.testing.assert_array_equal(session.q, seen)


def test_a_joint_that_closes_a_loop_has_a_slider_that_moves_the_loop(bench):
    """Where it is measured, it is as it was set, and the loop is closed."""
    bench.example("four_bar")
    session = bench.session
    (loop,) = session.mech.loops
    row = bench.window.sliders.rows[loop.cut]
    before = float(session.mech.coordinate(session.q, loop.cut)[0])
    assert row.box.value() == pytest.approx(before, abs=1e-6)
    row.box.setValue(before - 0.05)
    row.commit_pending()
    assert float(session.mech.coordinate(session.q, loop.cut)[0]) == pytest.approx(before - 0.05, abs=1e-6)
    assert abs(session.mech.constraint_residual(session.q)).max() < 1e-8
    assert abs(session.q - session.reference_configuration).max() > 0.01
    session.undo()
    assert float(session.mech.coordinate(session.q, loop.cut)[0]) == pytest.approx(before, abs=1e-9)
