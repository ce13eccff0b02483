"""What a script or the window sees of a Mechanism: names, arrays, parameters, messages, code."""

import dataclasses
import gc
import threading
import time
import weakref

import numpy as np
import pytest
import trimesh

from core.codegen import background
from core.codegen.evaluator import Interpreter
from core.codegen.machine_code import MachineCode
from core.errors import ModelError, SimulationError
from core.files import loads
from core.mechanism import Mechanism
from core.model import (
    Body,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Frame,
    Gravity,
    Inertia,
    Joint,
    Limit,
    Material,
    Mesh,
    Mimic,
    Model,
    Parameter,
    Pose,
    Sphere,
    World,
)
from core.model.edits.edits import add, change, replace
from core.model.validation.model import check
from core.programs import program
from core.symbolic import robot
from tests.mechanism.random_machines import state, tree


def pendulum(**joint):
    """A rod of length L (parameter) and mass m about y; q = 0 hangs along −z."""
    return Model(
        name="pendulum",
        parameters=(
            Parameter(name="L", value=0.8),
            Parameter(name="m", value=2.0),
            Parameter(name="half", value="L/2"),
        ),
        bodies=(Body(name="rod", mass="m", center_of_mass=(0.0, 0.0, "-half"), inertia=Inertia(iyy="m*L^2/12")),),
        joints=(Joint(name="hinge", parent="world", child="rod", axis=(0.0, 1.0, 0.0), **joint),),
        frames=(Frame(name="end", parent="rod", pose=Pose(position=(0.0, 0.0, "-L"))),),
    )


def test_closed_form_of_the_pendulum():
    mech = Mechanism(pendulum(damping=0.3, friction=0.1, stiffness=4.0, rest=(0.2,), armature=0.05))
    q, v, tau = np.array([0.7]), np.array([-1.1]), np.array([0.4])
    m, L, g = 2.0, 0.8, 9.81
    inertia = m * L**2 / 3 + 0.05
    weight = m * g * L / 2 * np.sin(0.7)
    passive = 0.3 * -1.1 - 0.1 + 4.0 * 0.5
    assert mech.forward_dynamics(q, v, tau)[0] == pytest.approx((0.4 - weight - passive) / inertia)
    assert mech.forward_dynamics(q, v, tau, passive=False)[0] == pytest.approx((0.4 - weight) / inertia)
    assert mech.gravity(q)[0] == pytest.approx(weight)
    assert mech.mass_matrix(q)[0, 0] == pytest.approx(inertia)
    assert mech.bias(q, v)[0] == pytest.approx(weight + passive)
    energy = mech.energy(q, v)
    assert energy.kinetic == pytest.approx(0.5 * inertia * 1.21)
    assert energy.potential == pytest.approx(-m * g * L / 2 * np.cos(0.7) + 0.5 * 4.0 * 0.25)
    np.testing.assert_allclose(mech.frame(q, "end")[:3, 3], [-L * np.sin(0.7), 0.0, -L * np.cos(0.7)])
    np.testing.assert_allclose(mech.center_of_mass(q), [-L / 2 * np.sin(0.7), 0.0, -L / 2 * np.cos(0.7)])


def test_reaction_of_a_hanging_pendulum_is_its_weight():
    mech = Mechanism(pendulum())
    wrench = mech.reactions(np.zeros(1), np.zeros(1), np.zeros(1))["hinge"]
    np.testing.assert_allclose(wrench, [0, 0, 0, 0, 0, 2.0 * 9.81], atol=1e-12)
    # swinging through the lowest point the hinge also carries m v²/r
    wrench = mech.reactions(np.zeros(1), np.array([3.0]), np.zeros(1))["hinge"]
    assert wrench[5] == pytest.approx(2.0 * (9.81 + 9.0 * 0.4))


