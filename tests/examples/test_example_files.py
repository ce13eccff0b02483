"""Every example opens without errors, is drawn, moves, and is written as it was read."""

import numpy as np
import pytest

from core.files import dumps, load, loads, read
from core.mechanism import Mechanism
from core.model import JOINT_KINDS, Joint
from core.model.validation.model import check
from resources import EXAMPLES, ICONS, examples
from tests.walks import QUICK, walk

ALL = examples()
each = pytest.mark.parametrize("example", ALL, ids=[example.name for example in ALL])
native = pytest.mark.parametrize("example", [e for e in ALL if e.path.suffix == ".kst"], ids=lambda e: e.name)


def kinds(model):
    """What a model has: kinds of its elements, quantities of its joints."""
    plain = model.expanded
    found = {type(shape).__name__ for body in plain.bodies for shape in body.shapes}
    for collection in ("joints", "forces", "constraints", "sensors"):
        found |= {f"{collection}: {element.kind}" for element in getattr(plain, collection)}
    found |= {name for name in ("drivers", "junctions", "parameters", "chains") if getattr(model, name)}
    bare = Joint(name="bare", parent="world", child="body")
    for name in ("armature", "damping", "friction", "limits", "stiffness"):
        found |= {name for joint in plain.joints if getattr(joint, name) != getattr(bare, name)}
    return found


def test_quick_walks_touch_whatever_examples_have():
    models = {example.name: load(example.path) for example in ALL}
    assert not QUICK.keys() - models.keys()
    all_kinds, touched = (set().union(*(kinds(models[name]) for name in names)) for names in (models, QUICK))
    assert not all_kinds - touched
    assert {example.path.suffix for example in ALL} == {e.path.suffix for e in ALL if e.name in QUICK}


def test_the_table_names_every_file():
    suffixes = {".kst", ".rob", ".urdf"}
    files = {path for path in EXAMPLES.rglob("*") if path.suffix in suffixes and path.parent.name != "parts"}
    assert files == {example.path for example in ALL}
    assert (ICONS / "kinetostat.svg").is_file()


@each
def test_opens_without_errors(example):
    reading = read(example.path)
    findings = (*reading.findings, *check(reading.model))
    assert [str(f) for f in findings if f.severity == "error"] == []
    assert not [f for f in findings if "mesh" in str(f).lower()]


@native
def test_native_file_is_written_as_it_was_read(example):
    text = example.path.read_text(encoding="utf-8")
    assert dumps(load(example.path), "kst") == text


@each
def test_survives_the_native_format(example):
    model = load(example.path)
    text = dumps(model, "kst")
    again = loads(text, "kst", origin=str(example.path))
    assert again == model
    assert dumps(again, "kst") == text


@pytest.mark.parametrize("example", [e for e in ALL if e.path.suffix == ".rob"], ids=lambda e: e.name)
def test_robotica_file_keeps_its_content(example):
    model = load(example.path)
    text = dumps(model, "robotica")
    again = loads(text, "robotica")
    assert again.chains == model.chains
    assert {p.name: p.value for p in again.parameters} == {p.name: p.value for p in model.parameters}


@each
def test_moves(example):
    """Rest pose inside the limits, every frame a rigid pose, loops closed."""
    mech = Mechanism(load(example.path))
    q = mech.rest()
    assert q.shape == (mech.nq,)
    assert mech.nv > 0
    np.testing.assert_allclose(mech.clamp(q), q, atol=1e-12)
    rotations = mech.poses(q)[:, :3, :3]
    np.testing.assert_allclose(
        rotations @ rotations.transpose(0, 2, 1), np.broadcast_to(np.eye(3), rotations.shape), atol=1e-12
    )
    for loop in mech.loops:
        a, b = mech.joint_poses(q)[loop.cut]
        np.testing.assert_allclose(a[:3, 3], b[:3, 3], atol=1e-9)


@native
def test_has_a_name_notes_and_sliders(example):
    model = load(example.path)
    assert model.name
    assert model.description
    for parameter in model.parameters:
        if not isinstance(parameter.value, str):
            assert parameter.minimum < parameter.value < parameter.maximum, parameter.name


@native
def test_sliders_may_go_to_their_ends(example):
    """With any one parameter at an end of its range the machine still fits together."""
    model = load(example.path)
    mech = Mechanism(model)
    for parameter in model.parameters:
        for value in (parameter.minimum, parameter.maximum):
            if value is None:
                continue
            p = {parameter.name: value}
            q = mech.move(mech.rest(), {}, p=p)
            assert np.isfinite(mech.poses(q, p)).all()
            for loop in mech.loops:
                a, b = mech.joint_poses(q, p)[loop.cut]
                np.testing.assert_allclose(a[:3, 3], b[:3, 3], atol=1e-9, err_msg=f"{parameter.name} = {value}")


def test_every_joint_kind_is_shown():
    model = load(EXAMPLES / "joint_kinds.kst")
    assert {joint.kind for joint in model.joints} == set(JOINT_KINDS)


@each
def test_thumbnail(example):
    data = example.thumbnail.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (320, 240)
    assert len(data) < 100_000


@pytest.mark.parametrize("example", walk(ALL, name=lambda example: example.name))
def test_is_drawn(example):
    from viz.pictures.offscreen import render

    picture = render(load(example.path), size=(160, 120))
    background = picture[0, 0].astype(int)
    assert picture.shape == (120, 160, 4)
    assert (abs(picture[..., :3].astype(int) - background[:3]).max(axis=2) > 60).mean() > 0.005
