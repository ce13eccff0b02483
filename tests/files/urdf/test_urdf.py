"""URDF: every kind of entry, messages with line and component, and a round trip through the writer."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from core.errors import FileError
from core.files import dumps, format_model, load, loads, read, save
from core.model import (
    Body,
    Box,
    Capsule,
    Cylinder,
    DHChain,
    DHRow,
    Inertia,
    Joint,
    Limit,
    Mesh,
    Mimic,
    Model,
    Pose,
    Sphere,
)

ARM = """\
<?xml version="1.0"?>
<robot name="arm" version="1.2">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/>
    </inertial>
    <visual name="v">
      <origin xyz="0 0 0.5" rpy="0 0.5 0"/>
      <geometry><box size="0.1 0.2 0.3"/></geometry>
      <material name="red"/>
    </visual>
    <visual><geometry><sphere radius="0.1"/></geometry><material name="g"><color rgba="0 1 0 0.5"/></material></visual>
    <collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision>
    <collision><geometry><capsule radius="0.1" length="1"/></geometry></collision>
    <visual><geometry><mesh filename="package://nowhere/a.stl" scale="0.001 0.001 0.001"/></geometry></visual>
    <sensor name="camera"><camera/></sensor>
  </link>
  <link name="lower"/>
  <link name="finger"/>
  <link name="plate"/>
  <link name="kite"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
    <parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1.5" effort="10" velocity="3"/>
    <dynamics damping="0.5" friction="0.25"/>
    <calibration rising="0.0"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/><child link="lower"/>
    <limit upper="2" effort="1" velocity="1"/>
  </joint>
  <joint name="grip" type="continuous">
    <parent link="lower"/><child link="finger"/>
    <axis xyz="0 1 0"/>
    <mimic joint="elbow" multiplier="-2" offset="0.5"/>
  </joint>
  <joint name="slide" type="planar"><parent link="base"/><child link="plate"/><axis xyz="0 0 1"/></joint>
  <joint name="fly" type="floating"><parent link="base"/><child link="kite"/></joint>
  <gazebo reference="upper"><mu1>0.5</mu1></gazebo>
