"""Force elements: closed forms, power balance, inverse against forward dynamics, block mode against one piece."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.errors import SimulationError
from core.mechanism import Mechanism
from core.model import Body, Force, Frame, Gravity, Inertia, Joint, Junction, Model, Pose, Sensor, World
from core.programs import machine_symbols
from tests.mechanism import random_machines as machines

SENSORS = ("distance", "square_distance", "point_plane", "plane_point", "plane_plane", "angle")


def sensors_of(rng: np.random.Generator, a: str, b: str) -> tuple[Sensor, ...]:
    """One of every geometric kind between two frames, and of the motions."""
    kinds = (
        *SENSORS,
        "position",
        "orientation",
        "pose",
        "velocity",
        "angular_velocity",
        "acceleration",
        "angular_acceleration",
    )
    return tuple(
        Sensor(
            name=f"s_{kind}",
            kind=kind,
            a=a,
            b=b,
            axis=machines.direction(rng),
            axis_b=machines.direction(rng),
            resolve="b1" if "velocity" in kind else "",
        )
        for kind in kinds
    )


def loaded(seed: int, kinds: tuple[str, ...] = machines.MOVING, count: int = 5) -> Model:
    """A random tree with a force element of every kind."""
    rng = np.random.default_rng(seed)
    model = machines.tree(seed, kinds, count)
    a, b = "tip", "b1"
    sensors = sensors_of(rng, a, b)
    leader = next(j.name for j in model.joints if j.info.nv == 1) if any(j.info.nv == 1 for j in model.joints) else ""
    plain = f" + 0.3*{leader}.v*sin({leader})" if leader else ""
    forces = [
        Force(
            name="push",
            kind="wrench",
            a="b0",
            b="tip",
            resolve="b2",
            force=(f"3*cos(2*t){plain}", 1.0, -2.0),
            torque=(0.4, "s_distance.rate", "s_position.x"),
        ),
        Force(
            name="spring",
            kind="line",
            a="tipper",
            b="b1",
            stiffness=40.0,
            rest=0.3,
            damping=1.5,
            law="2*length^2*rate + s_angle",
        ),
        Force(name="ground", kind="line", b="tip", stiffness=30.0, rest=0.5, damping=0.7),
        *(
            Force(name=f"along_{kind}", kind="sensor", sensor=f"s_{kind}", stiffness=3.0, rest=0.2, damping=0.4)
            for kind in SENSORS
        ),
    ]
    if leader:
        forces.append(Force(name="motor", kind="joint", joint=leader, stiffness=2.0, damping=0.3, law="0.5*length^3"))
    return dataclasses.replace(model, sensors=sensors, forces=tuple(forces))


@pytest.mark.parametrize("seed", range(4))
def test_rates_of_sensors_are_the_power_of_their_wrenches(seed: int) -> None:
    """The rate is taken by wrenches on relative motion; here by differences of the values."""
    mech = Mechanism(loaded(seed))
    q, v, _ = machines.state(mech, seed)
    h = 1e-5
    for sensor in mech.model.sensors:
        if not sensor.info.is_geometric:
            continue
        _, rate = mech.sensor(q, v, sensor.name)
        ahead, behind = (mech.sensor(mech.integrate(q, v, s), v, sensor.name)[0] for s in (h, -h))
        assert rate == pytest.approx((ahead - behind) / (2 * h), abs=2e-7, rel=1e-6), sensor.kind


def test_motions_are_seen_from_a_frame() -> None:
    """Velocity against a in the axes of `resolve`, and its rate, from numerical differences of poses."""
    mech = Mechanism(loaded(7))
    q, v, a = machines.state(mech, 7)
    h = 1e-4

    def place(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        X_a, X_b = mech.frame(q, "tip"), mech.frame(q, "b1")
        return X_a[:3, :3].T @ (X_b[:3, 3] - X_a[:3, 3]), X_a[:3, :3].T @ X_b[:3, :3]

    ahead = mech.integrate(q, v + 0.5 * h * a, h)
    behind = mech.integrate(q, v - 0.5 * h * a, -h)
    R_a, R_b1 = mech.frame(q, "tip")[:3, :3], mech.frame(q, "b1")[:3, :3]
    speed = (place(ahead)[0] - place(behind)[0]) / (2 * h)
    second = (place(ahead)[0] - 2 * place(q)[0] + place(behind)[0]) / h**2
    assert mech.sensor(q, v, "s_velocity")[0] == pytest.approx(R_b1.T @ R_a @ speed, abs=1e-5)
    assert mech.sensor(q, v, "s_acceleration", a=a)[0] == pytest.approx(R_a @ second, abs=1e-4)
    turn = (place(ahead)[1] - place(behind)[1]) / (2 * h) @ place(q)[1].T
    w = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
    assert mech.sensor(q, v, "s_angular_velocity")[0] == pytest.approx(R_b1.T @ R_a @ w, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_inverse_undoes_forward(seed: int) -> None:
    mech = Mechanism(loaded(seed))
    q, v, tau = machines.state(mech, seed)
    a = mech.forward_dynamics(q, v, tau, t=0.7)
    assert mech.inverse_dynamics(q, v, a, t=0.7) == pytest.approx(tau, abs=1e-8)
    assert mech.bias(q, v, t=0.7) == pytest.approx(tau - mech.mass_matrix(q) @ a, abs=1e-8)
    assert np.max(np.abs(mech.forward_dynamics(q, v, tau, t=0.7, passive=False) - a)) > 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_power_of_forces_changes_the_energy(seed: int) -> None:
    """d(kinetic energy)/dt = power of gravity, of joint forces and of all elements, each as its channel tells."""
    mech = Mechanism(loaded(seed))
    q, v, tau = machines.state(mech, seed)
    a = mech.forward_dynamics(q, v, tau, t=0.3)
    h = 1e-3 / (100.0 + np.max(np.abs(a)))
    before, after = (mech.energy(mech.integrate(q, v + 0.5 * s * a, s), v + s * a, t=0.3) for s in (-h, h))
    change = (after.total - before.total) / (2 * h)
    power, stored = 0.0, 0.0
    shown = mech.compiled.call("forces", q, v, t=0.3)
    at = 0
    for force in mech.model.forces:
        if force.kind == "wrench":
            power, at = power + shown[at + 6], at + 7
        else:
            length, rate, _, delivered, _ = shown[at : at + 5]
            stretch = length - force.rest
            if "angle" in force.sensor:
                stretch -= 2 * np.pi * np.floor(stretch / (2 * np.pi) + 0.5)
            power, stored, at = power + delivered, stored + force.stiffness * stretch * rate, at + 5
    assert change == pytest.approx(power + stored + tau @ v, rel=1e-5, abs=1e-4)


def test_long_machines_carry_forces(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same machine traced in one piece and as a table of blocks."""
    model = loaded(3, count=6)
    short = Mechanism(model)
    q, v, tau = machines.state(short, 3)
    expected = short.forward_dynamics(q, v, tau, t=0.2), short.bias(q, v, t=0.2), short.energy(q, v).potential
    wrenches = short.reactions(q, v, tau, t=0.2)
    monkeypatch.setattr(machine_symbols, "LONG", 2)
    long = Mechanism(dataclasses.replace(model, name="long", parameters=()))
    from core.programs import program

    program.drop_programs()
    long = Mechanism(model)
    assert long.compiled.program.symbolic.is_long
    assert long.forward_dynamics(q, v, tau, t=0.2) == pytest.approx(expected[0], rel=1e-9, abs=1e-9)
    assert long.bias(q, v, t=0.2) == pytest.approx(expected[1], rel=1e-9, abs=1e-9)
    assert long.energy(q, v).potential == pytest.approx(expected[2])
    for name, wrench in long.reactions(q, v, tau, t=0.2).items():
        assert wrench == pytest.approx(wrenches[name], rel=1e-8, abs=1e-8)
    long.compile("forward_dynamics")
    assert long.forward_dynamics(q, v, tau, t=0.2) == pytest.approx(expected[0], rel=1e-9, abs=1e-9)
    program.drop_programs()


