"""What a tool remembers of the document follows it: renamed, deleted, undone, or another one opened meanwhile."""

from app.session import Ref
from core.files import loads
from core.model import edits
from tests.app.conftest import pump

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
        pump()


def test_a_frame_that_is_renamed_between_two_clicks_is_connected_under_its_new_name(bench):
    session = bench.session
    session.start(loads(MACHINE, "kst"))
    bench.window.actions_.run("add.joint_revolute")
    point_at(bench, Ref("frames", "P"))
    session.apply("Rename", lambda model: edits.rename(model, "frames", "P", "Q"))
    point_at(bench, Ref("bodies", "b"))
    assert not bench.messages("error")
    (joint,) = session.model.joints
    assert {joint.parent, joint.child} == {"Q", "b"}


def test_a_frame_that_is_deleted_between_two_clicks_is_asked_for_again(bench):
    session = bench.session
    session.start(loads(MACHINE, "kst"))
    bench.window.actions_.run("add.joint_revolute")
    point_at(bench, Ref("frames", "P"))
    session.apply("Delete", lambda model: edits.remove(model, "frames", "P"))
    pump()
    assert bench.messages("hint") == ["“P” is gone: point again."]
    assert "first" in bench.window.status.words.text()
    point_at(bench, Ref("bodies", "a"), Ref("bodies", "b"))
    (joint,) = session.model.joints
    assert {joint.parent, joint.child} == {"a", "b"}


def test_what_was_pointed_at_in_another_machine_is_not_meant_in_this_one(bench):
    bench.session.start(loads(MACHINE, "kst"))
    bench.window.actions_.run("add.spring")
    point_at(bench, Ref("bodies", "a"))
    bench.session.start(loads(MACHINE, "kst"))
    point_at(bench, Ref("bodies", "b"))
    assert not bench.session.model.forces
    point_at(bench, Ref("bodies", "a"))
    (spring,) = bench.session.model.forces
    assert (spring.a, spring.b) == ("b", "a")


def test_undoing_a_renaming_is_followed_too(bench):
    session = bench.session
    session.start(loads(MACHINE, "kst"))
    session.apply("Rename", lambda model: edits.rename(model, "frames", "P", "Q"))
    bench.window.actions_.run("add.spring")
    point_at(bench, Ref("frames", "Q"))
    session.undo()
    point_at(bench, Ref("bodies", "b"))
    (spring,) = session.model.forces
    assert (spring.a, spring.b) == ("P", "b")


def test_what_was_pointed_at_goes_along_with_its_body(bench):
    session = bench.session
    session.start(loads(SLIDE, "kst"))
    bench.window.actions_.run("add.sensor_distance")
    point_at(bench, Ref("frames", "P"))
    session.preview_coordinates({"slide": 3.0})
    session.commit("Move slide")
    assert bench.view.annotations.points == ((3.0, 0.0, 0.0),)