</robot>
"""


def test_every_entry_is_read():
    model = loads(ARM, "urdf")
    upper = model.body("upper")
    assert [b.name for b in model.bodies] == ["base", "upper", "lower", "finger", "plate", "kite"]
    assert upper.mass == 2.0
    assert upper.center_of_mass == (0.1, 0.0, 0.0)
    box, ball, mesh, cylinder, capsule = upper.shapes
    assert box == Box(
        pose=Pose(position=(0.0, 0.0, 0.5), rotation=(0.0, 0.5, 0.0)),
        size=(0.1, 0.2, 0.3),
        role="visual",
        material="red",
    )
    assert ball == Sphere(radius=0.1, role="visual", material="g")
    assert model.find("materials", "g").color == (0.0, 1.0, 0.0, 0.5)
    assert mesh == Mesh(file="package://nowhere/a.stl", scale=(0.001, 0.001, 0.001), role="visual")
    assert cylinder == Cylinder(radius=0.1, length=1.0, role="collision")
    assert capsule == Capsule(radius=0.1, length=1.0, role="collision")
    assert model.joint("shoulder") == Joint(
        name="shoulder",
        kind="revolute",
        parent="base",
        child="upper",
        a=Pose(position=(0.0, 0.0, 1.0), rotation=(0.1, 0.2, 0.3)),
        axis=(0.0, 0.0, 1.0),
        limits=(Limit(lower=-1.0, upper=1.5, effort=10.0, velocity=3.0),),
        damping=0.5,
        friction=0.25,
    )
    assert model.joint("elbow").axis == (1.0, 0.0, 0.0)  # URDF's default
    assert model.joint("elbow").limits[0].lower == 0.0  # URDF's default
    assert model.joint("grip").mimic == Mimic(leader="elbow", ratio=-2.0, offset=0.5)
    assert (model.joint("slide").kind, model.joint("fly").kind) == ("planar", "free")
    assert model.joint("root_joint") == Joint(name="root_joint", kind="fixed", parent="world", child="base")


def test_inertia_is_turned_into_the_axes_of_the_body():
    """A quarter turn about z swaps the moments about x and y."""
    inertia = loads(ARM, "urdf").body("upper").inertia
    assert [inertia.ixx, inertia.iyy, inertia.izz] == pytest.approx([2.0, 1.0, 2.5], abs=1e-15)
    assert [inertia.ixy, inertia.ixz, inertia.iyz] == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize("rpy", [(0.3, -0.7, 1.9), (0.0, math.pi / 2, 0.4)])
def test_inertia_keeps_its_principal_moments(rpy):
    text = ARM.replace('rpy="0 0 1.5707963267948966"', f'rpy="{rpy[0]} {rpy[1]} {rpy[2]}"')
    i = loads(text, "urdf").body("upper").inertia
    tensor = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]], dtype=float)
    assert np.linalg.eigvalsh(tensor) == pytest.approx([1.0, 2.0, 2.5], rel=1e-14)


def test_floating_root_and_free_followers(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    assert load(file, floating=True).joint("root_joint").kind == "free"
    assert load(file, mimic=False).joint("grip").mimic is None


def test_unknown_tags_are_kept_and_written_back():
    model = loads(ARM, "urdf")
    kept = {(note.where, note.content) for note in model.annotations}
    assert kept == {
        ("robot", '<gazebo reference="upper"><mu1>0.5</mu1></gazebo>'),
        ("link upper", '<sensor name="camera"><camera/></sensor>'),
        ("joint shoulder", '<calibration rising="0.0"/>'),
    }
    assert loads(dumps(model, "urdf"), "urdf").annotations == model.annotations


def test_round_trip_is_exact():
    model = loads(ARM, "urdf")
    text = dumps(model, "urdf")
    assert loads(text, "urdf") == model
    assert dumps(loads(text, "urdf"), "urdf") == text


def test_a_link_called_world_is_the_ground():
    text = """<robot name="r"><link name="world"/><link name="a"/><joint name="j" type="fixed"><parent link="world"/>
    <child link="a"/></joint></robot>"""
    model = loads(text, "urdf")
    assert [body.name for body in model.bodies] == ["a"]
    assert model.joint("j").parent == "world"
    assert len(model.joints) == 1
    drawn = text.replace(
        '<link name="world"/>', '<link name="world"><visual><geometry><sphere radius="1"/></geometry></visual></link>'
    )
    model = loads(drawn, "urdf")
    assert [body.name for body in model.bodies] == ["world_link", "a"]
    assert model.joint("root_joint").child == "world_link"
    assert model.joint("j").parent == "world"


def test_a_floating_link_called_world_is_a_body_like_any_other_root(tmp_path):
    text = """<robot name="r"><link name="world"/><link name="a"/><joint name="j" type="fixed"><parent link="world"/>
    <child link="a"/></joint></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    model = load(tmp_path / "r.urdf", floating=True)
    assert [body.name for body in model.bodies] == ["world_link", "a"]
    root = model.joint("root_joint")
    assert (root.kind, root.parent, root.child) == ("free", "world", "world_link")
    assert model.joint("j").parent == "world_link"


