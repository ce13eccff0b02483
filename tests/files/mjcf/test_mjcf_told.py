"""What the reader of MJCF tells: included files by their own names and lines, what is left out with its consequence;
and legal files that are not refused."""

from __future__ import annotations

import pytest

from core.errors import FileError
from core.files import load, loads, read
from core.files.formats import detect_format
from core.files.source import source_from_text

BALL = '<geom size="0.1" mass="1"/>'


def machine(inner: str, rest: str = "") -> str:
    return f"<mujoco>\n<worldbody>{inner}</worldbody>{rest}</mujoco>"


def findings_of(folder, text):
    (folder / "machine.xml").write_text(text)
    return read(folder / "machine.xml").findings


def test_messages_name_the_included_file_with_its_own_line(tmp_path):
    (tmp_path / "main.xml").write_text('<mujoco>\n\n\n\n<include file="arm.xml"/></mujoco>')
    arm = tmp_path / "arm.xml"
    arm.write_text("<mujoco>\n<worldbody>\n<body>\n<frame><joint axis='0 0 0'/></frame></body></worldbody></mujoco>")
    with pytest.raises(FileError, match="length zero") as caught:
        load(tmp_path / "main.xml")
    assert (caught.value.file, caught.value.line) == (str(arm), 4)
    arm.write_text("<mujoco>\n<worldbody>\n<body>\n\n<geom type='hfield'/></body></worldbody></mujoco>")
    (finding,) = [each for each in read(tmp_path / "main.xml").findings if "hfield" in each.text]
    assert (finding.file, finding.line) == (str(arm), 5)


def test_includes_count_from_the_main_file_and_once(tmp_path):
    inner = tmp_path / "parts"
    inner.mkdir()
    (tmp_path / "main.xml").write_text('<mujoco><include file="parts/arm.xml"/></mujoco>')
    (inner / "arm.xml").write_text('<mujoco><worldbody><include file="hand.xml"/></worldbody></mujoco>')
    (inner / "hand.xml").write_text(f'<mujoco><body name="beside">{BALL}</body></mujoco>')
    assert [body.name for body in load(tmp_path / "main.xml").bodies] == ["beside"]
    (tmp_path / "hand.xml").write_text(f'<mujoco><body name="main">{BALL}</body></mujoco>')
    assert [body.name for body in load(tmp_path / "main.xml").bodies] == ["main"]
    twice = '<include file="hand.xml"/>' * 2
    (inner / "arm.xml").write_text(f"<mujoco><worldbody>{twice}</worldbody></mujoco>")
    with pytest.raises(FileError, match="included twice"):
        load(tmp_path / "main.xml")


@pytest.mark.parametrize(
    ("text", "words", "severity"),
    [
        (machine(f"<body><joint/>{BALL}</body><body><joint/>{BALL}</body>"), "2 geoms can collide", "warning"),
        (machine("", "<keyframe><key/><key/><key/></keyframe>"), "3 keyframes are left out", "warning"),
        (
            machine("", "<actuator><motor joint='j'/></actuator>"),
            "1 actuators",
            "warning",
        ),
        (machine(f"<body><joint type='ball' range='0 30'/>{BALL}</body>"), "1 ball joints", "warning"),
        (machine(f"<body><joint range='0 30' margin='0.1'/>{BALL}</body>"), "1 joints have stops", "warning"),
        (
            machine(
                f"<body><joint name='j'/>{BALL}</body>",
                "<tendon><fixed range='0 1'><joint joint='j' coef='1'/></fixed></tendon>",
            ),
            "1 tendons lose their limits",
            "warning",
        ),
        (
            machine(
                "<site name='w'/>" + f"<body><joint/>{BALL}<site name='{{}}' pos='1 0 0'/></body>" * 2,
                "<tendon><spatial armature='1'><site site='s'/><site site='u'/></spatial></tendon>",
            ).format("s", "u"),
            "couples different branches of the tree",
            "warning",
        ),
        (machine("", "<deformable><flex/></deformable>"), "1 deformable bodies", "warning"),
        (machine("", "<sensor><clock/></sensor>"), "1 sensors are left out", "hint"),
        (machine(f"<body>{BALL}<site name='b'/></body><body name='b'/>"), "'b_site'", "hint"),
        (machine(f"<body><freejoint align='true'/>{BALL}</body>"), "not of its principal axes", "warning"),
        (machine("<body><geom type='mesh' mesh='none'/></body>"), "no mesh 'none'", "warning"),
    ],
)
def test_what_is_left_out_is_counted_and_told_once(tmp_path, text, words, severity):
    found = [each for each in findings_of(tmp_path, text) if words in each.text]
    assert [each.severity for each in found] == [severity]


