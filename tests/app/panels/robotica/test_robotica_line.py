"""Robotica's command line in the window: typed calls, history, completion, help, abort, runs and plots."""

import dataclasses
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtTest import QTest

import resources
from core.robotica.robotica_session import Session
from viz import camera

TWO_LINK = Path(next(entry.path for entry in resources.examples() if Path(entry.path).stem == "two_link"))


@pytest.fixture
def panel(bench):
    bench.example("two_link")
    bench.window.docks.show_panel("robotica")
    return bench.window.docks.panels["robotica"]


def typed(bench, panel, text):
    panel.input.clear()
    panel.input.setFocus()
    QTest.keyClicks(panel.input, text)
    QTest.keyClick(panel.input, Qt.Key.Key_Return)
    bench.wait(lambda: panel.job is None, 60.0)
    return panel.transcript.toPlainText().rpartition("In:= ")[2]


def test_calls_answer_in_the_output(bench, panel):
    assert "J (6×2)" in typed(bench, panel, "FKin[]")
    assert "1/2 a1 a2 m2 C2" in typed(bench, panel, "M[1,2]")
    assert bench.window.docks.panels["output"].cards[-1].result.title
    assert "There is no function 'Oops'" in typed(bench, panel, "Oops[]")
    assert panel.history[-3:] == ["FKin[]", "M[1,2]", "Oops[]"]
    QTest.keyClick(panel.input, Qt.Key.Key_Up)
    QTest.keyClick(panel.input, Qt.Key.Key_Up)
    assert panel.input.text() == "M[1,2]"


def test_values_move_the_machine_and_are_undone(bench, panel):
    before = bench.session.p["a1"]
    typed(bench, panel, "a1 = 3.5; q1 = 30 Degree")
    assert bench.session.p["a1"] == pytest.approx(3.5)
    assert bench.session.q[0] == pytest.approx(np.radians(30.0))
    bench.session.undo()
    assert bench.session.p["a1"] == pytest.approx(before)


def test_wide_lines_are_shown_from_where_they_begin(panel):
    panel.append_text("wide " * 200)
    across = panel.transcript.horizontalScrollBar()
    across.setValue(across.maximum())
    assert across.value() > across.minimum()
    panel.append_text("short")
    assert across.value() == across.minimum()


def test_response_is_a_run_and_simplot_a_plot(bench, panel):
    typed(bench, panel, "Response[{0, 1}, {q1[0] == 0.3}]")
    run = bench.session.runs.current.run
    assert run.time[-1] == pytest.approx(1.0)
    typed(bench, panel, "SimPlot[t, {q1, q2}]")
    assert len(bench.session.runs.items) == 1
    assert bench.window.plots.sheet.plots[-1].channels == ("joint1.q", "joint2.q")
    assert bench.window.plots.isVisible()


def test_data_file_opens_the_document(bench, panel, tmp_path):
    (tmp_path / "arm.rob").write_text(TWO_LINK.read_text())
    typed(bench, panel, "k9 = 2;")
    document = bench.session.document
    assert "State Reset" in typed(bench, panel, f'DataFile["{tmp_path / "arm.rob"}"]')
    assert bench.session.document == document + 1
    assert bench.window.files.source == tmp_path / "arm.rob"
    assert "has no value" in typed(bench, panel, "ShowRobot[{{q1, 0, k9}}]")
    assert "Error: " in typed(bench, panel, f'DataFile["{tmp_path / "none.rob"}"]')
    assert bench.session.document == document + 1


