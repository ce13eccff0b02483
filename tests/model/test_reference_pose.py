"""Joints given in world axes in the reference pose: the same machine as given in the bodies' frames."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.errors import ModelError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Body, Frame, Joint, Model, Parameter, Pose, SubAssembly
from core.model.edits import edits


def random_machine(seed):
    """Three bodies at random reference poses, joints of several kinds given in the world there."""
    rng = np.random.default_rng(seed)
    poses = [
        Pose(position=tuple(rng.normal(size=3)), rotation=tuple(Rotation.random(random_state=seed + i).as_quat()))
        for i in range(3)
    ]
    bodies = tuple(Body(name=f"b{i}", mass=1.0, reference=pose) for i, pose in enumerate(poses))
    kinds = ("revolute", "universal", "cylindrical")
    joints = tuple(
        Joint(
            name=f"j{i}",
            kind=kind,
            parent=f"b{i - 1}" if i else "world",
            child=f"b{i}",
            given_in="world",
            a=Pose(position=tuple(rng.normal(size=3)), rotation=tuple(rng.normal(size=3))),
            axis=tuple(rng.normal(size=3)),
            second_axis=tuple(rng.normal(size=3)),
        )
        for i, kind in enumerate(kinds)
    )
    return Model(bodies=bodies, joints=joints)


def matrix(pose):
    X = np.eye(4)
    turn = pose.rotation
    X[:3, :3] = (Rotation.from_quat(turn) if len(turn) == 4 else Rotation.from_euler("xyz", turn)).as_matrix()
    X[:3, 3] = pose.position
    return X


@pytest.mark.parametrize("seed", range(5))
def test_at_zero_the_machine_stands_in_its_reference_pose(seed):
    model = random_machine(seed)
    mech = Mechanism(model)
    q = mech.neutral()
    for body in model.bodies:
        np.testing.assert_allclose(mech.frame(q, body.name), matrix(body.reference), atol=1e-12)
    for joint in model.joints:
        a, b = mech.joint_poses(q)[joint.name]
        np.testing.assert_allclose(a, matrix(joint.a), atol=1e-12)
        np.testing.assert_allclose(b, a, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_first_axis_is_that_of_the_world(seed):
    model = random_machine(seed)
    mech = Mechanism(model)
    q, v = mech.neutral(), np.zeros(mech.nv)
    for joint in model.joints:
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        v[:] = 0.0
        v[mech.joint_v(joint.name).start] = 1.0
        twist = mech.frame_velocity(q, v, joint.child)
        np.testing.assert_allclose(twist[:3], axis, atol=1e-12)
        arm = mech.frame(q, joint.child)[:3, 3] - joint.a.position
        np.testing.assert_allclose(twist[3:], np.cross(axis, arm), atol=1e-12)


def test_positions_may_be_formulas():
    model = Model(
        parameters=(Parameter(name="l", value=0.5),),
        bodies=(Body(name="rod", mass=1.0, reference=Pose(position=("l", 0.0, "2*l"), rotation=(0.0, 0.0, "90 deg"))),),
        joints=(
            Joint(
                name="pin",
                parent="world",
                child="rod",
                given_in="world",
                axis=(0.0, "l", 0.0),
                a=Pose(position=(0.0, "-l/2", 1.0)),
            ),
        ),
    )
    mech = Mechanism(model)
    for l in (0.5, 0.8):
        np.testing.assert_allclose(mech.frame([0.0], "rod", p={"l": l})[:3, 3], (l, 0.0, 2 * l), atol=1e-15)
        end = mech.frame([np.pi], "rod", p={"l": l})[:3, 3]
        np.testing.assert_allclose(end, (-l, 0.0, 2.0 - 2 * l), atol=1e-12)


def test_loops_and_frames_on_bodies():
    """A parallelogram with its four pins given where they are in the world."""
    ends = {"crank": (0.0, 0.0), "coupler": (0.0, 1.0), "rocker": (2.0, 0.0)}
    bodies = tuple(Body(name=n, mass=1.0, reference=Pose(position=(x, 0.0, z))) for n, (x, z) in ends.items())
    pins = (
        ("p1", "world", "crank", 0.0, 0.0),
        ("p2", "crank", "coupler", 0.0, 1.0),
        ("p3", "tip", "rocker", 2.0, 1.0),
        ("p4", "rocker", "world", 2.0, 0.0),
    )
    joints = tuple(
        Joint(name=n, parent=p, child=c, given_in="world", a=Pose(position=(x, 0.0, z)), axis=(0.0, 1.0, 0.0))
        for n, p, c, x, z in pins
    )
    model = Model(
        bodies=bodies, joints=joints, frames=(Frame(name="tip", parent="coupler", pose=Pose(position=(9.0, 9.0, 9.0))),)
    )
    mech = Mechanism(model)
    np.testing.assert_allclose(mech.constraint_residual(mech.neutral()), 0.0, atol=1e-14)
    q = mech.move(mech.rest(), {mech.q_names[0]: 0.4})
    np.testing.assert_allclose(mech.frame(q, "coupler")[:3, :3], np.eye(3), atol=1e-9)
    again = Mechanism(loads(dumps(model)))
    np.testing.assert_allclose(again.poses(q), mech.poses(q), atol=1e-14)


def test_within_a_sub_assembly_the_world_is_its_own():
    inner = random_machine(7)
    place = Pose(position=(1.0, 2.0, 3.0), rotation=(0.4, 0.5, 0.6))
    mech = Mechanism(Model(assemblies=(SubAssembly(name="s", file="f", content=inner, pose=place),)))
    found = mech.frame(mech.neutral(), "s.b2")
    np.testing.assert_allclose(found, matrix(place) @ matrix(inner.body("b2").reference), atol=1e-12)


def test_what_is_missing_is_told():
    with pytest.raises(ModelError, match="'b0' has no reference pose") as caught:
        edits.change(random_machine(1), "bodies", "b0", reference=None)
    assert "joint 'j0'" in caught.value.where
    turned = Pose(rotation=("w", 0.0, 0.0))
    with pytest.raises(ModelError, match="depends on parameters"):
        Model(
            parameters=(Parameter(name="w"),),
            bodies=(Body(name="b", reference=turned),),
            joints=(Joint(name="j", parent="world", child="b", given_in="world"),),
        )