def test_a_line_of_length_zero_gives_numbers() -> None:
    bob = Body(name="bob", mass=1.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    model = Model(
        bodies=(bob,),
        forces=(Force(name="f", kind="line", b="bob", stiffness=9.0, damping=1.0),),
        world=World(gravity=Gravity(acceleration=(0.0, 0.0, 0.0))),
    )
    mech = Mechanism(model)
    assert mech.forward_dynamics(mech.neutral(), np.zeros(6), np.zeros(6)) == pytest.approx(np.zeros(6), abs=1e-9)


def test_spring_pendulum() -> None:
    """m r̈ = m r φ̇² + m g cos φ − k (r − l), r φ̈ = −2 ṙ φ̇ − g sin φ: a point mass on a spring."""
    bob = Body(name="bob", mass=2.0)
    model = Model(
        bodies=(Body(name="rider"), bob),
        joints=(
            Joint(name="pin", parent="world", child="rider", axis=(0.0, 1.0, 0.0)),
            Joint(name="slide", kind="prismatic", parent="rider", child="bob", axis=(0.0, 0.0, -1.0)),
        ),
        forces=(Force(name="spring", kind="line", a="world", b="bob", stiffness=50.0, rest=0.8),),
    )
    mech = Mechanism(model)
    # positive turns about y take −z toward −x
    phi, r, w, u = 0.4, 1.1, -0.6, 0.3
    a = mech.forward_dynamics([phi, r], [w, u], [0.0, 0.0])
    assert a[1] == pytest.approx(r * w**2 + 9.81 * np.cos(phi) - 25.0 * (r - 0.8))
    assert a[0] == pytest.approx((-2.0 * u * w - 9.81 * np.sin(phi)) / r)


def test_wrench_in_the_axes_of_a_frame() -> None:
    """A force in b's own axes at an offset frame: moment and force on the body, the opposite on a."""
    bodies = tuple(Body(name=name, mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0)) for name in ("one", "two"))
    frame = Frame(name="nozzle", parent="two", pose=Pose(position=(0.0, 0.5, 0.0)))
    push = Force(name="push", kind="wrench", a="one", b="nozzle", resolve="two", force=(1.0, 0.0, 0.0))
    model = Model(bodies=bodies, frames=(frame,), forces=(push,), world=World(gravity=Gravity(kind="none")))
    mech = Mechanism(model)
    q = mech.neutral()
    q[7:10] = 2.0, 0.0, 0.0
    q[10:14] = 0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)  # two is turned by 90° about z
    a = mech.forward_dynamics(q, np.zeros(12), np.zeros(12))
    # force along world y at the nozzle, which is at (2 − 0.5, 0, 0)
    assert a[6:9] == pytest.approx([0.0, 0.0, -0.5])
    assert a[9:12] == pytest.approx([1.0, 0.0, 0.0])  # in two's axes
    assert a[0:3] == pytest.approx([0.0, 0.0, -1.5])
    assert a[3:6] == pytest.approx([0.0, -1.0, 0.0])


