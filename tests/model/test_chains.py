"""DH chains: the machine they expand to has the transforms A_1 … A_N of both conventions, computed independently."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model import DHChain, DHRow, Limit, Model, Parameter, Pose
from core.model.chains import expand_chain, negate, split_offset
from core.model.formula.expression import evaluate, parse
from core.model.parameters import evaluate_field

VALUES = {"l1": 0.7, "phi": -1.1}
LENGTH = st.one_of(st.floats(-2, 2), st.sampled_from(("l1", "l1/2 - 0.3", "-l1", "400 mm")))
ANGLE = st.one_of(st.floats(-4, 4), st.sampled_from(("phi", "pi/2", "-90 deg", "-(phi + 1)")))
ROW = st.builds(DHRow, kind=st.sampled_from(("revolute", "prismatic")), a=LENGTH, d=LENGTH, alpha=ANGLE, theta=ANGLE)


def rot(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    m = np.eye(4)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    m[i, i] = m[j, j] = c
    m[i, j], m[j, i] = -s, s
    return m


def shift(x=0.0, y=0.0, z=0.0):
    m = np.eye(4)
    m[:3, 3] = (x, y, z)
    return m


def number(value):
    return float(evaluate_field(value, VALUES))


def textbook(chain, q):
    """A_1 … A_N multiplied, as the books write them (standard: Spong; modified: Craig eq. 3.6)."""
    total = placed(chain.base)
    for row, x in zip(chain.rows, q, strict=True):
        a, alpha, d, theta = map(number, (row.a, row.alpha, row.d, row.theta))
        d, theta = (d, theta + x) if row.kind == "revolute" else (d + x, theta)
        if chain.convention == "standard":
            step = rot("z", theta) @ shift(z=d) @ shift(x=a) @ rot("x", alpha)
        else:
            step = shift(x=a) @ rot("x", alpha) @ rot("z", theta) @ shift(z=d)
        total = total @ step
    return total @ placed(chain.tool)


def placed(pose):
    x, y, z = map(number, pose.rotation)
    return shift(*map(number, pose.position)) @ rot("z", z) @ rot("y", y) @ rot("x", x)


def expanded(chain, q):
    """The tool's pose through the joints' frames: X_a · joint(q) · X_b⁻¹, axis z."""
    bodies, joints, frames = expand_chain(chain)
    coordinates = dict(zip([j.name for j in joints if j.kind != "fixed"], q, strict=True))
    total = np.eye(4)
    for joint in joints:
        x = coordinates.get(joint.name, 0.0)
        motion = {"fixed": np.eye(4), "revolute": rot("z", x), "prismatic": shift(z=x)}[joint.kind]
        assert joint.axis == (0.0, 0.0, 1.0)
        total = total @ placed(joint.a) @ motion @ np.linalg.inv(placed(joint.b))
    assert frames[0].parent == bodies[-1].name
    return total @ placed(frames[0].pose)


@given(
    st.sampled_from(("standard", "modified")),
    st.lists(st.tuples(ROW, st.floats(-3, 3)), min_size=1, max_size=7),
    st.tuples(*[st.floats(-2, 2)] * 6),
    st.tuples(*[st.floats(-2, 2)] * 6),
)
@settings(max_examples=150)
def test_expansion_is_the_product_of_the_textbook(convention, rows_q, base, tool):
    rows, q = zip(*rows_q, strict=True)
    chain = DHChain(
        name="arm",
        convention=convention,
        rows=rows,
        base=Pose(position=base[:3], rotation=base[3:]),
        tool=Pose(position=tool[:3], rotation=tool[3:]),
    )
    assert expanded(chain, q) == pytest.approx(textbook(chain, q), abs=1e-11)


def test_names_and_order():
    chain = DHChain(name="arm", prefix="left_", parent="body", rows=(DHRow(), DHRow(kind="prismatic")))
    bodies, joints, frames = expand_chain(chain)
    assert [body.name for body in bodies] == ["left_base", "left_link1", "left_link2"]
    assert [(j.name, j.kind, j.parent, j.child) for j in joints] == [
        ("left_base_joint", "fixed", "body", "left_base"),
        ("left_joint1", "revolute", "left_base", "left_link1"),
        ("left_joint2", "prismatic", "left_link1", "left_link2"),
    ]
    assert [(frame.name, frame.parent) for frame in frames] == [("left_tool", "left_link2")]


def test_properties_of_rows_reach_bodies_and_joints():
    row = DHRow(
        mass="m",
        center_of_mass=(1.0, 2.0, 3.0),
        limit=Limit(lower=-1.0, upper=2.0),
        rest=0.5,
        armature=0.1,
        damping=0.2,
        friction=0.3,
    )
    model = Model(parameters=(Parameter(name="m", value=2.0),), chains=(DHChain(name="arm", rows=(row,)),))
    assert model.body("link1").mass == "m"
    assert model.body("link1").center_of_mass == (1.0, 2.0, 3.0)
    joint = model.joint("joint1")
    assert (joint.limits, joint.rest) == ((Limit(lower=-1.0, upper=2.0),), (0.5,))
    assert (joint.armature, joint.damping, joint.friction) == (0.1, 0.2, 0.3)


def test_variables():
    chain = DHChain(name="arm", rows=(DHRow(), DHRow(variable="theta2"), DHRow(kind="prismatic")))
    assert chain.variables() == ("q1", "theta2", "q3")


@given(st.one_of(LENGTH, ANGLE))
def test_negative(value):
    assert number(negate(value)) == pytest.approx(-number(value), abs=1e-300)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("q", 0.0),
        ("q + 1", 1.0),
        ("1 + q", 1.0),
        ("q - 1", -1.0),
        ("q + l1/2 - phi", 0.7 / 2 + 1.1),
        ("phi + q", -1.1),
        ("(q + 1) - 3", -2.0),
        ("2*q", None),
        ("-q", None),
        ("1 - q", None),
        ("q + q", None),
        ("sin(q)", None),
        ("q*1", None),
        ("l1", None),
        ("3", None),
    ],
)
def test_split_offset(text, offset):
    found = split_offset(text, "q")
    assert (found is None) == (offset is None)
    if offset is not None:
        assert number(found) == pytest.approx(offset)


@given(
    st.sampled_from(("q + ({})", "({}) + q", "q - ({})", "(q + ({})) - 2")),
    st.sampled_from(("l1", "phi/2", "3", "-l1")),
)
def test_split_offset_keeps_the_sum(form, constant):
    text = form.format(constant)
    found = split_offset(text, "q")
    whole = evaluate(parse(text), {**VALUES, "q": 0.25})
    assert number(found) + 0.25 == pytest.approx(whole)
