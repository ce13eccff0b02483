"""Simulating in the window: F5, a run that grows and plays, the timeline, branches, the list of runs."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton

from app.commands.elements import add_link
from app.document.session import ElementRef
from app.panels.simulation.start_rows import StartRows
from app.playback.timeline import EDGE
from app.runs.run_settings import find_initial_state
from app.widgets.quantities.quantity_text import read
from core.simulation import simulate
from tests.app.conftest import MAKING


def simulated(bench, **run_settings):
    bench.window.simulation.change_settings(**run_settings)
    bench.window.run_command("simulation.run")
    bench.wait(lambda: not bench.window.simulation.is_running, MAKING)
    return bench.session.runs.current


def test_f5_makes_a_run_that_plays(bench):
    bench.example("pendulum")
    bench.window.simulation.change_settings(duration=2.0, output=0.01)
    QTest.keyClick(bench.window, Qt.Key.Key_F5)
    bench.wait(lambda: not bench.window.simulation.is_running, MAKING)
    record = bench.session.runs.current
    assert record is not None
    assert record.run.time[-1] == pytest.approx(2.0)
    assert bench.window.timeline.isVisible()
    assert bench.window.player.is_playing
    expected = simulate(bench.session.mech, 2.0, output=0.01, q0=record.run.q[0])
    assert np.allclose(record.run.q, expected.q)
    assert bench.session.undo_label == ""


def test_plots_come_in_the_place_of_an_empty_output(bench):
    bench.example("pendulum")
    window = bench.window
    window.docks.show_panel("output")
    bench.wait(lambda: not window.output.visibleRegion().isEmpty())
    simulated(bench, duration=0.6, output=None)
    bench.wait(lambda: not window.plots.visibleRegion().isEmpty())
    window.panels.open_function("gravity")
    window.functions.run()
    bench.wait(lambda: window.output.cards and not window.output.visibleRegion().isEmpty())
    simulated(bench)
    bench.draw()
    assert not window.output.visibleRegion().isEmpty()


def test_short_runs_are_played_slowly_unless_the_person_chose_a_speed(bench):
    bench.example("pendulum")
    player = bench.window.player
    simulated(bench, duration=0.03, output=None)
    assert player.speed == 0.01
    simulated(bench, duration=2.0)
    assert player.speed == 1.0
    player.set_speed(0.5)
    simulated(bench, duration=0.03)
    assert player.speed == 0.5


def test_an_example_brings_its_own_duration_and_gives_the_persons_back(bench):
    from app.runs.run_settings import RunSettings

    bench.example("pendulum")
    simulation, settings = bench.window.simulation, bench.window.settings
    simulation.change_settings(duration=7.0, rtol=1e-7)
    bench.example("squeezer")
    assert simulation.run_settings.duration == 0.03
    simulation.change_settings(rtol=1e-6)
    assert RunSettings.from_remembered(settings.value("simulation")).duration == 7.0
    bench.example("pendulum")
    assert (simulation.run_settings.duration, simulation.run_settings.rtol) == (7.0, 1e-6)
    bench.example("squeezer")
    simulation.change_settings(duration=0.02)  # the person's from now on
    bench.example("pendulum")
    assert simulation.run_settings.duration == 0.02


def test_a_file_opened_anew_says_nothing_of_the_last_run(bench):
    bench.example("pendulum")
    simulated(bench, duration=0.5, output=None)
    words = bench.window.simulation_panel.words
    assert words.text()
    bench.example("pendulum")
    assert not words.text()


def test_what_if_follows_a_slider_during_the_movement(bench):
    bench.example("pendulum")
    simulated(bench, duration=3.0, output=None)
    bench.window.player.pause()
    bench.window.run_command("play.close")
    what_if = bench.window.what_if
    bench.window.run_command("simulation.what_if")
    heard = []
    what_if.made.connect(heard.append)
    bench.wait(lambda: heard, MAKING)
    name = bench.session.mech.q_names[0]
    for value in (0.2, 0.4, 0.6):
        heard.clear()
        bench.session.preview_coordinates({name: value})
        bench.wait(lambda: heard)
        run = bench.session.runs.current.run
        assert bench.session.has_preview
        assert run.q[0, 0] == pytest.approx(value)
        assert len(run) > 500
    bench.session.commit("Move")
    bench.wait(lambda: what_if._worker.is_idle)
    bench.window.run_command("simulation.what_if")
    assert not what_if.is_on
    what_if.made.disconnect(heard.append)


def test_what_if_makes_one_run_for_each_movement(bench):
    bench.example("pendulum")
    what_if, session = bench.window.what_if, bench.session
    heard = []
    what_if.made.connect(heard.append)
    what_if.set_enabled(True)
    bench.wait(lambda: heard and what_if._worker.is_idle, MAKING)
    for moved in (0.3, 0.5):
        heard.clear()
        session.preview_coordinates({session.mech.q_names[0]: moved})
        bench.wait(lambda: heard)
        bench.wait(lambda: what_if._worker.is_idle and not what_if._timer.isActive())
        assert len(heard) == 1  # that the new run is shown is no movement
        assert session.runs.current.run.q[0, 0] == pytest.approx(moved)
    session.cancel_preview()
    what_if.set_enabled(False)
    what_if.made.disconnect(heard.append)


def test_a_parameter_moved_while_a_run_is_shown_leaves_the_arranged_pose(bench):
    bench.example("damped_pendulum")
    session, start = bench.session, bench.session.edited_pose
    simulated(bench, duration=1.0, output=0.01)
    session.runs.seek(0.4)
    assert not np.allclose(session.q, start)
    session.preview(parameters={"d": 0.7})
    assert np.allclose(session.q, start)
    session.commit("Change d")
    assert np.allclose(session.edited_pose, start)
    assert np.allclose(simulated(bench).run.q[0], start)


@pytest.mark.parametrize("name", ["damped_pendulum", "slider_crank"])
def test_what_if_begins_from_the_arranged_pose_wherever_the_playhead_stands(bench, name):
    bench.example(name)
    session, start = bench.session, bench.session.edited_pose
    what_if, heard = bench.window.what_if, []
    what_if.made.connect(heard.append)
    what_if.set_enabled(True)
    bench.wait(lambda: heard and what_if._worker.is_idle, MAKING)
    parameter = session.mech.p_names[0]
    for factor, place in ((1.05, 0.4), (1.1, 0.7)):
        session.runs.seek(place)
        assert not np.allclose(session.q, start)
        heard.clear()
        session.preview(parameters={parameter: factor * session.model.values()[parameter]})
        bench.wait(lambda: heard)
        assert session.runs.time == pytest.approx(place)
        assert session.runs.current.run.q[0] == pytest.approx(start, abs=0.05)  # loops of other lengths close elsewhere
        session.commit("Change")
    what_if.set_enabled(False)
    what_if.made.disconnect(heard.append)


def test_scrubbing_shows_the_run_and_leaves_no_undo_step(bench):
    bench.example("pendulum")
    record = simulated(bench, duration=2.0, output=0.01)
    bench.window.player.pause()
    scrubber = bench.window.timeline.scrubber
    QTest.mouseClick(scrubber, Qt.MouseButton.LeftButton, pos=scrubber.rect().center())
    pixel = 2.0 / (scrubber.width() - 2 * EDGE)
    assert bench.session.runs.time == pytest.approx(1.0, abs=pixel)
    assert np.allclose(bench.session.q, record.run.at(bench.session.runs.time))
    row = bench.window.sliders.rows[bench.session.mech.q_names[0]]
    bench.wait(lambda: row.box.value() == pytest.approx(float(bench.session.q[0]), abs=1e-6))
    QTest.keyClick(bench.window, Qt.Key.Key_Right)
    before = bench.session.runs.time
    QTest.keyClick(bench.window, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert bench.session.runs.time == pytest.approx(before + 0.1)
    edited = bench.session.edited_pose
    bench.window.run_command("play.close")
    assert np.allclose(bench.session.q, edited)
    assert bench.session.undo_label == ""
    QTest.keyClick(bench.window, Qt.Key.Key_End)
    assert np.allclose(bench.session.q, record.run.q[-1])
    bench.window.run_command("play.use_pose")
    assert np.allclose(bench.session.edited_pose, record.run.q[-1])
    assert not bench.session.shows_run_pose
    bench.window.run_command("edit.undo")
    assert np.allclose(bench.session.q, edited)


def test_runs_one_after_another_begin_alike_whatever_run_is_shown(bench):
    bench.example("pendulum")
    first = simulated(bench, duration=1.0, output=0.01)
    bench.session.runs.seek(0.37)
    assert bench.session.shows_run_pose
    second = simulated(bench)
    assert np.array_equal(second.run.q, first.run.q)


def test_a_run_takes_the_parameters_of_the_document_not_of_the_run_that_is_shown(bench):
    bench.example("pendulum")
    first = simulated(bench, duration=0.5, output=0.01)
    bench.session.preview(parameters={"l": 0.7})
    bench.session.commit("Longer")
    bench.session.runs.seek(0.2)
    assert bench.session.p["l"] == pytest.approx(0.5)  # the run that is shown was made with this length
    second = simulated(bench)
    assert second.run.settings.parameters["l"] == pytest.approx(0.7)
    assert np.array_equal(second.run.q[0], first.run.q[0])


def test_a_stall_of_the_window_does_not_skip_motion(bench, monkeypatch):
    """The clock goes on by seconds between two pictures."""
    now = time.monotonic
    bench.example("pendulum")
    simulated(bench, duration=20.0, output=0.1)
    player = bench.window.player
    player.pause()
    player.go_to_start()
    player.play()
    monkeypatch.setattr("app.playback.clock.time", SimpleNamespace(monotonic=lambda: now() + 3.0))
    bench.wait(lambda: bench.session.runs.time > 0.0)
    assert bench.session.runs.time < 1.5
    player.pause()


def track(scrubber, share):
    return QPoint(round(EDGE + share * (scrubber.width() - 2 * EDGE)), scrubber.height() // 2)


def drag_on(widget, start, end, keys=Qt.KeyboardModifier.NoModifier):
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, keys, start)
    for place in (start, (start + end) / 2, end):
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(place),
            QPointF(widget.mapToGlobal(place)),
            Qt.MouseButton.LeftButton,
            Qt.MouseButton.LeftButton,
            keys,
        )
        QApplication.sendEvent(widget, event)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, keys, end)


def test_a_part_is_chosen_with_shift_and_its_marks_are_dragged(bench):
    bench.example("pendulum")
    simulated(bench, duration=2.0, output=0.01)
    player, scrubber = bench.window.player, bench.window.timeline.scrubber
    player.pause()
    player.scrub(2.0)
    pixel = 2.0 / (scrubber.width() - 2 * EDGE)
    drag_on(scrubber, track(scrubber, 0.25), track(scrubber, 0.5), Qt.KeyboardModifier.ShiftModifier)
    assert player.time_range == pytest.approx((0.5, 1.0), abs=pixel)
    drag_on(scrubber, track(scrubber, 0.5), track(scrubber, 0.75))
    assert player.time_range == pytest.approx((0.5, 1.5), abs=2 * pixel)
    assert bench.session.runs.time == pytest.approx(2.0)
    drag_on(scrubber, track(scrubber, 0.6), track(scrubber, 0.65))  # between the marks the playhead comes
    assert bench.session.runs.time == pytest.approx(1.3, abs=2 * pixel)
    assert player.time_range == pytest.approx((0.5, 1.5), abs=2 * pixel)
    QTest.mouseDClick(scrubber, Qt.MouseButton.LeftButton, pos=track(scrubber, 0.6))
    assert player.time_range == pytest.approx((0.0, 2.0))


def test_in_a_small_window_the_track_keeps_its_length(bench):
    bench.example("pendulum")
    simulated(bench, duration=1.0, output=0.01)
    bench.window.player.pause()
    bench.window.resize(1000, 700)
    bench.wait(lambda: bench.window.width() == 1000)
    assert bench.window.timeline.scrubber.width() > 120
    more = [action.text() for action in bench.window.timeline.findChild(QMenu).actions()]
    assert "To the start" in more


def test_a_branch_goes_on_as_its_parent_did(bench):
    bench.example("pendulum")
    parent = simulated(bench, duration=2.0, output=0.01)
    bench.window.player.pause()
    bench.session.runs.seek(1.0)
    bench.window.simulation.change_settings(duration=1.0)
    bench.window.run_command("simulation.branch")
    bench.wait(lambda: not bench.window.simulation.is_running, MAKING)
    branch = bench.session.runs.current
    assert branch.parent == parent.id
    assert branch.from_time == pytest.approx(1.0)
    assert branch.run.time[0] == pytest.approx(1.0)
    assert np.allclose(branch.run.q[-1], parent.run.q[-1], atol=1e-4)
    bench.window.simulation.change_settings(start="pose")


def test_runs_are_saved_loaded_and_refused_for_another_machine(bench, tmp_path):
    bench.example("pendulum")
    record = simulated(bench, duration=1.0, output=0.1)
    panel = bench.window.simulation_panel.runs
    panel.save_to(record, tmp_path / "swing.h5")
    bench.wait(lambda: bench.messages("done"))
    panel.load_from(tmp_path / "swing.h5")
    bench.wait(lambda: len(bench.session.runs.items) == 2)
    assert np.array_equal(bench.session.runs.current.run.q, record.run.q)
    bench.example("puma560")
    panel.load_from(tmp_path / "swing.h5")
    bench.wait(lambda: bench.messages("error"))
    assert "another machine" in bench.messages("error")[0]
    assert bench.session.runs.items == ()
    (answer,) = bench.window.messages.findChildren(QPushButton)
    assert answer.text() == "Open its model"
    QTest.mouseClick(answer, Qt.MouseButton.LeftButton)
    assert bench.session.model.name == "Pendulum"
    assert np.array_equal(bench.session.runs.current.run.q, record.run.q)
    bench.session.runs.seek(0.5)
    assert np.allclose(bench.session.q, record.run.at(0.5))


def test_a_run_opened_without_a_model_brings_its_own(bench, tmp_path):
    bench.example("pendulum")
    record = simulated(bench, duration=0.5, output=0.1)
    record.run.save(tmp_path / "swing.h5")
    bench.window.run_command("file.new")
    assert bench.session.mech.nq == 0
    bench.window.files.open(tmp_path / "swing.h5")
    bench.wait(lambda: bench.session.runs.items)
    assert bench.session.model.name == "Pendulum"
    assert np.array_equal(bench.session.runs.current.run.q, record.run.q)
    assert bench.session.runs.current.source == str(tmp_path / "swing.h5")
    again = simulated(bench)
    assert np.allclose(again.run.q[-1], record.run.q[-1], atol=1e-5)


def test_the_speed_a_joint_begins_with_by_itself_is_shown_and_can_be_set_to_zero(bench):
    bench.example("engine_v6")
    shaft = bench.window.findChild(StartRows).rows["speeds"]["shaft"]
    assert shaft.line.text() == ""
    assert shaft.line.placeholderText() == "572.958°/s"
    assert shaft.slider.value() > 0
    shaft.line.setText("0")
    shaft.line.editingFinished.emit()
    assert bench.window.simulation.run_settings.speeds == {"shaft": 0.0}
    assert find_initial_state(bench.window.simulation.run_settings, bench.session).v[0] == 0.0
    shaft.line.setText("")
    shaft.line.editingFinished.emit()
    assert dict(bench.window.simulation.run_settings.speeds) == {}
    assert find_initial_state(bench.window.simulation.run_settings, bench.session).v[0] == 10.0


def test_speeds_that_follow_from_loops_are_shown_where_nobody_set_them(bench):
    """The line of a dependent speed tells the one with which the run will begin: here, that of a slider–crank."""
    bench.example("slider_crank")
    bench.window.docks.show_panel("simulation")
    session, mech = bench.session, bench.session.mech
    rows = bench.window.findChild(StartRows).rows["speeds"]
    bench.wait(lambda: bool(rows))
    first, *others = rows.values()
    first.line.setText("2 rad/s")
    first.line.editingFinished.emit()
    lead = mech.v_names.index(next(iter(rows)))
    ratios = np.linalg.svd(mech.constraint_jacobian(session.edited_pose))[2][-1]
    ratios /= ratios[lead]
    run = simulate(mech, 1e-3, q0=session.edited_pose, v0={mech.v_names[lead]: 2.0})
    for name, row in list(rows.items())[1:]:
        shown = float(read(row.line.placeholderText(), row.measure, row.units, {}, fold=True))
        assert shown == pytest.approx(run[f"{name}.v"][0], rel=1e-5, abs=1e-9)
        if name in mech.v_names:  # joints that close loops have no speed of their own
            assert shown == pytest.approx(2.0 * ratios[mech.v_names.index(name)], rel=1e-5, abs=1e-9)
        assert row.line.text() == ""
    assert any(row.slider.value() for row in others)
    assert list(bench.window.simulation.run_settings.speeds.values()) == [2.0]
    first.line.setText("")
    first.line.editingFinished.emit()
    bench.window.simulation.change_settings(speeds={})


@pytest.mark.parametrize(
    ("text", "speed"),
    [("90", np.pi / 2), ("90°/s", np.pi / 2), ("2 rad/s", 2.0), ("-1,5 rad/s", -1.5), ("2*pi rad/s", None)],
)
def test_start_speeds_are_typed_in_the_units_of_the_window(bench, text, speed):
    bench.example("pendulum")
    bench.window.docks.show_panel("simulation")
    (row,) = bench.window.findChild(StartRows).rows["speeds"].values()
    row.line.setText(text)
    row.line.editingFinished.emit()
    run_settings = bench.window.simulation.run_settings.speeds
    if speed is None:
        assert row.problem
        assert not run_settings
        return
    assert list(run_settings.values()) == [pytest.approx(speed, rel=1e-12)]
    row.line.editingFinished.emit()  # nothing was typed: all digits stay
    assert list(bench.window.simulation.run_settings.speeds.values()) == list(run_settings.values())
    bench.window.settings.degrees = False
    (row,) = bench.window.findChild(StartRows).rows["speeds"].values()
    assert row.line.placeholderText() == "0 rad/s"
    assert float(row.line.text()) == pytest.approx(speed, rel=1e-5)


def typed(field, text):
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def test_f5_takes_what_is_typed_without_enter(bench):
    bench.example("pendulum")
    bench.window.docks.show_panel("simulation")
    typed(bench.window.simulation_panel.duration, "0.25")
    QTest.keyClick(bench.window, Qt.Key.Key_F5)
    bench.wait(lambda: bench.session.runs.current is not None and not bench.window.simulation.is_running, MAKING)
    assert bench.session.runs.current.run.time[-1] == pytest.approx(0.25)


@pytest.mark.parametrize("text", ["abc", "-2", "0", "1/0"])
def test_a_bad_duration_is_explained_in_view_and_nothing_starts(bench, text):
    bench.example("pendulum")
    bench.window.docks.show_panel("simulation")
    panel = bench.window.simulation_panel
    before = bench.window.simulation.run_settings.duration
    typed(panel.duration, text)
    QTest.keyClick(bench.window, Qt.Key.Key_F5)
    assert not bench.window.simulation.is_running
    assert panel.note.isVisible()
    assert "Duration" in panel.note.words
    assert panel.duration.hasFocus()  # to be put right
    assert bench.window.simulation.run_settings.duration == before
    typed(panel.duration, "0.5")
    QTest.keyClick(panel.duration, Qt.Key.Key_Return)
    assert not panel.note.isVisible()
    assert bench.window.simulation.run_settings.duration == 0.5


@pytest.mark.parametrize(
    ("text", "speed"), [("2*pi", 2.0 * np.pi), ("1e-3", np.radians(1e-3)), ("nan", None), ("1e999", None)]
)
def test_start_speeds_are_finite_numbers(bench, text, speed):
    bench.example("pendulum")
    bench.window.docks.show_panel("simulation")
    panel = bench.window.simulation_panel
    line = panel.rows.rows["speeds"]["pin"].line
    typed(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)
    if speed is None:
        assert dict(bench.window.simulation.run_settings.speeds) == {}
        assert "pin" in panel.note.words
    else:
        assert bench.window.simulation.run_settings.speeds["pin"] == pytest.approx(speed)
        assert panel.note.words == ""


def test_a_refused_force_stays_with_its_message(bench):
    bench.example("pendulum")
    bench.window.docks.show_panel("simulation")
    panel = bench.window.simulation_panel
    panel.rows.setCurrentIndex(1)
    bench.wait(lambda: panel.rows.rows["forces"])
    typed(panel.rows.rows["forces"]["pin"].line, "10*pin + M[1,1]")
    typed(panel.duration, "0.25")
    QTest.keyClick(panel.duration, Qt.Key.Key_Return)
    assert bench.window.simulation.run_settings.duration == 0.25

    def shown():
        row = panel.rows.rows["forces"]["pin"]
        return row.line.text(), bool(row.problem), "pin" in panel.note.words

    assert shown() == ("10*pin + M[1,1]", True, True)
    bench.window.settings.degrees = False  # the rows are made again
    bench.wait(lambda: panel.rows.rows["forces"])
    assert shown() == ("10*pin + M[1,1]", True, True)
    QTest.keyClick(bench.window, Qt.Key.Key_F5)
    assert not bench.window.simulation.is_running
    line = panel.rows.rows["forces"]["pin"].line
    typed(line, "10*pin.q")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert panel.note.words == ""
    assert bench.window.simulation.run_settings.forces == {"pin": "10*pin.q"}
    panel.rows.setCurrentIndex(0)


def test_no_run_begins_while_a_property_holds_what_cannot_be_taken(bench):
    """Today's number would be run with, not the one that stands in the field."""
    bench.example("pendulum")
    window, body = bench.window, bench.session.model.bodies[0]
    window.docks.show_panel("properties")
    bench.session.select(ElementRef("bodies", body.name))
    line = window.properties.form.editors["mass"].edit
    typed(line, "2 kgg")
    QTest.keyClick(window, Qt.Key.Key_F5)
    assert not window.simulation.is_running
    assert line.text() == "2 kgg"
    assert "Properties, Mass" in window.simulation_panel.note.words
    typed(line, "2 kg")  # still being typed when the run is asked for
    bench.window.simulation.change_settings(duration=0.1)
    window.run_command("simulation.run")
    assert window.simulation_panel.note.words == ""
    assert bench.session.model.bodies[0].mass == 2.0
    assert window.simulation.is_running
    bench.wait(lambda: not window.simulation.is_running, MAKING)


