"""Kinetostat against Pinocchio on real robots, and against Pinocchio and MuJoCo on every kind of joint."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from core.model import Joint
from tests.mechanism.random_machines import state, tree

RELATIVE = 1e-9


def close(mine, theirs):
    scale = max(float(np.max(np.abs(theirs), initial=0.0)), 1e-6)
    np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=RELATIVE * scale)


def robots() -> Path | None:
    for entry in map(Path, sys.path):
        folder = entry / "cmeel.prefix/share/example-robot-data/robots"
        if folder.is_dir():
            return folder
    return None


ROBOTS = (
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "kinova_description/robots/kinova.urdf",
    "solo_description/robots/solo12.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "tiago_description/robots/tiago.urdf",
    "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "so_arm_description/urdf/so100.urdf",
)


def to_pinocchio(pin, mech, model, rng):
    """Random state in Pinocchio's order, and ours: q_pin, q, permutation of speeds."""
    q_pin = pin.randomConfiguration(model, -2.0 * np.ones(model.nq), 2.0 * np.ones(model.nq))
    q, order = mech.neutral(), np.zeros(model.nv, dtype=int)
    for index in range(1, model.njoints):
        joint, name = model.joints[index], model.names[index]
        theirs = q_pin[joint.idx_q : joint.idx_q + joint.nq]
        speeds = range(joint.idx_v, joint.idx_v + joint.nv)
        if name == "root_joint":
            name = mech.coordinates[0].joint
            speeds = [joint.idx_v + k for k in (3, 4, 5, 0, 1, 2)]  # they: [v; ω]
        if joint.nq == 2 and joint.nv == 1:
            theirs = [np.arctan2(theirs[1], theirs[0])]
        q[mech.joint_q(name)] = theirs
        order[mech.joint_v(name)] = list(speeds)
    return q_pin, q, order


def compare(pin, mech, model, seed):
    data, rng = model.createData(), np.random.default_rng(seed)
    pin.seed(seed)
    q_pin, q, order = to_pinocchio(pin, mech, model, rng)
    v_pin, a_pin = rng.normal(size=model.nv), rng.normal(size=model.nv)
    v, a = v_pin[order], a_pin[order]
    tau = pin.rnea(model, data, q_pin, v_pin, a_pin)
    close(mech.inverse_dynamics(q, v, a, passive=False), tau[order])
    M = pin.crba(model, data, q_pin)
    M = np.triu(M) + np.triu(M, 1).T
    close(mech.mass_matrix(q), M[np.ix_(order, order)])
    close(mech.forward_dynamics(q, v, tau[order], passive=False), pin.aba(model, data, q_pin, v_pin, tau)[order])
    close(mech.gravity(q), pin.computeGeneralizedGravity(model, data, q_pin)[order])
    close(mech.bias(q, v, passive=False), pin.nonLinearEffects(model, data, q_pin, v_pin)[order])
    energy = mech.energy(q, v)
    close(energy.kinetic, pin.computeKineticEnergy(model, data, q_pin, v_pin))
    close(energy.potential, pin.computePotentialEnergy(model, data, q_pin))
    pin.computeJointJacobians(model, data, q_pin)
    pin.framesForwardKinematics(model, data, q_pin)
    frames = [f for f in model.frames if f.type == pin.BODY and f.name in mech.frame_names]
    for frame in (frames[-1], frames[len(frames) // 2]):
        index = model.getFrameId(frame.name, pin.BODY)
        close(mech.frame(q, frame.name), data.oMf[index].homogeneous)
        J = pin.getFrameJacobian(model, data, index, pin.LOCAL_WORLD_ALIGNED)
        close(mech.jacobian(q, frame.name), J[[3, 4, 5, 0, 1, 2]][:, order])


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda path: Path(path).stem)
def test_real_robots_agree_with_pinocchio(robot, floating):
    pin = pytest.importorskip("pinocchio")
    folder = robots()
    if folder is None or not (folder / robot).exists():
        pytest.skip("example-robot-data is not installed")
    path = folder / robot
    document = load(path, mimic=False, floating=floating)
    mech = Mechanism(replace(document, world=replace(document.world, limits="ideal")))  # Pinocchio knows no stops
    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if floating else []))
    model.armature[:] = 0.0
    if model.nv != mech.nv:
        pytest.skip("its root is the world in the file itself")
    for seed in range(2):
        compare(pin, mech, model, seed)