PARENT = '<parent link="base"/><child link="upper"/>'
MISTAKES = [
    (PARENT, '<parent link="bass"/><child link="upper"/>', '"bass"', "joint 'shoulder', parent", "no link 'bass'"),
    (PARENT, '<parent link="base"/>', 'name="shoulder"', "joint 'shoulder'", "no <child>"),
    ('xyz="0 0 1" rpy', 'xyz="0 0" rpy', 'xyz="0 0" rpy', "joint 'shoulder'", "2 numbers instead of 3"),
    ('xyz="0 0 1" rpy', 'xyz="0 0 1,5" rpy', "1,5", "joint 'shoulder', xyz", "comma"),
    ('xyz="0 0 1" rpy', 'xyz="0 0 1e400" rpy', "1e400", "joint 'shoulder', xyz", "not a number"),
    ('xyz="0 0 1" rpy', 'xyz="0 0 nan" rpy', "nan", "joint 'shoulder', xyz", "'nan' in xyz"),
    ('xyz="0 0 1" rpy', 'xyz="0 0 0x1" rpy', "0x1", "joint 'shoulder', xyz", "'0x1' in xyz"),
    ('type="revolute"', 'type="revolting"', "revolting", "joint 'shoulder', type", "revolute"),
    ('<link name="lower"/>', '<link name="base" />', '<link name="base" />', "link 'base'", "twice (first in line 4)"),
    ('<link name="lower"/>', '<link name="lower"/><link name="lost"/>', '"lost"', "robot", "'base', 'lost'"),
    ('<link name="lower"/>', "<link/>", "<link/>", "link", "no 'name'"),
    ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', 'xyz="0 0 0"', "joint 'grip', axis", "length zero"),
    ('name="grip"', 'name="elbow"', 'name="elbow" type="continuous"', "joint 'elbow'", "used twice"),
    ('<mimic joint="elbow"', '<mimic joint="grip"', 'name="grip"', "joint 'grip', mimic", "grip → grip"),
    ('<mass value="2"/>', "<mass/>", "<mass/>", "link 'upper', inertial", "no 'value'"),
    (
        '<cylinder radius="0.1" length="1"/>',
        '<cylinder radius="0.1"/>',
        "<cylinder",
        "link 'upper', collision",
        "no 'length'",
    ),
    ("<robot", "<!DOCTYPE r [<!ENTITY a 'b'>]><robot", "ENTITY", "", "entities"),
]


@pytest.mark.parametrize(("old", "new", "at", "where", "hint"), MISTAKES, ids=[m[4] for m in MISTAKES])
def test_messages_name_line_and_component(old, new, at, where, hint):
    assert old in ARM
    text = ARM.replace(old, new, 1)
    with pytest.raises(FileError) as caught:
        loads(text, "urdf", "arm.urdf")
    error = caught.value
    assert hint in str(error)
    assert error.where == where
    assert error.line == 1 + next(n for n, line in enumerate(text.splitlines()) if at in line)
    assert error.file == "arm.urdf"
    assert error.remedy


def test_xml_that_breaks_off_is_named():
    with pytest.raises(FileError, match="well-formed") as caught:
        loads(ARM.replace("</robot>", ""), "urdf", "arm.urdf")
    assert caught.value.line is not None


def test_two_parents_and_circles_are_named():
    links = "".join(f'<link name="{n}"/>' for n in "abc")

    def joint(name, parent, child):
        return f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'

    two = f"<robot name='r'>{links}{joint('i', 'a', 'c')}{joint('j', 'b', 'c')}</robot>"
    with pytest.raises(FileError, match="'c' is already the child of joint 'i'"):
        loads(two, "urdf")
    circle = f"<robot name='r'>{links}{joint('i', 'a', 'b')}{joint('j', 'b', 'a')}</robot>"
    with pytest.raises(FileError, match=r"a → b → a|b → a → b"):
        loads(circle, "urdf")


def test_recoverable_trouble_is_a_finding_with_its_line(tmp_path):
    file = tmp_path / "arm.urdf"
    text = ARM.replace('    <limit lower="-1" upper="1.5" effort="10" velocity="3"/>\n', "")
    text = text.replace('<material name="red"/>', '<material name="blue"/>')
    file.write_text(text)

    def line(mark):
        return 1 + next(n for n, line in enumerate(text.splitlines()) if mark in line)

    findings = {(f.name, f.field, f.line): f.text for f in read(file).findings}
    assert "no material 'blue'" in findings[("upper", "shapes", line("blue"))]
    assert "package://nowhere/a.stl" in findings[("upper", "shapes", line("a.stl"))]
    assert "needs a <limit>" in findings[("shoulder", "limits", line('"shoulder"'))]
    assert all(f.file == str(file) for f in read(file).findings)


