"""Constraints and drivers: the same held in different words, D'Alembert's balance, forces by name, bad input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.errors import KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Constraint, Driver, Force, Frame, Joint, LineMass, Model, Parameter, Pose, Sensor
from tests.mechanism import random_machines as machines

ENDS = (
    Frame(name="one", parent="world", pose=Pose(position=(0.3, -0.2, 0.4))),
    Frame(name="two", parent="b3", pose=Pose(position=(0.1, 0.2, -0.1))),
)


KINDS = ("revolute", "universal", "spherical", "prismatic")


def base(seed: int = 5, kinds: tuple[str, ...] = KINDS) -> Model:
    model = machines.tree(seed, kinds, 4, chain=True)
    return dataclasses.replace(model, frames=(*model.frames, *ENDS))


def assembled(mech: Mechanism, seed: int = 1, t: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, v, tau = machines.state(mech, seed)
    q, v = mech.assemble(q, v, t=t)
    return q, v, tau


def moves(mech: Mechanism, q: np.ndarray, v: np.ndarray, t: float, h: float = 1e-5) -> tuple[np.ndarray, np.ndarray]:
    """First and second differences of the gaps along the motion that forward dynamics gives."""
    a = mech.forward_dynamics(q, v, np.zeros(mech.nv), t=t)
    after, before = (mech.constraint_residual(mech.integrate(q, v + 0.5 * s * a, s), t=t + s) for s in (h, -h))
    return (after - before) / (2 * h), (after - 2 * mech.constraint_residual(q, t=t) + before) / h**2


SENSORS = (
    "distance",
    "square_distance",
    "point_plane",
    "plane_point",
    "plane_plane",
    "angle",
    "position",
    "orientation",
    "pose",
)


@pytest.mark.parametrize("kind", SENSORS)
def test_what_is_held_stays(kind: str) -> None:
    """Gaps vanish at the assembled pose and, with speeds and accelerations, along the motion to second order."""
    model = base(kinds=("revolute", "free", "spherical", "prismatic") if kind == "pose" else KINDS)
    value = {"distance": 0.7, "square_distance": 0.5, "plane_plane": 0.2}.get(kind, 0.1)
    sensor = Sensor(name="s", kind=kind, a="one", b="two", axis=(0.2, 0.3, 1.0), axis_b=(1.0, -0.2, 0.1))
    held = Constraint(name="c", sensor="s", value=value)
    mech = Mechanism(dataclasses.replace(model, sensors=(sensor,), constraints=(held,)))
    q, v, _ = assembled(mech)
    assert mech.constraint_residual(q) == pytest.approx(0.0, abs=1e-10)
    assert len(mech.constraint_residual(q)) == len(sensor.info.components) == len(mech.compiled.rows)
    first, second = moves(mech, q, v, 0.0)
    assert first == pytest.approx(0.0, abs=1e-6)
    assert second == pytest.approx(0.0, abs=2e-4)
    assert np.atleast_1d(mech.sensor(q, v, "s")[0]) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("motion", ["position", "velocity", "acceleration"])
def test_drivers_of_sensors_and_joints(motion: str) -> None:
    """Position, speed or acceleration follow the formula exactly, whichever is given."""
    sensor = Sensor(name="s", kind="point_plane", a="one", b="two", axis=(0.2, 0.3, 1.0))
    drivers = (
        Driver(name="far", sensor="s", motion=motion, function="0.3 + 0.2*sin(3*t)"),
        Driver(name="turn", joint="j0", motion=motion, function="0.5*t^2"),
    )
    mech = Mechanism(dataclasses.replace(base(), sensors=(sensor,), drivers=drivers))
    t = 0.4
    q, v, _ = assembled(mech, t=t)
    a = mech.forward_dynamics(q, v, np.zeros(mech.nv), t=t)
    far = np.array([0.3 + 0.2 * np.sin(3 * t), 0.6 * np.cos(3 * t), -1.8 * np.sin(3 * t)])
    turn = np.array([0.08, 0.4, 1.0])
    both = mech.compiled.call("sensor:s", q, v, a)[:, 0]
    own = np.array([q[mech.joint_q("j0")][0], v[mech.joint_v("j0")][0], a[mech.joint_v("j0")][0]])
    level = ("position", "velocity", "acceleration").index(motion)
    assert both[level:] == pytest.approx(far[: 3 - level], abs=1e-9)
    assert own[level:] == pytest.approx(turn[: 3 - level], abs=1e-9)
    assert set(mech.constraint_forces(q, v, np.zeros(mech.nv), t=t)) == {"far", "turn"}


def test_rods_in_three_ways() -> None:
    """A rod, a held distance and a massless body between two spherical joints move the machine alike."""
    model = base()
    sensor = Sensor(name="s", kind="distance", a="one", b="two")
    rod = Mechanism(
        dataclasses.replace(model, constraints=(Constraint(name="rod", kind="rod", a="one", b="two", length=0.8),))
    )
    held = Mechanism(
        dataclasses.replace(model, sensors=(sensor,), constraints=(Constraint(name="rod", sensor="s", value=0.8),))
    )
    q, v, tau = assembled(rod)
    a = rod.forward_dynamics(q, v, tau)
    assert held.forward_dynamics(q, v, tau) == pytest.approx(a, abs=1e-8)
    force = rod.constraint_forces(q, v, tau)["rod"]
    assert held.constraint_forces(q, v, tau)["rod"] == pytest.approx(force, abs=1e-8)
    for name, wrench in held.reactions(q, v, tau).items():
        assert wrench == pytest.approx(rod.reactions(q, v, tau)[name], abs=1e-7)
    # the same as a line force of that size
    push = Force(name="push", kind="line", a="one", b="two", law=f"{-float(force[0])!r}")
    free = Mechanism(dataclasses.replace(model, forces=(push,)))
    assert free.forward_dynamics(q, v, tau) == pytest.approx(a, abs=1e-8)


def test_gears_hold_with_a_force() -> None:
    model = base()
    gear = Constraint(name="gear", kind="gear", joint="j3", leader="j0", ratio=-0.5, offset=0.1)
    mech = Mechanism(dataclasses.replace(model, constraints=(gear,)))
    q, v, tau = assembled(mech)
    i, k = mech.joint_q("j3").start, mech.joint_q("j0").start
    assert q[i] == pytest.approx(-0.5 * q[k] + 0.1, abs=1e-10)
    a = mech.forward_dynamics(q, v, tau)
    force = mech.constraint_forces(q, v, tau)["gear"][0]
    tree = Mechanism(model)
    extra = np.zeros(mech.nv)
    extra[mech.joint_v("j3")], extra[mech.joint_v("j0")] = force, 0.5 * force
    assert tree.forward_dynamics(q, v, tau + extra) == pytest.approx(a, abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_all_wrenches_on_a_body_make_its_motion(seed: int) -> None:
    """D'Alembert: reactions, forces and constraints on each body equal the rate of its momentum (bodies of a chain)."""
    rng = np.random.default_rng(seed)
    model = base(seed + 10)
    loop = Joint(
        name="loop",
        kind="spherical",
        parent="world",
        child="b3",
        a=Pose(position=(0.2, 0.1, 0.3)),
        b=machines.pose(rng),
    )
    sensor = Sensor(name="s", kind="plane_plane", a="b0", b="b2")
    model = dataclasses.replace(
        model,
        joints=(*model.joints, loop),
        sensors=(sensor,),
        constraints=(Constraint(name="c", sensor="s", value=0.3),),
        forces=(
            Force(name="f", kind="line", a="b0", b="tip", stiffness=20.0, rest=0.1, damping=2.0),
            Force(name="w", kind="wrench", a="b1", b="b2", resolve="b2", force=(1, 2, 0.5), torque=(0.3, 0, 0)),
        ),
    )
    mech = Mechanism(model)
    q, v, tau = assembled(mech, seed)
    a = mech.forward_dynamics(q, v, tau)
    reactions = mech.reactions(q, v, tau)
    ground = [name for name, sides in {j.name: (j.parent, j.child) for j in model.joints}.items() if "world" in sides]
    total = np.zeros(6)
    poses = mech.joint_poses(q)
    for name in ground:
        joint = model.joint(name)
        sign = 1.0 if joint.parent == "world" else -1.0
        F, p = reactions[name], poses[name][1][:3, 3]
        total += sign * np.concatenate([F[:3] + np.cross(p, F[3:]), F[3:]])
    # forces between bodies cancel in the sum over the machine: ground reactions + weight = rate of momentum
    g = np.array(model.world.gravity.acceleration, dtype=float)
    mass = sum(body.mass for body in model.bodies)
    c = mech.center_of_mass(q)
    total += np.concatenate([np.cross(c, mass * g), mass * g])
    h = 1e-6
    after, before = (mech.compiled.call("momentum", mech.integrate(q, v + 0.5 * s * a, s), v + s * a) for s in (h, -h))
    assert total == pytest.approx((after - before) / (2 * h), rel=1e-5, abs=2e-4)