# ------------------------------------------------------------------------------- all kinds of joints


def se3(pin, X):
    return pin.SE3(X[:3, :3], X[:3, 3])


def their_joint(pin, joint: Joint):
    """Pinocchio's joint model, axes in frame a."""
    z, e = (
        np.array(joint.axis) / np.linalg.norm(joint.axis),
        np.array(joint.second_axis) / np.linalg.norm(joint.second_axis),
    )
    composite = pin.JointModelComposite
    if joint.kind == "cylindrical":
        both = composite(pin.JointModelRevoluteUnaligned(z))
        both.addJoint(pin.JointModelPrismaticUnaligned(z), pin.SE3.Identity())
        return both
    if joint.kind == "universal":
        both = composite(pin.JointModelRevoluteUnaligned(z))
        both.addJoint(pin.JointModelRevoluteUnaligned(e), pin.SE3.Identity())
        return both
    if joint.kind == "planar":
        # x and y of the plane: what the shortest rotation from z to the axis makes of them
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), z).toRotationMatrix()
        three = composite(pin.JointModelPrismaticUnaligned(turn[:, 0]))
        three.addJoint(pin.JointModelPrismaticUnaligned(turn[:, 1]), pin.SE3.Identity())
        three.addJoint(pin.JointModelRevoluteUnaligned(z), pin.SE3.Identity())
        return three
    plain = {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(z),
        "continuous": lambda: pin.JointModelRevoluteUnaligned(z),
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(z),
        "screw": lambda: pin.JointModelHelicalUnaligned(z, joint.pitch / (2 * np.pi)),
        "spherical": pin.JointModelSpherical,
        "free": pin.JointModelFreeFlyer,
    }
    return plain[joint.kind]()


def matrix(pose):
    from scipy.spatial.transform import Rotation

    X = np.eye(4)
    X[:3, :3] = Rotation.from_euler("xyz", pose.rotation).as_matrix()
    X[:3, 3] = pose.position
    return X


@pytest.mark.parametrize(
    "kinds",
    [
        ("revolute",),
        ("prismatic",),
        ("screw",),
        ("cylindrical",),
        ("universal",),
        ("planar",),
        ("spherical",),
        ("free",),
        ("revolute", "screw", "universal", "spherical", "cylindrical", "planar", "prismatic", "free"),
    ],
    ids="+".join,
)
def test_joint_kinds_agree_with_pinocchio(kinds):
    pin = pytest.importorskip("pinocchio")
    document = tree(5, kinds, max(3, len(kinds)), chain=True)
    mech = Mechanism(document)
    model = pin.Model()
    model.gravity.linear = np.array(document.world.gravity.acceleration)
    parent, offset = 0, np.eye(4)
    for joint, body in zip(document.joints, document.bodies, strict=True):
        parent = model.addJoint(parent, their_joint(pin, joint), se3(pin, offset @ matrix(joint.a)), joint.name)
        offset = np.linalg.inv(matrix(joint.b))
        I = body.inertia
        tensor = np.array([[I.ixx, I.ixy, I.ixz], [I.ixy, I.iyy, I.iyz], [I.ixz, I.iyz, I.izz]])
        model.appendBodyToJoint(parent, pin.Inertia(body.mass, np.array(body.center_of_mass), tensor), se3(pin, offset))
    data = model.createData()
    q, v, a = state(mech, 2)
    order = np.arange(mech.nv)
    for joint in document.joints:
        if joint.kind == "free":
            s = mech.joint_v(joint.name)
            order[s] = s.start + np.array([3, 4, 5, 0, 1, 2])  # they: [v; ω]
    theirs_v, theirs_a = v[order], a[order]
    tau = pin.rnea(model, data, q, theirs_v, theirs_a)
    close(mech.inverse_dynamics(q, v, a), tau[order])
    close(mech.forward_dynamics(q, v, tau[order]), pin.aba(model, data, q, theirs_v, tau)[order])
    M = pin.crba(model, data, q)
    close(mech.mass_matrix(q), (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)])
    close(mech.integrate(q, v, 0.3), pin.integrate(model, q, 0.3 * theirs_v))
    other = state(mech, 9)[0]
    close(mech.difference(q, other), pin.difference(model, q, other)[order])


