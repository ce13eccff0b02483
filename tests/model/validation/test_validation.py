"""Findings: each physical doubt is told once, on the right element and field, with a remedy."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model import (
    Body,
    Box,
    Constraint,
    DHChain,
    DHRow,
    Force,
    Frame,
    Inertia,
    Joint,
    Limit,
    Mesh,
    Mimic,
    Model,
    Parameter,
    Pose,
    Sphere,
)
from core.model.validation.model import check

SOLID = Inertia(ixx=1.0, iyy=1.0, izz=1.0)
BODY = Body(name="a", mass=1.0, inertia=SOLID)
HINGE = Joint(name="j", parent="world", child="a")
REFERENCE = Path(__file__).parents[2] / "reference"


def model(body=BODY, joint=HINGE, **more):
    return Model(bodies=(body,), joints=(joint,), **more)


def body(**fields):
    return Body(**{"name": "a", "mass": 1.0, "inertia": SOLID, **fields})


def joint(**fields):
    return Joint(**{"name": "j", "parent": "world", "child": "a", **fields})


CASES = [
    (model(body(mass=-1.0)), "error", "bodies", "a", "mass", "negative"),
    (model(body(mass=0.0)), "warning", "bodies", "a", "mass", "no mass"),
    (model(body(inertia=Inertia(ixx=1.0, iyy=1.0, izz=3.0))), "warning", "bodies", "a", "inertia", "1 + 1 < 3"),
    (model(body(inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0, ixy=2.0))), "error", "bodies", "a", "inertia", "negative"),
    (model(body(density=-5.0, shapes=(Sphere(),))), "error", "bodies", "a", "density", "not positive"),
    (model(body(density=5.0)), "warning", "bodies", "a", "density", "no shape"),
    (
        model(body(center_of_mass=(9.0, 0.0, 0.0), shapes=(Box(),))),
        "hint",
        "bodies",
        "a",
        "center_of_mass",
        "far outside",
    ),
    (model(body(shapes=(Box(size=(1.0, -1.0, 1.0)),))), "warning", "bodies", "a", "shapes", "size"),
    (model(body(shapes=(Sphere(radius=0.0),))), "warning", "bodies", "a", "shapes", "radius"),
    (model(body(shapes=(Mesh(),))), "warning", "bodies", "a", "shapes", "no file"),
    (model(joint=joint(limits=(Limit(lower=1.0, upper=-1.0),))), "error", "joints", "j", "limits", "above"),
    (
        model(joint=joint(limits=(Limit(lower=0.0, upper=1.0),), rest=(2.0,))),
        "warning",
        "joints",
        "j",
        "rest",
        "outside",
    ),
    (model(joint=joint(limits=(Limit(effort=0.0),))), "hint", "joints", "j", "limits", "effort"),
    (model(joint=joint(limits=(Limit(velocity=-1.0),))), "hint", "joints", "j", "limits", "unlimited"),
    (model(joint=joint(limits=(Limit(velocity=-2.0),))), "error", "joints", "j", "limits", "negative"),
    (model(joint=joint(axis=(0.0, 0.0, 2.0))), "hint", "joints", "j", "axis", "length 2"),
    (
        model(joint=joint(kind="universal", second_axis=(0.0, 1.0, 1.0))),
        "warning",
        "joints",
        "j",
        "second_axis",
        "perpend",
    ),
    (
        model(joint=joint(kind="universal", second_axis=(0.0, 0.0, 1.0))),
        "error",
        "joints",
        "j",
        "second_axis",
        "parallel",
    ),
    (model(joint=joint(kind="screw", pitch=0.0)), "warning", "joints", "j", "pitch", "pitch 0"),
    (model(joint=joint(damping=-1.0)), "warning", "joints", "j", "damping", "negative"),
    (model(joint=joint(a=Pose(rotation=(0.0, 0.0, 0.0, 0.0)))), "error", "joints", "j", "rotation", "quaternion"),
    (model(parameters=(Parameter(name="p", value=2.0),)), "hint", "parameters", "p", "value", "not used"),
    (
        model(body(mass="p"), parameters=(Parameter(name="p", value=2.0, assumed=True),)),
        "hint",
        "parameters",
        "p",
        "value",
        "assumed",
    ),
    (
        model(body(mass="p"), parameters=(Parameter(name="p", value=2.0, maximum=1.0),)),
        "warning",
        "parameters",
        "p",
        "value",
        "outside",
    ),
    (
        model(body(mass="p"), parameters=(Parameter(name="p", value=2.0, minimum=3.0, maximum=1.0),)),
        "warning",
        "parameters",
        "p",
        "minimum",
        "Swap",
    ),
    (
        model(body(mass="1/p"), parameters=(Parameter(name="p", value=0.0),)),
        "error",
        "bodies",
        "a",
        "mass",
        "no finite",
    ),
    (model(joint=joint(mimic=Mimic(leader="j"))), "error", "joints", "j", "mimic", "j → j"),
]


@pytest.mark.parametrize(
    ("doubtful", "severity", "collection", "name", "field", "hint"), CASES, ids=[c[5] + c[4] for c in CASES]
)
def test_each_doubt_is_told_once_in_its_place(doubtful, severity, collection, name, field, hint):
    findings = check(doubtful)
    assert [(f.severity, f.collection, f.name, f.field) for f in findings] == [(severity, collection, name, field)], [
        str(f) for f in findings
    ]
    assert hint in str(findings[0])
    assert findings[0].remedy


def test_sound_machines_have_no_findings():
    assert check(model()) == ()
    assert check(model(Body(name="a", density=7850.0, shapes=(Box(),)))) == ()
    assert check(model(body(inertia=Inertia()))) == ()  # a point mass
    assert check(Model()) == ()
    assert check(model(body(inertia=Inertia(ixx=1.0, iyy=1.0, izz=2.0)))) == ()  # a thin plate: exactly on the bound
    assert check(model(body(), joint(limits=(Limit(lower=0.0, upper=1.0, stop="off"),), rest=(1.0,)))) == ()


@given(st.lists(st.tuples(*[st.floats(-1, 1)] * 3, st.floats(0.01, 10)), min_size=1, max_size=8))
@settings(max_examples=100)
def test_real_mass_distributions_are_never_doubted(points):
    """The tensor of any cloud of point masses satisfies the triangle inequality (A + B ≥ C)."""
    p = np.array([point[:3] for point in points])
    m = np.array([point[3] for point in points])
    p = p - (m @ p) / m.sum()
    t = np.einsum("i,ij,ij->", m, p, p) * np.eye(3) - np.einsum("i,ij,ik->jk", m, p, p)
    inertia = Inertia(ixx=t[0, 0], iyy=t[1, 1], izz=t[2, 2], ixy=t[0, 1], ixz=t[0, 2], iyz=t[1, 2])
    assert check(model(body(mass=float(m.sum()), inertia=inertia))) == ()


def test_the_published_puma_is_used_but_doubted():
    """Armstrong's link 1 of the PUMA 560 (tests/reference) has I = diag(0, 0.35, 0): no body has that."""
    given = json.loads((REFERENCE / "robot_puma560.json").read_text())["parameters"]
    rows = tuple(
        DHRow(
            a=link["a"],
            alpha=link["alpha"],
            d=link["d"],
            mass=link["m"],
            center_of_mass=tuple(link["r"]),
            armature=1.0,
            inertia=Inertia(ixx=link["I"][0][0], iyy=link["I"][1][1], izz=link["I"][2][2]),
        )
        for link in given["links"]
    )
    findings = check(Model(chains=(DHChain(name="puma", rows=rows),)))
    assert ("warning", "link1", "inertia") in {(f.severity, f.name, f.field) for f in findings}
    assert not [f for f in findings if f.severity == "error"]


