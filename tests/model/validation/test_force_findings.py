"""Doubts about sensors, forces, constraints, drivers: each is told once in its place, sound machines have none."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core.model import (
    Body,
    Constraint,
    ControlledJoint,
    DHChain,
    DHRow,
    Driver,
    Force,
    Frame,
    Gravity,
    Joint,
    Junction,
    Limit,
    LineMass,
    Mimic,
    Model,
    Parameter,
    Pose,
    Sensor,
    Setting,
    Signal,
    SubAssembly,
    World,
)
from core.model.edits import edits
from core.model.validation.model import check

BASE = Model(
    parameters=(Parameter(name="k", value=10.0),),
    bodies=tuple(Body(name=n, mass="k") for n in "abc"),
    frames=(Frame(name="tip", parent="a", pose=Pose(position=(1.0, 0.0, 0.0))), Frame(name="same", parent="a")),
    joints=(
        Joint(name="turn", parent="world", child="a", limits=(Limit(lower=-1.0, upper="57 deg"),)),
        Joint(name="slide", kind="prismatic", parent="a", child="b", rest=("20 mm",)),
        Joint(name="pin", kind="cylindrical", parent="b", child="c"),
        Joint(name="lock", kind="fixed", parent="world", child="tip", mimic=None),
    )[:3],
    sensors=(
        Sensor(name="reach", b="c"),
        Sensor(name="spot", kind="position", b="c"),
        Sensor(name="speed", kind="velocity", b="c"),
        Sensor(name="tilt", kind="angle", b="b"),
    ),
    forces=(
        Force(name="spring", b="c", stiffness="k", rest="300 mm", damping=1.0, law="t*length + turn.v/(reach - 1)"),
        Force(name="wind", kind="wrench", b="c", force=("t", 0.0, 0.0)),
        Force(name="motor", kind="joint", joint="pin", coordinate="angle", damping=0.1),
        Force(name="shock", kind="series", b="b", stiffness=5.0, damping=1.0, rest=0.1),
    ),
    constraints=(Constraint(name="hold", sensor="reach", value="2 m"),),
    drivers=(Driver(name="swing", joint="turn", function="0.5*sin(t) + 0*k"),),
)


def test_a_sound_machine_has_no_findings():
    assert [str(finding) for finding in check(BASE)] == []


@pytest.mark.parametrize(
    ("element", "severity", "field", "hint"),
    [
        (Force(name="x", b="c", stiffness=5.0), "hint", "rest", "natural length"),
        (Force(name="x", b="c", stiffness=-5.0, rest=1.0), "warning", "stiffness", "0 or more"),
        (Force(name="x", b="c", damping="-k"), "warning", "damping", "0 or more"),
        (Force(name="x", b="c", stiffness=5.0, rest=-1.0), "warning", "rest", "length"),
        (Force(name="x", b="c", stiffness=5.0, rest="30 deg"), "warning", "rest", "m, mm"),
        (Force(name="x", b="c"), "hint", "law", "law"),
        (Force(name="x", kind="wrench", b="c"), "hint", "force", "law"),
        (Force(name="x", kind="wrench", b="c", force=(0.0, 0.0, "3 kg")), "warning", "force", "N"),
        (Force(name="x", kind="series", b="c", stiffness=5.0, rest=1.0), "error", "damping", "line force"),
        (Force(name="x", kind="series", b="c", damping=5.0, rest=1.0), "error", "stiffness", "line force"),
        (Force(name="x", a="a", b="same", damping=1.0), "error", "b", "two bodies"),
        (Force(name="x", a="a", b="tip", damping=1.0), "hint", "b", "two bodies"),
        (Force(name="x", b="c", masses=(LineMass(mass=1.0, place=1.5),)), "warning", "masses", "fraction"),
        (Force(name="x", b="c", masses=(LineMass(mass=-1.0),)), "error", "masses", "positive"),
        (Force(name="x", b="c", masses=(LineMass(mass=0.0),)), "hint", "masses", "remove"),
        (Force(name="x", b="c", masses=(LineMass(mass=1.0, at="from_a", place=-1.0),)), "warning", "masses", "posit"),
        (Force(name="x", b="c", masses=(LineMass(mass=1.0, place="30 mm"),)), None, "", ""),
        (Force(name="x", b="c", masses=(LineMass(mass=1.0, at="from_b", place="3 deg"),)), "warning", "place", "mm"),
        (Force(name="x", kind="joint", joint="pin", damping=1.0), "error", "coordinate", "displacement"),
        (Force(name="x", kind="joint", joint="turn", coordinate="y", damping=1.0), "error", "coordinate", "another"),
        (Force(name="x", kind="joint", joint="slide", stiffness=1.0, rest="3 deg"), "warning", "rest", "mm"),
        (Force(name="x", kind="sensor", sensor="spot", damping=1.0), "error", "sensor", "distance"),
        (Force(name="x", kind="sensor", sensor="tilt", stiffness=1.0, rest="3 mm"), "warning", "rest", "deg"),
        (Sensor(name="x", b="c", minus="spot"), "error", "minus", "distance"),
        (Sensor(name="x", a="a", b="tip"), "hint", "b", "another"),
        (Sensor(name="x", b="c", offset="3 deg"), "warning", "offset", "mm"),
        (Constraint(name="x", sensor="speed"), "error", "sensor", "distance"),
        (Constraint(name="x", sensor="tilt", value="3 mm"), "warning", "value", "deg"),
        (Constraint(name="x", kind="gear", joint="turn", leader="pin"), "error", "leader", "angle"),
        (Constraint(name="x", kind="gear", joint="turn", leader="turn"), "error", "leader", "two joints"),
        (Constraint(name="x", kind="rod", a="a", b="tip"), "error", "b", "two bodies"),
        (Constraint(name="x", kind="rod", a="a", b="c", length="k - 10"), "error", "length", "length"),
        (Driver(name="x", joint="slide", function="30 deg"), "warning", "function", "mm"),
        (Driver(name="x", joint="slide", times=(0.0, 1.0), values=("30 deg", 0.0)), "warning", "values", "mm"),
        (Driver(name="x", joint="turn", motion="velocity", function="t"), "error", "joint", "Remove"),
        (Driver(name="x", joint="pin", function="t"), "error", "coordinate", "angle"),
        (Driver(name="x", sensor="speed", function="t"), "error", "sensor", "distance"),
        (Junction(name="x"), "warning", "guess", "line forces"),
    ],
)
def test_each_doubt_is_told_once_in_its_place(element, severity, field, hint):
    found = check(edits.add(BASE, element))
    if severity is None:
        assert found == ()
        return
    assert [(f.severity, f.collection, f.name, f.field) for f in found] == [
        (severity, edits.collection_of(element), "x", field)
    ]
    assert hint in found[0].remedy


@pytest.mark.parametrize(
    "fields",
    [
        {"function": "2*sin(t)"},
        {"function": "2*sin(t)^2"},
        {"function": "-2*sin(t)^2"},
        {"function": None, "times": (0.0, 1.0), "values": (0.0, 1.5)},
        {"function": None, "times": (0.0, 1.0), "values": (0.0, -1.5)},
    ],
    ids=["both", "above", "below", "table above", "table below"],
)
def test_drivers_beyond_limits(fields):
    """The joint's limits are −1 rad and 57°."""
    found = check(edits.change(BASE, "drivers", "swing", **fields))
    assert [(f.severity, f.name, f.field) for f in found] == [("warning", "swing", "function")]