def test_odd_names_are_changed_and_told():
    text = ARM.replace('"lower"', '"1 lower link!"')
    model = loads(text, "urdf")
    assert [b.name for b in model.bodies][2] == "_1_lower_link"
    assert model.joint("elbow").child == "_1_lower_link"


def test_numbers_may_be_padded_and_limits_infinite():
    model = loads(ARM.replace('lower="-1" upper="1.5"', 'lower=" -inf " upper=" 1.5e0 "'), "urdf")
    assert model.joint("shoulder").limits[0].lower is None
    assert model.joint("shoulder").limits[0].upper == 1.5


def test_undeclared_prefix_is_tolerated():
    model = loads(ARM.replace("<gazebo ", "<gz:gazebo ").replace("</gazebo>", "</gz:gazebo>"), "urdf")
    assert len(model.bodies) == 6


def test_other_encodings_are_read(tmp_path):
    text = ARM.replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="{}"?>').replace('"arm"', '"bräs"')
    for encoding in ("utf-8", "iso-8859-1", "utf-16"):
        file = tmp_path / f"{encoding}.urdf"
        file.write_bytes(text.format(encoding).encode(encoding))
        assert load(file).name == "bräs"


BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "lol">{}]>
<robot name="&z;"><link name="b"/></robot>""".format(
    "".join(
        f'<!ENTITY {b} "{"&" + a + ";" * 1}{("&" + a + ";") * 9}">'
        for a, b in zip("abcdefghy", "bcdefghyz", strict=True)
    )
)
EXTERNAL = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><link name="a">&x;</link></robot>'
EXTERNAL_DTD = '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot name="r"><link name="a"/></robot>'


@pytest.mark.parametrize("text", [BOMB, EXTERNAL], ids=["bomb", "external"])
def test_entities_are_refused(text):
    with pytest.raises(FileError, match="entities"):
        loads(text, "urdf")


def test_external_definitions_are_not_opened():
    assert loads(EXTERNAL_DTD, "urdf").name == "r"


def test_deep_nesting_is_refused():
    deep = "<a>" * 5000 + "</a>" * 5000
    with pytest.raises(FileError):
        loads(f"<robot name='r'><link name='l'/>{deep}</robot>", "urdf")


# ------------------------------------------------------------------------------------- writing


def test_unbounded_joints_are_unbounded_for_others_too():
    """A revolute joint without <limit lower upper> would be locked at 0 by other readers."""
    joints = (
        Joint(name="root_joint", kind="fixed", parent="world", child="a"),
        Joint(name="j", parent="a", child="b"),
    )
    model = Model(bodies=(Body(name="a"), Body(name="b")), joints=joints)
    text = dumps(model, "urdf")
    assert 'lower="-1000000000" upper="1000000000"' in text
    assert loads(text, "urdf") == model


def test_what_urdf_cannot_hold_is_said():
    model = Model(
        bodies=(Body(name="a", mass=1.0), Body(name="b", mass=1.0, density=5.0)),
        joints=(Joint(name="j", parent="a", child="b", stiffness=2.0, rest=(0.5,)),),
    )
    texts = " ".join(str(finding) for finding in format_model(model, "urdf").findings)
    for word in ("springs", "rest positions", "densities", "floating"):
        assert word in texts


@pytest.mark.parametrize("count", [1, 3])
def test_limits_of_planar_joints_are_not_written_and_not_read(count):
    """URDF's <limit> bounds one coordinate, a planar joint has three."""
    bodies, bounds = (Body(name="base"), Body(name="plate")), Limit(lower=-0.1, upper=0.2)
    slide = Joint(name="slide", kind="planar", parent="base", child="plate", limits=(bounds,) * count)
    written = format_model(Model(bodies=bodies, joints=(slide,)), "urdf")
    assert "<limit" not in written.text
    assert "limits of joints with several coordinates" in " ".join(str(finding) for finding in written.findings)
    assert loads(written.text, "urdf").joint("slide").limits == ()
    bounded = written.text.replace("<axis", '<limit lower="-0.1" upper="0.2" effort="1" velocity="1"/>\n    <axis')
    assert "<limit" in bounded
    assert loads(bounded, "urdf").joint("slide").limits == ()


