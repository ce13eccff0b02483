"""Algorithms against one another on random machines of all joint kinds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mechanism import Mechanism
from core.model import Frame, Joint, Mimic, Model, Pose
from core.model.edits.edits import replace
from core.programs import machine_symbols
from core.programs import program as programs
from tests.mechanism.random_machines import MOVING, direction, state, tree

SEEDS = st.integers(0, 10_000)
FEW = settings(max_examples=5)


def close(a, b, tolerance=1e-9):
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
    np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * scale)


@FEW
@given(SEEDS)
def test_forward_undoes_inverse_dynamics(seed):
    mech = Mechanism(tree(seed, armature=0.1, damping=0.3, friction=0.2, stiffness=1.5))
    q, v, a = state(mech, seed)
    close(mech.forward_dynamics(q, v, mech.inverse_dynamics(q, v, a)), a, 1e-8)
    close(mech.forward_dynamics(q, v, mech.inverse_dynamics(q, v, a, passive=False), passive=False), a, 1e-8)


@FEW
@given(SEEDS)
def test_mass_matrix_consists_of_inverse_dynamics_columns(seed):
    mech = Mechanism(tree(seed, armature=0.05))
    q, v, a = state(mech, seed)
    rest = np.zeros(mech.nv)
    columns = mech.inverse_dynamics(q, rest, np.eye(mech.nv)) - mech.inverse_dynamics(q, rest, rest)
    M = mech.mass_matrix(q)
    close(M, columns.T)
    close(M, M.T, 1e-14)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    close(M @ a + mech.bias(q, v), mech.inverse_dynamics(q, v, a))


@FEW
@given(SEEDS)
def test_kinetic_energy_is_half_v_M_v_and_gravity_is_the_gradient_of_the_potential(seed):
    mech = Mechanism(tree(seed, armature=0.05, stiffness=2.0))
    q, v, _ = state(mech, seed)
    close(mech.energy(q, v).kinetic, 0.5 * v @ mech.mass_matrix(q) @ v)
    h = 1e-5
    steps = np.eye(mech.nv) * h
    slope = (
        mech.energy(mech.integrate(q, steps), v).potential - mech.energy(mech.integrate(q, -steps), v).potential
    ) / (2 * h)
    holding = mech.bias(q, np.zeros(mech.nv))  # gravity and springs
    close(slope, holding, 1e-7)


@FEW
@given(SEEDS)
def test_power_balance(seed):
    """d(T + V)/dt = v·τ without friction, at the accelerations of forward dynamics."""
    mech = Mechanism(tree(seed, armature=0.05, stiffness=2.0))
    q, v, tau = state(mech, seed)
    a = mech.forward_dynamics(q, v, tau)
    h = 1e-6
    ahead = mech.energy(mech.integrate(q, v + 0.5 * h * a, h), v + h * a).total
    behind = mech.energy(mech.integrate(q, v - 0.5 * h * a, -h), v - h * a).total
    close((ahead - behind) / (2 * h), v @ tau, 1e-6)


@FEW
@given(SEEDS)
def test_jacobian_is_the_derivative_of_the_pose(seed):
    mech = Mechanism(tree(seed))
    q, v, _ = state(mech, seed)
    h = 1e-6
    before, after = mech.frame(mech.integrate(q, v, -h), "tipper"), mech.frame(mech.integrate(q, v, h), "tipper")
    spin = (after[:3, :3] - before[:3, :3]) / (2 * h) @ mech.frame(q, "tipper")[:3, :3].T
    velocity = mech.jacobian(q, "tipper") @ v
    close(velocity[:3], [spin[2, 1], spin[0, 2], spin[1, 0]], 1e-7)
    close(velocity[3:], (after[:3, 3] - before[:3, 3]) / (2 * h), 1e-7)
    close(mech.frame_velocity(q, v, "tipper"), velocity)
    close(mech.frames_jacobian(q)[mech.frame_names.index("tipper")], mech.jacobian(q, "tipper"))


@FEW
@given(SEEDS)
def test_rate_of_coordinates_is_the_derivative_of_integrate(seed):
    mech = Mechanism(tree(seed))
    q, v, _ = state(mech, seed)
    h = 1e-6
    close((mech.integrate(q, v, h) - mech.integrate(q, v, -h)) / (2 * h), mech.rate(q, v), 1e-7)


@FEW
@given(SEEDS)
def test_difference_undoes_integrate(seed):
    mech = Mechanism(tree(seed))
    q, v, _ = state(mech, seed)
    close(mech.difference(q, mech.integrate(q, v, 0.7)), 0.7 * v, 1e-10)
    far = mech.random(seed + 1)
    close(mech.frame(mech.integrate(q, mech.difference(q, far)), "tip"), mech.frame(far, "tip"), 1e-10)


@pytest.mark.parametrize("kind", MOVING)
def test_every_joint_kind_backwards_moves_the_same(kind):
    """Drawing the only joint from the other side changes no coordinate and no equation."""
    model = tree(7, (kind,), 1, chain=True)
    joint = model.joints[0]
    turned = Joint(
        name="j0",
        kind=kind,
        parent="b0",
        child="world",
        a=joint.b,
        b=joint.a,
        axis=joint.axis,
        second_axis=joint.second_axis,
        pitch=joint.pitch,
    )
    forth, back = Mechanism(model), Mechanism(replace(model, joint, turned))
    q, v, a = state(back, 3)
    assert forth.q_names == back.q_names
    # the child of one is the parent of the other: world ← b is the inverse of world ← a seen from b
    X, Y = forth.joint_poses(q)["j0"], back.joint_poses(q)["j0"]
    close(np.linalg.inv(X[0]) @ X[1], np.linalg.inv(Y[0]) @ Y[1])
    close(back.forward_dynamics(q, v, back.inverse_dynamics(q, v, a)), a)


@FEW
@given(SEEDS)
def test_order_and_names_of_bodies_change_nothing(seed):
    model = tree(seed)
    shuffled = Model(name="x", world=model.world, bodies=model.bodies[::-1], joints=model.joints, frames=model.frames)
    one, two = Mechanism(model), Mechanism(shuffled)
    q, v, tau = state(one, seed)
    close(two.forward_dynamics(q, v, tau), one.forward_dynamics(q, v, tau), 1e-12)


@FEW
@given(SEEDS)
def test_reactions_carry_the_weight_and_drive_the_joints(seed):
    """Sᵀ F = τ at every joint, and the joints on the ground carry weight plus inertia forces."""
    mech = Mechanism(tree(seed))
    q, v, tau = state(mech, seed)
    reactions, a = mech.reactions(q, v, tau), mech.forward_dynamics(q, v, tau)
    poses = mech.joint_poses(q)
    for name in mech.joint_names:
        kind = mech.model.joint(name).kind
        if kind in ("revolute", "continuous", "prismatic"):
            axis = np.array(mech.model.joint(name).axis)
            axis = poses[name][0][:3, :3] @ (axis / np.linalg.norm(axis))
            part = reactions[name][3:] if kind == "prismatic" else reactions[name][:3]
            close(part @ axis, tau[mech.joint_v(name)][0], 1e-9)
    h = 1e-5

    def momentum(q, v):  # of the whole machine: mass times velocity of its centre
        mass = sum(body.mass for body in mech.model.bodies)
        return (
            mass
            * (mech.center_of_mass(mech.integrate(q, v, h)) - mech.center_of_mass(mech.integrate(q, v, -h)))
            / (2 * h)
        )

    k = 1e-4
    rate = (
        momentum(mech.integrate(q, v + 0.5 * k * a, k), v + k * a)
        - momentum(mech.integrate(q, v - 0.5 * k * a, -k), v - k * a)
    ) / (2 * k)
    mass = sum(body.mass for body in mech.model.bodies)
    ground = np.zeros(3)
    for joint in mech.model.joints:
        if joint.parent == "world":
            ground += reactions[joint.name][3:]
        if joint.child == "world":
            ground -= reactions[joint.name][3:]
    close(ground + mass * np.array(mech.model.world.gravity.acceleration), rate, 1e-4)


@settings(max_examples=3)
@given(SEEDS)
def test_tables_of_blocks_give_the_same_numbers(seed):
    """The recursion as a table of blocks, interpreted and in machine code, against the trace in one piece."""
    model = tree(seed, count=5, damping=0.1)
    whole = Mechanism(model)
    q, v, u = state(whole, seed)
    limit, machine_symbols.LONG = machine_symbols.LONG, 0
    programs.drop_programs()
    try:
        parts = Mechanism(model)
        for _ in range(2):
            close(parts.forward_dynamics(q, v, u), whole.forward_dynamics(q, v, u), 1e-9)
            close(parts.inverse_dynamics(q, v, u), whole.inverse_dynamics(q, v, u), 1e-11)
            close(parts.mass_matrix(q), whole.mass_matrix(q), 1e-11)
            close(parts.poses(q), whole.poses(q), 1e-12)
            close(parts.jacobian(q, "tip"), whole.jacobian(q, "tip"), 1e-12)
            close(parts.center_of_mass(q), whole.center_of_mass(q), 1e-12)
            close(parts.reactions(q, v, u)["j0"], whole.reactions(q, v, u)["j0"], 1e-9)
            if seed % 2:
                break
            parts.compile()
            assert parts.ready
    finally:
        machine_symbols.LONG = limit
        programs.drop_programs()


def test_coupled_joints_move_as_one():
    """A following joint adds its inertia and motion to its leader's, times the ratio."""
    free = tree(11, ("revolute",), 4, chain=True, damping=0.2, armature=0.03)
    model = replace(
        free, free.joints[2], Joint(**{**vars(free.joints[2]), "mimic": Mimic(leader="j0", ratio=-1.7, offset=0.3)})
    )
    coupled, uncoupled = Mechanism(model), Mechanism(free)
    assert coupled.q_names == ("j0", "j1", "j3")
    N = np.array([[1, 0, 0], [0, 1, 0], [-1.7, 0, 0], [0, 0, 1.0]])  # v_free = N v
    q, v, a = state(coupled, 5)
    q_free = N @ q + np.array([0, 0, 0.3, 0])
    close(coupled.poses(q), uncoupled.poses(q_free))
    close(coupled.mass_matrix(q), N.T @ uncoupled.mass_matrix(q_free) @ N)
    tau = N.T @ uncoupled.inverse_dynamics(q_free, N @ v, N @ a)
    close(coupled.inverse_dynamics(q, v, a), tau)
    close(coupled.forward_dynamics(q, v, tau), a)
    close(coupled.jacobian(q, "tip"), uncoupled.jacobian(q_free, "tip") @ N)
    close(coupled.energy(q, v).kinetic, uncoupled.energy(q_free, N @ v).kinetic)
    assert coupled.joint_q("j2") == coupled.joint_q("j0")
    close(coupled.coordinate(coupled.move(q, {"j2": 0.9}), "j2"), [0.9])


