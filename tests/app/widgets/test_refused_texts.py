"""Typed text that cannot be read stays, with its message, in every line and table of the panels that ask for numbers
and formulas, until it is mended or taken back; what uses it is refused by its name."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableWidget

import kinetostat as ks
from app.document.session import Session
from app.panels.design.machine_page import CURVE, FUNCTION, PARAMETERS
from app.panels.design.panel import DesignPanel
from app.panels.identification.panel import MOTION, RUN, IdentificationPanel
from app.panels.operating_point.panel import OperatingPointPanel
from app.panels.studies.panel import StudiesPanel
from app.widgets.refused_texts import REASON
from core.model.edits import edits

NONSENSE = "3*("


def swing():
    arm = ks.Body(name="arm", mass="m", inertia=ks.Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    pin = ks.Joint(name="pin", parent="world", child="arm", axis=(0, 1, 0), damping="c")
    parameters = (ks.Parameter(name="m", value=1.0), ks.Parameter(name="c", value=0.2))
    return ks.Model(name="swing", parameters=parameters, bodies=(arm,), joints=(pin,))


@pytest.fixture
def session():
    return Session(swing())


def made(qtbot, panel):
    qtbot.addWidget(panel)
    panel.resize(1100, 400)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def typed(line, text):
    line.setFocus()
    line.selectAll()
    QTest.keyClick(line, Qt.Key.Key_Delete)
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)


def names(panel, place):
    """The note of a panel names a place and says why its text cannot be read."""
    assert panel.note.severity == "error"
    assert place in panel.note.words, panel.note.words


def change_machine(session):
    """Another field of the document is edited: the machine becomes another."""
    mass = session.model.find("parameters", "m").value
    session.apply("Mass", lambda model: edits.change(model, "parameters", "m", value=mass + 1.0))


def refuses_cell(panel, table, at, column, place, session, ask):
    table.item(at, column).setText(NONSENSE)
    names(panel, place)
    change_machine(session)
    assert table.item(at, column).text() == NONSENSE
    assert table.item(at, column).data(REASON)
    names(panel, place)
    ask()
    names(panel, place)
    table.item(at, column).setText("1")
    assert not table.item(at, column).data(REASON)
    assert place not in panel.note.words


def refuses_line(panel, line, place, session, ask, right):
    typed(line, NONSENSE)
    names(panel, place)
    change_machine(session)
    assert line.text() == NONSENSE
    names(panel, place)
    ask()
    names(panel, place)
    typed(line, right)
    assert place not in panel.note.words, panel.note.words


def test_the_operating_point(qtbot, session, jobs):
    panel = made(qtbot, OperatingPointPanel(session, jobs, lambda _: None, lambda *_: None))
    panel.table.set_role("pin.q", "fixed", "0.1")
    at = next(k for k, row in enumerate(panel.table.row_texts()) if row.name == "pin.q")
    refuses_cell(panel, panel.table, at, 2, "pin.q", session, panel.solve)
    panel.table.item(at, 2).setText(NONSENSE)
    panel.table.set_role("pin.tau", "free")  # another row is edited
    names(panel, "pin.q")
    panel.table.set_role("pin.q", "", NONSENSE)  # the role uses no value
    assert panel.note.words == ""
    panel.close()


def test_identification(qtbot, session, jobs, tmp_path):
    panel = made(qtbot, IdentificationPanel(session, jobs))
    panel.kind.setCurrentIndex(panel.kind.findData(MOTION))
    for name, place, right in (
        ("period", "period", "10 s"),
        ("harmonics", "harmonics", "5"),
        ("speed", "speed", ""),
        ("acceleration", "acceleration", ""),
        ("rate", "rate", "100"),
        ("starts", "starts", "1"),
    ):
        refuses_line(panel, panel.motion_page.fields.lines[name], place, session, panel.start, right)
    (tmp_path / "trace.csv").write_text("time,pin.q,pin.tau\n0,0,0\n1,0.1,0\n2,0.2,0\n", encoding="utf-8")
    panel.read_trace(tmp_path / "trace.csv")
    qtbot.waitUntil(lambda: panel.columns.rowCount() == 3 and panel.start_button.isEnabled())
    panel.kind.setCurrentIndex(panel.kind.findData(RUN))
    table = panel.run_page.vary
    table.check_rows("m")
    row = table.parameter_names.index("m")
    refuses_cell(panel, table, row, 2, "row 'm'", session, panel.start)
    for name, place, right in (
        ("start", "start", ""),
        ("torque", "joint force of pin", ""),
        ("segments", "segments", "1"),
        ("held", "Validation", "25 %"),
    ):
        wrong = f"pin={NONSENSE}" if name == "torque" else NONSENSE
        line = panel.run_page.fields.lines[name]
        typed(line, wrong)
        change_machine(session)
        names(panel, place)
        panel.start()
        names(panel, place)
        assert line.text() == wrong
        typed(line, right)
        assert place not in panel.note.words
    panel.columns.item(1, 2).setText("furlongs")
    names(panel, "pin.q")
    change_machine(session)
    panel.start()
    names(panel, "'furlongs' is not a known unit")
    panel.columns.item(1, 2).setText("deg")
    assert "furlongs" not in panel.note.words
    panel.close()


def test_design(qtbot, session, jobs):
    panel = made(qtbot, DesignPanel(session, jobs))
    page = panel.machine_page
    panel.kind.setCurrentIndex(panel.kind.findData(PARAMETERS))
    page.vary.check_rows("m")
    refuses_cell(panel, page.vary, page.vary.parameter_names.index("m"), 2, "row 'm'", session, panel.start_search)
    page.setCurrentIndex(1)
    refuses_line(panel, page.starts, "Starts", session, panel.start_search, "5")
    page.along.setCurrentIndex(page.along.findData("run"))
    refuses_line(panel, page.duration, "duration of the run", session, panel.start_search, "1")
    typed(page.minimise, NONSENSE)
    change_machine(session)
    names(panel, "Formula to be minimised")
    assert page.minimise.text() == NONSENSE
    typed(page.minimise, "mean(pin.q)")
    assert panel.note.words == ""
    panel.kind.setCurrentIndex(panel.kind.findData(FUNCTION))
    page.points.item(0, 0) or page.points.show_rows([(0.0, 1.0)])
    refuses_cell(panel, page.points, 0, 1, "Points, row 1", session, panel.start_search)
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    refuses_line(panel, panel.curve_page.smooth, "Fourier terms", session, panel.start_search, "7")
    typed(panel.curve_page.points, "1 2; 3 four")
    change_machine(session)
    names(panel, "points")
    assert panel.curve_page.points.text() == "1 2; 3 four"
    typed(panel.curve_page.points, "0 0; 1 0; 1 1")
    assert panel.note.severity != "error"
    panel.close()


def test_studies(qtbot, session, jobs):
    panel = made(qtbot, StudiesPanel(session))
    asked = panel.asked
    asked.varied.check_quantity("m")
    row = next(k for k in range(asked.varied.rowCount()) if asked.varied.item(k, 0).text() == "m")
    refuses_cell(panel, asked.varied, row, 2, "'m'", session, lambda: None)
    asked.varied.item(row, 0).setCheckState(Qt.CheckState.Unchecked)
    refuses_cell(panel, asked.varied, row, 2, "'m'", session, lambda: None)
    for line, place in ((asked.duration, "Duration"), (asked.count, "Number of samples"), (asked.seed, "Random seed")):
        refuses_line(panel, line, place, session, panel.start, "1")
    asked.record.item(0, 1).setText(NONSENSE)
    names(panel, "record 'r1'")
    panel.close()


def test_texts_in_other_units_stay_as_they_are_typed(qtbot, session, jobs, settings):
    """A change of units converts what can be read, and leaves what cannot."""
    session.apply("Length", lambda m: edits.add(m, ks.Parameter(name="l", value=0.5, dimension="length")))
    settings.millimetres = False
    panel = made(qtbot, DesignPanel(session, jobs, None, settings))
    table: QTableWidget = panel.machine_page.vary
    row = table.parameter_names.index("l")
    table.item(row, 2).setText(NONSENSE)
    table.item(row, 3).setText("0.7")
    settings.millimetres = True
    assert [table.item(row, column).text() for column in (2, 3)] == [NONSENSE, "700"]
    panel.close()