def test_mass_from_a_density_is_written_as_numbers():
    """A cylinder along x, m = ρ π r² l, and Steiner's part of a ball beside it."""
    rod = Cylinder(radius=0.1, length=0.5, pose=Pose(position=(0.25, 0.0, 0.0), rotation=(0.0, math.pi / 2.0, 0.0)))
    ghost = Box(size=(1.0, 1.0, 1.0), role="collision")
    ball = Sphere(radius=0.2, pose=Pose(position=(0.0, 0.3, 0.0)))
    body = Body(name="a", density=800.0, shapes=(rod, ghost, ball))
    (again,) = loads(dumps(Model(bodies=(body,)), "urdf"), "urdf").bodies
    m, n = 800.0 * math.pi * 0.1**2 * 0.5, 800.0 * 4.0 / 3.0 * math.pi * 0.2**3
    center = np.array([0.25 * m, 0.3 * n, 0.0]) / (m + n)
    assert again.mass == pytest.approx(m + n)
    np.testing.assert_allclose(again.center_of_mass, center, atol=1e-12)
    own, r, s = 0.4 * n * 0.2**2, np.array([0.25, 0.0, 0.0]) - center, np.array([0.0, 0.3, 0.0]) - center
    across = m * (3.0 * 0.1**2 + 0.5**2) / 12.0
    assert again.inertia.ixx == pytest.approx(m * 0.1**2 / 2.0 + own + m * r[1] ** 2 + n * s[1] ** 2)
    assert again.inertia.izz == pytest.approx(across + own + m * (r @ r) + n * (s @ s))
    assert again.inertia.ixy == pytest.approx(-m * r[0] * r[1] - n * s[0] * s[1])
    lost = Body(name="a", density=800.0, shapes=(Mesh(file="nowhere.stl"),))
    (finding, *_) = format_model(Model(bodies=(lost,)), "urdf").findings
    assert "mass is left out" in finding.text
    assert "nowhere.stl" in finding.text


def test_loops_and_joints_urdf_lacks_are_refused():
    bodies = (Body(name="a"), Body(name="b"))
    loop = Model(
        bodies=bodies,
        joints=(
            Joint(name="i", parent="world", child="a"),
            Joint(name="k", parent="a", child="b"),
            Joint(name="j", parent="b", child="a"),
        ),
    )
    with pytest.raises(FileError, match="trees") as caught:
        dumps(loop, "urdf")
    assert caught.value.where == "joint 'j'"
    screw = Model(bodies=bodies, joints=(Joint(name="i", parent="a", child="b", kind="screw"),))
    with pytest.raises(FileError, match="no screw joint"):
        dumps(screw, "urdf")


def test_meshes_are_found_after_saving_elsewhere(tmp_path):
    near, far = tmp_path / "a", tmp_path / "b" / "c"
    near.mkdir()
    far.mkdir(parents=True)
    (near / "part.stl").write_bytes(b"solid\nendsolid\n")
    file = near / "m.kst"
    file.write_text("kinetostat: 1\nbodies:\n  b:\n    shapes:\n      - mesh: {file: part.stl}\n")
    model = load(file)
    findings = save(model, far / "m.kst")
    assert "paths from the new folder" in findings[0].text
    assert read(far / "m.kst").findings == ()
    assert load(far / "m.kst").body("b").shapes[0].file == "../../a/part.stl"
    assert save(model, near / "n.kst") == ()
    assert load(near / "n.kst") == model


