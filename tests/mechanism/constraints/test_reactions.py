"""Forces in joints of closed loops: published kinetostatics, equilibrium of every body, bodies that hang on nothing."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from core.constraints.multipliers import solve_constrained_motion
from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Model, Parameter, Pose, World
from tests.constraints.mobility import overconstrained

FOLDER = Path(__file__).parents[2] / "reference"
DOWN = World(gravity=Gravity(acceleration=(0.0, -9.81, 0.0)))


def reference(name):
    case = json.loads((FOLDER / f"{name}.json").read_text())
    rows = [dict(zip(case["reference"]["columns"], row, strict=True)) for row in case["reference"]["rows"]]
    return case["parameters"], rows, case["tolerances"]["abs"]


def bar(name, mass, center, inertia=0.0):
    return Body(name=name, mass=mass, center_of_mass=(center, 0.0, 0.0), inertia=Inertia(izz=inertia))


def pin(name, inner, outer, a=0.0, b=0.0):
    return Joint(name=name, parent=inner, child=outer, a=Pose(position=(a, 0.0, 0.0)), b=Pose(position=(b, 0.0, 0.0)))


def fourbar(case):
    names = ("crank", "coupler", "rocker")
    return Model(
        world=DOWN,
        bodies=tuple(map(bar, names, case["m"], case["r"], case["I"])),
        joints=(
            pin("O2", "world", "crank"),
            pin("A", "crank", "coupler", case["a"]),
            pin("O4", "world", "rocker", case["d"]),
            pin("B", "coupler", "rocker", case["b"], case["c"]),
        ),
    )


def slider_crank(case):
    return Model(
        world=DOWN,
        bodies=(
            bar("crank", case["m"][0], case["rc"][0], case["I"][0]),
            bar("rod", case["m"][1], case["rc"][1], case["I"][1]),
            bar("slider", case["m"][2], 0.0),
        ),
        joints=(
            pin("O2", "world", "crank"),
            pin("A", "crank", "rod", case["r"]),
            Joint(name="guide", kind="prismatic", parent="world", child="slider", axis=(1.0, 0.0, 0.0)),
            pin("B", "rod", "slider", case["l"]),
        ),
    )


def moving(mech, theta, omega, start):
    """The closed state at a crank angle and a crank speed."""
    q = start.copy()
    q[mech.joint_q("O2")] = theta
    v = np.zeros(mech.nv)
    v[mech.joint_v("O2")] = omega
    q, v = mech.assemble(q, v, fixed=("O2",), weights={"O2": 1e9})
    assert v[mech.joint_v("O2")] == pytest.approx(omega, rel=1e-12)
    return q, v


def check(wrench, case, force, sign):
    """Force components beside the published ones."""
    np.testing.assert_allclose(wrench[3:5], [sign * case[f"{force}x"], sign * case[f"{force}y"]], atol=1e-7)


def test_pins_of_a_driven_fourbar():
    case, rows, atol = reference("reactions_fourbar")
    mech = Mechanism(fourbar(case))
    q = mech.assemble([0.0, 1.0, 1.8])
    for row in rows:
        q, v = moving(mech, row["theta"], case["omega"], q)
        tau = np.zeros(mech.nv)
        tau[mech.joint_v("O2")] = row["T"]
        a = mech.forward_dynamics(q, v, tau)
        assert a[mech.joint_v("O2")] == pytest.approx(case["alpha"], abs=1e-6)
        np.testing.assert_allclose(mech.inverse_dynamics(q, v, a, actuators=["O2"]), tau, atol=atol)
        forces = mech.reactions(q, v, tau)
        check(forces["O2"], row, "F12", 1.0)
        check(forces["A"], row, "F32", -1.0)
        check(forces["B"], row, "F43", -1.0)
        check(forces["O4"], row, "F14", 1.0)
        assert forces["O2"][2] == pytest.approx(row["T"], abs=1e-9)  # its drive
        assert [forces[name][2] for name in ("A", "B", "O4")] == pytest.approx([0.0] * 3, abs=1e-9)


def test_pins_and_guide_of_a_slider_crank_under_load():
    case, rows, _ = reference("reactions_slider_crank")
    mech = Mechanism(slider_crank(case))
    q = mech.neutral()
    q[mech.joint_q("guide")] = case["r"] + case["l"]
    for row in rows:
        q, v = moving(mech, row["theta"], case["omega"], q)
        assert q[mech.joint_q("guide")] == pytest.approx(row["x_slider"], abs=1e-9)
        tau = np.zeros(mech.nv)
        tau[mech.joint_v("O2")] = row["T"]
        tau[mech.joint_v("guide")] = case["F"][0]
        forces = mech.reactions(q, v, tau)
        check(forces["O2"], row, "F12", 1.0)
        check(forces["A"], row, "F32", -1.0)
        check(forces["B"], row, "F43", -1.0)
        assert forces["guide"][3:5] == pytest.approx([case["F"][0], row["N"]], abs=1e-7)


def floating_loop(order):
    """A spatial loop of three bodies that floats in space: a revolute, a planar and a spherical joint."""
    solid = Inertia(ixx=0.02, iyy=0.03, izz=0.04, ixy=0.004)
    bodies = tuple(
        Body(name=n, mass=m, center_of_mass=(0.2, 0.05, 0.1), inertia=solid)
        for n, m in (("a", 1.0), ("b", 2.0), ("c", "m_c"))
    )
    one = Joint(name="one", parent="a", child="b", axis=(0.1, 0.2, 1.0), a=Pose(position=(0.5, 0.0, 0.1)))
    two = Joint(
        name="two", kind="planar", parent="c", child="b", axis=(1.0, 0.0, 0.3), b=Pose(position=(0.4, 0.1, 0.0))
    )
    ball = Joint(name="ball", kind="spherical", parent="a", child="c", a=Pose(position=(0.0, 0.5, 0.0)))
    joints = {"one": one, "two": two, "ball": ball}
    parameters = (Parameter(name="m_c", value=1.5),)
    return Model(parameters=parameters, bodies=bodies, joints=tuple(joints[name] for name in order))


@pytest.mark.parametrize("order", [("one", "two", "ball"), ("ball", "two", "one")])
def test_what_hangs_on_nothing_feels_no_ground_and_every_body_obeys_newton(order):
    """d/dt momentum of c = weight + forces of its two joints, by differences along the motion."""
    mech = Mechanism(floating_loop(order))
    rng = np.random.default_rng(4)
    q, v = mech.assemble(mech.integrate(mech.neutral(), rng.normal(0.0, 0.3, mech.nv)), rng.normal(size=mech.nv))
    tau = rng.normal(size=mech.nv)
    tau[mech.joint_v("a")] = 0.0  # nothing pushes the machine as a whole
    forces = mech.reactions(q, v, tau)
    np.testing.assert_allclose(forces["a"], 0.0, atol=1e-9)

    a, h = mech.forward_dynamics(q, v, tau), 1e-4

    def velocity(t):
        speeds = v + a * t
        there = mech.integrate(q, v + 0.5 * a * t, t)
        X, V = mech.frame(there, "c"), mech.frame_velocity(there, speeds, "c")
        return V[3:] + np.cross(V[:3], X[:3, :3] @ [0.2, 0.05, 0.1])

    acceleration = (velocity(h) - velocity(-h)) / (2.0 * h)
    on_c = forces["ball"][3:] - forces["two"][3:]
    np.testing.assert_allclose(1.5 * (acceleration - [0.0, 0.0, -9.81]), on_c, atol=1e-5)


def test_arrays_of_states_and_of_parameter_values():
    mech = Mechanism(floating_loop(("one", "two", "ball")))
    rng = np.random.default_rng(1)
    near = mech.integrate(mech.neutral(), rng.normal(0.0, 0.2, (4, mech.nv)))
    masses = np.array([0.5, 1.0, 1.5, 2.0])
    q, v = mech.assemble(near, rng.normal(size=(4, mech.nv)), p={"m_c": masses}, t=0.0)
    tau = rng.normal(size=(4, mech.nv))
    forces = mech.reactions(q, v, tau, p={"m_c": masses})
    a = mech.forward_dynamics(q, v, tau, p={"m_c": masses})
    held = mech.inverse_dynamics(q, v, a, p={"m_c": masses})
    for k, mass in enumerate(masses):
        one_q = mech.assemble(near[k])
        np.testing.assert_allclose(one_q, q[k], atol=1e-12)
        np.testing.assert_allclose(mech.forward_dynamics(q[k], v[k], tau[k], p={"m_c": mass}), a[k], atol=1e-9)
        np.testing.assert_allclose(mech.inverse_dynamics(q[k], v[k], a[k], p={"m_c": mass}), held[k], atol=1e-9)
        for name, wrench in mech.reactions(q[k], v[k], tau[k], p={"m_c": mass}).items():
            np.testing.assert_allclose(forces[name][k], wrench, atol=1e-9)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 2.0, 3.0)])
def test_least_forces_do_not_know_the_cut(axis):
    """A four-bar of revolutes in space holds three directions twice; centres of mass lie beside its plane."""
    model = overconstrained.planar_fourbar(axis)
    model = dataclasses.replace(
        model, bodies=tuple(dataclasses.replace(b, center_of_mass=(0.3, 0.2, 0.4)) for b in model.bodies)
    )
    shown = {}
    for cut in ("J1", "J2", "J3", "J4"):
        joints = tuple(dataclasses.replace(j, cut="yes" if j.name == cut else "auto") for j in model.joints)
        mech = Mechanism(dataclasses.replace(model, joints=joints))
        q, v = np.zeros(mech.nq), np.zeros(mech.nv)
        found = mech.reactions(np.stack([q, q]), np.stack([v, v]), np.zeros(mech.nv))
        assert "minimum norm" in found.note
        shown[cut] = np.concatenate([found[f"J{k}"] for k in (1, 2, 3, 4)], axis=-1)
        np.testing.assert_allclose(shown[cut][1], shown[cut][0])
    for each in shown.values():
        np.testing.assert_allclose(each, shown["J1"], atol=1e-8 * np.max(np.abs(shown["J1"])))


@pytest.mark.parametrize("apart", [0.3, 2.0, 7.0])
def test_least_forces_count_torques_per_size_of_the_machine(apart):
    """A door on two hinges of one axis, x = 0 and x = d, with its weight P at x = c on the axis.

    Balance F1 + F2 = P, n1 + n2 + (0, −d, 0) F2 = (0, −c, 0) P; least F² + (n / s)² with the size s = d / 2, the root
    mean square distance of the hinges from their middle: F2 = P (1/4 + c / 2d), n1 = n2 = P (d / 8 − c / 4).
    """
    mass, center = 2.0, 0.7 * apart
    hinges = tuple(
        overconstrained.joint(name, "revolute", "world", "door", (x, 0.0, 0.0), (1.0, 0.0, 0.0))
        for name, x in (("near", 0.0), ("far", apart))
    )
    door = Body(name="door", mass=mass, center_of_mass=(center, 0.0, 0.0), inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    mech = Mechanism(Model(name="door", bodies=(door,), joints=hinges))
    found = mech.reactions(np.zeros(1), np.zeros(1), np.zeros(1))
    weight = 9.81 * mass
    far = weight * (0.25 + 0.5 * center / apart)
    torque = weight * (apart / 8.0 - center / 4.0)
    scale = weight * max(apart, 1.0)
    np.testing.assert_allclose(found["far"], [0.0, torque, 0.0, 0.0, 0.0, far], atol=1e-9 * scale)
    np.testing.assert_allclose(found["near"], [0.0, torque, 0.0, 0.0, 0.0, weight - far], atol=1e-9 * scale)


def test_what_holds_bodies_without_mass_balances_them_in_motion():
    """M a + h = τ + Gᵀ λ of a moving four-bar whose crank alone has mass: M is singular."""
    made = overconstrained.planar_fourbar()
    bodies = tuple(b if b.name == "link1" else Body(name=b.name) for b in made.bodies)
    mech = Mechanism(dataclasses.replace(made, bodies=bodies))
    q, v = mech.assemble(mech.rest(), np.array([3.0, 1.0, -2.0]))
    tau = np.array([0.4, 0.0, 0.0])
    M, G = mech.mass_matrix(q), mech.constraint_jacobian(q)
    assert np.linalg.matrix_rank(M) < mech.nv
    assert np.linalg.norm(v) > 1.0
    a, multipliers = solve_constrained_motion(mech.compiled, q, v, tau, None, True)
    np.testing.assert_allclose(M @ a + mech.bias(q, v), tau + G.T @ multipliers, atol=1e-9)


@pytest.mark.parametrize("light", [2.0, 2e-3])
@pytest.mark.parametrize("rise", [1e-1, 1e-3, 1e-4])
def test_a_flat_arch_thrusts_by_the_cotangent_of_its_rise(rise, light):
    """Two bars between pins: H = (W₁ + W₂) / (4 tan α) (moments about the crown), to nearly all digits, also where one
    bar is a thousand times lighter."""
    span = np.cos(rise)
    model = Model(
        world=DOWN,
        bodies=(bar("left", 2.0, 0.5, 0.1), bar("right", light, 0.5, 0.05 * light)),
        joints=(
            dataclasses.replace(pin("A", "world", "left"), rest=rise),
            dataclasses.replace(pin("B", "world", "right", 2.0 * span), rest=np.pi - rise),
            pin("crown", "left", "right", 1.0, 1.0),
        ),
    )
    mech = Mechanism(model)
    q, v = mech.assemble(mech.rest(), np.zeros(mech.nv))
    thrust = mech.reactions(q, v, np.zeros(mech.nv))["A"][3]
    assert np.tan(q[0]) == pytest.approx(np.tan(rise), rel=1e-9)
    assert thrust * 4.0 * np.tan(q[0]) == pytest.approx((2.0 + light) * 9.81, rel=1e-10)
