"""The native format: exact round trip, messages with line and field, older and newer versions, atomic writing."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings

from core.errors import FileError, KinetostatError
from core.files import dumps, load, loads, read, save
from core.files.native.reader import migrate
from core.files.native.yaml_tree import MappingNode, ScalarNode
from core.mechanism import Mechanism
from core.model import Body, Box, Joint, Model, Parameter
from tests.files.native.random_models import MODELS

HAND_WRITTEN = """\
# a door, written by hand
kinetostat: 1
name: door
parameters:
  width: {value: 0.8, dimension: length, minimum: 0.5, maximum: 1.2}
materials:
  wood: {color: [0.6, 0.4, 0.2]}
bodies:
  leaf:
    mass: 20
    center_of_mass: ["width/2", 0, 1]
    inertia: {ixx: 7, iyy: 8, izz: 1.1}
    shapes:
      - box: {size: [width, 40 mm, 2], pose: {position: ["width/2", 0, 1]}, material: wood}
joints:
  hinge:
    kind: revolute
    parent: world
    child: leaf
    limits:
      - {lower: 0, upper: "110 deg"}
    damping: 0.5
"""


@given(MODELS)
@settings(max_examples=60)
def test_round_trip_is_exact(model):
    text = dumps(model)
    again = loads(text)
    assert again == model
    assert dumps(again) == text


@given(MODELS)
@settings(max_examples=25)
def test_other_yaml_readers_see_the_same_texts(model):
    """PyYAML's own loader (YAML 1.1) finds the names and texts we wrote: quoting is right for everyone."""
    data = yaml.safe_load(dumps(model))
    assert data["name"] == model.name
    assert list(data["bodies"]) == [body.name for body in model.bodies]
    assert list(data["parameters"]) == [parameter.name for parameter in model.parameters]
    shown = [parameter.get("description", "") for parameter in data["parameters"].values()]
    assert shown == [parameter.description for parameter in model.parameters]


def test_hand_written_file():
    model = loads(HAND_WRITTEN)
    leaf = model.body("leaf")
    assert leaf.center_of_mass == ("width/2", 0.0, 1.0)
    assert leaf.shapes == (Box(size=("width", "40 mm", 2.0), pose=leaf.shapes[0].pose, material="wood"),)
    assert model.joint("hinge").limits[0].upper == "110 deg"
    assert model.values() == {"width": 0.8}
    assert loads(dumps(model)) == model


def test_text_is_readable():
    model = Model(
        name="door",
        bodies=(Body(name="leaf", mass=20.0),),
        joints=(Joint(name="hinge", parent="world", child="leaf", axis=(0.0, 1.0, 0.0)),),
    )
    assert dumps(model) == (
        "kinetostat: 1\nname: door\n\nbodies:\n  leaf:\n    mass: 20\n\njoints:\n  hinge:\n    parent: world\n"
        "    child: leaf\n    axis: [0, 1, 0]\n"
    )


def test_scalars_are_yaml_1_2():
    assert loads("kinetostat: 1\nname: yes\nbodies:\n  no:\n").body("no").name == "no"
    assert loads("kinetostat: 1\nname: yes\n").name == "yes"
    assert loads("kinetostat: 1\ndescription: 010\n").description == "010"