def test_a_junction_whose_forces_are_beyond_all_numbers_is_refused():
    """A spring of 1e300 N/m, with which Newton's method would have no slopes to go by."""
    point = Junction(name="knot", guess=(0.1, 0.2, 0.0))
    ends = ((1e300, (0.0, 0.0, 0.0)), (1.0, (1.0, 0.0, 0.0)), (1.0, (0.0, 1.0, 1.0)))
    frames = tuple(Frame(name=f"end{k}", parent="b", pose=Pose(position=place)) for k, (_, place) in enumerate(ends))
    springs = tuple(
        Force(name=f"s{k}", kind="line", a=f"end{k}", b="knot", stiffness=stiffness, rest=1e200)
        for k, (stiffness, _) in enumerate(ends)
    )
    body = Body(name="b", mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0))
    mech = Mechanism(Model(name="m", bodies=(body,), frames=frames, forces=springs, junctions=(point,)))
    with pytest.raises(SimulationError, match="s0.*stiffness.*too large to be computed with"):
        mech.bias(mech.rest(), np.zeros(mech.nv))


def test_a_junction_between_bodies_that_stand_still_stands_where_its_springs_balance():
    """Two springs of 2 and 1 N/m and no length at rest, 3 m apart: the knot lies 1 m from the stiffer one's end."""
    ends = (Frame(name="one", parent="world"), Frame(name="two", parent="world", pose=Pose(position=(3.0, 0.0, 0.0))))
    springs = (
        Force(name="s", kind="line", a="one", b="knot", stiffness=2.0),
        Force(name="r", kind="line", a="two", b="knot", stiffness=1.0),
    )
    mech = Mechanism(
        Model(name="m", frames=ends, forces=springs, junctions=(Junction(name="knot", guess=(1.5, 0.1, 0.1)),))
    )
    assert mech.nv == 0
    np.testing.assert_allclose(mech.x_rest([])[:3], (1.0, 0.0, 0.0), atol=1e-9)