def test_completion_help_and_the_last_call(bench, panel, tmp_path):
    panel.input.setFocus()
    QTest.keyClicks(panel.input, "SimDr")
    QTest.keyClick(panel.input, Qt.Key.Key_Tab)
    assert panel.input.text() == "SimDrive["
    (tmp_path / "one_trace.sim").write_text("")
    QTest.keyClicks(panel.input, f'"{tmp_path}/one_')
    QTest.keyClick(panel.input, Qt.Key.Key_Tab)
    assert panel.input.text().endswith("one_trace.sim")
    panel.input.setText("RElp[")
    QTest.keyClick(panel.input, Qt.Key.Key_F1)
    bench.wait(lambda: panel.job is None)
    assert "Draw manipulability ellipsoids over ranges." in panel.transcript.toPlainText()
    typed(bench, panel, "SimplifyExpression[c[1,2,1]]")
    panel.insert_call("SimplifyExpression")
    assert panel.input.text() == "SimplifyExpression[c[1,2,1]]"
    assert panel.input.selectedText() == "c[1,2,1]"


def test_abort_stops_a_long_response(bench, panel):
    panel.input.setText("Response[{0, 100000, 1000000}, {q1[0] == 0.3}]")
    QTest.keyClick(panel.input, Qt.Key.Key_Return)
    assert panel.job is not None
    bench.wait(lambda: panel.job.fraction > 0.0, 60.0)
    QTest.mouseClick(panel.abort_button, Qt.MouseButton.LeftButton)
    bench.wait(lambda: panel.job is None, 10.0)
    assert panel.transcript.toPlainText().endswith("Aborted.")
    assert not bench.session.runs.items


def test_a_trace_that_was_read_is_a_run_and_drawn_as_arms(bench, panel, tmp_path):
    typed(bench, panel, "Response[{0, 1}, {q1[0] == 0.3}]")
    typed(bench, panel, f'SaveResponse["{tmp_path / "free.sim"}", {{0, 1}}]')
    driven = typed(bench, panel, f'SimDrive["{tmp_path / "free.sim"}", {{trace, arm}}]')
    assert "11 rows from 0 to 1 s" in driven
    assert len(bench.session.runs.items) == 2
    assert not bench.messages("error")
    row = bench.window.simulation_panel.runs.tree.topLevelItem(1)
    assert row.toolTip(0) == "Recorded signal · 11 samples from 0 to 1 s"
    sequence = bench.window.sequence
    assert sequence.is_open
    assert len(sequence.arrays) == 6  # every 0.2 s
    bench.draw()
    ways = bench.window.run_scene._computed_paths
    assert {tracing.frame for _, tracing in ways} == {"tool"}
    assert bench.session.runs.time == 1.0


def test_clear_takes_back_what_the_line_gave_the_machine(bench, panel):
    before = bench.session.p["a1"]
    steps = bench.session.undo_label
    typed(bench, panel, "a1 = 0.5")
    typed(bench, panel, "a1 = 0.25; q1 = 1")
    assert bench.session.p["a1"] == 0.25
    typed(bench, panel, "Clear[a1, q1]")
    assert bench.session.p["a1"] == before
    assert bench.session.q[0] == 0.0
    assert bench.session.undo_label == "Robotica: Clear[a1], Clear[q1]"
    for _ in range(3):
        bench.session.undo()
    assert bench.session.undo_label == steps


def test_undone_values_are_gone_for_the_line_too(bench, panel):
    typed(bench, panel, "a1 = 3")
    bench.session.undo()
    typed(bench, panel, "ShowRobot[{{a1, a1, 2}}]")
    poses = bench.window.docks.panels["output"].cards[-1].result
    assert poses.p[0]["a1"] == bench.session.p["a1"]