MUJOCO_KINDS = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}


def mjcf(document) -> str:
    """The tree as MuJoCo reads it; bodies nest, joints sit at the body's origin (frame b)."""
    children: dict[str, list] = {}
    for joint in document.joints:
        children.setdefault(joint.parent, []).append(joint)

    def nest(name: str) -> str:
        text = ""
        for joint in children.get(name, []):
            body = next(b for b in document.bodies if b.name == joint.child)
            I, (x, y, z), (r, p, w) = body.inertia, joint.a.position, joint.a.rotation
            numbers = " ".join(map(repr, (I.ixx, I.iyy, I.izz, I.ixy, I.ixz, I.iyz)))
            axis = f'axis="{" ".join(map(repr, joint.axis))}"' if joint.kind in ("revolute", "prismatic") else ""
            text += f'<body name="{body.name}" pos="{x!r} {y!r} {z!r}" euler="{r!r} {p!r} {w!r}">'
            text += (
                f'<joint name="{joint.name}" type="{MUJOCO_KINDS[joint.kind]}" {axis} armature="{joint.armature!r}"/>'
            )
            com = " ".join(map(repr, body.center_of_mass))
            text += f'<inertial pos="{com}" mass="{body.mass!r}" fullinertia="{numbers}"/>{nest(body.name)}</body>'
        return text

    g = " ".join(map(repr, document.world.gravity.acceleration))
    return (
        f'<mujoco><compiler angle="radian" eulerseq="XYZ"/><option gravity="{g}"/>'
        f"<worldbody>{nest('world')}</worldbody></mujoco>"
    )


@pytest.mark.parametrize("seed", range(3))
def test_trees_agree_with_mujoco(seed):
    mujoco = pytest.importorskip("mujoco")
    import dataclasses

    from core.model import Model, Pose

    drawn = tree(seed, ("revolute", "prismatic", "spherical"), 6, chain=False, armature=0.05)
    joints = tuple(
        dataclasses.replace(
            j,
            parent=min(j.parent, j.child, key=lambda n: -1 if n == "world" else int(n[1:])),
            child=max(j.parent, j.child, key=lambda n: -1 if n == "world" else int(n[1:])),
            b=Pose(),
        )
        for j in drawn.joints
    )
    document = Model(name="m", world=drawn.world, bodies=drawn.bodies, joints=joints)
    mech = Mechanism(document)
    model = mujoco.MjModel.from_xml_string(mjcf(document))
    data = mujoco.MjData(model)
    q, v, a = state(mech, seed)
    q_theirs, order = np.zeros(model.nq), np.zeros(mech.nv, dtype=int)
    for joint in joints:
        index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
        mine, at = q[mech.joint_q(joint.name)], model.jnt_qposadr[index]
        q_theirs[at : at + len(mine)] = mine if len(mine) == 1 else mine[[3, 0, 1, 2]]  # they: w first
        speeds = mech.joint_v(joint.name)
        order[speeds] = model.jnt_dofadr[index] + np.arange(speeds.stop - speeds.start)
    data.qpos[:], data.qvel[order], data.qacc[order] = q_theirs, v, a
    mujoco.mj_inverse(model, data)
    close(mech.inverse_dynamics(q, v, a), data.qfrc_inverse[order])
    tau = np.random.default_rng(seed).normal(size=mech.nv)
    data.qfrc_applied[order] = tau
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M) if _new_full(mujoco) else mujoco.mj_fullM(model, M, data.qM)
    close(mech.mass_matrix(q), M[np.ix_(order, order)])
    close(mech.forward_dynamics(q, v, tau), data.qacc[order])


def _new_full(mujoco) -> bool:
    """The order of arguments changed with MuJoCo 4."""
    return int(mujoco.__version__.split(".")[0]) >= 4