# ------------------------------------------------------------------------------------- Xacro

XACRO = """<?xml version="1.0"?>
<robot name="pair" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="length" value="0.5"/>
  <xacro:macro name="bar" params="name"><link name="${name}"><visual><geometry>
    <box size="${2*length} 0.1 0.1"/></geometry></visual></link></xacro:macro>
  <xacro:bar name="a"/>
</robot>
"""


def test_xacro_is_expanded(tmp_path):
    pytest.importorskip("xacrodoc")
    file = tmp_path / "pair.urdf.xacro"
    file.write_text(XACRO)
    assert load(file).body("a").shapes[0].size == (1.0, 0.1, 0.1)
    unsuffixed = tmp_path / "pair.txt"
    unsuffixed.write_text(XACRO)
    assert load(unsuffixed).body("a").shapes[0].size == (1.0, 0.1, 0.1)


def test_broken_xacro_is_a_message(tmp_path):
    pytest.importorskip("xacrodoc")
    file = tmp_path / "pair.xacro"
    file.write_text(XACRO.replace("2*length", "2*width"))
    with pytest.raises(FileError, match="width"):
        load(file)
    file.write_text(XACRO.replace("2*length", "9**9**9**9"))
    with pytest.raises(FileError, match="integer of more than"):
        load(file)


def test_without_the_library_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    file = tmp_path / "pair.xacro"
    file.write_text(XACRO)
    with pytest.raises(FileError, match=re.escape("kinetostat[xacro]")):
        load(file)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_dh_chains_become_urdf_with_the_same_tool_pose_and_mass(convention):
    """Poses of all links from the text itself, at random joint positions, against the textbook's product."""
    rng = np.random.default_rng(1)
    kinds = ("revolute", "prismatic", "revolute")
    rows = tuple(
        DHRow(
            kind=kind,
            a=a,
            alpha=alpha,
            d=d,
            theta=theta,
            mass=1.0,
            center_of_mass=(0.1, 0.2, 0.3),
            inertia=Inertia(ixx=1.0, iyy=2.0, izz=2.5, ixy=0.1),
        )
        for kind, (a, alpha, d, theta) in zip(kinds, rng.uniform(-1, 1, (3, 4)), strict=True)
    )
    model = Model(chains=(DHChain(name="arm", convention=convention, rows=rows),))
    again = loads(dumps(model, "urdf"), "urdf")
    q = dict(zip(("joint1", "joint2", "joint3"), rng.uniform(-1, 1, 3), strict=True))
    ours, theirs = _world(model, q), _world(again, q)
    assert theirs["tool"] == pytest.approx(ours["tool"], abs=1e-12)
    for name in ("link1", "link2", "link3"):
        where = [
            pose[:3, :3] @ machine.body(name).center_of_mass + pose[:3, 3]
            for machine, pose in ((model, ours[name]), (again, theirs[name]))
        ]
        assert where[1] == pytest.approx(where[0], abs=1e-12)
        turned = [
            pose[:3, :3] @ _tensor(machine.body(name)) @ pose[:3, :3].T
            for machine, pose in ((model, ours[name]), (again, theirs[name]))
        ]
        assert turned[1] == pytest.approx(turned[0], abs=1e-12)


def _tensor(body):
    i = body.inertia
    return np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]], dtype=float)


def _placed(position, rotation):
    x, y, z = rotation
    pose = np.eye(4)
    turns = [
        np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]),
        np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]]),
        np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]]),
    ]
    pose[:3, :3] = turns[2] @ turns[1] @ turns[0]
    pose[:3, 3] = position
    return pose


def _world(model, q):
    """world ← body and frame, joints turning or sliding along z."""
    model = model.expanded
    poses = {"world": np.eye(4)}
    for joint in model.joints:
        x = q.get(joint.name, 0.0)
        motion = _placed((0, 0, x), (0, 0, 0)) if joint.kind == "prismatic" else _placed((0, 0, 0), (0, 0, x))
        b = np.linalg.inv(_placed(joint.b.position, joint.b.rotation))
        poses[joint.child] = poses[joint.parent] @ _placed(joint.a.position, joint.a.rotation) @ motion @ b
    for frame in model.frames:
        poses[frame.name] = poses[frame.parent] @ _placed(frame.pose.position, frame.pose.rotation)
    return poses