@pytest.mark.parametrize("way", ["button", "escape", "ctrl+c", "typed"])
def test_abort_stops_a_derivation(bench, panel, monkeypatch, way):
    begun, go_on, stop_if_wanted = threading.Event(), threading.Event(), Session.check_cancelled

    def amid_the_work(session):
        begun.set()
        assert go_on.wait(60.0)
        stop_if_wanted(session)

    monkeypatch.setattr(Session, "check_cancelled", amid_the_work)
    bench.example("panda")
    panel.input.setText("SDynamics[]")
    QTest.keyClick(panel.input, Qt.Key.Key_Return)
    bench.wait(begun.is_set, 60.0)
    assert panel.job is not None
    if way == "button":
        QTest.mouseClick(panel.abort_button, Qt.MouseButton.LeftButton)
    elif way == "typed":
        QTest.keyClicks(panel.input, "Abort[]")
        QTest.keyClick(panel.input, Qt.Key.Key_Return)
    elif way == "escape":
        QTest.keyClick(panel.input, Qt.Key.Key_Escape)
    else:
        QTest.keyClick(panel.input, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    go_on.set()
    bench.wait(lambda: panel.job is None, 10.0)
    assert panel.transcript.toPlainText().endswith("Aborted.")
    assert "Planar" in typed(bench, panel, "Planar[]")


def test_lines_entered_while_one_runs_wait_for_their_turn(bench, panel):
    for text in ("SDynamics[]", "a1 = 2;", "M[1,2]"):
        panel.input.setText(text)
        QTest.keyClick(panel.input, Qt.Key.Key_Return)
        assert not panel.input.text()
    assert panel.waiting == ["a1 = 2;", "M[1,2]"]
    assert panel.prompt.text() == "2 waiting"
    bench.wait(lambda: panel.job is None and not panel.waiting, 60.0)
    assert panel.prompt.text() == "In:="
    entered = [line for line in panel.transcript.toPlainText().splitlines() if line.startswith("In:=")]
    assert entered[-3:] == ["In:= SDynamics[]", "In:= a1 = 2;", "In:= M[1,2]"]
    assert bench.session.p["a1"] == 2.0


def test_abort_drops_what_waits(bench, panel):
    bench.example("panda")
    for text in ("SDynamics[]", "FKin[]"):
        panel.input.setText(text)
        QTest.keyClick(panel.input, Qt.Key.Key_Return)
    QTest.keyClick(panel.input, Qt.Key.Key_Escape)
    bench.wait(lambda: panel.job is None, 10.0)
    assert not panel.waiting
    assert panel.transcript.toPlainText().endswith("Aborted.")


def test_several_lines_are_pasted_as_a_script(bench, panel):
    QGuiApplication.clipboard().setText("a1 = 3\nRElp[{{q1, 0, 1}},\n  {scale}]\nOops[]\na1 = 4\n")
    panel.input.setFocus()
    QTest.keyClick(panel.input, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    bench.wait(lambda: panel.job is None, 60.0)
    said = panel.transcript.toPlainText()
    assert "a1 = 3" in said
    assert "line 4, column 1: There is no function 'Oops'" in said
    assert bench.session.p["a1"] == 3.0
    assert not panel.input.text()


def test_ranges_fix_the_view_until_they_are_released(bench, panel):
    scene = bench.view.scene
    typed(bench, panel, "SetRanges[{-5, 5}, {-2, 4}, {0, 9}]")
    bench.draw()
    assert scene.range_box.fixed == (-5.0, 5.0, -2.0, 4.0, 0.0, 9.0)
    bench.wait(lambda: {"−4", "0", "4", "x (m)", "y (m)", "z (m)"} <= set(scene.range_box.visible_texts))
    width, height = scene.size
    for x in (-5.0, 5.0):
        for y in (-2.0, 4.0):
            for z in (0.0, 9.0):
                across, down = scene.project((x, y, z))
                assert 0.0 < across < width
                assert 0.0 < down < height
    fixed = bench.view.viewpoint.target_view
    typed(bench, panel, "ShowRobot[{{q1, 0, 1, 4}}, {animate}]")
    bench.wait(lambda: bench.window.sequence.index >= 2)
    assert bench.view.viewpoint.target_view.target == fixed.target
    typed(bench, panel, "SetRanges[]")
    bench.draw()
    assert scene.range_box.visible_texts == []
    assert bench.view.viewpoint.target_view.distance < fixed.distance


def test_ranges_follow_the_unit_of_lengths_and_show_in_exported_pictures(bench, panel, tmp_path):
    from PySide6.QtGui import QImage

    def picture(name):
        bench.window.panels.open_function("picture")
        bench.window.functions.form.show_options({"file": str(tmp_path / name), "width": 900, "height": 600})
        bench.window.functions.run()
        bench.wait(lambda: not bench.window.jobs.unfinished_jobs)
        return QImage(str(tmp_path / name))

    before = picture("all.png")
    typed(bench, panel, "SetRanges[{-5, 5}, {-5, 5}, {-5, 5}]")
    ranged = picture("ranged.png")
    assert ranged != before
    bench.window.settings.millimetres = True
    bench.wait(lambda: {"−4000", "x (mm)"} <= set(bench.view.scene.range_box.visible_texts))
    assert picture("millimetres.png") != ranged
    typed(bench, panel, "SetRanges[]")
    assert picture("again.png") == before


def test_after_a_far_sequence_the_view_is_where_it_was(bench, panel):
    bench.example("puma560")
    view = bench.view
    before = view.viewpoint.target_view
    typed(bench, panel, "ShowRobot[{{a2, 0.4, 20, 3}}]")
    assert view.viewpoint.target_view.distance > 3.0 * before.distance
    typed(bench, panel, "ShowRobot[{{q1, 0, 0.2, 2}}]")
    assert view.viewpoint.target_view == before
    typed(bench, panel, "ShowRobot[{{a2, 0.4, 20, 3}}, {animate}]")
    assert view.viewpoint.target_view.distance > 3.0 * before.distance
    bench.window.run_command("play.close")
    assert view.viewpoint.target_view == before
    typed(bench, panel, "ShowRobot[{{a2, 0.4, 20, 3}}]")
    chosen = dataclasses.replace(view.viewpoint.target_view, distance=7.0)
    view.viewpoint.set_view(chosen)
    bench.window.run_command("play.close")
    assert view.viewpoint.target_view == chosen


def test_a_single_ellipsoid_has_its_title_and_can_be_closed(bench, panel):
    typed(bench, panel, "q2 = 60 Degree")
    typed(bench, panel, "ShowRobot[{{q1, 0, 1, 3}}]")
    typed(bench, panel, "RElp[{}, {frame}]")
    timeline = bench.window.timeline
    assert timeline.label.text() == "Velocity ellipsoid of tool"
    assert bench.view.scene.range_box.bounds
    bench.window.run_command("play.close")
    assert not bench.view.scene.range_box.bounds
    assert not bench.view._ellipsoids.get("result")
    assert not timeline.isVisible()


def test_a_planar_arm_is_drawn_flat_with_a_box_round_it(bench, panel):
    typed(bench, panel, "ShowRobot[{{q1, 0, 90 Degree}}, {frame}]")
    goal = bench.view.viewpoint.target_view
    assert goal.parallel
    assert goal.elevation == pytest.approx(np.pi / 2)
    box = bench.view.scene.range_box.bounds
    typed(bench, panel, "ShowRobot[{{q1, 0, 90 Degree}}, {animate}]")
    bench.draw()
    width, height = bench.view.scene.size
    for place in ((2.0, 0.0, 0.0), (0.0, 2.0, 0.0)):  # the tool at both ends of the way
        across, down = bench.view.scene.project(place)
        assert 0.0 < across < width
        assert 0.0 < down < height
    typed(bench, panel, "ShowRobot[{{q1, 0, 90 Degree}}, {frame}]")
    assert box[1] > 2.0
    assert box[3] > 2.0
    bench.window.sequence.close_sequence()
    assert bench.view.scene.range_box.bounds == ()


def test_animations_are_played_again(bench, panel, tmp_path):
    assert "no animation yet" in typed(bench, panel, "ShowAnim[]")
    typed(bench, panel, "ShowRobot[{{q1, 0, 1, 3}}]")
    assert not bench.window.sequence.is_animated
    typed(bench, panel, f'SaveAnim["{tmp_path}/anim1"]')
    typed(bench, panel, "ShowAnim[]")
    assert bench.window.sequence.is_animated
    assert bench.window.sequence.sample_count == 4
    bench.window.sequence.close_sequence()
    assert "4 poses read" in typed(bench, panel, f'LoadAnim["{tmp_path}/anim1"]')
    typed(bench, panel, "ShowAnim[]")
    assert bench.window.sequence.is_animated


def test_shapes_belong_to_the_document(bench, panel, tmp_path):
    (tmp_path / "nut").write_text("Line[{{0, 0, -0.5}, {0, 0, 0.5}}]")
    before = bench.session.model
    typed(bench, panel, f'RevJoint["{tmp_path}/nut"]')
    assert "joint/joint1/figure" in {item.id for item in bench.view.scene.items}
    assert bench.session.undo_label == "Shape of revolute joints"
    bench.session.undo()
    assert bench.session.model == before
    assert "joint/joint1/figure" not in {item.id for item in bench.view.scene.items}
    (tmp_path / "nut").write_text("Line[{{0, 0}}]")
    assert "column 7: A point has three coordinates" in typed(bench, panel, f'RevJoint["{tmp_path}/nut"]')
    assert bench.session.model == before


def test_data_file_without_a_name_asks(bench, panel, tmp_path, monkeypatch):
    from PySide6.QtWidgets import QFileDialog

    (tmp_path / "arm.rob").write_text(TWO_LINK.read_text())
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "arm.rob"), ""))
    assert "State Reset" in typed(bench, panel, "DataFile[]")
    assert bench.window.files.source == tmp_path / "arm.rob"
    assert panel.history[-1] == f'DataFile["{tmp_path / "arm.rob"}"]'


