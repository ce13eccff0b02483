"""What a URDF says that is not read: warnings with line and near miss where it may change the motion, else one hint."""

from __future__ import annotations

import pytest

import kinetostat as ks
from core.files import read
from core.files.urdf.writer import write_urdf

MASS = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{}}"><inertial>{MASS}</inertial>{{}}</link>'
JOINT = '<joint name="{}" type="{}"><parent link="base"/><child link="{}"/><axis xyz="0 0 1"/>{}</joint>'


GEARED = '<transmission name="t"><type>x</type><joint name="{}"><role>1</role></joint></transmission>'


def robot(joint: str = "", link: str = "", rest: str = "", head: str = "", kind: str = "continuous") -> str:
    links = '<link name="base"/>' + LINK.format("a", link) + LINK.format("b", "")
    joints = JOINT.format("j", kind, "a", "") + JOINT.format("k", "continuous", "b", joint)
    return f'<robot name="r" {head}>\n{links}\n{joints}\n{rest}</robot>'


def findings(folder, text):
    (folder / "r.urdf").write_text(text)
    return read(folder / "r.urdf").findings


WARNED = {
    "element of a joint": (robot('<orgin xyz="1 2 3"/>'), "<orgin>", "origin"),
    "attribute of a pose": (robot('<origin xzy="1 2 3"/>'), "'xzy'", "xyz"),
    "element of a link": (robot(link="<inertail/>"), "<inertail>", "inertial"),
    "mass outside its place": (robot(link='<mass value="2"/>'), "<mass>", "<inertial>"),
    "missing moment": (robot().replace('iyy="1"', ""), "'iyy'", "Add iyy"),
    "no moments": (robot().replace("<inertia ", "<inerta ", 1), "<inertia>", "<inertia"),
    "text in place of attributes": (robot("<origin>1 2 3</origin>"), "Text inside <origin>", "attributes"),
    "loop": (robot(rest='<loop_joint name="l" type="revolute"/>'), "<loop_joint>", "joint"),
    "loop of Gazebo": (robot(rest='<gazebo><joint name="l" type="revolute"/></gazebo>'), "'l'", "joints"),
    "element of Drake": (robot(rest='<d:ball_constraint xmlns:d="x"/>'), "d:ball_constraint", ""),
    "rotor": (
        robot(
            rest='<transmission name="t"><joint name="k"/><actuator name="m"><motorInertia>1</motorInertia></actuator>'
            "</transmission>"
        ),
        "motorInertia",
        "armature",
    ),
    "transmission to another joint": (robot(rest=GEARED.format("kk")), "'kk'", "Did you mean k"),
    "transmission to a joint without name": (robot(rest=GEARED.format("")), "without a name", "k"),
    "transmission to nothing": (
        robot(rest='<transmission name="t"><type>x</type></transmission>'),
        "no <joint>",
        "joint",
    ),
    "misspelt part of a transmission": (
        robot(rest=GEARED.format("k").replace("</trans", "<mechanicalReducton>9</mechanicalReducton></trans")),
        "<mechanicalReducton>",
        "mechanicalReduction",
    ),
    "empty number": (robot('<dynamics damping=""/>'), "'damping' of <dynamics> is empty", "remove"),
    "empty pose": (robot('<origin rpy=" "/>'), "'rpy' of <origin> is empty", "remove"),
    "number of what is only kept": (robot('<calibration rising="1,5"/>'), "“1,5”, is not a number", "0.5"),
    "rotation given twice": (
        robot('<origin quat_xyzw="0 0 1 1" rpy="0 0 1"/>', head='version="1.1"'),
        "both quat_xyzw and rpy",
        "one of them",
    ),
    "robot without a name": (robot().replace('name="r"', ""), "<robot> has no 'name'", "name"),
    "quaternion before 1.1": (robot('<origin quat_xyzw="0 0 1 1"/>'), "quat_xyzw", "1.1"),
    "follower of a fixed joint": (robot('<mimic joint="j"/>', kind="fixed"), "mimic", "one coordinate"),
    "follower of a planar joint": (robot('<mimic joint="j"/>', kind="planar"), "mimic", "one coordinate"),
}


@pytest.mark.parametrize("case", WARNED)
def test_what_may_change_the_motion_is_a_warning(tmp_path, case):
    text, words, remedy = WARNED[case]
    found = [each for each in findings(tmp_path, text) if words in each.text]
    assert [each.severity for each in found] == ["warning"]
    assert remedy in found[0].remedy
    assert found[0].line