def test_parameters_are_arguments():
    mech = Mechanism(pendulum())
    q, zero = np.array([0.5]), np.zeros(1)
    assert mech.p_names == ("L", "m")
    assert mech.forward_dynamics(q, zero, zero, p={"L": 1.6})[0] == pytest.approx(-1.5 * 9.81 / 1.6 * np.sin(0.5))
    assert mech.forward_dynamics(q, zero, zero, p=[1.6, 2.0])[0] == pytest.approx(-1.5 * 9.81 / 1.6 * np.sin(0.5))
    lengths = np.linspace(0.5, 1.5, 5)
    many = mech.forward_dynamics(q, zero, zero, p=np.column_stack([lengths, np.full(5, 2.0)]))
    np.testing.assert_allclose(many[:, 0], -1.5 * 9.81 / lengths * np.sin(0.5))
    with pytest.raises(ModelError, match="no independent parameter 'half'"):
        mech.forward_dynamics(q, zero, zero, p={"half": 1.0})


def test_code_is_shared_as_long_as_a_mechanism_has_it():
    """However many other machines were made since; what no mechanism has any more is kept for the last few only."""
    mech = Mechanism(pendulum())
    left = weakref.ref(Mechanism(change(pendulum(), "bodies", "rod", mass=2.5)).compiled.program)
    for k in range(program.KEPT + 1):
        Mechanism(change(pendulum(), "bodies", "rod", mass=3.0 + k))
    assert Mechanism(pendulum()).compiled.program is mech.compiled.program
    gc.collect()
    assert left() is None
    program.drop_programs()
    assert Mechanism(pendulum()).compiled.program is not mech.compiled.program


def test_code_is_shared_where_only_values_limits_and_looks_differ():
    model = pendulum()
    mech = Mechanism(model)
    longer = change(model, "parameters", "L", value=1.6)
    painted = replace(model, model.bodies[0], dataclasses.replace(model.bodies[0], shapes=(Box(),), description="red"))
    limited = change(model, "joints", "hinge", limits=(Limit(lower=-1.0, upper=1.0),))
    coloured = add(model, Material(name="red", color=(1.0, 0.0, 0.0, 1.0)))
    for other in (longer, painted, limited, coloured):
        assert mech.updated(other).compiled.program is mech.compiled.program
    heavier = change(model, "bodies", "rod", mass=3.0)
    assert mech.updated(heavier).compiled.program is not mech.compiled.program
    zero = np.zeros(1)
    assert mech.updated(longer).forward_dynamics([0.5], zero, zero)[0] == pytest.approx(-1.5 * 9.81 / 1.6 * np.sin(0.5))
    assert mech.updated(limited).clamp(np.array([2.0]))[0] == 1.0


def test_arrays_of_states_equal_single_ones():
    mech = Mechanism(tree(3))
    states = [state(mech, k) for k in range(6)]
    q, v, u = (np.array([s[i] for s in states]) for i in range(3))
    for compiled in (False, True):
        if compiled:
            mech.compile()
        for k in range(6):
            np.testing.assert_allclose(
                mech.forward_dynamics(q, v, u)[k], mech.forward_dynamics(q[k], v[k], u[k]), rtol=1e-12
            )
            np.testing.assert_allclose(mech.mass_matrix(q)[k], mech.mass_matrix(q[k]), rtol=1e-12)
            np.testing.assert_allclose(mech.frame(q, "tip")[k], mech.frame(q[k], "tip"), rtol=1e-12)
        grid = mech.inverse_dynamics(q.reshape(2, 3, -1), v.reshape(2, 3, -1), u.reshape(2, 3, -1))
        np.testing.assert_allclose(grid.reshape(6, -1), mech.inverse_dynamics(q, v, u), rtol=1e-12)
        one_v = mech.inverse_dynamics(q, v[0], u[0])  # broadcast
        np.testing.assert_allclose(one_v[3], mech.inverse_dynamics(q[3], v[0], u[0]), rtol=1e-12)
    assert mech.forward_dynamics(q[:0], v[:0], u[:0]).shape == (0, mech.nv)


