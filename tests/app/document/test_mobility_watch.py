"""Redundant constraints in the findings panel, freedoms in the status line: examined beside the window."""

import dataclasses

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest

from app.background.jobs import Jobs
from app.document import analyses
from app.document.analyses import model_analysis_of
from app.document.session import ElementRef, Session
from app.panels.findings.panel import FINDING, FindingsPanel
from app.tools.draw.freedoms import LinkageMobility, MobilityExaminer
from app.window.status import StatusLine
from core.model import Model
from core.model.edits import edits
from tests.constraints.mobility import overconstrained as machines


@pytest.fixture
def session():
    return Session(machines.planar_fourbar())


def listed(panel):
    groups = [panel.list.topLevelItem(i) for i in range(panel.list.topLevelItemCount())]
    return [group.child(k) for group in groups for k in range(group.childCount())]


def of_mobility(panel):
    return [item for item in listed(panel) if "Overconstrained" in item.data(0, FINDING).text]


def test_the_redundant_joint_is_a_hint_and_a_click_selects_it(qtbot, session):
    panel = FindingsPanel(session)
    qtbot.addWidget(panel)
    qtbot.waitUntil(lambda: bool(of_mobility(panel)))
    (item,) = of_mobility(panel)
    finding = item.data(0, FINDING)
    assert (finding.severity, finding.collection, finding.name) == ("hint", "joints", "J4")
    assert "rotation about x of the world" in finding.text
    assert "Make J4 spherical and J3 cylindrical." in finding.remedy
    panel.list.itemClicked.emit(item, 0)
    assert session.selection == ElementRef("joints", "J4")


def test_it_goes_when_the_person_follows_the_advice(qtbot, session):
    panel = FindingsPanel(session)
    qtbot.addWidget(panel)
    qtbot.waitUntil(lambda: bool(of_mobility(panel)))
    session.apply("kind", lambda model: edits.change(model, "joints", "J4", kind="spherical"))
    session.apply("kind", lambda model: edits.change(model, "joints", "J3", kind="cylindrical"))
    watch = model_analysis_of(session)
    qtbot.waitUntil(lambda: watch.mobility is not None and not watch.mobility.redundant)
    assert not of_mobility(panel)
    assert watch.mobility.dof == 1


def test_the_status_line_says_how_many_freedoms(qtbot, session, settings):
    line = StatusLine(session, settings, Jobs())
    qtbot.addWidget(line)
    qtbot.waitUntil(lambda: bool(line.freedoms.text()))
    assert line.freedoms.text() == "1 degree of freedom"
    assert "independent" in line.freedoms.toolTip()
    line.close()


def test_an_edit_that_opens_a_loop_is_told_with_the_gap(qtbot, session, settings):
    told = []
    session.message.connect(lambda severity, text: told.append((severity, text)))
    line = StatusLine(session, settings, Jobs())
    qtbot.addWidget(line)
    qtbot.waitUntil(lambda: bool(line.freedoms.text()))
    assert not told
    joint = next(joint for joint in session.model.joints if joint.name == "J1")
    far = dataclasses.replace(joint.a, position=(-5.0, 0.0, 0.0))
    session.apply("far", lambda model: edits.change(model, "joints", "J1", a=far))
    qtbot.waitUntil(lambda: line.freedoms.text() == "loops do not close")
    ((severity, text),) = told
    assert severity == "warning"
    assert "the gap is" in text
    assert "joint 'J" in text
    session.undo()
    qtbot.waitUntil(lambda: line.freedoms.text() == "1 degree of freedom")
    assert len(told) == 1


@pytest.mark.parametrize("name", ["four_bar", "bricard", "slider_crank"])
def test_one_click_makes_the_machine_isostatic_as_one_undo_step(bench, name):
    """Bodies stay where they are, the freedoms too; undo gives the joints back."""
    bench.example(name)
    session, panel = bench.session, bench.window.findings
    watch = model_analysis_of(session)
    bench.wait(lambda: watch.mobility_of(session.model) is not None)
    before, places = watch.mobility_of(session.model), session.mech.poses(session.q)
    bench.window.docks.show_panel("findings")
    bench.wait(panel.proposal.button.isVisible)
    kinds = [joint.kind for joint in session.model.joints]
    QTest.mouseClick(panel.proposal.button, Qt.MouseButton.LeftButton)
    bench.wait(lambda: session.undo_label == "Make isostatic")
    bench.wait(lambda: watch.mobility_of(session.model) is not None)
    after = watch.mobility_of(session.model)
    assert (after.dof, after.redundant, after.count) == (before.dof, (), before.dof)
    assert session.mech.poses(session.q) == pytest.approx(places, abs=1e-6)
    assert any("checked again" in text for text in bench.messages("done"))
    assert panel.proposal.isHidden()
    session.undo()
    assert [joint.kind for joint in session.model.joints] == kinds


def test_the_place_under_the_pointer_goes_with_the_machine(qtbot, session, settings):
    line = StatusLine(session, settings, Jobs())
    qtbot.addWidget(line)
    line.show_point((0.1, 0.2, 0.3))
    assert "0.1" in line.place.text()
    session.start_document(Model(name="another"))
    assert line.place.text() == ""
    line.close()


def test_an_unexpected_error_of_the_analysis_is_reported_and_the_next_edit_is_examined(qtbot, session, monkeypatch):
    unexpected, examined = ZeroDivisionError("unexpected"), analyses.examine_mobility

    def fails(compiled):
        raise unexpected

    monkeypatch.setattr(analyses, "examine_mobility", fails)
    watch = model_analysis_of(session)
    with qtbot.captureExceptions() as caught:
        qtbot.waitUntil(lambda: bool(caught))
    assert [error for _, error, _ in caught] == [unexpected]
    monkeypatch.setattr(analyses, "examine_mobility", examined)
    session.apply("kind", lambda model: edits.change(model, "joints", "J4", kind="spherical"))
    qtbot.waitUntil(lambda: watch.mobility_of(session.model) is not None)


def test_an_unexpected_error_of_a_drawing_is_reported_and_the_next_question_is_answered(qtbot):
    unexpected = ZeroDivisionError("unexpected")

    def fails():
        raise unexpected

    parent = QObject()
    examiner = MobilityExaminer(parent)
    with qtbot.captureExceptions() as caught:
        assert examiner.request_mobility("one", fails) is None
        qtbot.waitUntil(lambda: bool(caught))
    assert [error for _, error, _ in caught] == [unexpected]
    assert examiner.request_mobility("two", lambda: LinkageMobility(3)) is None
    qtbot.waitUntil(lambda: examiner.request_mobility("two", fails) == LinkageMobility(3))
