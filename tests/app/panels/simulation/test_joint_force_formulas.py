"""Formulas of joint forces: what the machine cannot evaluate is said once, at its field, with what can be used."""

import math

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.runs.run_settings import find_initial_state, simulate_arguments
from core.simulation import simulate
from tests.app.conftest import settle


@pytest.fixture
def line(bench):
    bench.example("puma560")
    bench.window.docks.show_panel("simulation")
    rows = bench.window.simulation_panel.rows
    rows.setCurrentIndex(1)
    settle()
    return rows.rows["forces"]["joint1"].line


def typed(line, text):
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("text", "words"),
    [("nosuch*2", "Use t, coordinates"), ("2*joint_1.v", "Did you mean joint1.v"), ("3*(", "Correct the formula")],
)
def test_a_wrong_formula_says_once_what_is_wrong(bench, line, text, words):
    typed(line, text)
    panel, window = bench.window.simulation_panel, bench.window
    assert words in panel.note.words
    assert "Define a parameter" not in panel.note.words
    window.run_command("simulation.run")
    assert not window.simulation.is_running
    assert (line.text(), dict(window.simulation.run_settings.forces)) == (text, {})
    everywhere = [panel.note.words, panel.words.text(), *(message.text for message in window.messages.log)]
    assert sum(words in each for each in everywhere) == 1
    typed(line, "2*joint1.v - sin(t) + joint2")
    assert panel.note.words == ""
    assert dict(window.simulation.run_settings.forces) == {"joint1": "2*joint1.v - sin(t) + joint2"}


def test_joints_that_close_loops_have_rows_too(bench):
    bench.example("four_bar")
    bench.window.docks.show_panel("simulation")
    rows, mech = bench.window.simulation_panel.rows, bench.session.mech
    (closing,) = (loop.cut for loop in mech.loops)
    typed(rows.rows["speeds"][closing].line, "30 deg/s")
    rows.setCurrentIndex(1)
    settle()
    typed(rows.rows["forces"][closing].line, f"-0.2*{closing}.v")
    settings = bench.window.simulation.run_settings
    arguments = simulate_arguments(settings, bench.session, find_initial_state(settings, bench.session))
    assert arguments["torque"] == {closing: f"-0.2*{closing}.v"}
    run = simulate(mech, 0.1, v0=arguments["v0"], torque=arguments["torque"])
    assert run[f"{closing}.v"][0] == pytest.approx(math.radians(30.0), rel=1e-6)
    rows.setCurrentIndex(0)
    settle()
    shown = read_angular_speed(rows.rows["speeds"]["crank_pin"].line.placeholderText())
    assert shown == pytest.approx(run["crank_pin.v"][0], rel=1e-4)


def read_angular_speed(text):
    return math.radians(float(text.removesuffix("°/s")))