MISTAKES = [
    ("    mass: 20", "    mas: 20", 10, "body 'leaf'", "Did you mean mass"),
    ("    mass: 20", "    mass: 20 kg/", 10, "body 'leaf', mass", ""),
    ("    mass: 20", "    mass: 1e400", 10, "body 'leaf', mass", "finite"),
    ("    mass: 20", "    mass: nan", 10, "body 'leaf', mass", "finite"),
    ("    mass: 20", "    mass: [1]", 10, "body 'leaf', mass", "brackets"),
    ("    mass: 20", "    mass: 20\n    mass: 21", 11, "", "twice"),
    ("    mass: 20", "    mass: &m 20", 10, "", "nchors"),
    ("    mass: 20", "    mass: *m", 10, "", "liases"),
    ("    mass: 20", "    mass: !!float 20", 10, "", "Tags"),
    ('"width/2", 0, 1]\n    inertia', '"width/2", 0]\n    inertia', 11, "body 'leaf', center_of_mass", "3 numbers"),
    ("- box:", "- bx:", 14, "body 'leaf', shapes 1", "box"),
    ("material: wood", "material: stone", 14, "body 'leaf', material", "no material 'stone'"),
    ("[width, 40 mm, 2]", "[breadth, 40 mm, 2]", 14, "body 'leaf'", "breadth"),
    ("    child: leaf\n", "", 16, "joint 'hinge'", "child"),
    ("child: leaf", "child: leave", 19, "joint 'hinge', child", "leave"),
    ("  leaf:", "  1-1:", 9, "body '1-1'", "is not a valid name"),
    ("damping: 0.5", "damping: 0.5\n    axis: [0, 0, 0]", 23, "joint 'hinge', axis", "direction"),
    ("joints:", "joint:", 15, "", "joints"),
    ("materials:", "materials: [", 8, "", "YAML"),
    ("kinetostat: 1", "kinetostat: 99", 2, "kinetostat", "newer"),
    ("kinetostat: 1", "kinetostat: one", 2, "kinetostat", "whole number"),
]


@pytest.mark.parametrize(("old", "new", "line", "where", "hint"), MISTAKES, ids=[m[1].strip()[:30] for m in MISTAKES])
def test_messages_name_line_component_and_remedy(old, new, line, where, hint):
    assert old in HAND_WRITTEN
    with pytest.raises(FileError) as caught:
        loads(HAND_WRITTEN.replace(old, new, 1), origin="door.kst")
    error = caught.value
    assert error.line == line, str(error)
    assert error.where.startswith(where), str(error)
    assert error.file == "door.kst"
    assert hint in str(error)
    assert error.remedy


def test_version_0_is_migrated():
    old = """\
kinetostat: 0
gravity: [0, -9.81, 0]
bodies:
  - {name: leaf, mass: 2}
joints:
  - name: hinge
    parent: world
    child: leaf
"""
    model = loads(old)
    assert model.world.gravity.acceleration == (0.0, -9.81, 0.0)
    assert model.joint("hinge").child == model.body("leaf").name == "leaf"
    assert dumps(model).startswith("kinetostat: 1\n")


def test_version_0_messages_keep_the_lines_of_the_file():
    with pytest.raises(FileError) as caught:
        loads("kinetostat: 0\nbodies:\n  - {name: leaf,\n     mas: 2}\n")
    assert caught.value.line == 4


def test_migration_runs_every_step_once():
    seen = []

    def step(number):
        return lambda tree: seen.append(number) or MappingNode({**tree.items, f"s{number}": (1, ScalarNode("x", 1))}, 1)

    tree = migrate(MappingNode({}, 1), 3, 6, {n: step(n) for n in range(9)})
    assert seen == [3, 4, 5]
    assert list(tree.items) == ["s3", "s4", "s5"]
    with pytest.raises(FileError, match="version 3"):
        migrate(MappingNode({}, 1), 3, 6, {})


HOSTILE = [
    (b"\xff\xfek\0", "UTF-16"),
    ("kinetostat: 1\nname: é".encode("latin-1"), "Byte 20"),
    (b"kinetostat: 1\nname: a\0b", "Byte 21"),
    (b"kinetostat: 1\nname: " + b"[" * 5000, "nested"),
    (b"kinetostat: 1\nbodies:\n" + b"".join(b" " * i + b"a:\n" for i in range(1, 200)), "nested"),
    (b"kinetostat: 1\n---\nkinetostat: 1\n", "second document"),
    (b"", "empty"),
    (b"kinetostat: 1\na: &a [x, x]\nb: &b [*a, *a]\n", "Anchors"),
    (b"? [a, b]\n: c\n", "key"),
    (b"kinetostat: 1\nname: \x07\n", "YAML"),
    (b"just a text", "not a Kinetostat file"),
    (b"- kinetostat: 1\n", "not a Kinetostat file"),
]


@pytest.mark.parametrize(("data", "hint"), HOSTILE, ids=[h[1] for h in HOSTILE])
def test_hostile_bytes_give_a_message(data, hint, tmp_path):
    file = tmp_path / "bad.kst"
    file.write_bytes(data)
    with pytest.raises(FileError, match=re.escape(hint)) as caught:
        load(file)
    assert caught.value.file == str(file)
    assert caught.value.remedy


