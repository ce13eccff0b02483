"""Formulas of joint forces: what the machine cannot evaluate is said once, at its field, with what can be used."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

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
