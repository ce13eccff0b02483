"""Undo and redo as a value: what was left comes back, steps of one gesture are one, a file's model is remembered."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.document.revision import History, Ref, State
from core.model import Model


def state(label):
    return State(Model(name=label), label=label)


@pytest.fixture
def history():
    return History.opened(Model(name="new"))


def test_nothing_to_undo_or_redo_is_the_same_history(history):
    assert history.undone(None) is history
    assert history.redone(None) is history
    assert (history.undo_label, history.redo_label) == ("", "")


def test_labels_name_the_step_that_would_be_taken(history):
    history = history.pushed(state("a"), None).pushed(state("b"), None)
    assert (history.undo_label, history.redo_label) == ("b", "")
    history = history.undone(None)
    assert (history.undo_label, history.redo_label) == ("a", "b")


def test_a_new_step_forgets_what_could_be_redone(history):
    history = history.pushed(state("a"), None).undone(None).pushed(state("b"), None)
    assert history.redo_label == ""
    assert history.undone(None).now.model.name == "new"


def test_selection_comes_back_with_the_state_it_was_left_with(history):
    arm = Ref("bodies", "arm")
    later = history.pushed(state("a"), arm)
    assert later.undone(None).now.selection == arm
    assert later.undone(arm).redone(None).now.selection == arm


def test_steps_of_one_gesture_are_one_until_another_step(history):
    wheel = object()
    turned = history.pushed(state("a"), None, wheel).pushed(state("b"), None, wheel)
    assert turned.undone(None).now.model.name == "new"
    later = turned.pushed(state("c"), None).pushed(state("d"), None, wheel)
    assert later.undone(None).now.model.name == "c"


def test_a_gesture_does_not_go_on_after_undo(history):
    wheel = object()
    history = history.pushed(state("a"), None, wheel).pushed(state("b"), None).undone(None)
    assert history.pushed(state("c"), None, wheel).undone(None).now.model.name == "a"


def test_unsaved_is_what_differs_from_the_file_not_what_was_done(history):
    edited = history.pushed(state("a"), None)
    assert edited.unsaved
    assert not edited.undone(None).unsaved
    assert not edited.pushed(State(Model(name="new")), None).unsaved  # the same again, made by another way
    saved = dataclasses.replace(edited, saved=edited.now.model)
    assert not saved.unsaved
    assert saved.undone(None).unsaved


def test_recovered_work_is_in_no_file(history):
    assert dataclasses.replace(history, saved=None).unsaved


@given(st.lists(st.sampled_from(["step", "undo", "redo"]), max_size=30))
def test_walking_back_and_forth_agrees_with_a_list_and_a_cursor(walk):
    history, labels, cursor = History.opened(Model(name="0")), ["0"], 0
    for i, verb in enumerate(walk, 1):
        if verb == "step":
            history, labels = history.pushed(state(str(i)), None), [*labels[: cursor + 1], str(i)]
            cursor += 1
        elif verb == "undo":
            history, cursor = history.undone(None), max(cursor - 1, 0)
        else:
            history, cursor = history.redone(None), min(cursor + 1, len(labels) - 1)
        assert history.now.model.name == labels[cursor]
        assert (len(history.before), len(history.after)) == (cursor, len(labels) - 1 - cursor)
