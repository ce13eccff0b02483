"""The panel Studies: rows beside the window, pictures of them, a row opened as the machine, studies of the document."""

import time

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage

import kinetostat as ks
from app.document.session import Session
from app.panels.studies.asked_tables import NAME, PICTURE, VALUES, VariedTable
from app.panels.studies.drawings import PICTURES
from app.panels.studies.panel import StudiesPanel
from core.studies.row_file import RowFile
from core.studies.study_result import StudyResult

G, T = 9.81, 0.4
STONE = ks.Model(
    name="stone",
    parameters=(ks.Parameter(name="m", value=2.0, dimension="mass"),),
    bodies=(ks.Body(name="stone", mass="m"),),
    joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="stone", axis=(0.0, 0.0, 1.0)),),
)


@pytest.fixture
def panel(qtbot):
    begun = []
    made = StudiesPanel(Session(STONE), begun.append)
    made.begun = begun
    qtbot.addWidget(made)
    made.resize(1200, 320)
    made.show()
    yield made
    made.close()


def ask(panel, count=20, **varied):
    for name, values in varied.items():
        panel.asked.varied.check_quantity(name.replace("_", "."), values)
    panel.asked.record.show_formulas({"end": "at(z.q, end)", "path": "z.q every 0.1"})
    panel.asked.count.setText(str(count))
    panel.asked.duration.setText(str(T))
    panel.asked.method.setCurrentIndex(panel.asked.method.findData("rk4"))


def ended(panel, qtbot):
    qtbot.waitUntil(lambda: panel.work is None)


def test_rows_are_computed_and_one_becomes_the_machine(panel, qtbot):
    ask(panel, z_v="normal(1, 0.2)", m="uniform(1, 3)")
    panel.start()
    ended(panel, qtbot)
    result, session = panel.result, panel._session
    assert panel.note.words == "20 rows, none failed."
    assert np.allclose(result.table["end"], result.varied["z.v"] * T - 0.5 * G * T**2, atol=1e-12)
    assert panel.table.rows.rowCount() == 20
    index = panel.table.rows.index(7, 0)
    panel.table.doubleClicked.emit(index)
    assert session.model.values()["m"] == result.varied["m"][7]
    assert panel.begun == [{"z": result.varied["z.v"][7]}]
    session.undo()
    assert session.model.values()["m"] == 2.0
    panel.picture.choose_picture("scatter", "end", "z.v")
    canvas = panel.picture.canvas
    canvas.grab()
    at = canvas.points.pixels[np.argmax(canvas.points.rows == 4)]
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(*map(round, at)))
    assert panel.table.selected_row == 4


def test_every_picture_shows_something_in_light_and_dark(panel, qtbot):
    ask(panel, z_v="0:2:5", m="-1, 1, 2")
    panel.start()
    ended(panel, qtbot)
    assert panel.picture.kind.currentData() == "map"
    assert panel.note.words.endswith("rows, 5 failed (refused).")
    for kind in PICTURES:
        panel.picture.choose_picture(kind)
        image = panel.picture.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        pixels = np.frombuffer(image.constBits(), np.uint32)
        assert np.mean(pixels != pixels[-1]) > 0.01, kind
    panel.failed_alone.setChecked(True)
    assert panel.table.rows.rowCount() == 5
    assert "negative" in panel.table.rows.data(panel.table.rows.index(0, 0), Qt.ItemDataRole.ToolTipRole)


def test_where_most_rows_fail_the_person_is_asked(panel, qtbot):
    ask(panel, 300, m="uniform(-3, 0.5)")
    panel.asked.duration.setText("0.01")
    panel.start()
    qtbot.waitUntil(panel.no_button.isVisible)
    assert "failed. Compute the remaining rows?" in panel.note.words
    panel.no_button.click()
    ended(panel, qtbot)
    assert 200 <= len(panel.result) < 300


def test_pause_waits_and_stop_answers_at_once(panel, qtbot):
    ask(panel, 8192, z_v="normal(1, 0.1)")
    panel.asked.how.setCurrentIndex(panel.asked.how.findData("sobol"))
    panel.asked.duration.setText("10")
    panel.start()
    qtbot.waitUntil(lambda: panel.result is not None and len(panel.result) > 0)
    panel.pause_button.click()
    assert panel.note.words == "Paused."
    began = time.monotonic()
    panel.stop_button.click()
    ended(panel, qtbot)
    assert time.monotonic() - began < 60.0  # of what takes minutes
    assert 0 < len(panel.result) < 8192


