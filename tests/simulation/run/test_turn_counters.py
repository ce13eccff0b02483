"""Angles over several turns: springs in joints count them, sensors and measured angles go on without jumps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.analysis.equilibrium import equilibrium
from core.constraints.cut_coordinates import cut_joint_motion
from core.mechanism import Mechanism
from core.model import Body, Force, Gravity, Inertia, Joint, Model, Sensor, World
from core.simulation import simulate
from core.simulation.live import Live
from tests.mechanism.constraints.test_cut_rotors import closed, four_bar

INERTIA, SPRING = 0.5, 2.0
NOWHERE = World(gravity=Gravity(kind="none"))


def wheel(stiffness: float = 0.0, **more: object) -> Model:
    body = Body(name="wheel", mass=1.0, inertia=Inertia(ixx=0.3, iyy=0.3, izz=INERTIA))
    joint = Joint(name="axle", parent="world", child="wheel", stiffness=stiffness)
    return Model(name="wheel", bodies=(body,), joints=(joint,), world=NOWHERE, **more)


@pytest.mark.parametrize("by", ["joint", "force"])
def test_a_spiral_spring_counts_turns(by: str) -> None:
    """q = q₀ cos ωt over three turns to either side."""
    force = Force(name="spiral", kind="joint", joint="axle", stiffness=SPRING)
    model = wheel(SPRING) if by == "joint" else wheel(forces=(force,))
    run = simulate(model, 6.0, q0=[20.0], rtol=1e-10, atol=1e-11, output=0.1)
    wanted = 20.0 * np.cos(np.sqrt(SPRING / INERTIA) * run.time)
    np.testing.assert_allclose(run["axle.q"], wanted, atol=1e-6)
    np.testing.assert_allclose(run["energy.potential"], 0.5 * SPRING * wanted**2, atol=1e-4)


@pytest.mark.parametrize("output", [0.05, 0.5, 3.0])
def test_angle_sensors_go_on_however_far_samples_lie_apart(output: float) -> None:
    """At 9 rad/s a sample of 3 s is four turns later."""
    turned = Sensor(name="turned", kind="angle", b="wheel")
    brake = Force(name="brake", kind="sensor", sensor="turned", damping=0.05)
    run = simulate(wheel(sensors=(turned,), forces=(brake,)), 9.0, v0=[9.0], output=output, rtol=1e-10)
    wanted = 9.0 * INERTIA / 0.05 * (1.0 - np.exp(-0.05 / INERTIA * run.time))
    np.testing.assert_allclose(run["turned"], wanted, atol=1e-6)
    np.testing.assert_allclose(run["brake.length"], wanted, atol=1e-6)
    np.testing.assert_allclose(run["axle.q"], wanted, atol=1e-6)
    assert wanted[-1] > 8.0 * np.pi


def test_a_spring_keeps_its_joint_in_the_tree() -> None:
    for name in "ABCD":
        model = four_bar()
        joints = tuple(dataclasses.replace(j, armature=0.0, stiffness=2.0 * (j.name == name)) for j in model.joints)
        assert Mechanism(dataclasses.replace(model, joints=joints)).loops[0].cut != name
        spring = Force(name="spiral", kind="joint", joint=name, stiffness=2.0)
        joints = tuple(dataclasses.replace(j, armature=0.0) for j in model.joints)
        assert Mechanism(dataclasses.replace(model, joints=joints, forces=(spring,))).loops[0].cut != name


def test_the_crank_of_a_loop_winds_up_its_spring() -> None:
    """Energy over more than two turns: kinetic plus weights plus ½ k (θ − rest)² with the angle counted on."""
    model = four_bar()
    model = dataclasses.replace(
        model,
        world=NOWHERE,
        joints=tuple(dataclasses.replace(j, stiffness=SPRING * (j.name == "A"), rest=()) for j in model.joints),
    )
    mech = Mechanism(model)
    q, v = closed(mech, 0.3, 25.0)
    run = simulate(mech, 3.0, q0=q, v0=v, output=0.02, rtol=1e-10, atol=1e-11)
    assert np.max(run["A.q"]) > 4.0 * np.pi
    np.testing.assert_allclose(run["energy.potential"], 0.5 * SPRING * run["A.q"] ** 2, atol=1e-6)
    np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], rtol=1e-7)


FORCES = {
    "passive": {"stiffness": SPRING},
    "force": Force(name="spiral", kind="joint", joint="A", stiffness=SPRING),
    "law": Force(name="spiral", kind="joint", joint="A", law=f"{SPRING}*length"),
    "formula": Force(name="spiral", kind="wrench", b="crank", torque=(0.0, 0.0, f"-{SPRING}*A - 0.1*A.q")),
}


def wound(by: str, cut: str) -> Mechanism:
    """A four-bar whose crank winds up a spiral spring, given in different ways, cut anywhere."""
    model = four_bar()
    axis = model.joints[0].axis
    given = FORCES[by]
    if by == "formula":  # about the axis of A, on the crank
        scaled = tuple(f"({x})*({given.torque[2]})" for x in axis)
        given = dataclasses.replace(given, b=model.joints[0].child, torque=scaled)
    joints = tuple(
        dataclasses.replace(
            j,
            armature=0.0,
            rest=(),
            cut="yes" if j.name == cut else "auto",
            stiffness=SPRING if by == "passive" and j.name == "A" else 0.0,
        )
        for j in model.joints
    )
    forces = () if by == "passive" else (given,)
    return Mechanism(dataclasses.replace(model, world=NOWHERE, joints=joints, forces=forces))


def started(by: str, cut: str) -> tuple[Mechanism, np.ndarray, np.ndarray]:
    """The machine, and the state of the one that is cut at C."""
    mech, usual = wound(by, cut), wound(by, "C")
    q, v = closed(usual, 0.3, 70.0)
    at = {name: float(usual.coordinate(q, name)[0]) for name in "ABCD"}
    speeds = {name: float(cut_motion(usual, name, q, v)) for name in "ABCD"}
    return mech, np.array([at[n] for n in mech.q_names]), np.array([speeds[n] for n in mech.v_names])


def cut_motion(mech: Mechanism, name: str, q: np.ndarray, v: np.ndarray) -> float:
    if name in mech.v_names:
        return float(v[mech.v_names.index(name)])
    return float(cut_joint_motion(mech.compiled, name, q, v, np.zeros(mech.nv)).v[0])


@pytest.mark.parametrize("by", FORCES)
@pytest.mark.parametrize("method", ["rk54", "radau", "adams", "rk4"])
def test_a_spring_in_a_cut_joint_counts_turns_as_in_the_tree(by: str, method: str) -> None:
    """The same motion over more than two turns, whichever joint is cut."""
    shown = {}
    fixed = {"method": method, "step": 1e-4}
    options = fixed if method == "rk4" else {"method": method, "rtol": 1e-9, "atol": 1e-10}
    for cut in "AC":
        mech, q, v = started(by, cut)
        assert mech.loops[0].cut == cut
        shown[cut] = simulate(mech, 1.5, q0=q, v0=v, output=0.02, **options)
    assert np.max(shown["C"]["A.q"]) > 4.0 * np.pi
    for name, size in (("A.q", 10.0), ("D.v", 30.0), ("energy.total", 250.0)):
        np.testing.assert_allclose(shown["A"][name], shown["C"][name], atol=1e-5 * size)
    if by == "force":
        np.testing.assert_allclose(shown["A"]["spiral.length"], shown["C"]["A.q"], atol=1e-4)
    if by in ("force", "passive"):  # what is given as a formula has no potential
        np.testing.assert_allclose(shown["A"]["energy.total"], shown["A"]["energy.total"][0], rtol=1e-5)


def test_fixed_steps_pass_dead_points_of_what_is_independent() -> None:
    """With the crank cut, closed forms take the rocker as independent, which stops and turns twice in each turn."""
    mech, q, v = started("law", "A")
    model = dataclasses.replace(mech.model, forces=())
    run = simulate(Mechanism(model), 0.5, q0=q, v0=v, output=0.01, method="rk4", step=5e-4)
    assert run["A.q"][-1] > 8.0 * np.pi
    np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], rtol=5e-3)


def test_live_dynamics_counts_turns_of_cut_joints() -> None:
    """Real time, a pause in which the machine is put elsewhere by hand, and on: as in the tree."""
    shown = {}
    for cut in "AC":
        mech, q, v = started("force", cut)
        live = Live(mech, q, v)
        live.advance(0.3)
        turned = live.run()
        assert turned is not None
        live.set_pose(live.q, 0.5 * live.v)
        live.advance(0.4)
        shown[cut] = (turned["spiral.length"][-1], live.run()["spiral.force"][-1])  # type: ignore[index]
    assert shown["C"][0] > 2.0 * np.pi
    np.testing.assert_allclose(shown["A"], shown["C"], rtol=1e-3)


def test_a_balance_is_found_several_turns_away() -> None:
    """The spring's rest is at 10 rad; nothing else acts, so the crank comes to rest there."""
    model = wound("force", "A").model
    spring = dataclasses.replace(model.forces[0], rest=10.0)
    found = {}
    for cut in "AC":
        joints = tuple(dataclasses.replace(j, cut="yes" if j.name == cut else "auto") for j in model.joints)
        mech = Mechanism(dataclasses.replace(model, joints=joints, forces=(spring,)))
        q = started("force", cut)[1]
        rest = equilibrium(mech, q)
        found[cut] = mech.poses(rest.q)
        assert rest.stability == "stable"
        assert float(mech.coordinate(rest.q, "A")[0]) % (2.0 * np.pi) == pytest.approx(10.0 - 2.0 * np.pi, abs=1e-6)
        assert rest.linear is not None
        assert rest.linear.A.shape == (2, 2)
    np.testing.assert_allclose(found["A"], found["C"], atol=1e-6)


def test_a_spring_along_an_angle_counts_turns() -> None:
    """q = q₀ cos ωt of a wheel that turns three times to either side, measured by a sensor."""
    turned = Sensor(name="turned", kind="angle", b="wheel")
    spring = Force(name="spiral", kind="sensor", sensor="turned", stiffness=SPRING)
    run = simulate(wheel(sensors=(turned,), forces=(spring,)), 6.0, v0=[40.0], rtol=1e-10, atol=1e-11, output=0.1)
    omega = np.sqrt(SPRING / INERTIA)
    wanted = 40.0 / omega * np.sin(omega * run.time)
    np.testing.assert_allclose(run["spiral.length"], wanted, atol=1e-6)
    np.testing.assert_allclose(run["axle.q"], wanted, atol=1e-6)
