"""Names in texts of quantities: whose they are, renamed, unknown."""

import pytest

import kinetostat as ks
from core.model.edits import edits
from core.model.signal_texts import NameOwners, names_in_text, rename_in_text, unknown_names

MODEL = ks.Model(
    parameters=(ks.Parameter(name="k", value=2.0), ks.Parameter(name="deg_", value=1.0)),
    bodies=(ks.Body(name="crank", mass=1.0), ks.Body(name="a/b", mass=1.0), ks.Body(name="arm.tip", mass=1.0)),
    joints=(
        ks.Joint(name="crank", parent="world", child="crank"),
        ks.Joint(name="arm", kind="planar", parent="crank", child="arm.tip"),
    ),
    sensors=(ks.Sensor(name="reach", a="crank", b="arm.tip"),),
    forces=(ks.Force(name="spring", a="crank", b="arm.tip", stiffness="k"),),
)
OWNERS = NameOwners(MODEL)


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("crank.q", ("joint", "crank")),
        ("crank", ("joint", "crank")),
        ("crank.tau", ("joint", "crank")),
        ("crank.position.x", ("frame", "crank")),
        ("crank.force.z", ("frame", "crank")),
        ("arm.x.v", ("joint", "arm")),
        ("arm.tip.velocity", ("frame", "arm.tip")),
        ("a/b.omega", ("frame", "a/b")),
        ("reach.rate", ("sensor", "reach")),
        ("spring.input", ("force", "spring")),
        ("spring.force", ("force", "spring")),
        ("k", ("parameter", "k")),
        ("gravity.x", None),
        ("crnk.q", None),
    ],
)
def test_a_name_belongs_to_the_longest_name_it_begins_with(name, owner):
    assert OWNERS(name) == owner


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("crank.q", ["crank.q"]),
        ("a/b.position", ["a/b.position"]),
        ("crank.v-2*arm.x.v/k", ["crank.v", "arm.x.v", "k"]),
        ("max(abs(crank.tau)) < 30 deg + 1e3*pi", ["crank.tau"]),
        ("at(arm.tip.position, end)", ["arm.tip.position", "end"]),
        ('channel("arm.tip.position", every=0.01)', ["arm.tip.position"]),
    ],
)
def test_names_are_found_where_functions_numbers_and_units_are_none(text, names):
    assert names_in_text(text, OWNERS) == names
    assert rename_in_text(text, OWNERS, lambda name: name) == text


def test_unknown_are_names_of_no_element():
    assert unknown_names("at(tool.position, end) + energy.total - crank.q*k", OWNERS) == ["tool.position"]


def asked(*quantities):
    return ks.Trim(name="point", rows=tuple(ks.TrimRow(quantity=each) for each in quantities))


def after(edit, *quantities):
    return [row.quantity for row in edit(edits.add(MODEL, asked(*quantities))).operating_points[0].rows]


def test_renaming_follows_what_is_meant():
    quantities = ("crank.q", "crank.position.x", "crank.v  - 2*crank.velocity.x", "a/b.position.z")
    joint = after(lambda m: edits.rename(m, "joints", "crank", "main"), *quantities)
    assert joint == ["main.q", "crank.position.x", "main.v  - 2*crank.velocity.x", "a/b.position.z"]
    body = after(lambda m: edits.rename(m, "bodies", "crank", "main"), *quantities)
    assert body == ["crank.q", "main.position.x", "crank.v  - 2*main.velocity.x", "a/b.position.z"]
    assert after(lambda m: edits.rename(m, "bodies", "a/b", "c"), *quantities)[3] == "c.position.z"
    assert after(lambda m: edits.rename(m, "parameters", "k", "rate"), "k*crank.q") == ["rate*crank.q"]


def test_renaming_a_sub_assembly_renames_what_it_brings(tmp_path):
    ks.save(MODEL, tmp_path / "part.kst")
    whole = ks.loads("kinetostat: 1\nassemblies: {left: {file: part.kst}}\n", "kst", origin=str(tmp_path / "whole.kst"))
    whole = edits.rename(edits.add(whole, asked("left.crank.q", "left.k")), "assemblies", "left", "right")
    assert [row.quantity for row in whole.operating_points[0].rows] == ["right.crank.q", "right.k"]