def test_lists_integers_and_strided_arrays_are_taken():
    mech = Mechanism(tree(2, ("revolute",), 3))
    q = np.arange(6, dtype=float)[::2]
    expected = mech.gravity(np.array([0.0, 2.0, 4.0]))
    for given in (q, [0, 2, 4], np.array([0, 2, 4]), (0.0, 2.0, 4.0), np.float32(q)):
        np.testing.assert_allclose(mech.gravity(given), expected)
    mech.gravity(q)[:] = 7.0  # results belong to the caller
    np.testing.assert_allclose(mech.gravity(q), expected)


def test_messages_name_what_is_wrong():
    mech = Mechanism(pendulum())
    with pytest.raises(ModelError, match=r"q has shape \(2,\); 1 numbers are needed"):
        mech.forward_dynamics([0.0, 1.0], [0.0], [0.0])
    with pytest.raises(ModelError, match="tau has a single number"):
        mech.forward_dynamics([0.0], [0.0], 1.0)
    with pytest.raises(ModelError, match="not an array of numbers"):
        mech.gravity(["a"])
    with pytest.raises(ModelError, match=r"no body or frame 'ent'.*Did you mean end"):
        mech.frame([0.0], "ent")
    with pytest.raises(ModelError, match="no joint 'hinj'"):
        mech.joint_q("hinj")
    with pytest.raises(ModelError, match="no coordinate 'hing'"):
        mech.move([0.0], {"hing": 1.0})
    with pytest.raises(SimulationError, match="coordinate 'hinge'.*not a finite number"):
        mech.forward_dynamics([np.nan], [0.0], [0.0])


def test_a_joint_without_mass_is_named():
    model = tree(1, ("revolute",), 3, chain=True)
    light = replace(model, model.bodies[2], Body(name="b2"))
    mech = Mechanism(light)
    q, v, u = state(mech)
    mech.inverse_dynamics(q, v, u)
    with pytest.raises(SimulationError, match=r"joint 'j2'.*moves no mass.*armature"):
        mech.forward_dynamics(q, v, u)
    massless = change(pendulum(), "parameters", "m", value=0.0)
    for wait in (False, True):
        mech = Mechanism(massless)
        with pytest.raises(SimulationError, match="joint 'hinge'.*moves no mass"):
            mech.forward_dynamics([0.3], [0.0], [0.1])
        with pytest.raises(SimulationError, match="joint 'hinge'.*moves no mass"):
            mech.forward_dynamics([[0.3], [0.4]], [0.0], [0.1])
        mech.compile("forward_dynamics", wait=wait)
    with pytest.raises(ModelError, match="Nothing has mass"):
        Mechanism(Model(name="m", bodies=(Body(name="b"),))).center_of_mass([0, 0, 0, 0, 0, 0, 1.0])


def test_rest_limits_and_names():
    model = Model(
        name="m",
        parameters=(Parameter(name="top", value=1.5),),
        bodies=tuple(Body(name=n, mass=1.0) for n in "abcd"),
        joints=(
            Joint(name="turn", parent="world", child="a", limits=(Limit(lower=0.5, upper="top"),)),
            Joint(name="ball", kind="spherical", parent="a", child="b"),
            Joint(name="slide", kind="cylindrical", parent="b", child="c", rest=(0.1, 0.2)),
        ),
    )
    mech = Mechanism(model)
    assert mech.q_names[:9] == ("d.x", "d.y", "d.z", "d.qx", "d.qy", "d.qz", "d.qw", "turn", "ball.qx")
    assert mech.q_names[-2:] == ("slide.angle", "slide.displacement")
    assert mech.v_names[:7] == ("d.wx", "d.wy", "d.wz", "d.vx", "d.vy", "d.vz", "turn")
    assert (mech.nq, mech.nv) == (14, 12)
    np.testing.assert_allclose(mech.rest(), [0, 0, 0, 0, 0, 0, 1, 0.5, 0, 0, 0, 1, 0.1, 0.2])
    turn = mech.coordinates[7]
    assert (turn.lower, turn.upper, turn.dimension, turn.joint) == (0.5, 1.5, "angle", "turn")
    moved = mech.move(mech.rest(), {"turn": 9.0, "slide.displacement": -0.3})
    assert moved[7] == 1.5
    assert moved[13] == -0.3
    ball = mech.move(mech.rest(), {"ball.qx": 1.0})[mech.joint_q("ball")]
    assert np.linalg.norm(ball) == pytest.approx(1.0)
    assert mech.frame_names == ("a", "b", "c", "d")
    assert set(mech.joint_poses(mech.rest())) == {"turn", "ball", "slide", "d"}


