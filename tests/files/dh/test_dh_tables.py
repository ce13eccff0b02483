"""DH tables as CSV and TOML: mandatory convention, units, round trips on published robots, messages."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FileError
from core.files import dumps, load, loads
from core.model import DHChain, DHRow, Gravity, Inertia, Limit, Model, Parameter, Pose, World
from core.model.parameters import evaluate_field

REFERENCE = Path(__file__).parents[2] / "reference"

CSV = """\
# convention: standard
# name: test arm
# gravity: 0, -9.81, 0
# parameter l1: 0.5
joint, type, a [mm], alpha [deg], d, theta, lower, upper, mass, com_x
q1, revolute, 400, 90, 0, 45 deg, -170 deg, 170 deg, 2, -0.2
d2, P, l1, 0, 0.1 + l1, 30 deg, 0, 1, 0, 0
"""
TOML = """\
convention = "craig"
name = "test arm"
gravity = [0, 0, -9.81]
tool = { position = [0, 0, 0.1], rotation = [0, 0, "45 deg"] }

[parameters]
l1 = { value = 0.5, dimension = "length", minimum = 0.1 }

[[joint]]
type = "revolute"
a = "400 mm"
alpha = "90 deg"
d = 0
theta = "q1 + pi/2"
mass = 2
center_of_mass = [-0.2, 0, 0]
inertia = { ixx = 1, iyy = 2, izz = 2.5, ixy = 0.1 }
limits = [-1, 1.5]

