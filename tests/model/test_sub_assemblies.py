"""Sub-assemblies in the document: names, formulas, settings, mounting, edits; against a machine written out by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import (
    Body,
    Box,
    DHChain,
    DHRow,
    Force,
    Frame,
    Joint,
    Material,
    Model,
    Parameter,
    Pose,
    Sensor,
    Setting,
    SubAssembly,
)
from core.model.edits import edits

LEG = Model(
    name="leg",
    parameters=(Parameter(name="l", value=0.3, minimum=0.1, maximum="2*m"), Parameter(name="m", value="2*l")),
    materials=(Material(name="red", color=(1.0, 0.0, 0.0)),),
    bodies=(
        Body(name="thigh", mass="m", center_of_mass=("l/2", 0.0, 0.0), shapes=(Box(material="red"),)),
        Body(name="shank", mass=1.0, center_of_mass=(0.1, 0.0, 0.0)),
    ),
    frames=(Frame(name="foot", parent="shank", pose=Pose(position=(0.2, 0.0, 0.0))),),
    joints=(
        Joint(name="hip", parent="world", child="thigh", axis=(0.0, 1.0, 0.0)),
        Joint(name="knee", parent="thigh", child="shank", a=Pose(position=("l", 0.0, 0.0)), axis=(0.0, 1.0, 0.0)),
    ),
    sensors=(Sensor(name="reach", b="foot"),),
    forces=(Force(name="motor", kind="joint", joint="knee", law="-m*knee.v + reach.rate + sin(t)*length + pi"),),
)
PLACE = Pose(position=(0.0, 0.5, 1.0), rotation=(0.3, -0.2, 0.7))
ROBOT = Model(
    name="robot",
    parameters=(Parameter(name="L", value=0.4),),
    bodies=(Body(name="trunk", mass=5.0),),
    joints=(Joint(name="lift", kind="prismatic", parent="world", child="trunk"),),
    assemblies=(
        SubAssembly(
            name="left",
            file="leg.kst",
            parent="trunk",
            pose=PLACE,
            content=LEG,
            settings=(Setting(parameter="l", value="L/2"),),
        ),
        SubAssembly(name="right", file="leg.kst", content=LEG),
    ),
    forces=(Force(name="tie", a="left.foot", b="right.foot", stiffness="right.l", law="left.knee*length"),),
)


def test_names_formulas_and_parameters():
    plain = ROBOT.expanded
    assert [j.name for j in plain.joints] == ["lift", "left.hip", "left.knee", "right.hip", "right.knee"]
    assert plain.find("joints", "left.hip").parent == "left.world"
    assert plain.find("joints", "right.hip").parent == "world"
    assert plain.find("frames", "left.world") == Frame(name="left.world", parent="trunk", pose=PLACE)
    law = plain.find("forces", "left.motor").law
    assert law == "-left.m*left.knee.v + left.reach.rate + sin(t)*length + pi"
    assert plain.find("sensors", "left.reach").a == "left.world"
    assert plain.find("bodies", "left.thigh").shapes[0].material == "left.red"
    assert ROBOT.values() == {"L": 0.4, "left.l": 0.2, "left.m": 0.4, "right.l": 0.3, "right.m": 0.6}
    assert plain.find("parameters", "left.l").maximum == "2*left.m"


def by_hand():
    """The robot without sub-assemblies."""
    bodies, joints = [Body(name="trunk", mass=5.0)], [ROBOT.joints[0]]
    for name, parent, pose, l in (("left", "trunk", PLACE, 0.2), ("right", "world", Pose(), 0.3)):
        bodies.append(Body(name=f"{name}_thigh", mass=2 * l, center_of_mass=(l / 2, 0.0, 0.0)))
        bodies.append(Body(name=f"{name}_shank", mass=1.0, center_of_mass=(0.1, 0.0, 0.0)))
        joints.append(Joint(name=f"{name}_hip", parent=parent, child=f"{name}_thigh", a=pose, axis=(0.0, 1.0, 0.0)))
        knee = Pose(position=(l, 0.0, 0.0))
        joints.append(
            Joint(name=f"{name}_knee", parent=f"{name}_thigh", child=f"{name}_shank", a=knee, axis=(0.0, 1.0, 0.0))
        )
    return Model(name="by hand", bodies=tuple(bodies), joints=tuple(joints))


def test_moves_as_the_same_machine_written_out():
    mech = Mechanism(
        dataclasses.replace(
            ROBOT,
            forces=(),
            assemblies=tuple(
                dataclasses.replace(a, content=dataclasses.replace(LEG, forces=())) for a in ROBOT.assemblies
            ),
        )
    )
    other = Mechanism(by_hand())
    assert mech.p_names == ("L", "right.l")
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=5), rng.normal(size=5)
    np.testing.assert_allclose(mech.mass_matrix(q), other.mass_matrix(q), atol=1e-13)
    np.testing.assert_allclose(mech.bias(q, v), other.bias(q, v), atol=1e-12)
    np.testing.assert_allclose(mech.frame(q, "left.shank"), other.frame(q, "left_shank"), atol=1e-13)
    moved = mech.frame(q, "left.shank", p={"L": 1.0}) - mech.frame(q, "left.shank")
    assert np.linalg.norm(moved[:3, 3]) == pytest.approx(0.3)  # l from 0.2 to 0.5


def test_nested_in_any_depth():
    outer = Model(
        assemblies=(
            SubAssembly(
                name="r",
                file="robot.kst",
                content=ROBOT,
                pose=PLACE,
                settings=(Setting(parameter="right.l", value=0.7),),
            ),
        )
    )
    assert outer.values()["r.right.l"] == 0.7
    assert outer.expanded.find("joints", "r.left.hip").parent == "r.left.world"
    assert outer.expanded.find("frames", "r.left.world").parent == "r.trunk"
    assert outer.expanded.find("joints", "r.right.hip").parent == "r.world"
    assert outer.expanded.find("forces", "r.tie").law == "r.left.knee*length"


def test_chains_come_along_with_the_names_they_bring():
    arm = Model(chains=(DHChain(name="arm", rows=(DHRow(a=0.3), DHRow(a=0.2))),))
    host = Model(assemblies=(SubAssembly(name="a", file="arm.csv", content=arm, pose=PLACE),))
    assert [b.name for b in host.expanded.bodies] == ["a.base", "a.link1", "a.link2"]
    R = Mechanism(host).frame(np.zeros(2), "a.tool") @ np.linalg.inv(Mechanism(host).frame(np.zeros(2), "a.world"))
    np.testing.assert_allclose(np.linalg.norm(R[:3, :3] @ R[:3, :3].T - np.eye(3)), 0.0, atol=1e-14)
    tool = np.linalg.inv(Mechanism(host).frame(np.zeros(2), "a.world")) @ Mechanism(host).frame(np.zeros(2), "a.tool")
    np.testing.assert_allclose(tool, Mechanism(arm).frame(np.zeros(2), "tool"), atol=1e-14)


def test_what_floats_begins_where_the_sub_assembly_stands():
    ball = Model(bodies=(Body(name="ball", mass=1.0),))
    host = Model(assemblies=(SubAssembly(name="b", file="ball.kst", content=ball, pose=PLACE),))
    mech = Mechanism(host)
    assert mech.q_names[0] == "b.ball.x"
    np.testing.assert_allclose(mech.frame(mech.neutral(), "b.ball")[:3, 3], (0.0, 0.5, 1.0))
    held = edits.add(host, Joint(name="grip", parent="world", child="b.ball"))
    assert Mechanism(held).q_names == ("grip",)


def test_expansion_is_not_repeated_while_a_slider_moves():
    moved = edits.change(ROBOT, "parameters", "L", value=0.5)
    assert moved.expanded.find("joints", "left.knee") is ROBOT.expanded.find("joints", "left.knee")
    assert moved.values()["left.l"] == 0.25


def test_a_parameter_of_a_sub_assembly_is_changed_by_a_setting():
    moved = edits.change(ROBOT, "parameters", "right.l", value=0.9)
    assert moved.values()["right.l"] == 0.9
    assert moved.find("assemblies", "right").settings == (Setting(parameter="l", value=0.9),)
    again = edits.change(moved, "parameters", "right.l", value=0.8)
    assert len(again.find("assemblies", "right").settings) == 1
    assert ROBOT.values()["right.l"] == 0.3


@pytest.mark.parametrize(
    ("make", "where", "hint"),
    [
        (lambda: SubAssembly(name="a", file="f", content=LEG, settings=(Setting(parameter="ll"),)), "settings", "l"),
        (lambda: SubAssembly(name="a", file="f", settings=(Setting(parameter="l"),) * 2), "settings", "Remove"),
        (lambda: SubAssembly(name="left-leg", file="f"), "name", "letters"),
        (lambda: SubAssembly(name="pi", file="f"), "name", "letters"),
        (lambda: Model(assemblies=(SubAssembly(name="a", file="f", content=LEG, parent="a.shank"),)), "parent", "Put"),
        (
            lambda: Model(
                assemblies=(
                    SubAssembly(name="a", file="f", content=LEG, parent="b.shank"),
                    SubAssembly(name="b", file="f", content=LEG, parent="a.shank"),
                )
            ),
            "parent",
            "Put",
        ),
        (
            lambda: Model(
                assemblies=(
                    SubAssembly(name="a", file="f", content=LEG, settings=(Setting(parameter="l", value="w"),)),
                )
            ),
            "value",
            "Define",
        ),
        (lambda: edits.add(ROBOT, Body(name="left.thigh")), "left.thigh", "own name"),
        (
            lambda: edits.add(ROBOT, Joint(name="j", parent="left.thing", child="trunk")),
            "joint 'j', parent",
            "left.thigh",
        ),
    ],
)
def test_contradictions_are_messages(make, where, hint):
    with pytest.raises(ModelError) as caught:
        make()
    assert where in caught.value.where
    assert hint in caught.value.remedy


def test_a_circle_of_settings_is_named():
    with pytest.raises(ModelError, match=r"a\.l → a\.m → a\.l|a\.m → a\.l → a\.m"):
        Model(
            assemblies=(SubAssembly(name="a", file="f", content=LEG, settings=(Setting(parameter="l", value="a.m"),)),)
        )


def test_files_that_multiply_are_refused(monkeypatch):
    monkeypatch.setattr("core.model.assemblies.MAX_ELEMENTS", 1000)

    def doubled(model, times):
        a, b = (SubAssembly(name=name, file="f", content=model) for name in "ab")
        return doubled(Model(assemblies=(a, b)), times - 1) if times else model

    with pytest.raises(ModelError, match="more than 1000"):
        doubled(Model(bodies=tuple(Body(name=f"b{i}") for i in range(2))), 30)


def test_renaming_a_sub_assembly_takes_everything_along_and_back():
    new = edits.rename(ROBOT, "assemblies", "left", "port")
    tie = new.find("forces", "tie")
    assert (tie.a, tie.b, tie.law, tie.stiffness) == ("port.foot", "right.foot", "port.knee*length", "right.l")
    assert edits.rename(new, "assemblies", "port", "left") == ROBOT
    other = edits.rename(ROBOT, "assemblies", "right", "x")
    assert other.find("forces", "tie").stiffness == "x.l"


def test_removing_a_sub_assembly_takes_what_hangs_on_it():
    more = edits.add(ROBOT, Body(name="tray", mass="right.m*2", shapes=(Box(material="right.red"),)))
    gone = {(c, e.name) for c, e in edits.dependents(more, "assemblies", "right")}
    assert gone == {("forces", "tie")}
    left = edits.remove(more, "assemblies", "right")
    tray = left.body("tray")
    assert left.values()["L"] == 0.4
    assert tray.mass == "0.6*2"
    assert tray.shapes[0].color == (1.0, 0.0, 0.0, 1.0)
    assert {("assemblies", "left"), ("forces", "tie"), ("joints", "lift")} <= {
        (c, e.name) for c, e in edits.dependents(ROBOT, "bodies", "trunk")
    }


def test_elements_of_a_sub_assembly_are_changed_in_their_file():
    with pytest.raises(ModelError, match="belongs to the sub-assembly 'left'") as caught:
        edits.rename(ROBOT, "joints", "left.knee", "elbow")
    assert "leg.kst" in caught.value.remedy


def test_a_copy_stands_beside_the_original():
    copied, name = edits.duplicate(ROBOT, "assemblies", "right")
    assert f"{name}.knee" in copied.expanded.index("joint")
    assert len(copied.expanded.bodies) == len(ROBOT.expanded.bodies) + 2
