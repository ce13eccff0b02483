"""Undo and redo as a value: what was left comes back, steps of one gesture are one, a file's model is remembered."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.document.revision import DocumentState, ElementRef, UndoHistory
from core.model import Model


def state(label):
    return DocumentState(Model(name=label), label=label)


@pytest.fixture
def history():
    return UndoHistory.for_new_document(Model(name="new"))


def test_nothing_to_undo_or_redo_is_the_same_history(history):
    assert history.after_undo(None) is history
    assert history.after_redo(None) is history
    assert (history.undo_label, history.redo_label) == ("", "")


def test_labels_name_the_step_that_would_be_taken(history):
    history = history.with_new_state(state("a"), None).with_new_state(state("b"), None)
    assert (history.undo_label, history.redo_label) == ("b", "")
    history = history.after_undo(None)
    assert (history.undo_label, history.redo_label) == ("a", "b")


def test_a_new_step_forgets_what_could_be_redone(history):
    history = history.with_new_state(state("a"), None).after_undo(None).with_new_state(state("b"), None)
    assert history.redo_label == ""
    assert history.after_undo(None).now.model.name == "new"


def test_selection_comes_back_with_the_state_it_was_left_with(history):
    arm = ElementRef("bodies", "arm")
    later = history.with_new_state(state("a"), arm)
    assert later.after_undo(None).now.selection == arm
    assert later.after_undo(arm).after_redo(None).now.selection == arm


def test_steps_of_one_gesture_are_one_until_another_step(history):
    wheel = object()
    turned = history.with_new_state(state("a"), None, wheel).with_new_state(state("b"), None, wheel)
    assert turned.after_undo(None).now.model.name == "new"
    later = turned.with_new_state(state("c"), None).with_new_state(state("d"), None, wheel)
    assert later.after_undo(None).now.model.name == "c"


def test_a_gesture_does_not_go_on_after_undo(history):
    wheel = object()
    history = history.with_new_state(state("a"), None, wheel).with_new_state(state("b"), None).after_undo(None)
    assert history.with_new_state(state("c"), None, wheel).after_undo(None).now.model.name == "a"


def test_unsaved_is_what_differs_from_the_file_not_what_was_done(history):
    edited = history.with_new_state(state("a"), None)
    assert edited.is_unsaved
    assert not edited.after_undo(None).is_unsaved
    assert not edited.with_new_state(
        DocumentState(Model(name="new")), None
    ).is_unsaved  # the same again, made by another way
    saved = dataclasses.replace(edited, saved=edited.now.model)
    assert not saved.is_unsaved
    assert saved.after_undo(None).is_unsaved


def test_recovered_work_is_in_no_file(history):
    assert dataclasses.replace(history, saved=None).is_unsaved


@given(st.lists(st.sampled_from(["step", "undo", "redo"]), max_size=30))
def test_walking_back_and_forth_agrees_with_a_list_and_a_cursor(walk):
    history, labels, cursor = UndoHistory.for_new_document(Model(name="0")), ["0"], 0
    for i, verb in enumerate(walk, 1):
        if verb == "step":
            history, labels = history.with_new_state(state(str(i)), None), [*labels[: cursor + 1], str(i)]
            cursor += 1
        elif verb == "undo":
            history, cursor = history.after_undo(None), max(cursor - 1, 0)
        else:
            history, cursor = history.after_redo(None), min(cursor + 1, len(labels) - 1)
        assert history.now.model.name == labels[cursor]
        assert (len(history.before), len(history.after)) == (cursor, len(labels) - 1 - cursor)
