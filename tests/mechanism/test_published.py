"""Published reference numbers (tests/reference): trees, floating bodies, robots given by DH tables."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from core.model import Body, DHChain, DHRow, Frame, Gravity, Inertia, Joint, Model, Pose, World
from tests.mechanism.test_peers import robots

FOLDER = Path(__file__).parents[1] / "reference"


def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def close(mine, theirs, tolerance=1e-9):
    theirs = np.asarray(theirs, dtype=float)
    scale = max(float(np.max(np.abs(theirs), initial=0.0)), 1.0)
    np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=tolerance * scale)


def inertia(entries, order="xx yy zz xy xz yz"):
    return Inertia(**{f"i{name}": float(value) for name, value in zip(order.split(), entries, strict=True)})


def tree_of(bodies, gravity):
    made, joints = [], []
    for i, entry in enumerate(bodies):
        made.append(
            Body(
                name=f"b{i}", mass=entry["mass"], center_of_mass=tuple(entry["com"]), inertia=inertia(entry["inertia"])
            )
        )
        kind = {"R": "revolute", "P": "prismatic"}[entry["type"]]
        parent = "world" if entry["parent"] < 0 else f"b{entry['parent']}"
        a = Pose(position=tuple(entry["xyz"]), rotation=tuple(entry["rpy"]))
        joints.append(Joint(name=f"j{i}", kind=kind, parent=parent, child=f"b{i}", a=a, axis=tuple(entry["axis"])))
    world = World(gravity=Gravity(acceleration=tuple(gravity)))
    return Model(name="tree", world=world, bodies=tuple(made), joints=tuple(joints))


@pytest.mark.parametrize(
    "name", ["autotree_10_1_1_1", "autotree_7_15_07_1", "tree_random_04", "tree_random_07", "tree_random_12"]
)
def test_published_trees(name):
    case = read(name)
    mech = Mechanism(tree_of(case["parameters"]["bodies"], case["parameters"]["gravity"]))
    for state in case["reference"]["states"]:
        q, v, a = (np.array(state[key]) for key in ("q", "qd", "qdd"))
        close(mech.mass_matrix(q), state["M"])
        close(mech.bias(q, v), state["bias_C_qd_plus_G"])
        close(mech.gravity(q), state["G"])
        close(mech.inverse_dynamics(q, v, a), state["tau"])
        close(mech.forward_dynamics(q, v, state["tau"]), a, 1e-8)
        close(mech.energy(q, v).kinetic, state["kinetic_energy"])
        close(mech.energy(q, v).potential, state["potential_energy"])
        close(mech.center_of_mass(q), state["com"])
        close(mech.poses(q)[:, :3, 3], state["body_origins"])
        close(mech.poses(q)[-1, :3, :3], np.reshape(state["R_last"], (3, 3)))
        close(mech.jacobian(q, mech.frame_names[-1])[3:], state["J_last_linear"])


def test_rbdl_published_numbers():
    case = read("rbdl_published_checks")
    gravity, reference = case["parameters"]["gravity"], case["reference"]
    tree = Mechanism(tree_of(case["parameters"]["tree"], gravity))
    zero = np.zeros(tree.nv)
    np.testing.assert_allclose(tree.forward_dynamics(zero, zero, zero), reference["tree_qdd"], atol=1e-10)
    three = Mechanism(tree_of(case["parameters"]["three_dof"], gravity))
    zero = np.zeros(3)
    a = three.forward_dynamics(reference["three_dof_q"], zero, zero)
    np.testing.assert_allclose(a, reference["three_dof_qdd"], atol=1e-10)


@pytest.mark.parametrize("name", ["puma560", "stanford", "panda", "twolink", "ur5"])
def test_published_robots_by_their_dh_tables(name):
    case = read(f"robot_{name}")
    parameters = case["parameters"]
    rows = []
    for link in parameters["links"]:
        is_slide = link["sigma"] == 1
        I = np.array(link["I"], dtype=float)
        if I.shape == (6,):
            I = np.array([[I[0], I[3], I[5]], [I[3], I[1], I[4]], [I[5], I[4], I[2]]])
        tensor = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        rows.append(
            DHRow(
                kind="prismatic" if is_slide else "revolute",
                a=link["a"],
                alpha=link["alpha"],
                d=link["offset"] if is_slide else link["d"],
                theta=link["theta"] if is_slide else link["offset"],
                mass=link["m"],
                center_of_mass=tuple(link["r"]),
                inertia=inertia(tensor),
                armature=link["G"] ** 2 * link["Jm"],
            )
        )
    chain = DHChain(
        name="arm",
        convention=parameters["convention"],
        rows=tuple(rows),
        base=document_pose(parameters["base"]),
        tool=document_pose(parameters["tool"]),
    )
    mech = Mechanism(
        Model(name=name, world=World(gravity=Gravity(acceleration=tuple(parameters["gravity"]))), chains=(chain,))
    )
    v, a = np.array(parameters["qd"]), np.array(parameters["qdd"])
    for state in case["reference"]["configurations"].values():
        q = np.array(state["q"])
        np.testing.assert_allclose(mech.frame(q, "tool"), state["T"], atol=1e-9)
        J0 = np.array(state["J0"])[[3, 4, 5, 0, 1, 2]]  # theirs: [v; ω]
        np.testing.assert_allclose(mech.jacobian(q, "tool"), J0, atol=1e-9)
        if state.get("M") is None:
            continue
        close(mech.mass_matrix(q), state["M"])
        close(mech.gravity(q), state["G"])
        close(mech.bias(q, v) - mech.gravity(q), np.array(state["C"]) @ v)
        close(mech.inverse_dynamics(q, v, a), state["tau"])


def document_pose(matrix):
    from scipy.spatial.transform import Rotation

    matrix = np.array(matrix)
    quaternion = Rotation.from_matrix(matrix[:3, :3]).as_quat()
    return Pose(position=tuple(map(float, matrix[:3, 3])), rotation=tuple(map(float, quaternion)))


def test_kuka_iiwa_kinematics_torques_and_reactions():
    case = read("kuka_iiwa_motiongenesis")
    parameters = case["parameters"]
    names = list(parameters["links"])
    bodies = []
    for name, link in parameters["links"].items():
        tensor = Inertia(**link["inertia_com"])
        bodies.append(Body(name=name, mass=link["mass"], center_of_mass=tuple(link["com"]), inertia=tensor))
    joints = []
    for joint in parameters["joints"]:
        if joint["child"] not in names:
            continue
        parent = joint["parent"] if joint["parent"] in names else "world"
        joints.append(
            Joint(
                name=joint["name"],
                kind=joint["type"],
                parent=parent,
                child=joint["child"],
                a=Pose(position=tuple(joint["xyz"]), rotation=tuple(joint["rpy"])),
                axis=tuple(joint["axis"] or (0, 0, 1.0)),
            )
        )
    for state in case["reference"]["states"]:
        world = World(gravity=Gravity(acceleration=(0.0, 0.0, -float(state["g"]))))
        mech = Mechanism(Model(name="iiwa", world=world, bodies=tuple(bodies), joints=tuple(joints)))
        q, v, a = (np.array(state[key]) for key in ("q", "qd", "qdd"))
        last = names[-1]
        X = mech.frame(q, last)
        np.testing.assert_allclose(X[:3, :3], np.reshape(state["R_NG"], (3, 3)), atol=1e-9)
        np.testing.assert_allclose(X[:3, 3], state["p"], atol=1e-9)
        np.testing.assert_allclose(mech.frame_velocity(q, v, last), [*state["w"], *state["v"]], atol=1e-9)
        tau = mech.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(tau, state["tau"], atol=1e-9)
        reactions = mech.reactions(q, v, tau)
        for k, letter in enumerate("ABCDEFG", 1):
            np.testing.assert_allclose(reactions[f"iiwa_joint_{k}"], state[f"F_{letter}"], atol=1e-8)


def test_acrobot_closed_form():
    case = read("acrobot_closed_form")
    n = case["parameters"]
    bodies = tuple(
        Body(name=f"rod{i}", mass=n[f"m{i}"], center_of_mass=(0.0, -n[f"lc{i}"], 0.0), inertia=Inertia(izz=n[f"Ic{i}"]))
        for i in (1, 2)
    )
    joints = (
        Joint(name="shoulder", parent="world", child="rod1", damping=n["b"]),
        Joint(name="elbow", parent="rod1", child="rod2", a=Pose(position=(0.0, -n["l1"], 0.0)), damping=n["b"]),
    )
    world = World(gravity=Gravity(acceleration=(0.0, -n["g"], 0.0)))
    mech = Mechanism(Model(name="acrobot", world=world, bodies=bodies, joints=joints))
    for state in case["reference"]["states"]:
        q, v = np.array(state["q"]), np.array(state["qd"])
        np.testing.assert_allclose(mech.mass_matrix(q), state["M"], atol=1e-12)
        np.testing.assert_allclose(mech.gravity(q), state["G"], atol=1e-12)
        np.testing.assert_allclose(mech.bias(q, v, passive=False) - mech.gravity(q), state["C_vector"], atol=1e-12)
        free = mech.forward_dynamics(q, v, np.zeros(2))
        np.testing.assert_allclose(free, state["qdd_free_with_damping_0p1"], atol=1e-11)


def test_babyboot_accelerations_follow_kanes_equations():
    n = read("babyboot_kane")["parameters"]
    plate = Inertia(ixx=n["IBx"], iyy=n["IBy"], izz=n["IBz"])
    bodies = (
        Body(name="rod", mass=n["mA"], center_of_mass=(0.0, 0.0, -n["LA"]), inertia=Inertia(ixx=n["IAx"])),
        Body(name="plate", mass=n["mB"], center_of_mass=(0.0, 0.0, -n["LB"]), inertia=plate),
    )
    joints = (
        Joint(name="A", parent="world", child="rod", axis=(1.0, 0.0, 0.0)),
        Joint(name="B", parent="rod", child="plate", axis=(0.0, 0.0, 1.0)),
    )
    mech = Mechanism(Model(name="babyboot", bodies=bodies, joints=joints))
    published = read("babyboot_kane")["reference"]["published_t10"]
    q = np.radians([published["qA_deg"], published["qB_deg"]])
    v = np.array([published["qAdot"], published["qBdot"]])
    a = mech.forward_dynamics(q, v, np.zeros(2))
    np.testing.assert_allclose(a, [published["qAddot"], published["qBddot"]], rtol=1e-10)


def test_floating_chain_momentum_and_energy():
    case = read("floating_chain_3")
    bodies, joints = [], []
    for i, entry in enumerate(case["parameters"]["bodies"]):
        xx, yy, zz = entry["I_com"]
        bodies.append(
            Body(
                name=f"b{i}",
                mass=entry["mass"],
                center_of_mass=tuple(entry["com"]),
                inertia=Inertia(ixx=xx, iyy=yy, izz=zz),
            )
        )
        if entry["axis"] is not None:
            joints.append(
                Joint(
                    name=f"q{i}",
                    parent=f"b{i - 1}",
                    child=f"b{i}",
                    axis=tuple(entry["axis"]),
                    a=Pose(position=tuple(entry["offset_from_parent"])),
                )
            )
    world = World(gravity=Gravity(kind="none"))
    mech = Mechanism(Model(name="chain", world=world, bodies=tuple(bodies), joints=tuple(joints)))
    assert mech.q_names[:7] == ("b0.x", "b0.y", "b0.z", "b0.qx", "b0.qy", "b0.qz", "b0.qw")
    linear, angular, rates = np.split(np.array(case["parameters"]["v0"]), [3, 6])
    v = np.concatenate([angular, linear, rates])
    q = mech.neutral()
    assert mech.energy(q, v).total == pytest.approx(case["reference"]["total_energy"], abs=1e-8)
    # the six equations of the free body are its momentum: p = M v (root frame at the origin, axes of the world)
    momentum = (mech.mass_matrix(q) @ v)[:6]
    np.testing.assert_allclose(momentum[3:], case["reference"]["linear_momentum0"], atol=1e-9)
    np.testing.assert_allclose(momentum[:3], case["reference"]["angular_momentum0"], atol=1e-9)
    h = 2.5e-3  # follow the published motion with classical Runge–Kutta
    for row in case["reference"]["rows"][1:5]:
        for _ in range(20):
            q, v = runge_kutta(mech, q, v, h)
        np.testing.assert_allclose(q, row[1:], atol=1e-6)


def runge_kutta(mech, q, v, h):
    zero = np.zeros(mech.nv)

    def slope(q, v):
        return mech.rate(q, v), mech.forward_dynamics(q, v, zero)

    k1 = slope(q, v)
    k2 = slope(q + 0.5 * h * k1[0], v + 0.5 * h * k1[1])
    k3 = slope(q + 0.5 * h * k2[0], v + 0.5 * h * k2[1])
    k4 = slope(q + h * k3[0], v + h * k3[1])
    q = q + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
    return mech.clamp(q), v + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("import_urdf_*.json")), ids=lambda p: p.stem[12:])
def test_published_numbers_of_real_urdfs(path):
    folder = robots()
    if folder is None:
        pytest.skip("example-robot-data is not installed")
    case = json.loads(path.read_text())
    mech = Mechanism(load(folder / case["parameters"]["file"], mimic=False))
    names = case["parameters"]["joint_names"]
    for state in case["reference"]["states"]:
        q, v, a = mech.neutral(), np.zeros(mech.nv), np.zeros(mech.nv)
        order = [mech.joint_v(name).start for name in names]
        q[[mech.joint_q(name).start for name in names]] = state["q"]
        v[order], a[order] = state["qd"], state["qdd"]
        close(mech.inverse_dynamics(q, v, a, passive=False)[order], state["tau"], 1e-8)
        close(mech.center_of_mass(q), state["com_including_base"], 1e-8)
        close(mech.energy(q, v).kinetic, state["kinetic_energy"], 1e-8)
        for link, place in state["leaf_links"].items():
            np.testing.assert_allclose(mech.frame(q, link)[:3, 3], place["p"], atol=1e-8)
            np.testing.assert_allclose(mech.frame(q, link)[:3, :3], place["R"], atol=1e-8)


def test_a_frame_is_where_its_document_says():
    model = Model(name="m", frames=(Frame(name="f", parent="world", pose=Pose(position=(1.0, 2.0, 3.0))),))
    np.testing.assert_allclose(Mechanism(model).frame(np.zeros(0), "f")[:3, 3], [1.0, 2.0, 3.0])
