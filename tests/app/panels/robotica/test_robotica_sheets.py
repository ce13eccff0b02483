"""Sheets of Robotica's functions in the function panel: filled in with mouse and keys, they type the line."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from core.robotica.commands import COMMANDS
from resources import examples
from tests.walks import walk

TWO_LINK = Path(next(example.path for example in examples() if example.name == "two_link"))

NEEDS = {
    "SaveResponse": "Call Response or SimDrive first.",
    "SimDrive": "Call Response or SimDrive first.",
    "ShowAnim": "Call ShowRobot",
    "SaveAnim": "Call ShowRobot",
    "LoadAnim": "The animation cannot be read",
    "SimPlot": "Call Response or SimDrive first.",
}
"""What a function says that needs another one first."""
SHEETS = ("APrint", "MPrint", "RElp", "Response", "ShowRobot", "SimplifyExpression", "SetRanges")
"""Sheets of each form: without arguments, with a matrix, ranges, options, poses, a formula."""


@pytest.fixture
def window(bench):
    bench.example("two_link")
    return bench.window


def opened(window, name):
    """The sheet of a function, as its entry in the panel opens it."""
    window.run_command(f"robotica.{name}")
    return window.functions.form


def tick(box):
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))


def run(bench, sheet):
    QTest.mouseClick(sheet.run_button, Qt.MouseButton.LeftButton)
    panel = bench.window.docks.panels["robotica"]
    bench.wait(lambda: panel.job is None, 60.0)
    return panel.transcript.toPlainText().rpartition("In:= ")[2]


def test_braces_and_quotation_marks_are_added(bench, window):
    sheet = opened(window, "RElp")
    assert sheet.preview.text() == "RElp[]"
    QTest.keyClicks(sheet.fields["ranges"], "{q1, 0, 90 Degree, 2}, {a2, 3, 8, 2}")
    tick(sheet.boxes["scale"])
    QTest.keyClicks(sheet.fields["file"], "m.txt")
    assert sheet.preview.text() == 'RElp[{{q1, 0, 90 Degree, 2}, {a2, 3, 8, 2}}, {scale, file -> "m.txt"}]'
    sheet.fields["file"].clear()
    QTest.keyClick(sheet.fields["file"], Qt.Key.Key_End)
    said = run(bench, sheet)
    panel = window.docks.panels["robotica"]
    assert panel.history[-1] == sheet.line
    assert "Error" not in said
    assert bench.window.docks.panels["output"].cards[-1].result.scaled


def test_boxes_stay_under_the_pointer_when_the_line_wraps(bench, window):
    sheet = opened(window, "RElp")
    bench.draw()
    place = sheet.boxes["animate"].mapToGlobal(QPoint(0, 0))
    for name in ("scale", "frame", "measures"):
        tick(sheet.boxes[name])
        bench.draw()
        assert sheet.boxes["animate"].mapToGlobal(QPoint(0, 0)) == place
    while lines(sheet) <= 1.2:  # fonts differ
        QTest.keyClicks(sheet.fields["ranges"], "{q1, 0, 1, 2}, ")
    bench.draw()
    assert 1.0 < lines(sheet) < 3.0
    assert sheet.boxes["animate"].mapToGlobal(QPoint(0, 0)) == place


def lines(sheet):
    """Widths of the preview that its text takes."""
    return sheet.preview.fontMetrics().horizontalAdvance(sheet.preview.text()) / sheet.preview.width()


def test_the_sheet_does_what_the_typed_line_does(bench, window):
    sheet = opened(window, "MPrint")
    sheet.fields["matrix"].clear()
    QTest.keyClicks(sheet.fields["matrix"], "T[0,1]")
    QTest.keyClicks(sheet.fields["label"], "T01")
    by_sheet = run(bench, sheet).splitlines()
    panel = window.docks.panels["robotica"]
    panel.input.setFocus()
    QTest.keyClicks(panel.input, 'MPrint[T[0,1], "T01"]')
    QTest.keyClick(panel.input, Qt.Key.Key_Return)
    bench.wait(lambda: panel.job is None, 60.0)
    assert panel.transcript.toPlainText().rpartition("In:= ")[2].splitlines() == by_sheet


def test_what_was_filled_in_is_there_next_time(bench, window):
    sheet = opened(window, "ShowRobot")
    QTest.keyClicks(sheet.fields["ranges"], "q1, 0, 1")
    tick(sheet.boxes["single"])
    run(bench, sheet)
    from app.panels.robotica.sheet import RoboticaSheet

    again = RoboticaSheet(sheet.function, sheet.command, window.settings, lambda: "")
    assert again.line == "ShowRobot[{q1, 0, 1}, {single}]"
    again.reset()
    assert again.line == "ShowRobot[]"
    again.deleteLater()


def test_mistakes_are_told_in_the_sheet(bench, window):
    sheet = opened(window, "RElp")
    QTest.keyClicks(sheet.fields["ranges"], "{q1, 0")
    before = list(window.docks.panels["robotica"].history)
    QTest.mouseClick(sheet.run_button, Qt.MouseButton.LeftButton)
    assert "column" in sheet.note.text()
    assert window.docks.panels["robotica"].history == before


@pytest.mark.parametrize("name", walk((name for name in COMMANDS if name != "DataFile"), quick=[*NEEDS, *SHEETS]))
def test_every_sheet_runs_as_it_stands_or_says_what_is_missing(bench, window, tmp_path, name):
    sheet = opened(window, name)
    sheet.reset()
    if "file" in sheet.fields and sheet.fields["file"].text() not in ("", "*"):
        sheet.fields["file"].setText(str(tmp_path / "file.txt"))
    said = run(bench, sheet)
    assert said.startswith(sheet.line)
    assert said[len(sheet.line) :].strip()
    error = said.partition("Error: ")[2]
    assert not error or name in NEEDS
    assert NEEDS.get(name, "") in error
    assert not bench.messages("error")
