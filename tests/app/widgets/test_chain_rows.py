"""The rows of a DH chain in the property editor: what is found about links and joints stands at their rows, and
every number of a row becomes a parameter."""

import pytest
from PySide6.QtWidgets import QApplication

from app.document.session import ElementRef, Session
from app.panels.properties.panel import PropertyEditor
from core.model import DHChain, DHRow, Inertia, Model

GOOD = Inertia(ixx=0.01, iyy=0.01, izz=0.01)
BAD = Inertia(ixx=0.01, iyy=0.01, izz=0.5)
"""No body has it: izz > ixx + iyy."""
ROWS = (DHRow(a=0.3, mass=1.0, inertia=GOOD), DHRow(a=0.2, mass=2.0, inertia=BAD), DHRow(a=0.1, mass=0.5, inertia=GOOD))


@pytest.fixture
def session():
    return Session(Model(name="m", chains=(DHChain(name="arm", rows=ROWS, prefix="arm_"),)))


@pytest.fixture
def panel(qtbot, session, settings):
    widget = PropertyEditor(session, settings)
    qtbot.addWidget(widget)
    widget.resize(340, 1100)
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow)
    session.select(ElementRef("chains", "arm"))
    return widget


def rows_of(panel):
    editor = panel.form.editors["rows"]
    editor.section.set_open(True)
    return editor


def test_a_finding_about_a_link_stands_at_its_row(panel):
    rows = rows_of(panel)
    titles = [rows.table.verticalHeaderItem(i).text() for i in range(3)]
    assert titles == ["1", "2 ▲", "3"]
    assert rows.note.isVisible()
    assert "Row 2:" in rows.note.text()
    assert "Row 1:" not in rows.note.text()


def test_a_finding_stands_at_its_field_beneath_the_table(panel):
    rows = rows_of(panel)
    rows.detail.set_open(True)
    notes = []
    for row in range(3):
        rows.table.setCurrentCell(row, 0)
        notes.append(rows.detail.content.editors["inertia"].note.words)
    assert notes[0] == notes[2] == ""
    assert "principal moments" in notes[1]


def test_going_to_a_finding_of_a_link_opens_its_row(session, panel):
    session.select(ElementRef("bodies", "arm_link2"))
    assert panel.focus_field("mass")
    assert session.selection == ElementRef("chains", "arm")
    rows = panel.form.editors["rows"]
    assert rows.table.currentRow() == 1
    focused = QApplication.focusWidget()
    assert rows.detail.content.editors["mass"].isAncestorOf(focused)


@pytest.mark.parametrize("row", [0, 2])
def test_a_number_beneath_the_table_becomes_a_parameter(session, panel, row):
    rows = rows_of(panel)
    rows.detail.set_open(True)
    rows.table.setCurrentCell(row, 0)
    edit = rows.detail.content.editors["mass"].edit
    action = next(a for a in edit.build_context_menu().actions() if "parameter" in a.text())
    name = f"mass{row + 1}"
    assert name in action.text()
    action.trigger()
    changed = session.model.chain("arm").rows
    assert changed[row].mass == name
    assert session.model.find("parameters", name).value == ROWS[row].mass
    assert [each for i, each in enumerate(changed) if i != row] == [each for i, each in enumerate(ROWS) if i != row]
    session.undo()
    assert session.model.chain("arm").rows == ROWS


def test_an_entry_of_a_vector_beneath_the_table_becomes_a_parameter(session, panel):
    rows = rows_of(panel)
    rows.detail.set_open(True)
    rows.table.setCurrentCell(1, 0)
    edit = rows.detail.content.editors["center_of_mass"].edits[2]
    next(a for a in edit.build_context_menu().actions() if "parameter" in a.text()).trigger()
    assert session.model.chain("arm").rows[1].center_of_mass[2] == "center_of_mass_z2"
