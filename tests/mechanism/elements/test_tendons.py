"""Masses that move with tendons, springs relaxed elsewhere than where a machine rests, rotors of free joints."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.errors import ModelError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Body, Force, Gravity, Inertia, Joint, Model, Strand, World
from tests.mechanism.elements import kind_machines as machines

MASS = 1.7


def tendon(**more: object) -> Force:
    strands = (Strand(sensor="distance", factor=1.5), Strand(joint="j4", factor=-0.7), Strand(joint="j0", factor=0.4))
    return Force(name="cord", kind="tendon", strands=strands, **more)


def length(mech: Mechanism, q: np.ndarray) -> float:
    gap = mech.frame(q, "tip")[:3, 3] - mech.frame(q, "b0")[:3, 3]
    return 1.5 * np.linalg.norm(gap) - 0.7 * mech.coordinate(q, "j4")[0] + 0.4 * mech.coordinate(q, "j0")[0]


def gradient(mech: Mechanism, q: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """∂L/∂(displacements), by differences of poses."""
    steps = h * np.eye(mech.nv)
    ahead, behind = ([length(mech, mech.integrate(q, s * step, 1.0)) for step in steps] for s in (1.0, -1.0))
    return (np.array(ahead) - np.array(behind)) / (2.0 * h)


@pytest.mark.parametrize("seed", range(3))
def test_a_moved_mass_adds_the_product_of_the_gradient_of_its_length(seed: int) -> None:
    """M = M₀ + m Jᵀ J, and the forces m Jᵀ (L̈ at q̈ = 0), all from differences of poses."""
    model = machines.machine("tree", seed)
    bare, mech = Mechanism(model), Mechanism(dataclasses.replace(model, forces=(tendon(inertia=MASS),)))
    q, v = machines.state(bare, seed)
    J = gradient(bare, q)
    assert mech.mass_matrix(q) - bare.mass_matrix(q) == pytest.approx(MASS * np.outer(J, J), abs=1e-7)
    h = 1e-4
    ahead, here, behind = (length(bare, mech.integrate(q, v, step)) for step in (h, 0.0, -h))
    second = (ahead - 2.0 * here + behind) / h**2
    assert mech.bias(q, v) - bare.bias(q, v) == pytest.approx(MASS * J * second, abs=1e-4)
    assert mech.energy(q, v).kinetic == pytest.approx(0.5 * v @ mech.mass_matrix(q) @ v)
    tau = np.linspace(-1.0, 1.0, mech.nv)
    assert mech.inverse_dynamics(q, v, mech.forward_dynamics(q, v, tau)) == pytest.approx(tau)


def test_a_moved_mass_without_gravity_keeps_the_energy() -> None:
    model = dataclasses.replace(machines.machine("tree", 4), world=World(gravity=Gravity(kind="none")))
    mech = Mechanism(dataclasses.replace(model, forces=(tendon(inertia=MASS, stiffness=2.0, rest=0.3),)))
    q, v = machines.state(mech, 4)
    power, h = mech.forward_dynamics(q, v, np.zeros(mech.nv)), 1e-5
    after, before = (mech.energy(mech.integrate(q, v + 0.5 * s * power, s), v + s * power) for s in (h, -h))
    assert sum(after) - sum(before) == pytest.approx(0.0, abs=1e-9)


def check_read(model: Model, force: Force) -> None:
    mech = Mechanism(dataclasses.replace(model, forces=(force,)))
    mech.bias(mech.neutral(), np.zeros(mech.nv))


def test_strands_are_told_what_they_cannot_be() -> None:
    model = machines.machine("tree", 0)
    with pytest.raises(ModelError, match="either a joint or a sensor"):
        Strand()
    with pytest.raises(ModelError, match="on which the force acts is missing"):
        Force(name="x", kind="tendon")
    for strand in (Strand(joint="j2"), Strand(sensor="position")):
        with pytest.raises(ModelError):
            check_read(model, Force(name="x", kind="tendon", strands=(strand,)))
    angle = Force(name="x", kind="tendon", strands=(Strand(sensor="angle"),), inertia=1.0)
    with pytest.raises(ModelError, match="only distance sensors and joints of the tree as strands"):
        check_read(model, angle)


def hinged(**more: object) -> Model:
    body = Body(name="arm", mass=1.0, center_of_mass=(0.5, 0.0, 0.0))
    joint = Joint(name="pin", kind="revolute", axis=(0.0, 1.0, 0.0), parent="world", child="arm", stiffness=4.0, **more)
    return Model(bodies=(body,), joints=(joint,), world=World(gravity=Gravity(kind="none")))


def test_a_spring_is_relaxed_at_a_place_of_its_own() -> None:
    """The machine starts at `rest`; the spring acts about `spring_rest`, and about `rest` without it."""
    both = Mechanism(hinged(rest=(0.2,), spring_rest=(0.5,)))
    assert both.rest() == pytest.approx([0.2])
    assert both.bias(both.rest(), [0.0]) == pytest.approx([4.0 * (0.2 - 0.5)])
    assert both.energy([0.5], [0.0]).potential == pytest.approx(0.0)
    assert Mechanism(hinged(rest=(0.2,))).bias([0.2], [0.0]) == pytest.approx([0.0])
    assert loads(dumps(both.model)) == both.model
    with pytest.raises(ModelError, match="spring_rest"):
        hinged(spring_rest=(0.1, 0.2))


def test_the_rotor_of_a_free_joint_is_carried_along() -> None:
    """Its armature is that of a mass at b that no gravity pulls, turning with the inertia of the same number."""
    inertia = Inertia(ixx=0.1, iyy=0.2, izz=0.25)
    weightless = World(gravity=Gravity(kind="none"))
    joint = Joint(name="f", kind="free", parent="world", child="a")
    plain = Body(name="a", mass=2.0, inertia=inertia)
    heavy = Body(name="a", mass=2.5, inertia=Inertia(ixx=0.6, iyy=0.7, izz=0.75))
    rotor = Mechanism(Model(bodies=(plain,), joints=(dataclasses.replace(joint, armature=0.5),), world=weightless))
    solid = Mechanism(Model(bodies=(heavy,), joints=(joint,), world=weightless))
    rng = np.random.default_rng(2)
    q, (v, tau) = solid.random(rng), rng.normal(size=(2, 6))
    assert rotor.mass_matrix(q) == pytest.approx(solid.mass_matrix(q))
    assert rotor.bias(q, v) == pytest.approx(solid.bias(q, v))
    assert rotor.forward_dynamics(q, v, tau) == pytest.approx(solid.forward_dynamics(q, v, tau))
