"""What readers lose reaches those who only load; files of other kinds and meshes at other addresses are named."""

from __future__ import annotations

import logging
import re

import pytest

import kinetostat as ks
from core.errors import FileError
from core.files import FileFormat, ReadOptions, ReadResult, Source, load, read
from core.files.formats import read_with_format
from core.files.meshes.lookup import resolve_mesh
from core.files.sent_model import PackedModel
from core.files.source import source_from_text
from core.files.xml_source import parse_xml
from core.model import Body, Model

FALLING = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body name="ball" pos="0 0 1">
<joint name="j" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody>
<actuator><motor joint="j" name="lift"/></actuator></mujoco>"""


def test_loading_logs_what_is_left_out_and_runs_note_it(tmp_path, caplog):
    (tmp_path / "ball.xml").write_text(FALLING)
    with caplog.at_level(logging.INFO, logger="kinetostat.files"):
        model = load(tmp_path / "ball.xml")
    levels = {record.levelno for record in caplog.records if "actuators" in record.getMessage()}
    assert levels == {logging.WARNING}
    caplog.clear()
    sent = PackedModel.of(model).read()
    assert sent.left_out == model.left_out
    assert not caplog.records
    run = ks.simulate(model, 0.01)
    assert any("contacts are not taken over" in note and "actuators" in note for note in run.notes)


def read_toy(source: Source, _options: ReadOptions) -> ReadResult:
    """A reader as a newcomer writes it, who trusts the file."""
    root, findings = parse_xml(source)
    bodies = [Body(name=tag.attrib["name"], mass=float(tag.attrib["mass"])) for tag in root]
    return ReadResult(Model(bodies=tuple(bodies)), tuple(findings))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [('<part name="b"/>', "KeyError: 'mass'"), ('<part name="b" mass="two"/>', "ValueError: could not convert")],
)
def test_an_error_in_a_reader_names_file_and_place(wrong, error):
    toy = FileFormat("toy", "Toy", (".toy",), read_toy, None, re.compile(rb"<toy"))
    text = f'<toy>\n<part name="a" mass="1"/>\n\n{wrong}\n<part name="c" mass="3"/></toy>'
    with pytest.raises(FileError, match=error) as raised:
        read_with_format(toy, source_from_text(text, "parts.toy"), ReadOptions())
    assert (raised.value.file, raised.value.line) == ("parts.toy", 4)
    assert "Toy" in raised.value.what
    assert raised.value.remedy
    assert raised.value.__cause__ is not None  # for who mends the reader


def test_what_is_read_whole_logs_nothing(tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="kinetostat.files"):
        model = ks.loads('<robot name="r"><link name="a"/></robot>', "urdf")
    assert not caplog.records
    assert model.left_out == ()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.xml", '<?xml version="1.0"?>\n<!-- made -->\n<sdf version="1.7"/>', "SDF file"),
        ("x.sdf", '<sdf version="1.7"/>', "SDF file"),
        ("x.urdf", '<sdf version="1.7"/>', "SDF file"),
        ("x.xml", '<PhysicalModelingXMLFile xmlns="urn:mathworks"/>', "SimMechanics"),
        ("x.xml", "<mujocoinclude/>", "part of an MJCF model"),
        ("x.txt", "ISO-10303-21;", "STEP file"),
        ("x.stl", "solid x", "a mesh"),
    ],
)
def test_files_of_other_programs_are_called_by_their_names(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=words):
        load(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "there", "words"),
    [
        ("part.step", True, "'.step' files are not supported"),
        ("part", True, "without a suffix"),
        ("part.stl", False, "is not found"),
    ],
)
def test_a_mesh_that_is_there_is_not_called_missing(tmp_path, name, there, words):
    if there:
        (tmp_path / name).write_text("ISO-10303-21;")
    shape = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{shape}</link></robot>')
    native = f"kinetostat: 1\nname: m\nbodies: {{a: {{mass: 1, shapes: [{{mesh: {{file: {name}}}}}]}}}}\n"
    (tmp_path / "m.kst").write_text(native)
    for file in ("r.urdf", "m.kst"):
        (found,) = [each.text for each in read(tmp_path / file).findings if name in each.text]
        assert words in found


def test_packages_are_found_as_ros_finds_them(tmp_path):
    for folder, name in (("my_robot", "my_robot"), ("tool folder", "tool")):
        (tmp_path / folder / "meshes").mkdir(parents=True)
        (tmp_path / folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
        (tmp_path / folder / "meshes" / "x.stl").write_text("solid x")
    origin = str(tmp_path / "my_robot" / "urdf" / "r.urdf")
    for address in ("my_robot/meshes/x.stl", "my_robot//meshes/x.stl", "/my_robot/meshes/x.stl", "tool/meshes/x.stl"):
        assert resolve_mesh(f"package://{address}", origin) is not None, address
    assert resolve_mesh("package://other/meshes/x.stl", origin) is None
