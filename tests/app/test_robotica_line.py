"""Robotica's command line in the window: typed calls, history, completion, help, abort, runs and plots."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

import resources

TWO_LINK = Path(next(entry.path for entry in resources.examples() if Path(entry.path).stem == "two_link"))


@pytest.fixture
def panel(bench):
    bench.example("two_link")
    bench.window.docks.show("robotica")
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
    assert bench.window.documents.source == tmp_path / "arm.rob"
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
    assert "Manipulability ellipsoids." in panel.transcript.toPlainText()
    typed(bench, panel, "SimplifyExpression[c[1,2,1]]")
    panel.offer("SimplifyExpression")
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
