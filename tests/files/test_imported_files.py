"""Files that import files: found beside the importing one, read once, nested, never in circles; saved elsewhere."""

from __future__ import annotations

import os

import pytest

from core.errors import FileError
from core.files import assembly, dumps, load, loads, read, reread_sub_assemblies, save
from core.model import Body, Box, Driver, Joint, Mesh, Model, Parameter, Pose, Setting
from core.model.edits import edits

LEG = Model(
    name="leg",
    parameters=(Parameter(name="l", value=0.3),),
    bodies=(Body(name="thigh", mass="l"), Body(name="shank", shapes=(Mesh(file="shank.stl"), Box()))),
    joints=(Joint(name="knee", parent="thigh", child="shank"),),
    drivers=(Driver(name="walk", joint="knee", file="walk.csv"),),
)
STL = (
    b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n"
)
URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><limit lower="-1" upper="1" effort="1"
velocity="1"/></joint></robot>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "shank.stl").write_bytes(STL)
    (tmp_path / "parts" / "walk.csv").write_text("time,knee\n0,0\n1,1\n")
    save(LEG, tmp_path / "parts" / "leg.kst")
    (tmp_path / "arm.urdf").write_text(URDF)
    return tmp_path


def robot(folder):
    (folder / "robot.kst").write_text(
        "kinetostat: 1\nname: robot\n\nassemblies:\n  left:\n    file: parts/leg.kst\n    settings:\n"
        "      - {parameter: l, value: 0.5}\n  right: {file: parts/leg.kst}\n  arm: {file: arm.urdf}\n"
    )
    return folder / "robot.kst"


def test_files_are_found_beside_the_importing_one_and_read_once(folder):
    model = load(robot(folder))
    left, right, _ = model.assemblies
    assert left.content is right.content
    assert model.values() == {"left.l": 0.5, "right.l": 0.3}
    assert "arm.root_joint" in model.expanded.index("joint")
    shank = model.expanded.find("bodies", "left.shank")
    assert os.path.samefile(shank.shapes[0].file, folder / "parts" / "shank.stl")
    assert os.path.samefile(model.expanded.drivers[0].file, folder / "parts" / "walk.csv")
    assert not read(robot(folder)).findings


def test_the_text_is_written_as_it_was_read_without_the_content(folder):
    text = robot(folder).read_text()
    model = load(folder / "robot.kst")
    again = loads(dumps(model), origin=str(folder / "robot.kst"))
    assert again == model
    assert "shank" not in dumps(model)
    assert dumps(again) == dumps(model)
    assert loads(text, origin=str(folder / "other.kst")) == model