def test_fixed_joints_and_frames_as_joint_ends():
    """A joint between frames, with bodies welded on, equals the joint between the bodies."""
    rng = np.random.default_rng(3)
    model = tree(21, ("revolute", "fixed", "prismatic", "fixed"), 4, chain=True)
    mech = Mechanism(model)
    assert mech.q_names == ("j0", "j2")
    q, v, a = state(mech, 1)
    close(mech.forward_dynamics(q, v, mech.inverse_dynamics(q, v, a)), a)
    # hang a joint on a frame that stands where the joint's own frame a stood
    axis = direction(rng)
    joint = model.joints[2]
    plain = replace(model, joint, Joint(**{**vars(joint), "axis": axis}))
    framed = Model(
        name="f",
        world=plain.world,
        bodies=plain.bodies,
        frames=(*plain.frames, Frame(name="seat", parent=joint.parent, pose=joint.a)),
        joints=tuple(
            Joint(**{**vars(j), "parent": "seat", "a": Pose()}) if j.name == joint.name else j for j in plain.joints
        ),
    )
    one, two = Mechanism(plain), Mechanism(framed)
    close(two.forward_dynamics(q, v, a), one.forward_dynamics(q, v, a))
    close(two.reactions(q, v, a)["j3"], one.reactions(q, v, a)["j3"])
