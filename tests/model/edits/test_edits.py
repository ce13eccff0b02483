"""Edits: renaming follows references, removal takes dependents along, copies and new parameters keep the machine."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ModelError
from core.model import (
    Annotation,
    Body,
    Box,
    Constraint,
    Cylinder,
    DHChain,
    DHRow,
    Driver,
    Force,
    Frame,
    Gravity,
    Inertia,
    Joint,
    Limit,
    Material,
    Mimic,
    Model,
    Parameter,
    Pose,
    Sensor,
    World,
)
from core.model.edits import edits
from core.model.fields import ReferenceKind, declared_fields, nested_elements
from core.model.formula.expression import names_in_formula, parse
from core.model.parameters import evaluate_field

MODEL = Model(
    name="machine",
    world=World(gravity=Gravity(acceleration=(0.0, 0.0, "-g"))),
    parameters=(
        Parameter(name="g", value=9.81),
        Parameter(name="l", value=2.0, dimension="length"),
        Parameter(name="half", value="l/2"),
    ),
    materials=(Material(name="red", color=(1.0, 0.0, 0.0)),),
    bodies=(
        Body(name="a", mass="l*3", shapes=(Box(size=("l", 0.1, "half")), Cylinder(material="red"))),
        Body(name="b", center_of_mass=("half", 0.0, 0.0), inertia=Inertia(ixx="l^2")),
        Body(name="c", shapes=(Box(material="red", color=(0.0, 1.0, 0.0)),)),
    ),
    frames=(Frame(name="tip", parent="b", pose=Pose(position=("l", 0.0, 0.0))), Frame(name="eye", parent="tip")),
    joints=(
        Joint(name="i", parent="world", child="a"),
        Joint(name="j", parent="a", child="b", limits=(Limit(lower="-l", upper=1.0),)),
        Joint(name="k", parent="eye", child="c", mimic=Mimic(leader="j", ratio="l")),
    ),
    chains=(DHChain(name="arm", parent="tip", rows=(DHRow(a="l"),)),),
    annotations=(Annotation(where="body a", content="x"),),
)


def references(model, name):
    return [
        (type(element).__name__, field.name)
        for element in nested_elements(model)
        for field in declared_fields(type(element))
        if isinstance(field.kind, ReferenceKind) and getattr(element, field.name) == name
    ]


@pytest.mark.parametrize(
    ("collection", "old"),
    [("bodies", "a"), ("bodies", "b"), ("frames", "tip"), ("frames", "eye"), ("joints", "j"), ("materials", "red")],
)
def test_rename_takes_every_reference_along_and_back(collection, old):
    renamed = edits.rename(MODEL, collection, old, "fresh")
    assert references(renamed, old) == []
    assert references(renamed, "fresh") == references(MODEL, old) != []
    assert edits.rename(renamed, collection, "fresh", old) == MODEL


@pytest.mark.parametrize("old", ["g", "l", "half"])
def test_renamed_parameters_keep_all_values(old):
    renamed = edits.rename(MODEL, "parameters", old, "fresh")
    assert old not in renamed.values()
    assert renamed.values() == {("fresh" if name == old else name): value for name, value in MODEL.values().items()}
    before, after = list(nested_elements(MODEL)), list(nested_elements(renamed))
    assert len(before) == len(after)
    assert edits.rename(renamed, "parameters", "fresh", old).values() == MODEL.values()
    assert evaluate_field(renamed.body("a").mass, renamed.values()) == 6.0


def test_taken_and_impossible_names_are_refused():
    for collection, old, new in (
        ("bodies", "a", "b"),
        ("bodies", "a", "tip"),
        ("bodies", "a", "link1"),
        ("joints", "i", "joint1"),
        ("bodies", "a", "1"),
        ("parameters", "l", "g"),
    ):
        with pytest.raises(ModelError) as caught:
            edits.rename(MODEL, collection, old, new)
        assert caught.value.remedy
    with pytest.raises(ModelError):
        edits.rename(MODEL, "bodies", "a", "world")
    with pytest.raises(ModelError, match="Did you mean"):
        edits.rename(MODEL, "frames", "tipp", "x")


def test_same_name_in_another_namespace_is_free():
    assert edits.rename(MODEL, "joints", "j", "a").joint("a").child == "b"


def test_removing_a_body_removes_what_hangs_on_it():
    gone = {(c, e.name) for c, e in edits.dependents(MODEL, "bodies", "b")}
    assert gone == {("joints", "j"), ("joints", "k"), ("frames", "tip"), ("frames", "eye"), ("chains", "arm")}
    left = edits.remove(MODEL, "bodies", "b")
    assert [(c, e.name) for c, e in left.elements() if c not in ("parameters", "materials")] == [
        ("bodies", "a"),
        ("bodies", "c"),
        ("joints", "i"),
    ]
    assert left.annotations == MODEL.annotations


def test_removing_a_joint_keeps_bodies():
    left = edits.remove(MODEL, "joints", "j")
    assert [b.name for b in left.bodies] == ["a", "b", "c"]
    assert [j.name for j in left.joints] == ["i"]  # k followed j


def test_removing_a_chain_takes_what_is_mounted_on_it():
    more = edits.add(edits.add(MODEL, Body(name="hand")), Joint(name="grip", parent="tool", child="hand"))
    left = edits.remove(more, "chains", "arm")
    assert left == edits.add(dataclasses.replace(MODEL, chains=()), Body(name="hand"))


def test_removed_parameter_leaves_its_value():
    left = edits.remove(MODEL, "parameters", "l")
    assert left.values() == {"g": 9.81, "half": 1.0}
    for body, field in (("a", "mass"),):
        old, new = getattr(MODEL.body(body), field), getattr(left.body(body), field)
        assert evaluate_field(new, left.values()) == evaluate_field(old, MODEL.values())
    assert left.joint("j").limits[0].lower in (-2.0, "-2")
    assert evaluate_field(edits.remove(MODEL, "parameters", "half").body("b").center_of_mass[0], {"l": 2.0}) == 1.0
    assert "l" not in {
        n for e in nested_elements(left) for v in vars(e).values() if isinstance(v, str) and v == "l" for n in [v]
    }


def test_removed_material_leaves_its_colour():
    left = edits.remove(MODEL, "materials", "red")
    assert left.body("a").shapes[1].color == (1.0, 0.0, 0.0, 1.0)
    assert left.body("c").shapes[0].color == (0.0, 1.0, 0.0, 1.0)  # its own colour stays
    assert left.materials == ()


@pytest.mark.parametrize(("collection", "name"), [(c, e.name) for c, e in MODEL.elements()])
def test_every_element_can_be_duplicated_and_removed(collection, name):
    more, new = edits.duplicate(MODEL, collection, name)
    assert new != name
    assert len(list(more.elements())) == len(list(MODEL.elements())) + 1
    assert edits.remove(more, collection, new) == MODEL
    left = edits.remove(MODEL, collection, name)
    assert all(e.name != name for e in getattr(left, collection))


@pytest.mark.parametrize(
    ("collection", "name", "field", "value"),
    [
        ("bodies", "c", "mass", 0.0),
        ("bodies", "a", "shapes.0.size.1", 0.1),
        ("bodies", "a", "shapes.1.radius", 0.05),
        ("frames", "tip", "pose.position.1", 0.0),
        ("joints", "j", "limits.0.upper", 1.0),
        ("chains", "arm", "rows.0.alpha", 0.0),
        ("joints", "j", "axis.2", 1.0),
    ],
)
def test_any_number_can_become_a_parameter(collection, name, field, value):
    promoted = edits.promote(MODEL, collection, name, field, "new")
    assert promoted.values()["new"] == value
    assert promoted != MODEL
    users = {(c, e.name) for c, e in edits.users(promoted, "parameters", "new")}
    assert users == {(collection, name)}
    assert edits.remove(promoted, "parameters", "new").values() == MODEL.values()


def test_only_numbers_can_become_parameters():
    for field in ("name", "shapes", "shapes.7.size.0", "shapes.0", "pose", "mass.x", "center_of_mass", "density"):
        with pytest.raises(ModelError):
            edits.promote(MODEL, "bodies", "a", field, "new")


def test_unused_names():
    assert edits.unused_name(MODEL, "bodies", "a") == "a2"
    assert edits.unused_name(MODEL, "bodies", "link1") == "link2"
    assert edits.unused_name(MODEL, "bodies", "world") != "world"
    assert edits.unused_name(MODEL, "joints", "a") == "a"


def test_change_and_replace():
    changed = edits.change(MODEL, "bodies", "a", mass=5.0, name="aa")
    assert changed.body("aa").mass == 5.0
    assert changed.joint("j").parent == "aa"
    assert edits.change(MODEL, "bodies", "a") is MODEL


LETTERS = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(st.sampled_from(("rename", "remove", "duplicate")), st.integers(0, 30), LETTERS), max_size=8))
@settings(max_examples=80)
def test_any_sequence_of_edits_keeps_the_document_whole(steps):
    """Every intermediate model validates itself; refusals change nothing; formulas only use existing parameters."""
    model = MODEL
    for what, which, letter in steps:
        elements = list(model.elements())
        if not elements:
            break
        collection, element = elements[which % len(elements)]
        try:
            if what == "rename":
                model = edits.rename(model, collection, element.name, f"{letter}x")
            elif what == "remove":
                model = edits.remove(model, collection, element.name)
            else:
                model, _ = edits.duplicate(model, collection, element.name)
        except ModelError as error:
            refusal = (what, "taken" in error.what)
            assert refusal == ("rename", True)
    assert dataclasses.replace(model) == model
    known = set(model.values())
    for element in nested_elements(model):
        for value in vars(element).values():
            for item in value if isinstance(value, tuple) else ():
                if isinstance(item, str):
                    assert names_in_formula(parse(item)) <= known


# ------------------------------------------------------------------------------- formulas of time and state

ACTIVE = Model(
    parameters=(Parameter(name="g", value=2.0), Parameter(name="sun", value=1.0)),
    bodies=(Body(name="a", mass=1.0), Body(name="b", mass=1.0), Body(name="ball", mass=1.0)),
    joints=(
        Joint(name="elbow", parent="world", child="a"),
        Joint(name="wrist", kind="spherical", parent="a", child="b"),
        Joint(name="sun", kind="prismatic", parent="b", child="world"),
    ),
    sensors=(
        Sensor(name="reach", b="b"),
        Sensor(name="spot", kind="position", b="b"),
        Sensor(name="gap", b="a", minus="reach"),
    ),
    forces=(
        Force(name="motor", kind="joint", joint="elbow", law="elbow + 2*elbow.v + wrist.qx + wrist.wx.v*elbow.q"),
        Force(name="rope", b="b", law="g*length + rate*reach.rate + spot.x + spot.x.rate + sun + sun.v + t"),
        Force(name="wind", kind="wrench", b="a", force=("reach*ball.vx.v", "ball.qw", "sin(time)")),
    ),
    constraints=(Constraint(name="hold", sensor="gap"),),
    drivers=(Driver(name="drive", joint="wrist", coordinate="qx", function="g*t"),),
)


@pytest.mark.parametrize(
    ("collection", "old", "new", "formulas"),
    [
        ("joints", "elbow", "h", ("h + 2*h.v + wrist.qx + wrist.wx.v*h.q",)),
        ("joints", "wrist", "w", ("elbow + 2*elbow.v + w.qx + w.wx.v*elbow.q",)),
        ("sensors", "reach", "r", ("g*length + rate*r.rate + spot.x + spot.x.rate + sun + sun.v + t", "r*ball.vx.v")),
        ("sensors", "spot", "s", ("g*length + rate*reach.rate + s.x + s.x.rate + sun + sun.v + t",)),
        ("bodies", "ball", "moon", ("reach*moon.vx.v", "moon.qw")),
        ("parameters", "g", "k", ("k*length + rate*reach.rate + spot.x + spot.x.rate + sun + sun.v + t", "k*t")),
        ("parameters", "sun", "p", ("g*length + rate*reach.rate + spot.x + spot.x.rate + p + sun.v + t",)),
        ("joints", "sun", "j", ("g*length + rate*reach.rate + spot.x + spot.x.rate + sun + j.v + t",)),
    ],
)
def test_renaming_rewrites_formulas(collection, old, new, formulas):
    renamed = edits.rename(ACTIVE, collection, old, new)
    laws = [f.law for f in renamed.forces] + [x for f in renamed.forces for x in f.force]
    laws += [d.function for d in renamed.drivers]
    assert set(formulas) <= set(laws)
    assert edits.rename(renamed, collection, new, old) == ACTIVE


@pytest.mark.parametrize(
    ("collection", "old", "new"),
    [
        ("joints", "elbow", "g"),
        ("joints", "elbow", "t"),
        ("joints", "elbow", "e"),
        ("joints", "elbow", "a/b"),
        ("parameters", "g", "length"),
        ("parameters", "g", "reach"),
        ("parameters", "g", "elbow"),
        ("parameters", "g", "time"),
    ],
)
def test_names_that_mean_something_else_in_formulas_are_refused(collection, old, new):
    with pytest.raises(ModelError, match="another meaning"):
        edits.rename(ACTIVE, collection, old, new)


def test_what_depends_by_formula_is_told_and_goes():
    def gone(collection, name):
        return {e.name for _, e in edits.dependents(ACTIVE, collection, name)}

    assert gone("joints", "elbow") == {"motor"}
    assert gone("sensors", "reach") == {"rope", "wind", "gap", "hold"}
    assert gone("bodies", "ball") == {"wind"}
    assert gone("joints", "sun") == {"rope"}
    assert gone("parameters", "g") == set()
    assert {e.name for _, e in edits.users(ACTIVE, "parameters", "g")} == {"rope", "drive"}
    left = edits.remove(ACTIVE, "sensors", "reach")
    assert [f.name for f in left.forces] == ["motor"]
    assert "spot.x.rate + 1 + sun.v" in edits.remove(ACTIVE, "parameters", "sun").find("forces", "rope").law