def test_added_from_a_path_and_saved_elsewhere(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("elsewhere")
    model = assembly(
        Model(name="new"),
        "leg",
        folder / "parts" / "leg.kst",
        pose=Pose(position=(1.0, 0.0, 0.0)),
        settings=(Setting(parameter="l", value=2.0),),
    )
    save(model, other / "new.kst")
    first = load(other / "new.kst")
    assert first.assemblies[0].file == os.path.relpath(folder / "parts" / "leg.kst", other).replace(os.sep, "/")
    assert first.values() == {"leg.l": 2.0}
    findings = save(first, folder / "moved.kst")
    assert any("paths from the new folder" in finding.text for finding in findings)
    moved = load(folder / "moved.kst")
    assert moved.assemblies[0].file == "parts/leg.kst"
    assert moved.expanded.bodies == first.expanded.bodies
    beside = assembly(moved, "second", "parts/leg.kst")
    assert beside.assemblies[1].file == "parts/leg.kst"


def test_a_change_in_the_file_is_seen_when_it_is_opened_again(folder):
    model = load(robot(folder))
    save(edits.change(LEG, "parameters", "l", value=0.9), folder / "parts" / "leg.kst")
    assert load(folder / "robot.kst").values()["right.l"] == 0.9
    assert reread_sub_assemblies(model).values()["right.l"] == 0.9
    assert model.values()["right.l"] == 0.3


def test_nested_files_lead_on_from_their_own_folder(folder):
    (folder / "parts" / "pair.kst").write_text(
        "kinetostat: 1\nassemblies:\n  a: {file: leg.kst}\n  b: {file: ../arm.urdf}\n"
    )
    (folder / "top.kst").write_text("kinetostat: 1\nassemblies:\n  p: {file: parts/pair.kst}\n")
    model = load(folder / "top.kst")
    assert {"p.a.knee", "p.b.j"} <= set(model.expanded.index("joint"))


def test_circles_are_refused_with_the_chain(folder):
    (folder / "one.kst").write_text("kinetostat: 1\nassemblies:\n  x: {file: two.kst}\n")
    (folder / "two.kst").write_text("kinetostat: 1\nname: two\nassemblies:\n  y: {file: one.kst}\n")
    with pytest.raises(FileError, match="one.kst → two.kst → one.kst") as caught:
        load(folder / "one.kst")
    assert (caught.value.file, caught.value.line) == (str(folder / "two.kst"), 4)
    (folder / "self.kst").write_text("kinetostat: 1\nassemblies:\n  x: {file: self.kst}\n")
    with pytest.raises(FileError, match="self.kst → self.kst"):
        load(folder / "self.kst")


@pytest.mark.parametrize(
    ("entry", "line", "where", "what"),
    [
        ("x: {file: nothing.kst}", 3, "assembly 'x', file", "no file 'nothing.kst'"),
        ("x: {file: parts}", 3, "assembly 'x', file", "no file 'parts'"),
        ("x: {}", 3, "assembly 'x', file", "has no file"),
        (
            "x: {file: parts/leg.kst, settings: [{parameter: ll, value: 1}]}",
            3,
            "assembly 'x', settings",
            "no parameter",
        ),
        ("x: {file: parts/leg.kst, settings: [{parameter: l, value: w}]}", 3, "assembly 'x', value", "'w' is not"),
        ("x: {file: parts/leg.kst, parent: y}", 3, "assembly 'x', parent", "'y'"),
        ("a-b: {file: parts/leg.kst}", 3, "assembly 'a-b', name", "formula"),
        ("x: {file: parts/shank.stl}", None, "(imported as 'x')", "a mesh"),
    ],
)
def test_messages_name_file_line_and_assembly(folder, entry, line, where, what):
    (folder / "bad.kst").write_text(f"kinetostat: 1\nassemblies:\n  {entry}\n")
    with pytest.raises(FileError, match=what) as caught:
        load(folder / "bad.kst")
    assert caught.value.where == where
    assert caught.value.remedy
    if line is not None:
        assert (caught.value.file, caught.value.line) == (str(folder / "bad.kst"), line)


def test_an_error_in_an_imported_file_points_into_it(folder):
    (folder / "parts" / "leg.kst").write_text("kinetostat: 1\nbodies:\n  a: {mass: [1]}\n")
    with pytest.raises(FileError) as caught:
        load(robot(folder))
    assert caught.value.file == str(folder / "parts" / "leg.kst")
    assert caught.value.line == 3
    assert caught.value.where == "body 'a', mass (imported as 'left')"


def test_findings_of_an_imported_file_are_told_under_its_name(folder):
    os.remove(folder / "parts" / "shank.stl")
    findings = read(robot(folder)).findings
    assert [(f.collection, f.name) for f in findings] == [("bodies", "left.shank")]
    assert findings[0].file == str(folder / "parts" / "leg.kst")


def test_without_a_place_relative_names_mean_nothing():
    with pytest.raises(FileError, match="not known"):
        loads("kinetostat: 1\nassemblies:\n  x: {file: leg.kst}\n")


def test_other_formats_hold_the_whole_machine(folder):
    (folder / "two.kst").write_text(
        "kinetostat: 1\nassemblies:\n  a: {file: arm.urdf}\n  b: {file: arm.urdf, pose: {position: [1, 0, 0]}}\n"
    )
    text = dumps(load(folder / "two.kst"), "urdf")
    again = loads(text, "urdf")
    assert {"a.j", "b.j"} <= set(again.index("joint"))