def test_mass_from_density_keeps_parameters():
    shapes = (Box(size=("s", 0.2, 0.3)), Cylinder(pose=Pose(position=(1.0, 0.0, 0.0))), Sphere(), Capsule(), Cone())
    model = Model(
        name="m", parameters=(Parameter(name="s", value=0.5),), bodies=(Body(name="b", density=1000.0, shapes=shapes),)
    )
    mech = Mechanism(model)
    q = mech.neutral()
    M = mech.mass_matrix(q)
    box = 1000.0 * 0.5 * 0.06
    assert M[5, 5] - mech.mass_matrix(q, p={"s": 1e-9})[5, 5] == pytest.approx(box, rel=1e-6)
    assert M[3, 3] == pytest.approx(M[4, 4])


def test_point_gravity_pulls_each_body_towards_the_centre():
    field = Gravity(kind="point", mu=4.0, center=(1.0, 0.0, 0.0))
    model = Model(
        name="m",
        world=World(gravity=field),
        bodies=(Body(name="near", mass=2.0, inertia=Inertia(ixx=1, iyy=1, izz=1)), Body(name="far", mass=3.0)),
        joints=(Joint(name="weld", kind="fixed", parent="near", child="far", a=Pose(position=(-2.0, 0.0, 0.0))),),
    )
    mech = Mechanism(model)
    zero = np.zeros(6)
    q = mech.neutral()
    force = 2.0 * 4.0 / 1.0 + 3.0 * 4.0 / 9.0
    np.testing.assert_allclose(mech.forward_dynamics(q, zero, zero)[3:], [force / 5.0, 0.0, 0.0], atol=1e-12)
    assert mech.energy(q, zero).potential == pytest.approx(-2.0 * 4.0 - 3.0 * 4.0 / 3.0)
    np.testing.assert_allclose(mech.gravity(q)[3:], [-force, 0.0, 0.0], atol=1e-12)


def test_no_gravity():
    model = dataclasses.replace(pendulum(), world=World(gravity=Gravity(kind="none")))
    assert Mechanism(model).gravity([0.7])[0] == 0.0


def test_machine_code_follows_the_interpreter_and_agrees():
    program.drop_programs()
    mech = Mechanism(tree(9, damping=0.1, friction=0.2, stiffness=0.3))
    q, v, u = state(mech)
    functions = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "poses", "energy", "bias", "wrenches", "rate")
    evaluators = {name: mech.compiled.evaluator(name) for name in functions}
    before = {name: each(*(q, v, u)[: len(each.sizes)]) for name, each in evaluators.items()}
    assert any(isinstance(each.code, Interpreter) for each in evaluators.values())
    mech.compile()
    assert mech.ready
    assert set(mech.compile_times) >= set(functions)
    for name, value in before.items():
        evaluator = mech.compiled.evaluator(name)
        assert isinstance(evaluator.code, MachineCode)
        np.testing.assert_allclose(evaluator(*(q, v, u)[: len(evaluator.sizes)]), value, rtol=1e-10, atol=1e-10)


def test_threads_do_not_disturb_one_another():
    mech = Mechanism(tree(4, ("revolute", "prismatic"), 4))
    mech.compile("inverse_dynamics")
    failures = []

    def work(seed):
        q, v, a = state(mech, seed)
        expected = mech.inverse_dynamics(q[None], v[None], a[None])[0]
        for _ in range(300):
            if not np.allclose(mech.inverse_dynamics(q, v, a), expected, rtol=1e-12):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("count", [30, 300])
