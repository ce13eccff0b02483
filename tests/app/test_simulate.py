"""Simulating in the window: F5, a run that grows and plays, the timeline, branches, the list of runs."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.panels.start_rows import StartRows
from app.timeline import EDGE
from app.wishes import start_of
from core.simulation import simulate

LONG = 400.0
"""s; the integrators' machine code is made once."""


def simulated(bench, **wishes):
    bench.window.simulation.wish(**wishes)
    bench.window.run("simulation.run")
    bench.wait(lambda: not bench.window.simulation.running, LONG)
    return bench.session.runs.current


def test_f5_makes_a_run_that_plays(bench):
    bench.example("pendulum")
    bench.window.simulation.wish(duration=2.0, output=0.01)
    QTest.keyClick(bench.window, Qt.Key.Key_F5)
    bench.wait(lambda: not bench.window.simulation.running, LONG)
    record = bench.session.runs.current
    assert record is not None
    assert record.run.time[-1] == pytest.approx(2.0)
    assert bench.window.timeline.isVisible()
    assert bench.view.player.playing
    expected = simulate(bench.session.mech, 2.0, rtol=1e-7, atol=1e-8, output=0.01, q0=record.run.q[0])
    assert np.allclose(record.run.q, expected.q)
    assert bench.session.undo_label == ""


def test_what_if_follows_a_slider_during_the_movement(bench):
    bench.example("pendulum")
    simulated(bench, duration=3.0, output=None)
    bench.view.player.hold()
    bench.window.run("play.close")
    what_if = bench.window.what_if
    bench.window.run("simulation.what_if")
    heard = []
    what_if.made.connect(heard.append)
    bench.wait(lambda: heard, LONG)
    name = bench.session.mech.q_names[0]
    for value in (0.2, 0.4, 0.6):
        heard.clear()
        bench.session.preview_coordinates({name: value})
        bench.wait(lambda: heard)
        run = bench.session.runs.current.run
        assert bench.session.previewing
        assert run.q[0, 0] == pytest.approx(value)
        assert len(run) > 500
    bench.session.commit("Move")
    bench.wait(lambda: what_if._worker.idle)
    bench.window.run("simulation.what_if")
    assert not what_if.on
    what_if.made.disconnect(heard.append)


def test_scrubbing_shows_the_run_and_leaves_no_undo_step(bench):
    bench.example("pendulum")
    record = simulated(bench, duration=2.0, output=0.01)
    bench.view.player.hold()
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
    bench.window.run("play.close")
    assert np.allclose(bench.session.q, edited)
    assert bench.session.undo_label == ""
    QTest.keyClick(bench.window, Qt.Key.Key_End)
    assert np.allclose(bench.session.q, record.run.q[-1])
    bench.window.run("play.use_pose")
    assert np.allclose(bench.session.edited_pose, record.run.q[-1])
    assert not bench.session.following
    bench.window.run("edit.undo")
    assert np.allclose(bench.session.q, edited)


def test_a_branch_goes_on_as_its_parent_did(bench):
    bench.example("pendulum")
    parent = simulated(bench, duration=2.0, output=0.01)
    bench.view.player.hold()
    bench.session.runs.seek(1.0)
    bench.window.simulation.wish(duration=1.0)
    bench.window.run("simulation.branch")
    bench.wait(lambda: not bench.window.simulation.running, LONG)
    branch = bench.session.runs.current
    assert branch.parent == parent.id
    assert branch.from_time == pytest.approx(1.0)
    assert branch.run.time[0] == pytest.approx(1.0)
    assert np.allclose(branch.run.q[-1], parent.run.q[-1], atol=1e-4)
    bench.window.simulation.wish(start="pose")


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


def test_the_speed_a_joint_begins_with_by_itself_is_shown_and_can_be_set_to_zero(bench):
    bench.example("engine_v6")
    shaft = bench.window.findChild(StartRows).rows["speeds"]["shaft"]
    assert shaft.line.text() == ""
    assert shaft.line.placeholderText() == "10 rad/s"
    assert shaft.slider.value() > 0
    shaft.line.setText("0")
    shaft.line.editingFinished.emit()
    assert bench.window.simulation.wishes.speeds == {"shaft": 0.0}
    assert start_of(bench.window.simulation.wishes, bench.session).v[0] == 0.0
    shaft.line.setText("")
    shaft.line.editingFinished.emit()
    assert dict(bench.window.simulation.wishes.speeds) == {}
    assert start_of(bench.window.simulation.wishes, bench.session).v[0] == 10.0