def test_a_megabyte_on_one_line_is_read():
    text = "a" * 1_000_000
    assert loads(f"kinetostat: 1\nname: {text}\n").name == text


def test_parameter_circle_is_named():
    text = "kinetostat: 1\nparameters:\n  a: {value: b}\n  b: {value: c + 1}\n  c: {value: 2*a}\n"
    with pytest.raises(FileError, match="a → b → c → a") as caught:
        loads(text)
    assert caught.value.line in (3, 4, 5)


# ------------------------------------------------------------------------------------- writing files


def test_save_replaces_whole_and_keeps_permissions(tmp_path):
    file = tmp_path / "m.kst"
    save(Model(name="one"), file)
    os.chmod(file, 0o640)
    save(Model(name="two"), file)
    assert load(file).name == "two"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [f.name for f in tmp_path.iterdir()] == ["m.kst"]


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "m.kst"
    save(Model(name="one"), file)
    before = file.read_bytes()

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left") as caught:
        save(Model(name="two"), file)
    assert caught.value.remedy
    assert file.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["m.kst"]


def test_save_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "m.kst", tmp_path / "link.kst"
    save(Model(name="one"), real)
    link.symlink_to(real)
    save(Model(name="two"), link)
    assert link.is_symlink()
    assert load(real).name == "two"


def test_places_that_cannot_be_written(tmp_path):
    for place in (tmp_path, tmp_path / "missing" / "m.kst", tmp_path / "m.doc", tmp_path / "a\0b.kst"):
        with pytest.raises(FileError) as caught:
            save(Model(), place)
        assert caught.value.remedy
    with pytest.raises(FileError, match=r"\.kst"):
        save(Model(), tmp_path / "m.doc")


def test_missing_and_odd_files(tmp_path):
    for place in (tmp_path / "no.kst", tmp_path, Path("/dev/null"), "a\0b"):
        with pytest.raises(FileError):
            load(place)


def test_content_is_recognised_without_a_suffix(tmp_path):
    file = tmp_path / "robot.txt"
    file.write_text(dumps(Model(parameters=(Parameter(name="a", value=1.0),))))
    assert load(file).values() == {"a": 1.0}
    file.write_text("<?xml version='1.0'?>\n<robot name='r'><link name='a'/></robot>")
    assert load(file).name == "r"
    file.write_text("hello")
    with pytest.raises(FileError, match="not known"):
        load(file)


def test_missing_mesh_is_a_finding_with_its_line(tmp_path):
    file = tmp_path / "m.kst"
    file.write_text("kinetostat: 1\nbodies:\n  b:\n    shapes:\n      - mesh: {file: nowhere.stl}\n")
    reading = read(file)
    assert len(reading.findings) == 1
    assert (reading.findings[0].severity, reading.findings[0].name, reading.findings[0].line) == ("warning", "b", 4)


def test_symbols_of_a_name_that_cannot_be_stored():
    with pytest.raises(FileError, match="UTF-8"):
        loads("kinetostat: 1\nname: \ud800\n")


def test_sizes_are_bounded(tmp_path):
    file = tmp_path / "huge.kst"
    with file.open("wb") as stream:
        stream.truncate(60 * 1024 * 1024)
    with pytest.raises(FileError, match="limit"):
        load(file)


def test_a_file_cut_off_within_a_line_is_doubted(tmp_path):
    """What is left of a cut file can be a valid file of a smaller machine: it opens, but not silently."""
    whole = "kinetostat: 1\nname: arm\nbodies:\n  link:\n    mass: 12.5\n"
    path = tmp_path / "arm.kst"
    path.write_text(whole)
    assert read(path).findings == ()
    path.write_text(whole[:-3])
    reading = read(path)
    assert reading.model.body("link").mass == 12.0
    (finding,) = reading.findings
    assert finding.severity == "warning"
    assert finding.line == 5
    assert finding.file.endswith("arm.kst")


COMPOUND = """kinetostat: 1
world: {gravity: {acceleration: [0, 0, "-981 cm/s^2"]}}
parameters:
  k: {value: 62 N/mm}
  m: {value: 2}
bodies:
  arm: {mass: m, inertia: {ixx: 300 kg*mm^2, iyy: "3000 g·cm²", izz: 0.1}}
joints:
  pin: {parent: world, child: arm, start_speed: [180 deg/s], stiffness: 2 N/m, damping: 0.5 Nm/rpm}
forces:
  push: {kind: joint, joint: pin, law: 3 Nm*t}
"""


