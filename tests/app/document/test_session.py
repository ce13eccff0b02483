"""The session: edits become undo steps, what fails changes nothing, loops stay closed, files are remembered."""

import numpy as np
import pytest

from app.document.session import ElementRef, Session
from core.errors import ModelError
from core.files import load
from core.model import Model, Parameter
from core.model.edits import edits
from resources import EXAMPLES
from tests.functions.consistent_states import model_of


@pytest.fixture
def session():
    return Session(load(EXAMPLES / "four_bar.kst"))


@pytest.fixture
def message(session):
    heard = []
    session.message.connect(lambda severity, text: heard.append((severity, text)))
    return heard


def add_parameter(session, name):
    return session.apply("Add parameter", lambda model: edits.add(model, Parameter(name=name, value=1.0)))


def test_an_edit_is_undone_and_done_again(session):
    before = session.model
    assert add_parameter(session, "extra")
    after = session.model
    session.undo()
    assert session.model is before
    session.redo()
    assert session.model is after


def test_an_edit_that_fails_is_told_and_changes_nothing(session, message):
    state = session.state

    def refuse(_model):
        raise ModelError("No.", where="here", remedy="Do not.")

    assert not session.apply("Refuse", refuse)
    assert session.state is state
    assert session.undo_label == ""
    assert message[0][0] == "error"


def test_a_preview_of_a_parameter_keeps_the_loop_closed(session):
    name = session.mech.p_names[0]
    value = session.p[name]
    session.preview(parameters={name: 1.05 * value})
    assert np.max(np.abs(session.mech.constraint_residual(session.q, p=session.p))) < 1e-9
    assert session.model.expanded.find("parameters", name).value == value
    session.commit("Longer")
    assert session.model.values()[name] == pytest.approx(1.05 * value, rel=1e-15)
    assert np.max(np.abs(session.mech.constraint_residual(session.q))) < 1e-9


def test_a_preview_that_is_cancelled_leaves_no_trace(session):
    q, p, state = session.q.copy(), dict(session.p), session.state
    session.preview_coordinates({session.mech.q_names[0]: 1.0})
    assert not np.allclose(session.q, q)
    session.cancel_preview()
    assert np.array_equal(session.q, q)
    assert session.p == p
    assert session.state is state


def test_a_preview_back_to_where_it_began_is_no_step(session):
    session.preview(q=session.q + 0.1)
    session.preview(q=session.edited_pose)
    session.commit("Nothing")
    assert session.undo_label == ""
    assert not session.has_preview


def test_bodies_stay_where_they_are_when_a_joint_is_renamed(session):
    session.pose("Pose", session.mech.move(session.q, {session.mech.q_names[0]: 1.2}))
    where = dict(zip(session.mech.frame_names, session.mech.poses(session.q), strict=True))
    old = session.model.joints[0].name
    assert session.apply("Rename", lambda model: edits.rename(model, "joints", old, "first"))
    for name, pose in zip(session.mech.frame_names, session.mech.poses(session.q), strict=True):
        np.testing.assert_allclose(pose, where[name], atol=1e-9)


def test_selection_of_what_goes_is_dropped_and_undo_selects_it_again(session):
    add_parameter(session, "extra")
    ref = ElementRef("parameters", "extra")
    session.select(ref)
    session.apply("Delete", lambda model: edits.remove(model, *ref))
    assert session.selection is None
    session.undo()
    assert session.selection == ref


def test_what_does_not_exist_cannot_be_selected(session):
    session.select(ElementRef("bodies", "nobody"))
    assert session.selection is None


def test_a_file_that_cannot_be_read_leaves_what_was_open(session, message, tmp_path):
    broken = tmp_path / "broken.kst"
    broken.write_text("bodies: [", encoding="utf-8")
    state, path = session.state, session.path
    assert not session.open(broken)
    assert (session.state, session.path) == (state, path)
    assert message[0][0] == "error"


def test_saved_is_what_the_file_holds(session, tmp_path):
    assert not session.is_unsaved
    add_parameter(session, "extra")
    assert session.is_unsaved
    assert session.save(tmp_path / "mine.kst")
    assert not session.is_unsaved
    session.undo()
    assert session.is_unsaved
    assert session.start_document(session.model, has_file=False)
    assert session.is_unsaved  # recovered work is in no file


def test_the_folder_is_that_of_the_file_but_never_the_examples(session, tmp_path):
    assert session.folder is None
    session.save(tmp_path / "mine.kst")
    assert session.folder == tmp_path
    urdf = tmp_path / "arms" / "arm.urdf"
    urdf.parent.mkdir()
    urdf.write_text('<robot name="arm"><link name="base"/></robot>', encoding="utf-8")
    assert session.open(urdf)
    assert (session.path, session.folder) == (None, urdf.parent)
    session.start_document(Model(name="new"))
    assert session.folder is None


@pytest.mark.parametrize(
    ("machine", "element", "field", "value"), [("rods", "link", "length", 0.46), ("gears", "mesh", "ratio", -1.2)]
)
def test_a_slider_keeps_rods_and_gears_together_while_it_moves(machine, element, field, value):
    session = Session(edits.promote(model_of(machine), "constraints", element, field, "s"))
    session.preview(parameters={"s": value})
    assert np.max(np.abs(session.mech.constraint_residual(session.q, p=session.p))) < 1e-8
