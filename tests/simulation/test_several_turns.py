"""Angles over several turns: springs in joints count them, sensors and measured angles go on without jumps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.kernel import Mechanism
from core.model import Body, Force, Gravity, Inertia, Joint, Model, Sensor, World
from core.model.plausibility import check
from core.simulation import simulate
from tests.kernel.test_cut_rotors import closed, cut_at, four_bar

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
    model = dataclasses.replace(model, world=NOWHERE, joints=tuple(
        dataclasses.replace(j, stiffness=SPRING * (j.name == "A"), rest=()) for j in model.joints))  # fmt: skip
    mech = Mechanism(model)
    q, v = closed(mech, 0.3, 25.0)
    run = simulate(mech, 3.0, q0=q, v0=v, output=0.02, rtol=1e-10, atol=1e-11)
    assert np.max(run["A.q"]) > 4.0 * np.pi
    np.testing.assert_allclose(run["energy.potential"], 0.5 * SPRING * run["A.q"] ** 2, atol=1e-6)
    np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], rtol=1e-7)


def test_a_cut_joint_says_that_its_spring_counts_no_turns() -> None:
    model = four_bar()
    sprung = dataclasses.replace(model, joints=tuple(dataclasses.replace(j, stiffness=1.0) for j in model.joints))
    told = [doubt for doubt in check(cut_at(sprung, "A").model) if doubt.field == "stiffness"]
    assert [(doubt.name, doubt.severity) for doubt in told] == [("A", "hint")]
    assert told[0].remedy