def test_long_chains_are_linear_and_right(count):
    """Above `LONG` links recursions are tables of blocks; their code does not grow with the machine."""
    model = tree(1, ("revolute", "prismatic"), count, chain=True)
    mech = Mechanism(model)
    q, v, a = state(mech)
    started = time.perf_counter()
    tau = mech.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(mech.forward_dynamics(q, v, tau), a, atol=1e-6 * max(1.0, np.max(np.abs(a))))
    mech.compile()
    assert mech.ready
    assert time.perf_counter() - started < 60.0
    np.testing.assert_allclose(mech.inverse_dynamics(q, v, a), tau, rtol=1e-9, atol=1e-9 * np.max(np.abs(tau)))
    M = mech.mass_matrix(q)
    np.testing.assert_allclose(M @ a + mech.bias(q, v), tau, atol=1e-9 * np.max(np.abs(tau)))
    J, h = mech.jacobian(q, "tip"), 1e-6
    rate = (mech.frame(mech.integrate(q, v, h), "tip") - mech.frame(mech.integrate(q, v, -h), "tip"))[:3, 3] / (2 * h)
    np.testing.assert_allclose(J[3:] @ v, rate, atol=1e-5 * np.max(np.abs(rate)))


def test_machine_code_arrives_in_the_background():
    background.resume_compilation()
    program.drop_programs()
    mech = Mechanism(tree(12, ("revolute",), 3))
    q, v, u = state(mech)
    before = mech.forward_dynamics(q, v, u)
    compiled = threading.Event()
    background.submit_job(compiled.set)
    assert compiled.wait(60.0)
    assert mech.ready
    assert isinstance(mech.compiled.evaluator("forward_dynamics").code, MachineCode)
    np.testing.assert_allclose(mech.forward_dynamics(q, v, u), before, rtol=1e-10)


def test_limits_of_a_follower_bind_its_leader():
    model = tree(3, ("revolute",), 2, chain=True)
    follower = dataclasses.replace(
        model.joints[1], mimic=Mimic(leader="j0", ratio=-2.0, offset=0.5), limits=(Limit(lower=-0.5, upper=1.5),)
    )
    mech = Mechanism(replace(model, model.joints[1], follower))
    assert (mech.coordinates[0].lower, mech.coordinates[0].upper) == (-0.5, 0.5)
    assert mech.coordinate(mech.move([0.0], {"j0": 3.0}), "j1")[0] == pytest.approx(-0.5)


def test_a_mesh_with_density_has_the_mass_of_its_solid(tmp_path):
    trimesh.creation.box((0.2, 0.4, 0.6)).export(tmp_path / "block.stl")

    def model(file):
        shape = Mesh(file=file, scale=(1.0, 2.0, 1.0), pose=Pose(position=(0.0, 0.0, 1.0)))
        return Model(name="m", bodies=(Body(name="b", density=100.0, shapes=(shape,)),), origin=str(tmp_path / "m.kst"))

    mech = Mechanism(model("block.stl"))
    solid = Mechanism(
        Model(
            name="s",
            bodies=(
                Body(name="b", density=100.0, shapes=(Box(size=(0.2, 0.8, 0.6), pose=Pose(position=(0, 0, 1.0))),)),
            ),
        )
    )
    np.testing.assert_allclose(mech.mass_matrix(mech.neutral()), solid.mass_matrix(solid.neutral()), atol=1e-6)
    with pytest.raises(ModelError, match=r"body 'b'.*'none.stl' is not found"):
        Mechanism(model("none.stl")).mass_matrix(mech.neutral())


