"""URDF as other programs take it: the lowest version, joints from the root outwards, and a word on what they refuse."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import kinetostat as ks
from core.errors import FileError
from core.files import format_model
from resources import EXAMPLES

ROUND = ks.Inertia(ixx=0.1, iyy=0.2, izz=0.3)


def link(name, **fields):
    return ks.Body(**{"name": name, "mass": 1.0, "center_of_mass": (0.1, 0.2, 0.0), "inertia": ROUND, **fields})


def chain(elbow, *bodies, frames=()):
    """A shoulder, and an elbow that may be given from either side."""
    shoulder = ks.Joint(name="shoulder", parent="world", child="upper", axis=(0.0, 1.0, 0.0))
    return ks.Model(bodies=bodies or (link("upper"), link("fore")), joints=(shoulder, elbow), frames=frames)


def texts(model):
    return " ".join(f"{finding.text} {finding.remedy}" for finding in format_model(model, "urdf").findings)


@pytest.mark.parametrize(("shape", "version"), [(ks.Cylinder(), "1.0"), (ks.Capsule(), "1.2")])
def test_the_version_is_the_lowest_that_has_it_all(shape, version):
    """Capsules came with 1.2, which urdfdom before 5.1 refuses."""
    model = ks.Model(bodies=(link("a", shapes=(shape,)),))
    assert ET.fromstring(ks.dumps(model, "urdf")).get("version") == version
    assert ("capsules need URDF 1.2" in texts(model)) == (version == "1.2")


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_a_joint_given_inwards_is_turned_round(kind):
    """It has frames of its own and leads to a frame of a link: M and G stay the same in the same coordinate."""
    sides = {
        "a": ks.Pose(position=(0.1, 0.0, 0.3), rotation=(0.2, 0.1, 0.0)),
        "b": ks.Pose(position=(0.0, 0.2, 0.1), rotation=(0.0, 0.0, 0.7)),
    }
    tip = ks.Frame(name="tip", parent="upper", pose=ks.Pose(position=(0.0, 0.0, 0.5), rotation=(0.3, 0.0, 0.0)))
    limits = (ks.Limit(lower=-0.5, upper=1.5),)
    elbow = ks.Joint(name="elbow", kind=kind, parent="fore", child="tip", axis=(0.0, 0.6, 0.8), limits=limits, **sides)
    model = chain(elbow, frames=(tip,))
    written = format_model(model, "urdf")
    assert "elbow" in " ".join(finding.text for finding in written.findings)
    again = ks.loads(written.text, "urdf")
    mech, other, q = ks.Mechanism(model), ks.Mechanism(again), [0.3, 0.4]
    np.testing.assert_allclose(other.mass_matrix(q), mech.mass_matrix(q), rtol=1e-12)
    np.testing.assert_allclose(other.gravity(q), mech.gravity(q), atol=1e-12)
    if kind != "continuous":
        assert [(limit.lower, limit.upper) for limit in again.joint("elbow").limits] == [(-0.5, 1.5)]


def test_a_planar_joint_the_wrong_way_round_is_named_with_the_remedy():
    with pytest.raises(FileError, match="in the wrong order") as caught:
        ks.dumps(chain(ks.Joint(name="elbow", kind="planar", parent="fore", child="upper")), "urdf")
    assert caught.value.where == "joint 'elbow'"
    assert "Swap parent and child" in caught.value.remedy


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, False),
        ({"mass": 0.0, "inertia": ks.Inertia()}, True),
        ({"inertia": ks.Inertia(ixx=0.1, iyy=0.1)}, True),
        ({"mass": 0.0}, True),
    ],
)
def test_links_that_mujoco_refuses_are_named(fields, told):
    """MuJoCo has the last word, where it is installed."""
    model = chain(ks.Joint(name="elbow", parent="upper", child="fore"), link("upper"), link("fore", **fields))
    written = format_model(model, "urdf")
    named = [finding for finding in written.findings if "MuJoCo refuses" in finding.text]
    assert bool(named) == told
    assert all("'fore'" in finding.text and "'upper'" not in finding.text for finding in named)
    mujoco = pytest.importorskip("mujoco")
    if told:
        with pytest.raises(ValueError, match=r"mass|inertia"):
            mujoco.MjModel.from_xml_string(written.text)
    else:
        assert mujoco.MjModel.from_xml_string(written.text).nv == 2


def test_a_centre_of_mass_beyond_all_numbers_does_not_stop_writing():
    """Its moments about the link's frame overflow."""
    far = link("fore", center_of_mass=(1e308, 0.0, 0.0))
    assert "<robot" in ks.dumps(chain(ks.Joint(name="elbow", parent="upper", child="fore"), link("upper"), far), "urdf")


def test_what_is_fixed_to_a_link_gives_it_mass():
    mujoco = pytest.importorskip("mujoco")
    glued = ks.Joint(name="glue", kind="fixed", parent="fore", child="load")
    model = chain(ks.Joint(name="elbow", parent="upper", child="fore"))
    model = ks.Model(bodies=(link("upper"), ks.Body(name="fore"), link("load")), joints=(*model.joints, glued))
    assert "MuJoCo" not in texts(model)
    assert mujoco.MjModel.from_xml_string(ks.dumps(model, "urdf")).nv == 2


def test_friction_that_follows_time_is_told():
    elbow = ks.Joint(name="elbow", parent="upper", child="fore", friction="0.2*(1 + sin(t))", damping=0.3)
    written = format_model(chain(elbow), "urdf")
    (told,) = [finding for finding in written.findings if "friction that depends on time" in finding.text]
    assert told.place == "joint 'elbow', friction"
    assert ks.loads(written.text, "urdf").joint("elbow").damping == 0.3


def test_minus_one_is_no_limit_for_others_either():
    model = chain(ks.Joint(name="elbow", parent="upper", child="fore", limits=(ks.Limit(effort=-1.0, velocity=2.0),)))
    limit = ET.fromstring(ks.dumps(model, "urdf")).find("joint[@name='elbow']/limit")
    assert float(limit.get("effort")) > 1e6
    assert limit.get("velocity") == "2"


@pytest.mark.parametrize("name", ["puma560", "scara", "ur5"])
def test_shipped_robots_are_read_by_pinocchio_alike(name, tmp_path):
    pinocchio = pytest.importorskip("pinocchio")
    model = ks.load(EXAMPLES / f"{name}.kst")
    text = ks.dumps(model, "urdf")
    assert 'version="1.0"' in text
    mech = ks.Mechanism(ks.loads(text, "urdf"))
    other = pinocchio.buildModelFromXML(text)
    q = np.linspace(0.1, 0.6, mech.nq)
    M = pinocchio.crba(other, other.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(M, mech.mass_matrix(q), rtol=1e-9, atol=1e-9)