def test_when_a_driver_leaves_limits_is_said():
    """2·sin(t) passes 57° at asin(57°/2) = 0.521 s."""
    (found,) = check(edits.change(BASE, "drivers", "swing", function="2*sin(t)"))
    assert f"from t = {math.asin(0.5 * math.radians(57.0)):.4g} s on" in found.text
    (found,) = check(edits.change(BASE, "drivers", "swing", function="1.5 + 0*t"))
    assert "from the start" in found.text


def test_drivers_within_limits_or_of_speeds():
    speed = {"motion": "velocity", "function": "2*sin(t)"}
    for fields in ({"function": "0.9*sin(t)"}, {"function": "-sin(t)^2"}, speed):
        assert check(edits.change(BASE, "drivers", "swing", **fields)) == ()


def test_a_driven_follower():
    model = edits.change(BASE, "joints", "slide", mimic=Mimic(leader="turn"))
    found = check(edits.add(model, Driver(name="x", joint="slide", function="t")))
    assert [(f.severity, f.field) for f in found] == [("error", "joint")]
    assert found[0].remedy == "Drive the leader."


def test_units_of_limits_rest_and_rows():
    def fields(model):
        return [(f.name, f.field) for f in check(model)]

    assert fields(edits.change(BASE, "joints", "slide", limits=(Limit(lower="-1 deg", upper=1.0),))) == [
        ("slide", "lower")
    ]
    assert fields(edits.change(BASE, "joints", "slide", rest=("1 deg",))) == [("slide", "rest")]
    assert fields(edits.change(BASE, "joints", "turn", limits=(Limit(lower=-1.0, upper=1.0, velocity="3 rpm"),))) == []
    assert fields(edits.change(BASE, "joints", "slide", limits=(Limit(effort="3 Nm"),))) == [("slide", "effort")]
    bounds = Limit(lower="-1 mm", upper=1.0)
    chain = DHChain(
        name="arm", rows=(DHRow(mass=1.0, limit=bounds, rest="3 mm"), DHRow(mass=1.0, limit=Limit(upper=1.0)))
    )
    assert fields(Model(chains=(chain,))) == [("arm", "rest"), ("arm", "lower")]


def test_settings_have_the_dimension_of_their_parameter():
    body = Body(name="b", mass="l", inertia=(1.0, 1.0, 1.0))
    part = Model(parameters=(Parameter(name="l", value=1.0, dimension="length"),), bodies=(body,))
    made = SubAssembly(name="s", file="f", content=part, settings=(Setting(parameter="l", value="3 deg"),))
    assert [(f.name, f.field) for f in check(Model(assemblies=(made,)))] == [("s", "value")]


def test_controllers_of_a_sub_assembly_are_reported():
    arm = Model(bodies=(Body(name="b", mass=1.0),), joints=(Joint(name="j", parent="world", child="b"),))
    arm = replace(arm, signals=(Signal(name="hold", kind="pd", joints=(ControlledJoint(joint="j"),)),))
    model = Model(assemblies=(SubAssembly(name="left", file="arm.kst", content=arm),))
    (found,) = (each for each in check(model) if each.collection == "assemblies")
    assert found.severity == "warning"
    assert "hold" in found.text


def test_sub_assemblies_without_their_file_and_with_other_gravity():
    moon = Model(world=World(gravity=Gravity(acceleration=(0.0, 0.0, -1.6))), bodies=(Body(name="b", mass=1.0),))
    model = Model(assemblies=(SubAssembly(name="a", file="f"), SubAssembly(name="m", file="f", content=moon)))
    found = [(f.severity, f.name) for f in check(model) if f.collection == "assemblies"]
    assert found == [("error", "a"), ("hint", "m")]
