"""What a tool remembers of the document follows it: renamed, deleted, undone, or another one opened meanwhile."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton

from app.background.slices import shared_slices
from app.document.session import ElementRef
from app.viewport.gestures import PointerState
from core.files import loads
from core.functions.results import PoseSequence
from core.model.edits import edits
from core.simulation.run.resampling import equilibrium_run
from tests.app.conftest import settle

MACHINE = """
kinetostat: 1
name: A
bodies:
  a: {mass: 1}
  b: {mass: 1}
frames:
  P: {parent: a}
"""
SLIDE = """
kinetostat: 1
name: B
bodies:
  a: {mass: 1}
frames:
  P: {parent: a}
joints:
  slide: {kind: prismatic, parent: world, child: a, axis: [1, 0, 0]}
"""


def point_at(bench, *refs):
    """The elements are chosen in the model tree, one after the other."""
    for ref in refs:
        bench.session.select(ref)
        settle()


def test_a_frame_that_is_renamed_between_two_clicks_is_connected_under_its_new_name(bench):
    session = bench.session
    session.start_document(loads(MACHINE, "kst"))
    bench.window.actions_.run("add.joint_revolute")
    point_at(bench, ElementRef("frames", "P"))
    session.apply("Rename", lambda model: edits.rename(model, "frames", "P", "Q"))
    point_at(bench, ElementRef("bodies", "b"))
    assert not bench.messages("error")
    (joint,) = session.model.joints
    assert {joint.parent, joint.child} == {"Q", "b"}


def test_a_frame_that_is_deleted_between_two_clicks_is_asked_for_again(bench):
    session = bench.session
    session.start_document(loads(MACHINE, "kst"))
    bench.window.actions_.run("add.joint_revolute")
    point_at(bench, ElementRef("frames", "P"))
    session.apply("Delete", lambda model: edits.remove(model, "frames", "P"))
    settle()
    assert bench.messages("hint") == ["“P” is gone: pick again."]
    assert "first" in bench.window.status.words.text()
    point_at(bench, ElementRef("bodies", "a"), ElementRef("bodies", "b"))
    (joint,) = session.model.joints
    assert {joint.parent, joint.child} == {"a", "b"}


def test_what_was_pointed_at_in_another_machine_is_not_meant_in_this_one(bench):
    bench.session.start_document(loads(MACHINE, "kst"))
    bench.window.actions_.run("add.spring")
    point_at(bench, ElementRef("bodies", "a"))
    bench.session.start_document(loads(MACHINE, "kst"))
    point_at(bench, ElementRef("bodies", "b"))
    assert not bench.session.model.forces
    point_at(bench, ElementRef("bodies", "a"))
    (spring,) = bench.session.model.forces
    assert (spring.a, spring.b) == ("b", "a")


def test_undoing_a_renaming_is_followed_too(bench):
    session = bench.session
    session.start_document(loads(MACHINE, "kst"))
    session.apply("Rename", lambda model: edits.rename(model, "frames", "P", "Q"))
    bench.window.actions_.run("add.spring")
    point_at(bench, ElementRef("frames", "Q"))
    session.undo()
    point_at(bench, ElementRef("bodies", "b"))
    (spring,) = session.model.forces
    assert (spring.a, spring.b) == ("P", "b")


def test_what_was_pointed_at_goes_along_with_its_body(bench):
    session = bench.session
    session.start_document(loads(SLIDE, "kst"))
    bench.window.actions_.run("add.sensor_distance")
    point_at(bench, ElementRef("frames", "P"))
    session.preview_coordinates({"slide": 3.0})
    session.commit("Move slide")
    assert bench.view.annotations.points == ((3.0, 0.0, 0.0),)


def pointer(x, y):
    return PointerState(float(x), float(y))


def place_of(bench, name):
    """Pixels at which a body is seen."""
    view = bench.view
    for y in range(40, view.height() - 20, 8):
        for x in range(20, view.width() - 20, 8):
            hit = view.scene.pick(x, y, handles=False)
            if hit is not None and hit.ref == ("bodies", name):
                return x, y
    raise AssertionError(f"{name} is not seen")


def renamed(session):
    session.apply("Rename", lambda model: edits.rename(model, "bodies", "rod2", "bar"))


def deleted(session):
    session.apply("Delete", lambda model: edits.remove(model, "bodies", "rod2"))


def replaced(session):
    session.start_document(loads(MACHINE, "kst"))


@pytest.mark.parametrize("change", [renamed, deleted, replaced])
@pytest.mark.parametrize("tool", ["move", "pull"])
def test_a_body_that_is_dragged_is_let_go_when_the_document_changes(bench, tool, change):
    bench.example("double_pendulum")
    gestures = bench.view.gestures
    gestures.choose_tool(tool)
    x, y = place_of(bench, "rod2")
    gestures.press(pointer(x, y))
    for step in (10, 20):
        gestures.move(pointer(x + step, y))
    change(bench.session)
    label, pose = bench.session.state.label, bench.session.state.pose
    gestures.move(pointer(x + 40, y))
    gestures.release(pointer(x + 40, y))
    settle()
    assert not bench.messages("error")
    assert bench.messages("hint") == ["The document was changed meanwhile, so the drag was cancelled."]
    assert (bench.session.state.label, bench.session.state.pose) == (label, pose)


def test_what_a_drag_commits_itself_does_not_end_it(bench):
    bench.example("double_pendulum")
    bench.view.gestures.choose_tool("move")
    x, y = place_of(bench, "rod2")
    bench.view.gestures.press(pointer(x, y))
    for step in (10, 20, 30):
        bench.view.gestures.move(pointer(x + step, y))
    bench.view.gestures.release(pointer(x + 30, y))
    assert bench.session.state.label == "Pull rod2"
    assert not bench.messages("hint")


def test_a_name_that_is_typed_in_the_tree_outlasts_another_look(bench):
    bench.session.start_document(loads(MACHINE, "kst"))
    bench.window.run_command("view.look_light")
    bench.window.docks.show_panel("tree")
    bench.session.select(ElementRef("bodies", "a"))
    bench.window.tree.rename_selected()
    settle()
    line = bench.window.tree.view.findChild(QLineEdit)
    for letter in "carriage":
        QTest.keyClick(line, letter)
    bench.window.run_command("view.look_dark")
    bench.wait(lambda: not shared_slices().has_work)
    settle()
    assert QApplication.focusWidget() is line
    QTest.keyClick(line, Qt.Key.Key_Return)
    settle()
    bench.window.run_command("view.look_light")
    bench.wait(lambda: not shared_slices().has_work)
    assert [body.name for body in bench.session.model.bodies] == ["carriage", "b"]


def test_the_menu_of_a_run_that_is_gone_renames_nothing(bench):
    bench.example("pendulum")
    run = equilibrium_run(bench.session.mech, bench.session.q)
    record = bench.session.runs.add(run)
    bench.window.docks.show_panel("simulation")
    settle()
    runs = bench.window.simulation_panel.runs
    runs.tree.customContextMenuRequested.emit(runs.tree.visualItemRect(runs._items[record.id]).center())
    menu = runs.findChild(QMenu)
    rename = next(action for action in menu.actions() if action.text() == "Rename")
    bench.session.runs.remove(record)
    rename.trigger()
    menu.close()
    settle()
    assert not bench.messages("error")


@pytest.mark.parametrize("button", ["Use this pose", "Show in scene"])
def test_poses_of_a_machine_that_is_not_open_are_not_shown_in_this_one(bench, button):
    bench.example("four_bar")
    session = bench.session
    p = dict(session.p)
    assert p
    session.produced.emit(PoseSequence(title="Poses", q=(session.q.tolist(),) * 2, p=(p,) * 2))
    bench.window.docks.show_panel("output")
    settle()
    session.start_document(loads(MACHINE, "kst"))
    settle()
    press = next(each for each in bench.window.output.findChildren(QPushButton) if each.text() == button)
    press.click()
    assert not bench.messages("error")
    assert bench.messages("warning") == ["This pose belongs to another machine. Run the function again."]