[[joint]]
type = "prismatic"
a = "l1"
"""


def test_csv():
    model = loads(CSV, "csv")
    chain = model.chains[0]
    first, second = chain.rows
    assert chain.convention == "standard"
    assert model.name == "test arm"
    assert model.world.gravity.acceleration == (0.0, -9.81, 0.0)
    assert model.values() == {"l1": 0.5}
    assert evaluate_field(first.a, {}) == pytest.approx(0.4)
    assert evaluate_field(first.alpha, {}) == pytest.approx(math.pi / 2)
    assert evaluate_field(first.theta, {}) == pytest.approx(math.pi / 4)
    assert evaluate_field(first.limit.upper, {}) == pytest.approx(math.radians(170))
    assert (first.mass, first.center_of_mass) == (2.0, (-0.2, 0.0, 0.0))
    assert (second.kind, second.a, second.d) == ("prismatic", "l1", "0.1 + l1")
    assert chain.variables() == ("q1", "d2")


def test_toml():
    model = loads(TOML, "toml")
    chain = model.chains[0]
    first, second = chain.rows
    assert chain.convention == "modified"
    assert chain.tool == Pose(position=(0.0, 0.0, 0.1), rotation=(0.0, 0.0, "45 deg"))
    assert (first.theta, first.a) == ("pi/2", "400 mm")
    assert first.inertia == Inertia(ixx=1.0, iyy=2.0, izz=2.5, ixy=0.1)
    assert first.limit == Limit(lower=-1.0, upper=1.5)
    assert (second.kind, second.a) == ("prismatic", "l1")
    assert model.parameters[0].minimum == 0.1


def test_separators_and_offset_column():
    for mark in (";", "\t"):
        lines = ["type,a,alpha,d,theta,offset", "R,1,2,3,,0.5"]
        table = "# convention = modified\n" + "\n".join(lines).replace(",", mark)
        row = loads(table, "csv").chains[0].rows[0]
        assert (row.a, row.alpha, row.d, row.theta) == (1.0, 2.0, 3.0, 0.5)


def test_convention_may_be_a_column():
    table = "convention,type,a,alpha,d,theta\nmodified,R,1,0,0,q1\nmodified,R,1,0,0,q2\n"
    assert loads(table, "csv").chains[0].convention == "modified"
    with pytest.raises(FileError, match="different DH conventions"):
        loads(table.replace("modified,R,1,0,0,q2", "standard,R,1,0,0,q2"), "csv")


@pytest.mark.parametrize(
    ("format", "text"), [("csv", "type,a,alpha,d,theta\nR,1,0,0,q1\n"), ("toml", "[[joint]]\ntype='R'\n")]
)
def test_without_convention_it_is_refused(format, text):
    with pytest.raises(FileError, match="convention") as caught:
        loads(text, format)
    assert "standard" in caught.value.remedy
    assert "modified" in caught.value.remedy


MISTAKES = [
    ("csv", "# convention: standard", "# convention: mine", 1, "convention", "'mine'"),
    ("csv", "alpha [deg]", "alhpa [deg]", 5, "header", "alpha"),
    ("csv", "alpha [deg]", "alpha [gon]", 5, "header, alpha", "gon"),
    ("csv", "theta, lower", "a, lower", 5, "header", "twice"),
    ("csv", ", theta, lower", ", , lower", 5, "header", "theta"),
    ("csv", "q1, revolute", "q1, spherical", 6, "joint 1, type", "spherical"),
    ("csv", "0, 45 deg", "0, 45 degg", 6, "joint 1, theta", ""),
    ("csv", "d2, P, l1, 0", "d2, P, 1e999, 0", 7, "joint 2, a", "large"),
    ("csv", "0, 1, 0, 0\n", "0, 1, 0, 0, 7\n", 7, "", "cells"),
    ("csv", "l1: 0.5", "l1: nan", 4, "parameter", "finite"),
    ("toml", 'a = "400 mm"', 'a = "400 mmm"', 9, "joint 1, a", ""),
    ("toml", 'a = "400 mm"', "a = true", 9, "joint 1, a", "number"),
    ("toml", 'a = "400 mm"', "a = inf", 9, "joint 1, a", ""),
    ("toml", 'a = "400 mm"', "b_ = 1", 9, "joint 1", "'b_'"),
    ("toml", "limits = [-1, 1.5]", "limits = [-1]", 9, "joint 1, limits", "2 numbers"),
    ("toml", "[-0.2, 0, 0]", "[-0.2, 0]", 9, "joint 1, center_of_mass", "3 numbers"),
    ("toml", "[[joint]]", "[[joint]", 9, "", "TOML"),
    ("toml", 'convention = "craig"', 'convention = "denavit"', 1, "convention", "denavit"),
    ("toml", "gravity = [0, 0, -9.81]", "gravity = 9.81", 3, "gravity", "list"),
    ("toml", "name =", "nmae =", 2, "", "'nmae'"),
]


@pytest.mark.parametrize(("format", "old", "new", "line", "where", "hint"), MISTAKES, ids=[m[2] for m in MISTAKES])
def test_messages_name_line_and_column(format, old, new, line, where, hint):
    text = CSV if format == "csv" else TOML
    assert old in text
    with pytest.raises(FileError) as caught:
        loads(text.replace(old, new, 1), format, "arm")
    error = caught.value
    assert hint in str(error)
    assert (error.line, error.where) == (line, where), str(error)
    assert error.remedy


ROBOTS = sorted(REFERENCE.glob("robot_*.json"))


@pytest.mark.parametrize("file", ROBOTS, ids=lambda file: file.stem)
@pytest.mark.parametrize("format", ["csv", "toml"])
def test_published_robots_round_trip(file, format):
    """The tables of published robots (tests/reference) written, read back, and still the published numbers."""
    given = json.loads(file.read_text())["parameters"]
    rows = []
    for link in given["links"]:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link["I"]
        low, high = link.get("qlim") or (-1.0, 1.0)
        rows.append(
            DHRow(
                kind="prismatic" if link["sigma"] else "revolute",
                a=link["a"],
                alpha=link["alpha"],
                d=link["d"],
                theta=link["offset"] if not link["sigma"] else link["theta"],
                mass=link["m"],
                center_of_mass=tuple(link["r"]),
                inertia=Inertia(ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz),
                limit=Limit(lower=low, upper=high),
                armature=link["G"] ** 2 * link["Jm"],
            )
        )
    chain = DHChain(name="arm", convention=given["convention"], rows=tuple(rows))
    model = Model(name=file.stem, chains=(chain,), world=World(gravity=Gravity(acceleration=tuple(given["gravity"]))))
    assert loads(dumps(model, format), format) == model
    assert loads(dumps(model)) == model


def test_there_are_published_robots():
    assert len(ROBOTS) >= 3


NUMBER = st.floats(allow_nan=False, allow_infinity=False, width=64)
ENTRY = st.one_of(NUMBER, st.sampled_from(("l1", "l1/2 + 0.1", "90 deg", "sqrt(l1)")))
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp", "Cs")), max_size=12).map(
    lambda text: " ".join(text.split())
)


@given(
    st.sampled_from(("standard", "modified")),
    st.lists(
        st.tuples(st.sampled_from(("revolute", "prismatic")), ENTRY, ENTRY, ENTRY, ENTRY, NUMBER),
        min_size=1,
        max_size=4,
    ),
    TEXT,
)
@settings(max_examples=40)
def test_random_tables_round_trip(convention, entries, title):
    rows = tuple(
        DHRow(kind=k, a=a, alpha=al, d=d, theta=t, mass=m, center_of_mass=(m, a, 0.0)) for k, a, al, d, t, m in entries
    )
    model = Model(
        name=title or "robot",
        parameters=(Parameter(name="l1", value=0.25),),
        chains=(DHChain(name="arm", convention=convention, rows=rows),),
    )
    assert loads(dumps(model, "toml"), "toml") == model
    assert loads(dumps(model, "csv"), "csv") == model


def test_suffixes(tmp_path):
    for name, text in (("arm.csv", CSV), ("arm.toml", TOML), ("arm.txt", CSV)):
        (tmp_path / name).write_text(text)
        assert load(tmp_path / name).name == "test arm"