def test_names_that_begin_with_digits_are_kept():
    """As of real grippers and four-bars; only formulas cannot use them."""
    links = "".join(f'<link name="{name}"/>' for name in ("0base", "2f_85"))
    joint = '<joint name="4bar" type="continuous"><parent link="0base"/><child link="2f_85"/></joint>'
    model = loads(f'<robot name="r">{links}{joint}</robot>', "urdf")
    assert [body.name for body in model.bodies] == ["0base", "2f_85"]
    assert "4bar" in [each.name for each in model.joints]
    assert loads(dumps(model, "kst")).bodies == model.bodies


def test_what_urdf_cannot_say_of_friction_and_stops_is_told():
    def written(**fields):
        body = Body(name="arm", mass=1.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
        joint = Joint(name="pin", kind="revolute", parent="world", child="arm", **fields)
        return format_model(Model(name="m", bodies=(body,), joints=(joint,)), "urdf")

    plain = written(friction=2.0, damping=1.0, limits=(Limit(lower=-1.0, upper=1.0, effort=3.0, velocity=4.0),))
    assert not [finding for finding in plain.findings if finding.severity == "warning"]
    assert 'friction="2"' in plain.text
    more = written(
        friction=2.0,
        static_friction=3.0,
        stribeck_speed=0.1,
        limits=(Limit(lower=-1.0, upper=1.0, stop="rigid", restitution=0.5),),
    )
    told = " ".join(finding.text for finding in more.findings)
    for words in ("static friction (", "Stribeck speeds of pin", "stiffness and damping of the stops of pin"):
        assert words in told


BALL = '<visual><geometry><sphere radius="1"/></geometry><material name="{}">{}</material></visual>'
PAINT = '<color rgba="{}"/>'
SHADES = {
    "shared twice": (f'<material name="a">{PAINT.format("1 0 0 1")}</material>\n' * 2, "", "warning", "defined twice"),
    "shared without colour": ('\n<material name="a"/>', "", "warning", "neither colour nor texture"),
    "of another colour in a link": (
        f'<material name="a">{PAINT.format("1 0 0 1")}</material>\n',
        BALL.format("a", PAINT.format("0 1 0 1")),
        "hint",
        "The colour of the material 'a'",
    ),
    "of another texture in a link": (
        "<!-- -->\n",
        BALL.format("a", '<texture filename="a.png"/>') + BALL.format("a", '<texture filename="b.png"/>'),
        "hint",
        "The texture of the material 'a'",
    ),
    "misspelt": (
        f'<material name="abcd">{PAINT.format("1 0 0 1")}</material>\n',
        BALL.format("abdc", ""),
        "warning",
        "no material 'abdc'",
    ),
}


@pytest.mark.parametrize(("shared", "visuals", "severity", "text"), SHADES.values(), ids=SHADES)
def test_materials_that_ros_rejects_or_shows_otherwise_are_reported(tmp_path, shared, visuals, severity, text):
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r">{shared}<link name="l">{visuals}</link></robot>')
    (found,) = [each for each in read(path).findings if "material" in each.text]
    assert (found.severity, found.line) == (severity, 2)
    assert text in found.text
    assert "abcd" in found.remedy or text != "no material 'abdc'"


def test_one_material_in_several_links_is_no_finding(tmp_path):
    path = tmp_path / "r.urdf"
    ball = BALL.format("a", PAINT.format("1 0 0 1"))
    path.write_text(f'<robot name="r"><link name="l">{ball}{ball}{BALL.format("a", "")}</link></robot>')
    assert not [each for each in read(path).findings if "material" in each.text]