def test_a_junction_damped_in_one_direction_goes_with_its_springs_in_the_others():
    """Springs of no length at rest pull with k (rᵢ − r): across the damper its speed follows from their rates,
    k_b v / (k_a + k_b), also where they are not in balance; along it from the forces themselves, f / c."""
    ends = (
        Frame(name="one", parent="world"),
        Frame(name="two", parent="block"),
        Frame(name="three", parent="world", pose=Pose(position=(0.3, 2.0, 0.0))),
    )
    forces = (
        Force(name="s", kind="line", a="one", b="knot", stiffness=2.0),
        Force(name="r", kind="line", a="two", b="knot", stiffness=1.0),
        Force(name="d", kind="line", a="three", b="knot", damping=5.0),
    )
    slide = Joint(name="slide", kind="prismatic", parent="world", child="block", axis=(1.0, 0.0, 0.0))
    knot = Junction(name="knot", guess=(0.3, 0.0, 0.0))
    block = Body(name="block", mass=1.0)
    mech = Mechanism(Model(bodies=(block,), joints=(slide,), frames=ends, forces=forces, junctions=(knot,)))
    q, v = np.array([3.0]), np.array([0.6])
    at_balance_along, off_along = ((0.3, y, 0.0) for y in (0.0, 0.5))  # across, balance would be at x = 1
    np.testing.assert_allclose(mech.x_rate(q, v, np.array(at_balance_along)), (0.2, 0.0, 0.0), atol=1e-8)
    assert mech.x_rate(q, v, np.array(off_along))[1] == pytest.approx(-3.0 * 0.5 / 5.0, rel=1e-8)


def test_a_series_keeps_the_energy_of_its_spring_alone():
    """½ k x², x the spring's own elongation; the damper behind it keeps nothing."""
    slide = Joint(name="slide", kind="prismatic", parent="world", child="block", axis=(1.0, 0.0, 0.0))
    shock = Force(name="shock", kind="series", b="block", stiffness=40.0, damping=3.0, rest=0.1)
    mech = Mechanism(Model(bodies=(Body(name="block", mass=1.0),), joints=(slide,), forces=(shock,)))
    stretches = np.array([[0.0], [0.05], [-0.2]])
    stored = [mech.energy(np.array([0.7]), np.zeros(1), x=x).potential for x in stretches]
    np.testing.assert_allclose(np.subtract(stored, stored[0]), 20.0 * stretches[:, 0] ** 2, atol=1e-12)
