"""Findings of what was surely meant else: angles in degrees, point masses that turn against nothing."""

import numpy as np
import pytest

import kinetostat as ks
from resources import examples


def machine(body=None, **fields):
    arm = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]} | (body or {})
    return ks.Model(
        bodies=(ks.Body(name="arm", **arm),),
        joints=(ks.Joint(name="pin", **({"parent": "world", "child": "arm"} | fields)),),
    )


def said(model, word):
    return [finding for finding in ks.check(model) if word in finding.text]


# ------------------------------------------------------------------------------- degrees


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        ({"rest": 90}, "90"),
        ({"rest": "-90"}, "-90"),
        ({"limits": [-180, 180]}, "-180"),
        ({"limits": [None, 45]}, "45"),
        ({"a": ks.Pose(rotation=(0, 0, 90))}, "90"),
        ({"kind": "cylindrical", "rest": (90, 0)}, "90"),
    ],
)
def test_angles_that_are_surely_degrees(fields, number):
    found = said(machine(**fields), "degrees")
    assert [(f.severity, f.name) for f in found][:1] == [("hint", "pin")]
    assert found[0].remedy == f'Write "{number} deg" if so.'


@pytest.mark.parametrize(
    "fields",
    [
        {"rest": "90 deg"},
        {"rest": 4 * np.pi},
        {"limits": [-12.57, 12.57]},
        {"limits": [-1e16, 1e16]},
        {"kind": "prismatic", "rest": 90},
        {"kind": "cylindrical", "rest": (0, 90)},
        {"a": [90, 0, 0]},
        {"a": ks.Pose(rotation=(0, 0, 90, 1))},
    ],
)
def test_angles_in_rad_lengths_and_units_are_no_slips(fields):
    assert not said(machine(**fields), "degrees")


def test_the_remedy_removes_the_finding_and_turns_the_machine():
    mech = ks.Mechanism(machine(rest="90 deg"))
    assert mech.rest() == pytest.approx([np.pi / 2])


# ------------------------------------------------------------------------------- point masses

POINT = {"inertia": [0, 0, 0]}
OFF = POINT | {"center_of_mass": (0.3, 0.1, 0.2)}


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "free"])
@pytest.mark.parametrize("body", [POINT, OFF, {}], ids=["point", "off", "solid"])
def test_a_finding_where_the_mass_matrix_is_singular(kind, body):
    """Of joints that let it turn freely; a mass on the axis of a hinge or a cardan joint may be meant so."""
    model = machine(body, kind=kind)
    mech = ks.Mechanism(model)
    singular = np.linalg.eigvalsh(mech.mass_matrix(mech.rest()))[0] < 1e-12
    if kind in ("revolute", "cylindrical", "universal"):
        singular = False
    assert bool(said(model, "point mass")) == singular


def test_a_point_mass_beside_all_joints():
    free = ks.Model(bodies=(ks.Body(name="ball", mass=2),))
    found = said(free, "point mass")
    assert [(f.severity, f.collection, f.name, f.field) for f in found] == [("warning", "bodies", "ball", "inertia")]
    assert "2/5·m·r²" in found[0].remedy
    ball = 2 / 5 * 2 * 0.01**2
    assert not said(ks.Model(bodies=(ks.Body(name="ball", mass=2, inertia=[ball] * 3),)), "point mass")


def test_armature_and_further_links_resist():
    assert not said(machine(POINT, kind="free", armature=0.1), "point mass")
    assert said(machine(POINT, kind="free"), "point mass")
    fixed = ks.Body(name="hand", mass=1)
    weld = ks.Joint(name="weld", kind="fixed", parent="arm", child="hand", a=[0.2, 0, 0])
    model = ks.edits.add(ks.edits.add(machine(POINT, kind="free"), fixed), weld)
    assert not said(model, "point mass")


def test_a_bob_on_a_rod_turns_freely():
    bob = ks.Model(
        bodies=(ks.Body(name="bob", mass=1),),
        constraints=(ks.Constraint(name="rod", kind="rod", a="world", b="bob", length=1),),
    )
    assert said(bob, "point mass")


def test_no_example_is_doubted():
    for example in examples():
        model = ks.load(str(example.path))
        assert not [*said(model, "point mass"), *said(model, "likely meant in degrees")], example.name