def test_stopping_keeps_what_was_computed_and_says_so(bench):
    bench.example("pendulum")
    bench.window.simulation.change_settings(duration=1e6, output=1.0)
    ended = []
    bench.window.simulation.ended.connect(lambda record, words: ended.append((record, words)))
    bench.window.run_command("simulation.run")
    bench.wait(lambda: bench.session.runs.current is not None, MAKING)
    QTest.keyClick(bench.window, Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    bench.wait(lambda: not bench.window.simulation.is_running, MAKING)
    record, words = ended[0]
    assert record is bench.session.runs.current
    assert 0.0 < record.run.time[-1] < 1e6
    assert not record.growing
    assert not record.run.complete
    assert record.run.statistics.steps > 0
    assert words.startswith(f"Stopped at {record.run.time[-1]:.6g} s")
    assert bench.window.simulation_panel.words.text() == words


def test_start_rows_follow_an_edit_once_the_edit_is_seen(bench):
    bench.example("two_link")
    bench.window.docks.show_panel("simulation")
    bench.wait(lambda: list(bench.window.findChild(StartRows).rows["speeds"]) == list(bench.session.mech.v_names))
    rows, before = bench.window.findChild(StartRows), list(bench.session.mech.v_names)
    assert rows.isVisible()
    add_link(bench.session)
    wanted = list(bench.session.mech.v_names)
    assert wanted != before
    assert list(rows.rows["speeds"]) == before, "made in a turn of their own"
    bench.wait(lambda: list(rows.rows["speeds"]) == wanted)
    bench.session.undo()
    bench.wait(lambda: list(rows.rows["speeds"]) == before)
    bench.example("four_bar")
    assert set(rows.rows["speeds"]) <= set(bench.session.mech.v_names), "no rows of another machine"
