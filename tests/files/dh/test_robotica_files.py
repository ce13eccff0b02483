"""Robotica data files: the manual's two-link arm and its three-link arm, tolerance, messages, strict writing."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FileError
from core.files import dumps, format_model, load, loads
from core.model import Body, DHChain, DHRow, Gravity, Inertia, Limit, Model, Parameter, World

TWO_LINK = """\
A planar arm with two links
any number of comment lines
DOF=2
(Denavit-Hartenberg parameters)
joint1 = revolute
a1     = a1
alpha1 = 0
d1     = 0
theta1 = q1
joint2 = revolute
a2     = a2
alpha2 = 0
d2     = 0
theta2 = q2

comments again
DYNAMICS
(inertial data)
gravity vector = {0, g, 0}
mass1          = m1
center of mass = {-1/2 a1, 0, 0}
inertia matrix = {0, 0, 0, 0, 0, I1}
mass2          = m2
center of mass = {-1/2 a2, 0, 0}
inertia matrix = {0, 0, 0, 0, 0, I2}
"""

THREE_LINK = """\
DOF=3
-
joint1 = revolute
a1 = 0
alpha1 = Pi/2
d1 = 5
theta1 = q1
joint2 = revolute
a2 = 0
alpha2 = Pi/2
d2 = 10
theta2 = q2
joint3 = prismatic
a3 = 0
alpha3 = 0
d3 = d3
theta3 = 90 Degree
"""


def test_two_link_arm_of_the_manual():
    model = loads(TWO_LINK, "robotica")
    first, second = model.chains[0].rows
    assert first == DHRow(a="a1", mass="m1", center_of_mass=("-1/2*a1", 0.0, 0.0), inertia=Inertia(izz="I1"))
    assert second.center_of_mass == ("-1/2*a2", 0.0, 0.0)
    assert model.chains[0].convention == "standard"
    assert model.chains[0].variables() == ("q1", "q2")
    assert model.world.gravity.acceleration == (0.0, "-g", 0.0)  # the file's vector points against the pull
    assert model.values() == {"a1": 1.0, "a2": 1.0, "g": 9.81, "m1": 1.0, "m2": 1.0, "I1": 1.0, "I2": 1.0}
    assert all(parameter.assumed for parameter in model.parameters)


def test_three_link_arm_of_the_manual():
    model = loads(THREE_LINK, "robotica")
    rows = model.chains[0].rows
    assert [row.kind for row in rows] == ["revolute", "revolute", "prismatic"]
    assert [row.alpha for row in rows] == ["pi/2", "pi/2", 0.0]
    assert [row.d for row in rows] == [5.0, 10.0, 0.0]
    assert rows[2].theta == "90 deg"
    assert model.chains[0].variables() == ("q1", "q2", "d3")
    assert model.parameters == ()


def test_inertia_order_is_that_of_the_manual():
    """{e1 … e6} = [[e1 e2 e3] [e2 e4 e5] [e3 e5 e6]]."""
    text = TWO_LINK.replace("{0, 0, 0, 0, 0, I1}", "{11, 12, 13, 22, 23, 33}")
    i = loads(text, "robotica").chains[0].rows[0].inertia
    assert (i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz) == (11.0, 12.0, 13.0, 22.0, 23.0, 33.0)


def test_tolerant_reading_gives_the_same():
    messy = TWO_LINK.replace(" = ", "=").replace("joint2", "\n\n  link number two ").replace("\n", "\r\n")
    messy = messy.replace("inertia matrix={0, 0, 0,", "inertia matrix={0, 0,\r\n 0,")
    for skipped in ("(Denavit-Hartenberg parameters)\r\n", "(inertial data)\r\n"):
        assert skipped in messy
        messy = messy.replace(skipped, "")
    assert loads(messy, "robotica") == loads(TWO_LINK, "robotica")


def test_joint_variable_with_a_constant():
    rows = loads(THREE_LINK.replace("= q1", "= q1 + Pi/2").replace("= d3", "= d3 - 1/2"), "robotica").chains[0].rows
    assert rows[0].theta == "pi/2"
    assert math.isclose(float(rows[2].d) if isinstance(rows[2].d, float) else -0.5, -0.5)
    assert loads(THREE_LINK.replace("= q1", "= beta + phi1"), "robotica").chains[0].variables()[0] == "phi1"


def test_symbols_named_like_constants_stay_symbols():
    model = loads(TWO_LINK.replace("= a1", "= e").replace("-1/2 a1", "-1/2 E"), "robotica")
    assert model.chains[0].rows[0].a == "e_"
    assert model.chains[0].rows[0].center_of_mass[0] == "-1/2*e"
    again = loads(dumps(model, "robotica"), "robotica").chains[0].rows[0]
    assert again.center_of_mass[0] == "-1/2*e"
    assert again.a not in ("e", "-e")  # still a symbol, not Euler's number


def test_written_strictly_and_read_back():
    text = dumps(loads(TWO_LINK, "robotica"), "robotica")
    lines = text.splitlines()
    start = lines.index("DOF=2")
    assert lines[start + 2 : start + 12] == [
        "joint1 = revolute",
        "a1 = a1",
        "alpha1 = 0",
        "d1 = 0",
        "theta1 = q1",
        "joint2 = revolute",
        "a2 = a2",
        "alpha2 = 0",
        "d2 = 0",
        "theta2 = q2",
    ]
    at = lines.index("DYNAMICS")
    assert lines[at + 2 :] == [
        "gravity vector = {0, g, 0}",
        "mass1 = m1",
        "center of mass = {-1/2*a1, 0, 0}",
        "inertia matrix = {0, 0, 0, 0, 0, I1}",
        "mass2 = m2",
        "center of mass = {-1/2*a2, 0, 0}",
        "inertia matrix = {0, 0, 0, 0, 0, I2}",
    ]
    assert loads(text, "robotica") == loads(TWO_LINK, "robotica")


NUMBER = st.floats(-1e3, 1e3).map(lambda x: round(x, 6) + 0.0)
ENTRY = st.one_of(NUMBER, st.sampled_from(("l1", "l1/2 + 0.1", "2*l1 - h", "sqrt(h)", "atan2(h, l1)", "-(l1 + h)^2")))


@given(
    st.lists(
        st.tuples(st.sampled_from(("revolute", "prismatic")), ENTRY, ENTRY, ENTRY, ENTRY, ENTRY), min_size=1, max_size=5
    )
)
@settings(max_examples=40)
def test_round_trip_of_random_chains(entries):
    rows = tuple(
        DHRow(kind=k, a=a, alpha=al, d=d, theta=t, mass=m, inertia=Inertia(ixy=a)) for k, a, al, d, t, m in entries
    )
    names = [Parameter(name=n, value=1.0, assumed=True) for n in ("l1", "h")]
    model = Model(name="robot", parameters=tuple(names), chains=(DHChain(name="arm", rows=rows),))
    again = loads(dumps(model, "robotica"), "robotica")
    values = {"l1": 0.7, "h": 1.9}
    for old, new in zip(rows, again.chains[0].rows, strict=True):
        for field in ("a", "alpha", "d", "theta", "mass"):
            assert _value(getattr(new, field), values) == pytest.approx(_value(getattr(old, field), values), rel=1e-12)


def _value(value, values):
    from core.model.parameters import evaluate_field

    return evaluate_field(value, values)


MISTAKES = [
    ("DOF=2", "DOF=two", 3, "DOF", "'two'"),
    ("DOF=2", "DOF=100000", 3, "DOF", "number of joints"),
    ("DOF=2", "no degrees", 1, "DOF", "no line 'DOF"),
    ("DOF=2", "DOF=3", 16, "joint 3, joint type", "label = value"),
    ("joint2 = revolute", "joint2 = spherical", 10, "joint 2, joint type", "revolute or prismatic"),
    ("a2     = a2", "a2     = a2 +", 11, "joint 2, a", "ends"),
    ("a2     = a2", "a2     = Foo[a2]", 11, "joint 2, a", "not a function"),
    ("a2     = a2", "a2     =", 11, "joint 2, a", "no value after"),
    ("a2     = a2", "a2", 11, "joint 2, a", "label = value"),
    ("theta2 = q2", "theta2 = 2 q2", 10, "joint 2, theta", "variable + constant"),
    ("{0, g, 0}", "{0, g}", 19, "gravity vector", "3 values"),
    ("{0, g, 0}", "g", 19, "gravity vector", "braces"),
    ("{-1/2 a2, 0, 0}", "{-1/2 a2, 0, 0, 0}", 24, "link 2, center of mass", "4 given"),
    ("inertia matrix = {0, 0, 0, 0, 0, I2}\n", "", 24, "link 2, inertia matrix", "ends"),
    ("{0, 0, 0, 0, 0, I1}", "{0, 0, 0, 0, 0, 1/}", 22, "link 1, inertia matrix", "ends"),
]


@pytest.mark.parametrize(("old", "new", "line", "where", "hint"), MISTAKES, ids=[m[1] for m in MISTAKES])
def test_messages_name_line_and_field(old, new, line, where, hint):
    assert old in TWO_LINK
    with pytest.raises(FileError) as caught:
        loads(TWO_LINK.replace(old, new, 1), "robotica", "arm.rob")
    error = caught.value
    assert hint in str(error)
    assert (error.file, error.line, error.where) == ("arm.rob", line, where), str(error)
    assert error.remedy


def test_content_is_recognised(tmp_path):
    file = tmp_path / "robot.dat"
    file.write_text(TWO_LINK)
    assert load(file).name == "robot"
    assert len(load(file).chains[0].rows) == 2


def test_what_the_format_cannot_hold_is_said():
    chain = DHChain(name="arm", rows=(DHRow(mass=1.0, damping=1.0, limit=Limit(lower=-1.0, upper=1.0)),))
    model = Model(chains=(chain,), world=World(gravity=Gravity(kind="none")))
    (finding,) = format_model(model, "robotica").findings
    assert "limits" in finding.text
    assert "damping" in finding.text
    assert "gravity vector = {0, 0, 0}" in dumps(model, "robotica")


def test_other_models_are_refused():
    with pytest.raises(FileError, match="one DH chain"):
        dumps(Model(bodies=(Body(name="a"),)), "robotica")
    chain = DHChain(name="arm", convention="modified", rows=(DHRow(),))
    with pytest.raises(FileError, match="modified"):
        dumps(Model(chains=(chain,)), "robotica")
    with pytest.raises(FileError, match="no joints"):
        dumps(Model(chains=(dataclasses.replace(chain, rows=()),)), "csv")