@pytest.mark.parametrize(
    "text",
    [
        robot(),
        robot('<origin quat_xyzw="0 0 1 1"/>', head='version="1.1"'),
        robot(link='<collision><geometry><box size="1 1 1"/></geometry></collision>'),
    ],
)
def test_what_robots_of_ros_say_is_no_finding(tmp_path, text):
    assert findings(tmp_path, text) == ()


def test_what_is_kept_without_effect_is_one_hint(tmp_path):
    kept = GEARED.format("k") + '<gazebo reference="a"><mu1>1</mu1></gazebo><gazebo/>'
    (found,) = findings(tmp_path, robot('<safety_controller k_velocity="1"/>', rest=kept))
    assert found.severity == "hint"
    assert all(word in found.text for word in ("<transmission>", "<gazebo> (2 times)", "<safety_controller>"))


def test_bounds_of_a_continuous_joint_are_told_as_left_out(tmp_path):
    (found,) = findings(tmp_path, robot('<limit lower="-1" upper="1" effort="1" velocity="1"/>'))
    assert (found.severity, found.name) == ("hint", "k")
    assert "no bounds" in found.text


def test_limits_of_planned_motions_are_read_and_written(tmp_path):
    limit = '<limit effort="4" velocity="5" acceleration="6" deceleration="7" jerk="8"/>'
    (tmp_path / "r.urdf").write_text(robot(limit, head='version="1.2"'))
    model = read(tmp_path / "r.urdf").model
    (found,) = model.joint("k").limits
    assert (found.acceleration, found.deceleration, found.jerk) == (6.0, 7.0, 8.0)
    written = write_urdf(model)
    assert 'version="1.2"' in written.text
    (tmp_path / "back.urdf").write_text(written.text)
    assert read(tmp_path / "back.urdf").model.joint("k").limits == (found,)


def test_other_words_are_one_hint(tmp_path):
    text = robot(link="<heat/>", rest='<paint/><paint/><x:glow xmlns:x="y"/>', head='author="me"')
    (found,) = findings(tmp_path, text)
    assert found.severity == "hint"
    assert all(word in found.text for word in ("<heat>", "<paint> (2 times)", "<x:glow>", "'author'"))


def test_a_largest_speed_or_force_of_minus_one_is_none(tmp_path):
    joint = '<limit lower="-1" upper="1" effort="-1" velocity="-1"/>'
    (tmp_path / "r.urdf").write_text(robot(joint).replace('"k" type="continuous"', '"k" type="revolute"'))
    (limit,) = read(tmp_path / "r.urdf").model.joint("k").limits
    assert (limit.lower, limit.upper, limit.effort, limit.velocity) == (-1.0, 1.0, None, None)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<axis xyz='0 0 1'/>", "<axis/>", "no 'xyz'"),
        ("<box size='1 1 1'/>", "<box size='1 1 1'/><sphere radius='1'/>", "2 shapes in one"),
    ],
)
def test_what_readers_of_ros_refuse_or_leave_out_is_a_warning(tmp_path, old, new, told):
    shape = "<visual><geometry><box size='1 1 1'/></geometry></visual>"
    text = f"<robot name='r'><link name='a'>{shape}</link><link name='b'/><joint name='j' type='continuous'>"
    text += "<parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>"
    found = []
    for each in (text, text.replace(old, new)):
        (tmp_path / "r.urdf").write_text(each)
        found.append([finding for finding in read(tmp_path / "r.urdf").findings if told in finding.text])
    assert found[0] == []
    assert [finding.severity for finding in found[1]] == ["warning"]


def test_what_urdf_cannot_hold_is_told_with_the_names_of_its_joints(tmp_path):
    bodies = tuple(ks.Body(name=f"b{k}", mass=1.0, inertia=ks.Inertia(ixx=1.0, iyy=1.0, izz=1.0)) for k in range(12))
    joints = tuple(
        ks.Joint(name=f"j{k}", parent="world", child=f"b{k}", axis=(0, 1, 0), stiffness=2.0, armature=float(k == 5))
        for k in range(12)
    )
    findings = ks.save(ks.Model(name="m", bodies=bodies, joints=joints), tmp_path / "m.urdf")
    told = " ".join(finding.text for finding in findings if finding.severity == "warning")
    assert "springs of j0, j1, j2, j3, j4, j5, j6, j7 and 4 more" in told
    assert "rotor inertias of j5." in told
