"""What differs between two models is told element by element and field by field."""

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from core.files import load
from core.model.differences import Difference, find_differences
from core.model.edits import edits
from resources import examples

MODELS = [load(example.path) for example in examples()[:6]]


def test_equal_models_do_not_differ():
    assert all(find_differences(model, model) == () for model in MODELS)


def test_a_field_of_a_part_is_named_in_full():
    model = MODELS[0]
    moved = dataclasses.replace(model.world.gravity, acceleration=(0.0, 0.0, -1.62))
    other = dataclasses.replace(model, world=dataclasses.replace(model.world, gravity=moved))
    (found,) = find_differences(model, other)
    assert found == Difference("world", "gravity.acceleration", "[0, 0, -9.81]", "[0, 0, -1.62]")


def test_elements_that_come_and_go():
    model = MODELS[0]
    more, ref = edits.free_body(model)
    word = "body" if ref else ""
    gained = [each for each in find_differences(model, more) if each.place.startswith(word) and each.before is None]
    lost = [each for each in find_differences(more, model) if each.place.startswith(word) and each.after is None]
    assert [each.place for each in gained] == [each.place for each in lost] != []


def test_a_sub_assembly_whose_file_changed_is_told(tmp_path):
    (tmp_path / "in.kst").write_text("kinetostat: 1\nname: In\nparameters: {l: 1}\n")
    (tmp_path / "out.kst").write_text("kinetostat: 1\nname: Out\nassemblies: {a: {file: in.kst}}\n")
    before = load(tmp_path / "out.kst")
    (tmp_path / "in.kst").write_text("kinetostat: 1\nname: In\nparameters: {l: 2}\n")
    (found,) = find_differences(before, load(tmp_path / "out.kst"))
    assert (found.place, found.field) == ("assembly 'a'", "content")


@given(st.sampled_from(MODELS), st.sampled_from(MODELS))
def test_there_is_a_difference_exactly_where_models_are_not_equal(one, other):
    assert (find_differences(one, other) == ()) == (one == other)
