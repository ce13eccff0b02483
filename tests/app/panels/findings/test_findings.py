"""The findings panel: severities, selection, the way to the field."""

import math
import threading

import pytest
from PySide6.QtCore import Qt

from app.document.analyses import AT_ONCE, PanelFindings
from app.document.session import ElementRef, Session
from app.panels.findings.panel import FINDING, FindingsPanel
from core.model import Body, Finding, Inertia, Joint, Limit, Model
from core.model.edits import edits

SOLID = Inertia(ixx=0.01, iyy=0.01, izz=0.01)


def doubtful() -> Model:
    """A body with a negative mass and a joint with crossed limits."""
    return Model(
        name="doubtful",
        bodies=(Body(name="block", mass=-1.0, inertia=SOLID),),
        joints=(Joint(name="hinge", parent="world", child="block", limits=(Limit(lower=1.0, upper=-1.0),)),),
    )


def rows(panel):
    for i in range(panel.list.topLevelItemCount()):
        group = panel.list.topLevelItem(i)
        yield from (group.child(j) for j in range(group.childCount()))


def row_of(panel, name):
    return next(item for item in rows(panel) if item.data(0, FINDING).name == name)


@pytest.fixture
def session():
    return Session(doubtful())


@pytest.fixture
def panel(qtbot, session):
    widget = FindingsPanel(session)
    qtbot.addWidget(widget)
    widget.resize(800, 250)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def test_findings_stand_with_words_and_remedies(panel):
    assert panel.pages.currentWidget() is panel.list
    for name in ("block", "hinge"):
        item = row_of(panel, name)
        assert name in item.text(0)
        assert item.text(1)
        assert item.text(2)
    serious = sum(item.data(0, FINDING).severity != "hint" for item in rows(panel))
    assert panel.tab_title == f"Findings ({serious})"


def test_a_click_selects_and_a_double_click_goes_to_the_field(qtbot, session, panel):
    wanted = []
    panel.field_wanted.connect(wanted.append)
    center = panel.list.visualItemRect(row_of(panel, "hinge")).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=center)
    assert session.selection == ElementRef("joints", "hinge")
    assert wanted == []
    qtbot.mouseDClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=center)
    assert wanted
    assert wanted[0].startswith("limits")


def test_repaired_findings_go(session, panel):
    titles = []
    panel.counted.connect(titles.append)
    session.apply("mass", lambda m: edits.change(m, "bodies", "block", mass=1.0))
    session.apply("limits", lambda m: edits.change(m, "joints", "hinge", limits=()))
    assert not any(item.data(0, FINDING).severity != "hint" for item in rows(panel))
    assert titles[-1] == "Findings"
    session.undo()
    assert row_of(panel, "hinge")


def test_findings_of_the_reader_are_kept_once(session, panel):
    unknown = Finding("warning", "The tag 'sensor' is not interpreted.", "Nothing to do.", file="arm.urdf", line=7)
    gone = Finding("warning", "No mesh.", "Give one.", "bodies", "removed", "shapes")
    session.start_document(doubtful(), findings=(unknown, unknown, gone))
    texts = [item.text(1) for item in rows(panel)]
    assert texts.count(unknown.text) == 1
    assert gone.text not in texts
    assert any("arm.urdf:7" in item.text(0) for item in rows(panel))


def test_an_empty_panel_says_what_it_is_for(qtbot):
    widget = FindingsPanel(Session(Model(name="empty")))
    qtbot.addWidget(widget)
    widget.show()
    assert widget.pages.currentWidget() is widget.empty
    assert widget.empty.text().startswith("No findings")
    assert widget.tab_title == "Findings"


def test_a_large_model_is_checked_after_a_pause(qtbot):
    bodies = tuple(Body(name=f"b{i}", mass=1.0, inertia=SOLID) for i in range(AT_ONCE + 1))
    session = Session(Model(name="large", bodies=bodies))
    widget = FindingsPanel(session)
    qtbot.addWidget(widget)
    session.apply("mass", lambda m: edits.change(m, "bodies", "b7", mass=-1.0))
    assert "b7" not in [finding.name for finding in widget.found]
    qtbot.waitUntil(lambda: "b7" in [finding.name for finding in widget.found])


def test_angles_of_findings_are_said_as_the_person_prefers(qtbot, settings):
    joint = Joint(name="elbow", parent="world", child="arm", limits=(Limit(lower=math.pi / 2, upper=math.pi / 4),))
    session = Session(Model(name="m", bodies=(Body(name="arm", mass=1.0),), joints=(joint,)))
    panel = FindingsPanel(session, settings)
    qtbot.addWidget(panel)
    (found,) = [each for each in panel.found if each.field == "limits"]
    assert "(90°) lies above the upper limit (45°)" in found.text
    settings.degrees = False
    panel.refresh()
    (found,) = [each for each in panel.found if each.field == "limits"]
    assert "(1.5708 rad) lies above the upper limit (0.785398 rad)" in found.text


def test_findings_that_stay_the_same_after_a_pause_make_nobody_draw_anew(qapp, qtbot):
    bodies = tuple(Body(name=f"b{i}", mass=1.0, inertia=SOLID) for i in range(AT_ONCE + 1))
    model = Model(name="large", bodies=bodies)
    diagnosis, heard = PanelFindings(qapp), []
    diagnosis.ready.connect(lambda: heard.append(diagnosis.findings_for(edited)))
    before = diagnosis.findings_for(model)
    edited = edits.change(model, "bodies", "b7", mass=2.0)
    assert diagnosis.findings_for(edited) == before
    qtbot.waitUntil(lambda: not diagnosis._pause.isActive())
    assert heard == []
    edited = edits.change(edited, "bodies", "b7", mass=-1.0)
    diagnosis.findings_for(edited)
    qtbot.waitUntil(lambda: heard != [])
    assert {finding.name for finding in heard[0] if finding not in before} == {"b7"}


def test_a_large_model_is_checked_once_beside_the_window(qapp, qtbot, monkeypatch):
    checked = []

    def check(model):
        checked.append((model, threading.current_thread() is threading.main_thread()))
        return ()

    bodies = tuple(Body(name=f"b{i}", mass=1.0, inertia=SOLID) for i in range(AT_ONCE + 1))
    panels = [PanelFindings(qapp), PanelFindings(qapp)]
    model = Model(name="large", bodies=bodies)
    for diagnosis in panels:
        diagnosis.findings_for(model)
    edited = edits.change(model, "bodies", "b7", mass=2.0)
    monkeypatch.setattr("app.document.analyses.check", check)
    for diagnosis in panels:
        diagnosis.findings_for(edited)
    qtbot.waitUntil(lambda: not any(diagnosis._pause.isActive() for diagnosis in panels))
    assert [(each is edited, in_window) for each, in_window in checked] == [(True, False)]