@pytest.mark.parametrize(("at", "place"), [("fraction", 0.3), ("from_a", 0.4), ("from_b", 0.2)])
def test_masses_on_lines(at: str, place: float) -> None:
    """½ vᵀ M v is the kinetic energy; energy changes by the power of the joint forces; inverse undoes forward."""
    parts = (LineMass(mass=1.5, at=at, place=place), LineMass(mass=0.5, at="fraction", place=1.0))
    forces = (
        Force(name="f", kind="line", a="tip", b="b1", stiffness=3.0, masses=parts),
        Force(name="g", kind="line", b="b2", masses=parts[:1]),
    )
    mech = Mechanism(dataclasses.replace(base(), forces=forces))
    q, v, tau = machines.state(mech, 3)
    a = mech.forward_dynamics(q, v, tau)
    assert mech.inverse_dynamics(q, v, a) == pytest.approx(tau, abs=1e-8)
    assert mech.energy(q, v).kinetic == pytest.approx(0.5 * v @ mech.mass_matrix(q) @ v)
    h = 1e-3 / (100.0 + np.max(np.abs(a)))
    before, after = (mech.energy(mech.integrate(q, v + 0.5 * s * a, s), v + s * a).total for s in (-h, h))
    assert (after - before) / (2 * h) == pytest.approx(tau @ v, rel=1e-5, abs=1e-5)