def test_letters_grow_and_stay_so(bench, panel):
    before = panel.transcript.font().pointSize()
    panel.input.setFocus()
    for _ in range(3):
        QTest.keyClick(panel.input, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(panel.input, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
    assert panel.transcript.font().pointSize() == panel.input.font().pointSize() == before + 2
    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    assert {panel.transcript.font().family(), panel.input.font().family()} == {fixed}
    from app.panels.robotica.panel import RoboticaPanel

    again = RoboticaPanel(bench.session, bench.window.settings, bench.window.jobs)
    assert again.transcript.font().pointSize() == before + 2
    again.deleteLater()


def test_newest_output_is_in_view_and_text_is_cleared(bench, panel):
    for _ in range(4):
        typed(bench, panel, "Help[]")
    bar = panel.transcript.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    QTest.keyClick(panel.input, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert panel.transcript.toPlainText() == ""


def test_nothing_is_written_beside_the_programs_own_examples(bench, panel, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    before = set(TWO_LINK.parent.iterdir())
    typed(bench, panel, 'ShowRobot[{{q1, 0, 1}}]; SaveAnim["anim1"]')
    typed(bench, panel, 'EPrint[M, "M", "m.txt"]')
    assert {path.name for path in tmp_path.iterdir()} >= {"anim1", "m.txt"}
    assert "6 poses read" in typed(bench, panel, 'LoadAnim["anim1"]')
    assert "tau[[1]]" in typed(bench, panel, 'GetInputTau["torques/circle.tau"]')
    assert set(TWO_LINK.parent.iterdir()) == before


def test_an_arm_that_grows_beyond_the_picture_makes_the_view_step_back(bench, panel):
    scene = bench.view.scene

    def whole():
        return camera.contains_box(scene.view, scene.size, scene.bounds())

    assert whole()
    distance = scene.view.distance
    typed(bench, panel, "a1 = 1.01")
    assert whole()
    assert scene.view.distance == distance
    typed(bench, panel, "a1 = 9; a2 = 9")
    bench.wait(whole)
    assert scene.view.distance > distance