def test_quaternions_may_hold_formulas_beside_zeros():
    """Rotation (0, 0, s, c) is a turn about z by 2·atan2(s, c)."""
    model = Model(
        parameters=(Parameter(name="s", value=0.6), Parameter(name="c", value=0.8)),
        bodies=(Body(name="plate"),),
        frames=(Frame(name="turned", parent="plate", pose=Pose(rotation=(0.0, 0.0, "s", "c"))),),
        joints=(Joint(name="hold", kind="fixed", parent="world", child="plate"),),
    )
    mech = Mechanism(model)
    angle = 2.0 * np.arctan2(0.6, 0.8)
    assert mech.frame([], "turned")[:2, 0] == pytest.approx([np.cos(angle), np.sin(angle)])
    assert mech.frame([], "turned", p={"s": -0.6})[:2, 0] == pytest.approx([np.cos(angle), -np.sin(angle)])


@pytest.mark.parametrize(
    "given", [{"m": "heavy"}, {"m": None}, "m", [1.0, "x"], {"m": [1.0, 2.0], "L": [1.0, 2.0, 3.0]}]
)
def test_parameter_values_that_are_no_numbers_are_refused(given):
    mech = Mechanism(pendulum())
    with pytest.raises(ModelError):
        mech.mass_matrix([0.1], p=given)


def test_parameter_values_by_name_may_be_arrays():
    mech = Mechanism(pendulum())
    lengths = np.array([0.4, 0.8, 1.2])
    np.testing.assert_allclose(mech.mass_matrix([0.1], p={"L": lengths})[:, 0, 0], 2.0 * lengths**2 / 3.0)
    np.testing.assert_allclose(mech.mass_matrix([0.1], p={"L": lengths, "m": 3.0})[:, 0, 0], lengths**2)


def test_a_mechanism_is_made_of_a_model():
    with pytest.raises(ModelError, match="model is needed"):
        Mechanism("puma560.kst")


def test_a_parameter_with_a_unit_is_a_number() -> None:
    """ "50 cm" and "pi/2" are numbers as 0.5 is: arguments of the code, symbols of symbolic results."""
    text = (
        "kinetostat: 1\nparameters:\n  l: {value: 50 cm}\n  bend: {value: pi/2}\n  twice: {value: 2*l}\n"
        "bodies:\n  arm: {mass: 1, center_of_mass: [l/2, 0, 0]}\n"
        "frames:\n  tip: {parent: arm, pose: {position: [twice, 0, 0], rotation: [bend, 0, 0]}}\n"
        "joints:\n  pin: {parent: world, child: arm, axis: [0, -1, 0]}\n"
    )
    model = loads(text)
    mech = Mechanism(model)
    assert mech.p_names == ("l", "bend")
    np.testing.assert_allclose(mech.gravity([0.0]), [9.81 * 0.25], rtol=1e-15)
    np.testing.assert_allclose(mech.gravity([0.0], p={"l": 2.0}), [9.81 * 1.0], rtol=1e-15)
    np.testing.assert_allclose(mech.frame([0.0], "tip")[:3, 1], [0.0, 0.0, 1.0], atol=1e-15)
    longer = loads(text.replace("50 cm", "0.7"))
    assert mech.updated(longer).compiled.program is mech.compiled.program
    assert {str(symbol) for symbol in robot(model, tip="tip").G.free_symbols} >= {"l"}


def test_a_reference_value_without_a_finite_number_counts_as_not_given():
    joints = (
        Joint(name="a", kind="free", parent="world", child="a", rest=(0.6, "-pi/1e-320", 0, 0, 0, 0, 1)),
        Joint(name="b", kind="free", parent="world", child="b", rest=(0, -1.2, 0, 0, 0, 0, 1)),
    )
    machine = Mechanism(Model(name="M", bodies=(Body(name="a", mass=1.0), Body(name="b", mass=1.0)), joints=joints))
    np.testing.assert_array_equal(machine.rest(), [0.6, 0, 0, 0, 0, 0, 1, 0, -1.2, 0, 0, 0, 0, 1])
    assert [each.text for each in check(machine.model) if each.severity == "error"] != []