def test_what_is_switched_off_is_not_told(tmp_path):
    text = machine(
        f"<body><joint name='j' range='0 1' margin='1'/>{BALL}</body><body>{BALL}</body>",
        "<option><flag contact='disable' limit='disable' actuation='disable'/></option>"
        "<actuator><motor joint='j'/></actuator>",
    )
    assert findings_of(tmp_path, text) == ()


def test_a_joint_coupled_to_nothing_stands_still(tmp_path):
    equality = "<equality><joint joint1='j' polycoef='0.3 0 0 0 0'/></equality>"
    model = loads(machine(f"<body><joint name='j' ref='10'/>{BALL}</body>", equality), "mjcf")
    assert model.drivers[0].joint == "j"
    assert model.drivers[0].function == pytest.approx(0.3 + 10.0 * 3.141592653589793 / 180.0)


def test_a_stray_end_tag_is_told_and_nothing_more(tmp_path):
    (finding,) = findings_of(tmp_path, machine(f"<body>{BALL}</body>") + "\n</body>")
    assert finding.severity == "warning"
    assert "stray end tag" in finding.text
    assert finding.line == 3


def test_attributes_on_lines_of_their_own_make_no_robotica_file(tmp_path):
    text = '<mujoco><worldbody><flexcomp\n  dof="trilinear"\n  name="f"/></worldbody></mujoco>'
    for name in ("machine.xml", "machine.txt"):
        assert detect_format(source_from_text(text, str(tmp_path / name))).id == "mjcf"
    assert detect_format(source_from_text("A robot\nDOF=1\n", str(tmp_path / "arm.txt"))).id == "robotica"


LINK = '<robot name="r"{}><link name="a">{}</link></robot>'
SHAPE = '<visual><geometry><mesh filename="a.stl" scale="1 2 3 1"/></geometry></visual>'


@pytest.mark.parametrize(
    "text",
    [
        LINK.format(' version="0.0"', ""),
        "\n<!-- first -->\n" + '<?xml version="1.0"?>' + LINK.format("", ""),
        LINK.format(' xmlns="http://example.org/robots"', ""),
        LINK.format("", SHAPE),
    ],
    ids=["version 0.0", "late declaration", "default namespace", "scale of four numbers"],
)
def test_urdf_files_that_others_read_are_read(text):
    (body,) = loads(text, "urdf").bodies
    assert body.name == "a"
    assert [shape.scale for shape in body.shapes] == ([(1.0, 2.0, 3.0)] if SHAPE in text else [])


def test_lines_stay_where_they_are_behind_a_late_declaration():
    text = "\n\n<?xml version='1.0'?>\n<robot name='r'>\n<link/></robot>"
    with pytest.raises(FileError) as caught:
        loads(text, "urdf")
    assert caught.value.line == 5


@pytest.mark.parametrize(
    "geom", ['size="1e200"', 'type="ellipsoid" size="1 -2 1" shellinertia="true"', 'type="capsule" size="1e200 1"']
)
def test_sizes_without_a_volume_have_no_mass_and_are_told(tmp_path, geom):
    found = findings_of(tmp_path, machine(f"<body name='b'><joint/><geom {geom}/></body>"))
    assert [each for each in found if "no volume" in each.text and each.severity == "warning"]


def test_a_body_in_a_wrong_place_is_no_body(tmp_path):
    inner = f"<mujoco><worldbody><body name='c' gravcomp='1'><joint/>{BALL}</body></worldbody></mujoco>"
    (tmp_path / "machine.xml").write_text(machine(f"<body name='b'><joint/>{BALL}{inner}</body>"))
    assert [body.name for body in load(tmp_path / "machine.xml").bodies] == ["b"]


@pytest.mark.parametrize("field", ['scale="2 2 -1e308"', 'refpos="1e200 0 0"', ""])
def test_meshes_beyond_all_numbers_are_named(tmp_path, field):
    """Their mass would be a product of five such numbers."""
    far = "1" if field else "1e300"
    mesh = f'<mesh name="m" vertex="0 0 0 {far} 0 0 0 1 0 0 0 1" inertia="exact" {field}/>'
    body = '<body name="b"><joint/><geom type="mesh" mesh="m"/></body>'
    found = findings_of(tmp_path, machine(body, f"<asset>{mesh}</asset>"))
    assert any("'m' has coordinates, a scale or a reference beyond 1e+15" in each.text for each in found)


@pytest.mark.parametrize("given", ["1e308 1", "1e-300 1e-300", "1 1e200"])
def test_a_springdamper_beyond_all_numbers_is_refused(given):
    with pytest.raises(FileError, match="No spring and damper") as caught:
        loads(machine(f"<body><joint springdamper='{given}'/>{BALL}</body>"), "mjcf")
    assert "springdamper" in caught.value.where