def test_a_mass_at_the_end_of_a_line_is_one_of_the_body() -> None:
    model = base()
    line = Force(name="f", kind="line", b="b2", masses=(LineMass(mass=2.0, at="fraction", place=1.0),))
    heavier = dataclasses.replace(model.bodies[2], name="extra", mass=2.0, center_of_mass=(0, 0, 0))
    heavier = dataclasses.replace(heavier, inertia=type(heavier.inertia)())
    joint = Joint(name="weld", kind="fixed", parent="b2", child="extra")
    one = Mechanism(dataclasses.replace(model, forces=(line,)))
    other = Mechanism(dataclasses.replace(model, bodies=(*model.bodies, heavier), joints=(*model.joints, joint)))
    q, v, tau = machines.state(one, 3)
    assert one.forward_dynamics(q, v, tau) == pytest.approx(other.forward_dynamics(q, v, tau), abs=1e-8)


def wrong(**more: object) -> Model:
    return dataclasses.replace(base(), **more)  # type: ignore[arg-type]


def pushed(model: Model) -> None:
    mech = Mechanism(model)
    mech.forward_dynamics(mech.neutral(), np.zeros(mech.nv), np.zeros(mech.nv))


def test_messages_name_the_element() -> None:
    speed = Sensor(name="s", kind="velocity", a="one", b="two")
    far = Sensor(name="far", kind="distance", a="one", b="two")
    cases = (
        (wrong(sensors=(speed,), constraints=(Constraint(name="c", sensor="s"),)), "constraint 'c'"),
        (wrong(sensors=(far,), constraints=(Constraint(name="c", sensor="far", value=0.0),)), "constraint 'c'"),
        (wrong(drivers=(Driver(name="d", joint="j2", function="t"),)), "driver 'd'"),
        (wrong(drivers=(Driver(name="d", joint="j1", function="t"),)), "driver 'd', coordinate"),
        (wrong(forces=(Force(name="f", kind="joint", joint="j1", damping=1.0),)), "force 'f', coordinate"),
        (wrong(forces=(Force(name="f", kind="series", b="b1", stiffness=1.0),)), "force 'f', damping"),
    )
    for model, where in cases:
        with pytest.raises(ModelError) as raised:
            pushed(model)
        assert where in raised.value.where
        assert raised.value.remedy
    accelerated = Sensor(name="a", kind="acceleration", b="two")
    force = Force(name="f", kind="line", b="b1", law="a.x")
    with pytest.raises(KinetostatError, match="accelerations"):
        pushed(wrong(sensors=(accelerated,), forces=(force,)))


def test_parameters_stay_arguments() -> None:
    """A slider on a stiffness, a ratio or a driver's amplitude needs no new code."""
    forces = (Force(name="f", kind="line", b="tip", stiffness="k", law="k*t*length"),)
    drivers = (Driver(name="d", joint="j0", function="k*t"),)
    model = dataclasses.replace(base(), parameters=(Parameter(name="k", value=2.0),), forces=forces, drivers=drivers)
    one, two = Mechanism(model), Mechanism(dataclasses.replace(model, parameters=(Parameter(name="k", value=3.0),)))
    assert one.compiled.program is two.compiled.program
    q, v, tau = assembled(two, t=0.5)
    args = {"t": 0.5}
    expected = two.forward_dynamics(q, v, tau, **args)
    assert one.forward_dynamics(q, v, tau, p={"k": 3.0}, **args) == pytest.approx(expected)
    assert one.constraint_residual(q, t=0.5)[0] == pytest.approx(0.5)


def test_redundant_loops_say_that_their_forces_are_not_unique() -> None:
    """A planar four-bar drawn in space has two constraints too many; a rod has none."""
    from tests.mechanism.constraints.test_loops import fourbar

    mech = Mechanism(fourbar())
    q = mech.rest()
    assert "minimum norm" in mech.reactions(q, np.zeros(mech.nv), np.zeros(mech.nv)).note
    rod = Mechanism(
        dataclasses.replace(base(), constraints=(Constraint(name="rod", kind="rod", a="one", b="two", length=0.8),))
    )
    q, v, tau = assembled(rod)
    assert rod.reactions(q, v, tau).note == ""