def test_massless_parts():
    tip = Body(name="tip")
    chain = (HINGE, Joint(name="k", parent="a", child="tip"))
    (finding,) = check(Model(bodies=(BODY, tip), joints=chain))
    assert (finding.name, finding.field) == ("tip", "mass")
    fixed = (HINGE, Joint(name="k", parent="a", child="tip", kind="fixed"))
    assert check(Model(bodies=(BODY, tip), joints=fixed)) == ()
    carried = (*chain, Joint(name="l", parent="tip", child="b"))
    assert check(Model(bodies=(BODY, tip, Body(name="b", mass=1.0)), joints=carried)) == ()
    mounted = (HINGE, Joint(name="k", parent="flange", child="tip", kind="fixed"))
    frames = (Frame(name="flange", parent="a"),)
    assert check(Model(bodies=(BODY, tip), frames=frames, joints=mounted)) == ()
    (only,) = check(Model(bodies=(tip,)))
    assert (only.severity, only.name) == ("hint", "")


def test_a_body_that_nothing_holds_beside_a_machine_is_told():
    alone = Body(name="alone", mass=1.0, inertia=SOLID)
    model = Model(bodies=(BODY, alone), joints=(HINGE,))
    (finding,) = check(model)
    assert (finding.severity, finding.name) == ("hint", "alone")
    hung = Force(name="spring", kind="line", a="", b="alone", stiffness=10.0, rest=1.0)
    assert check(dataclasses.replace(model, forces=(hung,))) == ()
    tied = Constraint(name="rod", kind="rod", b="alone", length=1.0)
    assert check(dataclasses.replace(model, constraints=(tied,))) == ()
    assert check(Model(bodies=(alone,))) == ()  # flies as it is meant to


