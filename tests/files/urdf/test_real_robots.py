"""Real URDF files (PyPI package example-robot-data): every one opens, or its message names what is wrong.

Compared with an independent reading of the XML (names, kinds, masses) and with Pinocchio (poses of all links).
"""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from core.errors import FileError
from core.files import check, dumps, load, loads, read

FOLDER = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
FILES = sorted(FOLDER.rglob("*.urdf"))
UNUSABLE = {"ur3.urdf": "no links"}
"""A file of the package that holds no robot at all."""

pytestmark = pytest.mark.skipif(not FILES, reason="the package example-robot-data is not installed")


def usable():
    return [file for file in FILES if file.name not in UNUSABLE]


def test_there_are_many():
    assert len(FILES) > 50


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_opens_with_all_links_and_joints(file):
    if file.name in UNUSABLE:
        with pytest.raises(FileError, match=UNUSABLE[file.name]) as caught:
            load(file)
        assert caught.value.line is not None
        return
    reading = read(file)
    model, xml = reading.model, etree.parse(file)
    links, joints = xml.xpath("/robot/link/@name"), xml.xpath("/robot/joint/@name")
    on_ground = "world" in links
    assert [body.name for body in model.bodies] == [name for name in links if name != "world"]
    assert [joint.name for joint in model.joints] == ([] if on_ground else ["root_joint"]) + joints
    kinds = {"floating": "free"}
    wanted = [kinds.get(kind, kind) for kind in xml.xpath("/robot/joint/@type")]
    assert [joint.kind for joint in model.joints[0 if on_ground else 1 :]] == wanted
    masses = [float(m) for m in xml.xpath("/robot/link[@name!='world']/inertial/mass/@value")]
    assert sum(body.mass for body in model.bodies) == pytest.approx(sum(masses), rel=1e-12, abs=1e-300)
    shapes = xml.xpath("count(/robot/link[@name!='world']/visual) + count(/robot/link[@name!='world']/collision)")
    assert sum(len(body.shapes) for body in model.bodies) == shapes
    assert all(finding.line is not None and finding.file for finding in reading.findings)


@pytest.mark.parametrize("file", usable(), ids=lambda file: file.name)
def test_round_trips_are_exact(file):
    model = load(file)
    native = dumps(model)
    assert loads(native, origin=str(file)) == model
    assert dumps(loads(native)) == native
    assert loads(dumps(model, "urdf"), "urdf", origin=str(file)) == model


@pytest.mark.skipif(importlib.util.find_spec("pinocchio") is None, reason="pinocchio is not installed")
@pytest.mark.parametrize("file", usable()[::3], ids=lambda file: file.name)
def test_poses_agree_with_pinocchio(file):
    import pinocchio

    theirs = pinocchio.buildModelFromUrdf(str(file))
    data = theirs.createData()
    pinocchio.framesForwardKinematics(theirs, data, pinocchio.neutral(theirs))
    ours = _poses(load(file))
    for frame, place in zip(theirs.frames, data.oMf, strict=True):
        if frame.type == pinocchio.FrameType.BODY and frame.name in ours:
            assert ours[frame.name] == pytest.approx(place.homogeneous, abs=1e-12), frame.name


def _poses(model):
    """world ← link for all joints at zero, by plain multiplication (Rz·Ry·Rx)."""
    poses = {"world": np.eye(4)}
    waiting = list(model.joints)
    while waiting:
        joint = waiting.pop(0)
        if joint.parent not in poses:
            waiting.append(joint)
            continue
        step = np.eye(4)
        (cx, cy, cz), (sx, sy, sz) = np.cos(joint.a.rotation), np.sin(joint.a.rotation)
        step[:3, :3] = [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
        step[:3, 3] = joint.a.position
        poses[joint.child] = poses[joint.parent] @ step
    return poses


@pytest.mark.skipif(importlib.util.find_spec("pinocchio") is None, reason="pinocchio is not installed")
@pytest.mark.parametrize("name", ["icub.urdf", "talos_reduced.urdf", "anymal.urdf", "panda.urdf"])
def test_inertia_agrees_with_pinocchio(name):
    """Bodies that carry nothing rigidly: mass, centre of mass and tensor, whatever axes the file gave them in."""
    import pinocchio

    file = next(file for file in FILES if file.name == name)
    theirs, model = pinocchio.buildModelFromUrdf(str(file)), load(file)
    fixed_parents = {joint.parent for joint in model.joints if joint.kind == "fixed"}
    compared = 0
    for joint in model.joints:
        if joint.kind == "fixed" or joint.child in fixed_parents:
            continue
        body = model.body(joint.child)
        inertia = theirs.inertias[theirs.getJointId(joint.name)]
        i = body.inertia
        ours = [[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]]
        assert body.mass == pytest.approx(inertia.mass, rel=1e-14)
        if body.mass:
            assert np.array(body.center_of_mass) == pytest.approx(inertia.lever, rel=1e-12, abs=1e-14)
            assert np.array(ours) == pytest.approx(inertia.inertia, rel=1e-10, abs=1e-13)
        compared += 1
    assert compared >= 4


def test_findings_are_few_on_a_clean_robot():
    model = load(next(file for file in FILES if file.name == "ur5_robot.urdf"))
    assert [str(f) for f in check(model) if f.severity != "hint"] == []