def test_a_study_is_kept_in_the_document_and_shown_again(panel):
    ask(panel, 12, z_v="0:2:5", m="uniform(1, 3)")
    panel.plan.setCurrentText("thrown")
    panel.save_study()
    session = panel._session
    (plan,) = session.model.studies
    assert [row.quantity for row in plan.varied] == ["m", "z.v"]
    assert plan.record[1].every == 0.1
    panel.asked.varied.show_varied({})
    panel.show_study("thrown")
    assert panel.asked.varied.varied_distributions() == {"m": "uniform(1, 3)", "z.v": "0:2:5"}
    assert panel.asked.count.text() == "12"
    panel.asked.count.setText("13")
    panel.save_study()
    assert session.model.studies[0].count == 13.0
    session.undo()
    session.undo()
    assert session.model.studies == ()


def test_what_cannot_be_meant_is_said(panel, qtbot):
    panel.start()
    ended(panel, qtbot)
    assert "Nothing is varied" in panel.note.words
    ask(panel, m="normal(2)")
    panel.start()
    ended(panel, qtbot)
    assert "'m': normal takes 2 numbers" in panel.note.words
    panel.asked.count.setText("many")
    panel.start()
    assert "'many' is not a number" in panel.note.words


def test_an_estimate_says_how_long_it_takes(panel, qtbot):
    ask(panel, 5000, z_v="normal(1, 0.1)")
    panel.estimate()
    qtbot.waitUntil(lambda: "5,000 rows, about" in panel.note.words)


def test_a_file_keeps_rows_and_is_gone_on_with(panel, qtbot, tmp_path):
    ask(panel, z_v="normal(1, 0.1)")
    panel.asked.file.setText(str(tmp_path / "s.h5"))
    panel.start()
    ended(panel, qtbot)
    first = panel.result.rows.results.copy()
    panel.start()
    ended(panel, qtbot)
    assert np.array_equal(panel.result.rows.results, first)
    panel.asked.count.setText("21")
    panel.start()
    ended(panel, qtbot)
    assert "holds another study" in panel.note.words
    panel.write_rows(tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().startswith("z.v,end,status")


def test_where_the_disk_is_full_another_file_is_asked_for_and_all_rows_are_in_it(panel, qtbot, tmp_path, monkeypatch):
    full, other, write = tmp_path / "full.h5", tmp_path / "other.h5", RowFile._write_record

    def written(self, record):
        if self.path == full and not record.startswith(b"kinetostat"):
            raise OSError(28, "No space left on device")
        write(self, record)

    monkeypatch.setattr(RowFile, "_write_record", written)
    monkeypatch.setattr(panel, "_ask_path", lambda: str(other))
    ask(panel, z_v="normal(1, 0.1)")
    panel.asked.file.setText(str(full))
    panel.start()
    qtbot.waitUntil(panel.yes_button.isVisible)
    assert "No space left on device" in panel.note.words
    panel.yes_button.click()
    ended(panel, qtbot)
    assert panel.asked.file.text() == str(other)
    assert np.array_equal(StudyResult.load(other).rows.results, panel.result.rows.results)
    assert StudyResult.load(other).rows.done.all()


def test_rows_of_what_varies_follow_the_machine(panel):
    from core.model.edits import edits

    ask(panel, z_v="normal(1, 0.1)")
    panel._session.apply("Add", lambda m: edits.add(m, ks.Parameter(name="k", value=1.0)))
    table = panel.asked.varied
    names = [table.item(k, NAME).text() for k in range(table.rowCount())]
    assert "k" in names
    assert table.item(names.index("z.v"), VALUES).text() == "normal(1, 0.1)"
    assert panel.asked.varied.varied_distributions() == {"z.v": "normal(1, 0.1)"}


def test_the_study_of_the_document_is_chosen_when_it_is_opened(panel):
    plan = ks.StudyPlan(
        name="tolerance",
        varied=(ks.VariedRow(quantity="m", values="uniform(1, 3)"),),
        record=(ks.RecordRow(column="end", formula="at(z.q, end)"),),
    )
    panel._session.start_document(ks.edits.add(STONE, plan))
    assert panel.plan.currentText() == "tolerance"
    assert panel.asked.varied.varied_distributions() == {"m": "uniform(1, 3)"}
    assert panel.asked.record.recorded_formulas() == {"end": "at(z.q, end)"}
    panel._session.start_document(STONE)
    assert panel.plan.currentText() == ""


@pytest.mark.parametrize(("values", "pictured"), [("normal(0.1, 0.0001)", True), ("lognormal(0.125, 0.0125)", False)])
def test_values_are_not_cut_beside_a_picture_in_a_third_of_the_window(qtbot, values, pictured):
    """255 pixels are what is left at 1440 x 900 with three columns; pictures go where values need their room."""
    table = VariedTable()
    qtbot.addWidget(table)
    table.resize(255, 120)
    table.show()
    table.show_rows([("bore", 0.1, values), ("load", 0.0, "0, 1")])
    assert table.isColumnHidden(PICTURE) is not pictured
    cell = table.visualItemRect(table.item(0, VALUES))
    assert table.fontMetrics().horizontalAdvance(values) + 6 <= cell.width()
    assert table.item(0, VALUES).toolTip()