def test_followers():
    spherical = Joint(name="s", parent="world", child="a", kind="spherical")
    follower = Joint(name="f", parent="a", child="b", mimic=Mimic(leader="s"))
    (finding,) = check(Model(bodies=(BODY, body(name="b")), joints=(spherical, follower)))
    assert (finding.severity, finding.name) == ("error", "f")
    circle = tuple(
        Joint(name=n, parent="world", child=c, mimic=Mimic(leader=m)) for n, c, m in (("x", "a", "y"), ("y", "b", "x"))
    )
    findings = check(Model(bodies=(BODY, body(name="b")), joints=circle))
    assert {f.name for f in findings if "cycle" in f.text} == {"x", "y"}


def test_missing_meshes_are_told_when_files_can_be_found():
    doubtful = model(body(shapes=(Mesh(file="a.stl"), Mesh(file="b.stl"))))
    findings = check(doubtful, lambda file, origin: None if file == "a.stl" else (f"'{file}' is gone.", "Bring it."))
    assert [(f.text, f.remedy) for f in findings] == [("'b.stl' is gone.", "Bring it.")]
    assert check(doubtful) == ()


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        ({"mass": "30 mm"}, "mass", "'30 mm' is a length; a mass is required"),
        ({"mass": "-2*(3 cm + l)/4"}, "mass", "is a length; a mass is required"),
        ({"center_of_mass": (0.0, "2 kg", 0.0)}, "center_of_mass", "'2 kg' is a mass; a length is required"),
        ({"shapes": (Sphere(radius="90 deg"),)}, "radius", "'90 deg' is an angle; a length is required"),
    ],
)
def test_a_unit_of_another_dimension_is_told(body, field, told):
    parameters = (Parameter(name="l", value=0.1),)
    found = check(model(Body(**{"name": "a", "inertia": SOLID, **body}), parameters=parameters))
    (finding,) = [f for f in found if "required" in f.text]
    assert told in finding.text
    assert (finding.severity, finding.collection, finding.name, finding.field) == ("warning", "bodies", "a", field)


def test_units_that_fit_or_cannot_be_judged_are_not_told():
    parameters = (
        Parameter(name="l", value="50 mm", dimension="length"),
        Parameter(name="n", value="90 deg"),
        Parameter(name="k", value="l/(20 mm)"),
    )
    body = Body(name="a", mass="2 kg + 30*k", center_of_mass=("l + 3 mm", "2*l", "sin(30 deg)*4 cm"), inertia=SOLID)
    screw = Joint(name="j", kind="screw", parent="world", child="a", pitch="5 mm", limits=(Limit(upper="90 deg"),))
    assert not [f for f in check(model(body, screw, parameters=parameters)) if "required" in f.text]
    (finding,) = [
        f
        for f in check(model(parameters=(Parameter(name="m", value="3 kg", dimension="length"),)))
        if "required" in f.text
    ]
    assert (finding.collection, finding.name, finding.field) == ("parameters", "m", "value")


def test_numbers_whose_squares_are_out_of_range_are_examined_without_a_warning(recwarn):
    far = Body(name="a", mass=1.0, center_of_mass=(1e300, 0.0, 0.0), shapes=(Box(size=(1e300, 1e200, 1.0)), Sphere()))
    tiny = Joint(
        name="j", kind="universal", parent="world", child="a", axis=(0.0, 0.0, 1e-320), second_axis=(0.0, 1e250, 0.0)
    )
    found = {finding.field: finding for finding in check(Model(name="m", bodies=(far,), joints=(tiny,)))}
    assert "length 1e-320" in found["axis"].text
    assert "second_axis" not in found  # they are perpendicular
    assert not recwarn.list


@pytest.mark.parametrize(
    ("kind", "role", "told"),
    [("free", "both", True), ("free", "visual", False), ("revolute", "collision", True), ("revolute", "both", False)],
)
def test_shapes_that_cannot_collide_are_a_hint(kind, role, told):
    shape = Box(size=(1.0, 1.0, 1.0), role=role)
    floor, ball = body(name="floor", shapes=(shape,)), body(name="ball", shapes=(shape,))
    joints = (
        Joint(name="ground", kind="fixed", parent="world", child="floor"),
        Joint(name="fall", kind=kind, parent="world", child="ball"),
    )
    found = [f for f in check(Model(bodies=(floor, ball), joints=joints)) if "pass through one another" in f.text]
    assert [f.severity for f in found] == ["hint"] * told