def test_numbers_with_compound_units():
    """Factors by definition of the units; `2 N/m` and `3 Nm*t` use the parameter m and the time."""
    model = loads(COMPOUND)
    assert model.world.gravity.acceleration == pytest.approx((0.0, 0.0, -9.81))
    assert model.values() == pytest.approx({"k": 62e3, "m": 2.0})
    arm, pin = model.body("arm"), model.joint("pin")
    assert (arm.inertia.ixx, arm.inertia.iyy) == pytest.approx((3e-4, 3e-4))
    assert pin.start_speed == pytest.approx((np.pi,))
    assert pin.damping == pytest.approx(0.5 / (np.pi / 30.0))
    assert (pin.stiffness, model.forces[0].law) == ("2 N/m", "3 Nm*t")
    mech = Mechanism(model)
    assert mech.inverse_dynamics([1.0], [0.0], [0.0], t=2.0) == pytest.approx([1.0 * 1.0 + 3.0 * 2.0])


def test_a_parameter_may_be_its_value_alone():
    model = loads("kinetostat: 1\nparameters:\n  k: 62 N/mm\n  l: 0.5\n  half: l/2\n")
    assert model.values() == pytest.approx({"k": 62e3, "l": 0.5, "half": 0.25})
    assert loads(dumps(model)).parameters == model.parameters
    with pytest.raises(FileError, match=r"parameter 'k', value.*'l' in column 3"):
        loads("kinetostat: 1\nparameters:\n  k: 2 l\n")


def test_a_compound_unit_of_something_else_is_told():
    with pytest.raises(FileError, match=r"body 'arm', inertia, ixx: 'kg\*mm' is not a unit of inertia.*kg·m²"):
        loads(COMPOUND.replace("300 kg*mm^2", "300 kg*mm"))
    with pytest.raises(FileError, match="The name 'flurb' is not defined"):
        loads(COMPOUND.replace("62 N/mm", "62 N/flurb"))


@pytest.mark.parametrize(("written", "expected"), [("0.5", 0.5), ("30 deg", "30 deg"), ("[0.5]", 0.5)])
def test_a_joint_of_one_coordinate_needs_no_brackets(written, expected):
    text = "kinetostat: 1\nname: P\nbodies: {a: {mass: 1}}\njoints:\n  j: {parent: world, child: a, rest: %s}\n"
    model = loads(text % written, "kst")
    assert model.joints == loads(text % f"[{expected}]", "kst").joints
    assert loads(dumps(model), "kst") == model


@pytest.mark.parametrize("written", ["{a: 1}", "many", "1e400"])
def test_what_is_no_position_is_told_there(written):
    text = "kinetostat: 1\nname: P\nbodies: {a: {mass: 1}}\njoints:\n  j: {parent: world, child: a, rest: %s}\n"
    with pytest.raises(FileError, match="joint 'j'"):
        loads(text % written, "kst")


@pytest.mark.parametrize("written", ["1.8e-220", ".5", "0.001e-300", "+1.E0"])
def test_numbers_of_colours_are_read_as_written(written):
    text = f"kinetostat: 1\nname: M\nmaterials:\n  m: {{color: [{written}, 0, 0]}}\n"
    model = loads(text, "kst")
    assert model.materials[0].color[0] == float(written)
    assert loads(dumps(model), "kst") == model


@pytest.mark.parametrize("mass", ["１", "١", "1１"])
def test_digits_of_other_scripts_are_refused_as_in_formulas(mass):
    with pytest.raises(FileError, match="not allowed in a formula") as caught:
        loads(f"kinetostat: 1\nbodies:\n  b: {{mass: {mass}}}\n")
    assert caught.value.line == 3


@pytest.mark.parametrize("value", ["1/0", "{value: 1/0}", "sqrt(-1)"])
def test_a_parameter_without_value_is_refused_with_its_line(value):
    with pytest.raises(KinetostatError) as caught:
        loads(f"kinetostat: 1\nparameters:\n  a: {value}\n")
    assert caught.value.line == 3
