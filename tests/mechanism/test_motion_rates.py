"""Rates of Jacobians, Coriolis matrix, momentum, outer wrenches, operational mass: Pinocchio and identities."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import ModelError, SimulationError
from core.files import load
from core.mechanism import Mechanism
from core.model import Force, Inertia
from resources import examples
from tests.mechanism.random_machines import state, tree
from tests.mechanism.test_identities import close
from tests.mechanism.test_peers import robots, to_pinocchio

ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
ROBOTS = (
    ("ur_description/urdf/ur5_robot.urdf", False),
    ("allegro_hand_description/urdf/allegro_left_hand.urdf", False),
    ("kinova_description/robots/kinova.urdf", False),
    ("panda_description/urdf/panda.urdf", True),
    ("solo_description/robots/solo12.urdf", True),
)


@pytest.fixture(scope="module")
def floating_machine():
    """A random tree with joints of several kinds on a free body, and a state of it."""
    kinds = ("free", "spherical", "universal", "revolute", "planar", "prismatic")
    mech = Mechanism(tree(3, kinds, chain=True, armature=0.05))
    return mech, *state(mech, 5)


def rate_of(mech, q, v, function, h=1e-6):
    """Difference quotient of a function of q along v, to check exact rates."""
    return (function(mech.integrate(q, v, h)) - function(mech.integrate(q, v, -h))) / (2.0 * h)


def example(name):
    return Mechanism(load(next(each.path for each in examples() if each.name == name)))


@pytest.mark.parametrize(("robot", "floating"), ROBOTS, ids=lambda each: str(each).split("/")[-1])
def test_real_robots_agree_with_pinocchio(robot, floating):
    pin = pytest.importorskip("pinocchio")
    folder = robots()
    if folder is None or not (folder / robot).exists():
        pytest.skip("example-robot-data is not installed")
    document = load(folder / robot, mimic=False, floating=floating)
    mech = Mechanism(replace(document, world=replace(document.world, limits="ideal")))
    model = pin.buildModelFromUrdf(str(folder / robot), *([pin.JointModelFreeFlyer()] if floating else []))
    model.armature[:] = 0.0
    data, rng = model.createData(), np.random.default_rng(4)
    pin.seed(4)
    q_pin, q, order = to_pinocchio(pin, mech, model, rng)
    v_pin, a_pin = rng.normal(size=model.nv), rng.normal(size=model.nv)
    v, a = v_pin[order], a_pin[order]
    close(mech.coriolis(q, v), pin.computeCoriolisMatrix(model, data, q_pin, v_pin)[np.ix_(order, order)])
    momentum_matrix = pin.ccrba(model, data, q_pin, v_pin)[ANGULAR_FIRST][:, order]
    center = data.com[0].copy()
    close(mech.momentum_matrix(q, center), momentum_matrix)
    close(mech.momentum(q, v, center), np.array(data.hg)[ANGULAR_FIRST])
    pin.computeJointJacobiansTimeVariation(model, data, q_pin, v_pin)
    pin.forwardKinematics(model, data, q_pin, v_pin, a_pin)
    pin.updateFramePlacements(model, data)
    frames = [f.name for f in model.frames if f.type == pin.BODY and f.name in mech.frame_names]
    name = frames[-1]
    index = model.getFrameId(name, pin.BODY)
    references = {pin.LOCAL_WORLD_ALIGNED: {}, pin.LOCAL: {"axes": name}, pin.WORLD: {"point": (0.0, 0.0, 0.0)}}
    for reference, options in references.items():
        J = pin.getFrameJacobian(model, data, index, reference)[ANGULAR_FIRST][:, order]
        J_rate = pin.getFrameJacobianTimeVariation(model, data, index, reference)[ANGULAR_FIRST][:, order]
        close(mech.jacobian(q, name, **options), J)
        close(mech.jacobian_rate(q, v, name, **options), J_rate)
        close(mech.jacobian_rate_times_speed(q, v, name, **options), J_rate @ v)
    found = pin.getFrameClassicalAcceleration(model, data, index, pin.LOCAL_WORLD_ALIGNED)
    close(mech.frame_acceleration(q, v, a, name), np.concatenate([found.angular, found.linear]))
    wrench, J = rng.normal(size=6), mech.jacobian(q, name)
    outside = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
    joint = model.frames[index].parentJoint
    at_origin = pin.Force(wrench[3:], wrench[:3])
    placed = pin.SE3(data.oMi[joint].rotation.T, data.oMi[joint].actInv(data.oMf[index].translation))
    outside[joint] = placed.act(at_origin)
    tau = pin.rnea(model, data, q_pin, v_pin, a_pin, outside)[order]
    close(mech.inverse_dynamics(q, v, a, passive=False, wrenches={name: wrench}), tau)
    close(mech.forward_dynamics(q, v, tau, passive=False, wrenches={name: wrench}), a)
    M_inverse = np.linalg.inv(mech.mass_matrix(q))
    if np.linalg.matrix_rank(J, tol=1e-6) == 6:
        close(mech.operational_mass(q, name).mass, np.linalg.inv(J @ M_inverse @ J.T))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"axes": "b1"},
        {"relative_to": "b2", "axes": "b2"},
        {"point": (0.1, -0.2, 0.3)},
        {"point": (0.1, -0.2, 0.3), "reference": "tip", "relative_to": "b1", "axes": "tipper"},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_jacobian_of_any_point_and_its_rate(floating_machine, options):
    mech, q, v, _ = floating_machine
    J = mech.jacobian(q, "tip", **options)
    J_rate = mech.jacobian_rate(q, v, "tip", **options)
    close_to_rate = rate_of(mech, q, v, lambda q: mech.jacobian(q, "tip", **options))
    np.testing.assert_allclose(J_rate, close_to_rate, atol=1e-7)
    close(mech.jacobian_rate_times_speed(q, v, "tip", **options), J_rate @ v)

    def place(q):  # the point's position, seen from the base in the axes asked for
        X_WR = mech.frame(q, options["reference"]) if "reference" in options else np.eye(4)
        X_WP = X_WR @ np.append(options["point"], 1.0) if "point" in options else mech.frame(q, "tip")[:, 3]
        return X_WP

    here = np.linalg.solve(mech.frame(q, "tip"), place(q))  # the tip's point that lies there
    base, axes = options.get("relative_to", "world"), options.get("axes", "world")
    seen = rate_of(mech, q, v, lambda q: np.linalg.solve(mech.frame(q, base), mech.frame(q, "tip") @ here))[:3]
    R_AB = mech.frame(q, axes)[:3, :3].T @ mech.frame(q, base)[:3, :3]
    np.testing.assert_allclose((J @ v)[3:], R_AB @ seen, atol=1e-7)


def test_acceleration_of_a_frame_is_the_rate_of_its_velocity(floating_machine):
    mech, q, v, a = floating_machine
    found, h = mech.frame_acceleration(q, v, a, "tip"), 1e-6
    close(found, mech.jacobian(q, "tip") @ a + mech.jacobian_rate_times_speed(q, v, "tip"))
    ahead, behind = (mech.frame_velocity(mech.integrate(q, v, dt), v + a * dt, "tip") for dt in (h, -h))
    np.testing.assert_allclose(found, (ahead - behind) / (2.0 * h), atol=1e-6)


def test_coriolis_matrix_is_metric_and_gives_the_bias(floating_machine):
    mech, q, v, _ = floating_machine
    C = mech.coriolis(q, v)
    close(C @ v + mech.gravity(q), mech.bias(q, v, passive=False))
    M_rate = rate_of(mech, q, v, mech.mass_matrix)
    np.testing.assert_allclose(M_rate, C + C.T, atol=1e-7)  # Ṁ − 2 C is skew
    close(mech.christoffel(q) @ v, C)


@pytest.mark.parametrize("name", ["four_bar", "puma560", "stewart"])
def test_christoffel_symbols_are_those_of_the_mass_matrix(name):
    mech = example(name)
    q = mech.rest()
    found = mech.christoffel(q)
    slopes = np.stack([rate_of(mech, q, e, mech.mass_matrix) for e in np.eye(mech.nv)], axis=-1)  # ∂M_ij/∂ξ_k
    plain = 0.5 * (slopes + np.swapaxes(slopes, 1, 2) - np.moveaxis(slopes, -1, 0))
    if mech.nq == mech.nv:
        np.testing.assert_allclose(found, plain, atol=1e-7 * (1.0 + np.abs(plain).max()))
    v = np.random.default_rng(1).normal(size=mech.nv)  # quaternions: what they add does no work
    np.testing.assert_allclose(v @ (found @ v) @ v, v @ (plain @ v) @ v, atol=1e-7 * (1.0 + np.abs(plain).max()))
    close(found @ v, mech.coriolis(q, v))


def test_momentum_changes_by_outer_wrenches_and_weight(floating_machine):
    mech, q, v, _ = floating_machine
    rng, h = np.random.default_rng(8), 1e-6
    wrenches = {"b3": rng.normal(size=6), "tip": rng.normal(size=6)}
    tau = np.where(np.arange(mech.nv) < 6, 0.0, rng.normal(size=mech.nv))  # motors are inside
    plain = Mechanism(replace_armature(mech.model))
    a = plain.forward_dynamics(q, v, tau, wrenches=wrenches)
    center = plain.center_of_mass(q)
    total = np.zeros(6)
    for frame, F in wrenches.items():
        arm = plain.frame(q, frame)[:3, 3] - center
        total += np.concatenate([F[:3] + np.cross(arm, F[3:]), F[3:]])
    mass = sum(body.mass for body in plain.model.bodies)
    total[3:] += mass * np.array(plain.model.world.gravity.acceleration)
    ahead, behind = (plain.momentum(plain.integrate(q, v, dt), v + a * dt) for dt in (h, -h))
    np.testing.assert_allclose((ahead - behind) / (2.0 * h), total, atol=2e-6 * np.abs(total).max())


def replace_armature(model):
    return replace(model, joints=tuple(replace(joint, armature=0.0) for joint in model.joints))


def test_momentum_about_any_point_and_by_its_matrix(floating_machine):
    mech, q, v, _ = floating_machine
    about_world = mech.momentum(q, v, "world")
    close(about_world, mech.compiled.call("momentum", q, v))
    places = {"tip": mech.frame(q, "tip")[:3, 3], "center": mech.center_of_mass(q), (0.3, -1.0, 2.0): (0.3, -1.0, 2.0)}
    for about, point in places.items():
        found = mech.momentum(q, v, about)
        close(found, about_world - np.concatenate([np.cross(point, about_world[3:]), np.zeros(3)]))
        close(mech.momentum_matrix(q, about) @ v, found)


@pytest.mark.parametrize("name", ["stewart", "quick_return", "puma560"])
def test_outer_wrenches_move_as_they_should(name):
    mech = example(name)
    q, rng = mech.rest(), np.random.default_rng(2)
    frame = mech.frame_names[-1]
    F, tau, still = rng.normal(size=6), rng.normal(size=mech.nv), np.zeros(mech.nv)
    push = mech.jacobian(q, frame).T @ F
    pushed = mech.forward_dynamics(q, still, tau, wrenches={frame: F}, passive=False)
    close(pushed, mech.forward_dynamics(q, still, tau + push, passive=False))
    free = mech.forward_dynamics(q, still, tau, passive=False)
    mass = mech.operational_mass(q, frame)
    change = mech.jacobian(q, frame) @ (pushed - free)
    motion = mass.mass @ np.linalg.pinv(mass.mass) @ F  # what of F is along motions of the frame
    close(mass.mass @ change, motion, 1e-7)
    needed = mech.inverse_dynamics(q, still, pushed, wrenches={frame: F}, passive=False)
    close(mech.forward_dynamics(q, still, needed, wrenches={frame: F}, passive=False), pushed, 1e-7)


@pytest.mark.parametrize("name", ["random tree", "puma560", "stewart", "quick_return", "spatial_four_bar"])
def test_outer_wrenches_act_as_a_force_element_does(name):
    """also on reactions, where constraints are redundant too"""
    mech = Mechanism(tree(6, armature=0.02)) if name == "random tree" else example(name)
    rng, q = np.random.default_rng(6), mech.rest()
    v, tau = mech.assemble(q, rng.normal(size=mech.nv))[1], rng.normal(size=mech.nv)
    F, frame = rng.normal(size=6), mech.frame_names[-1]
    pull = Force(name="pull", kind="wrench", b=frame, torque=tuple(map(float, F[:3])), force=tuple(map(float, F[3:])))
    other = Mechanism(replace(mech.model, forces=(*mech.model.forces, pull)))
    a = mech.forward_dynamics(q, v, tau, wrenches={frame: F})
    close(a, other.forward_dynamics(q, v, tau), 1e-8)
    close(mech.inverse_dynamics(q, v, a, wrenches={frame: F}), other.inverse_dynamics(q, v, a), 1e-8)
    found, wanted = mech.reactions(q, v, tau, wrenches={frame: F}), other.reactions(q, v, tau)
    for joint in mech.joint_names:
        close(found[joint], wanted[joint], 1e-7)


@pytest.mark.parametrize("part", ["both", "translation", "rotation"])
@pytest.mark.parametrize("name", ["dual_arm", "panda", "stewart"])
def test_null_space_leaves_the_frame(name, part):
    mech = example(name)
    q = mech.integrate(mech.rest(), np.zeros(mech.nv))
    frame = mech.frame_names[-1]
    rows = {"both": slice(0, 6), "rotation": slice(0, 3), "translation": slice(3, 6)}[part]
    N, J, M = mech.null_space(q, frame, part=part), mech.jacobian(q, frame)[rows], mech.mass_matrix(q)
    G = mech.constraint_jacobian(q)
    close(J @ N, np.zeros_like(J))
    close(G @ N, np.zeros_like(G))
    close(N @ N, N)
    close(M @ N, (M @ N).T)
    held = np.concatenate([G, J])
    assert round(np.trace(N)) == mech.nv - np.linalg.matrix_rank(held, tol=1e-7)
    close(J @ mech.operational_mass(q, frame, part=part).inverse @ J @ null(G), J @ null(G))


def null(G):
    _, sizes, right = np.linalg.svd(G) if len(G) else (0, np.zeros(0), np.eye(G.shape[1]))
    return right[int(np.sum(sizes > 1e-9)) :].T


def test_arrays_of_states_and_parameters():
    mech = example("sprung_arm") if example("sprung_arm").p_names else example("four_bar")
    rng = np.random.default_rng(3)
    q = mech.integrate(mech.rest(), rng.normal(size=(3, mech.nv)) * 0.1)
    v, a = rng.normal(size=(2, 3, mech.nv))
    frame, values = mech.frame_names[-1], mech.parameter_values() * rng.uniform(1.0, 1.1, size=(3, len(mech.p_names)))
    point, F = rng.normal(size=(3, 3)), rng.normal(size=(3, 6))
    calls = {
        "jacobian": lambda k: mech.jacobian(q[k], frame, point=point[k], p=values[k]),
        "jacobian_rate": lambda k: mech.jacobian_rate(q[k], v[k], frame, axes=frame, p=values[k]),
        "times": lambda k: mech.jacobian_rate_times_speed(q[k], v[k], frame, p=values[k]),
        "acceleration": lambda k: mech.frame_acceleration(q[k], v[k], a[k], frame, p=values[k]),
        "coriolis": lambda k: mech.coriolis(q[k], v[k], p=values[k]),
        "christoffel": lambda k: mech.christoffel(q[k], p=values[k]),
        "momentum": lambda k: mech.momentum(q[k], v[k], p=values[k]),
        "matrix": lambda k: mech.momentum_matrix(q[k], frame, p=values[k]),
        "forces": lambda k: mech.inverse_dynamics(q[k], v[k], a[k], p=values[k], passive=False, wrenches={frame: F[k]}),
        "reactions": lambda k: mech.reactions(q[k], v[k], a[k], p=values[k], wrenches={frame: F[k]})[
            mech.joint_names[0]
        ],
        "mass": lambda k: mech.operational_mass(q[k], frame, p=values[k]).mass,
        "null": lambda k: mech.null_space(q[k], frame, p=values[k]),
    }
    for name, function in calls.items():
        many, single = function(slice(None)), [function(k) for k in range(3)]
        np.testing.assert_allclose(many, single, atol=1e-9 * (1.0 + np.abs(many).max()), err_msg=name)


def test_wrong_arguments_are_told_in_words(floating_machine):
    mech, q, v, a = floating_machine
    with pytest.raises(ModelError, match="tipp"):
        mech.jacobian_rate(q, v, "tippper")
    with pytest.raises(ModelError, match="3 finite numbers"):
        mech.jacobian(q, "tip", point=(0.0, 1.0))
    with pytest.raises(ModelError, match="6 finite numbers"):
        mech.inverse_dynamics(q, v, a, wrenches={"tip": (0.0, 0.0, np.nan, 0.0, 0.0, 0.0)})
    with pytest.raises(ModelError, match="by frame"):
        mech.forward_dynamics(q, v, a, wrenches=[1.0])
    with pytest.raises(ModelError, match="motors"):
        mech.forward_dynamics(q, v, a, wrenches={"tip": np.zeros(6)}, motors=True)
    with pytest.raises(ModelError, match="part"):
        mech.null_space(q, "tip", part="position")
    with pytest.raises(SimulationError, match="not a finite number"):
        mech.null_space(q * np.nan, "tip")


def test_machines_at_the_edge(floating_machine):
    fixed = Mechanism(tree(2, ("fixed",), count=2))
    q = fixed.rest()
    assert fixed.jacobian_rate(q, q, "tip").shape == (6, 0)
    assert fixed.coriolis(q, q).shape == (0, 0)
    assert fixed.christoffel(q).shape == (0, 0, 0)
    assert not fixed.momentum(q, q).any()
    assert not fixed.operational_mass(q, "tip").mass.any()
    mech, q, v, _ = floating_machine
    assert not mech.jacobian_rate(q, v, "world").any()
    massless = Mechanism(
        replace(
            replace_armature(mech.model),
            bodies=tuple(replace(b, mass=0.0, inertia=Inertia()) for b in mech.model.bodies),
        )
    )
    with pytest.raises(ModelError, match="Nothing has mass"):
        massless.momentum(q, v)
    with pytest.raises(SimulationError, match="moves no mass"):
        massless.null_space(q, "tip")
    arm = Mechanism(tree(3, ("revolute",), friction_coefficient=0.1, bearing_radius=0.01))
    with pytest.raises(ModelError, match="friction"):
        arm.inverse_dynamics(arm.rest(), *np.zeros((2, arm.nv)), wrenches={"tip": np.zeros(6)})
