"""Runs with force elements, drivers and junctions: closed forms, another integrator, energy, bad formulas."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from core.errors import SimulationError
from core.mechanism import Mechanism
from core.model import Body, Driver, Force, Frame, Gravity, Inertia, Joint, Junction, Mimic, Model, Pose, World
from core.simulation import Run, simulate

NO_GRAVITY = World(gravity=Gravity(kind="none"))
MASS = Body(name="m", mass=1.0)
SLIDE = Joint(name="s", kind="prismatic", parent="world", child="m", axis=(1.0, 0.0, 0.0), rest=(2.0,))
BOB = Body(name="bob", mass=1.0, center_of_mass=(1.0, 0.0, 0.0))
PIN = Joint(name="pin", parent="world", child="bob", axis=(0.0, 1.0, 0.0))


def test_the_torque_of_a_driven_joint_is_its_motors() -> None:
    """m (g + z̈) lifts a mass that a driver moves by z(t), on its own joint or on one that follows at half the way; of a
    driven angle and displacement each has its own."""
    lift = Joint(name="lift", kind="prismatic", parent="world", child="m")
    follow = Joint(name="follow", kind="prismatic", parent="world", child="n", mimic=Mimic(leader="lift", ratio=0.5))
    driver = Driver(name="motor", joint="lift", function="0.1*sin(3*t)")
    run = simulate(Model(bodies=(MASS,), joints=(lift,), drivers=(driver,)), 1.0)
    acceleration = -0.9 * np.sin(3.0 * run.time)
    np.testing.assert_allclose(run["lift.tau"], 9.81 + acceleration, atol=1e-9)
    light = Body(name="n", mass=0.4)
    both = Model(bodies=(MASS, light), joints=(lift, follow), drivers=(dataclasses.replace(driver, joint="follow"),))
    run = simulate(both, 1.0)
    whole = 1.0 * (9.81 + 2.0 * acceleration) + 0.5 * 0.4 * (9.81 + acceleration)
    np.testing.assert_allclose(run["lift.tau"], whole, atol=1e-9)
    turning = Joint(name="screw", kind="cylindrical", parent="world", child="m")
    solid = dataclasses.replace(MASS, inertia=Inertia(izz=0.3))
    drivers = (
        dataclasses.replace(driver, joint="screw", coordinate="displacement"),
        Driver(name="turn", joint="screw", coordinate="angle", function="t^2"),
    )
    run = simulate(Model(bodies=(solid,), joints=(turning,), drivers=drivers), 1.0, torque={"screw.angle": 0.25})
    np.testing.assert_allclose(run["screw.tau"][:, 0], 0.3 * 2.0, atol=1e-9)
    np.testing.assert_allclose(run["screw.displacement.tau"], 9.81 + acceleration, atol=1e-9)


def test_spring_and_damper_in_series_relax(tmp_path: Path) -> None:
    """Maxwell's element on a mass, against an integrator of the three equations written by hand."""
    force = Force(name="f", kind="series", b="m", stiffness=4.0, rest=1.0, damping=2.0)
    run = simulate(
        Model(bodies=(MASS,), joints=(SLIDE,), forces=(force,), world=NO_GRAVITY),
        3.0,
        rtol=1e-10,
        atol=1e-12,
        output=0.1,
    )
    exact = solve_ivp(
        lambda t, y: [y[1], -4 * y[2], y[1] - 2 * y[2]], (0, 3), [2, 0, 1], "DOP853", run.time, rtol=1e-11, atol=1e-13
    ).y
    assert run["s.q"] == pytest.approx(exact[0], abs=1e-8)
    assert run["f.force"] == pytest.approx(4.0 * exact[2], abs=1e-8)
    run.save(tmp_path / "run.h5")
    assert Run.load(tmp_path / "run.h5")["f.force"] == pytest.approx(run["f.force"])


def star(*dampings: float) -> Model:
    """Three springs at a point, and a fourth from there to a mass on a rail."""
    places = {"A": (1.0, 0.0, 0.0), "B": (-0.5, 0.8, 0.0), "C": (-0.5, -0.8, 0.5)}
    frames = tuple(Frame(name=name, parent="world", pose=Pose(position=place)) for name, place in places.items())
    rail = dataclasses.replace(SLIDE, axis=(0.0, 0.0, 1.0), rest=(-1.0,))
    forces = tuple(
        Force(name=f"f{k}", kind="line", a=a, b="J", stiffness=stiffness, rest=rest, damping=damping)
        for k, (a, damping, stiffness, rest) in enumerate(
            zip((*places, "m"), dampings, (10.0, 10.0, 20.0, 5.0), (0.5, 0.5, 0.5, 0.1), strict=True)
        )
    )
    return Model(
        bodies=(MASS,),
        frames=frames,
        joints=(rail,),
        forces=forces,
        world=NO_GRAVITY,
        junctions=(Junction(name="J", guess=(0.1, 0.0, 0.1)),),
    )


def test_springs_at_a_point_keep_the_energy() -> None:
    run = simulate(star(0.0, 0.0, 0.0, 0.0), 3.0, v0=[0.5], rtol=1e-10, atol=1e-11, output=0.1)
    energy = run["energy.total"]
    assert np.ptp(run["energy.kinetic"]) > 0.1
    assert energy == pytest.approx(energy[0], abs=1e-7)
    # the point is where the springs balance it, at every sample
    assert run["J.position"] == pytest.approx(run.mech.x_rest(run.q), abs=1e-8)


@pytest.mark.parametrize("dampings", [(1.0, 0.0, 0.0, 0.0), (2.0, 1.0, 3.0, 1.0)])
def test_dampers_at_a_point_take_the_energy_they_show(dampings: tuple[float, ...]) -> None:
    """Some directions with dampers, some without: lost energy = ∫ c L̇² dt."""
    run = simulate(star(*dampings), 2.0, v0=[0.5], rtol=1e-9, atol=1e-10, output=0.002)
    loss = sum(c * run[f"f{k}.rate"] ** 2 for k, c in enumerate(dampings))
    taken = np.concatenate([[0.0], np.cumsum((loss[1:] + loss[:-1]) * 0.001)])
    assert run["energy.total"] == pytest.approx(run["energy.total"][0] - taken, abs=2e-5)
    pulls = sum(run[f"f{k}.force"][:, None] * directions(run, k) for k in range(4))
    assert np.max(np.abs(pulls)) < 1e-6


def directions(run: Run, k: int) -> np.ndarray:
    away = run[f"{'ABCm'[k]}.position"] - run["J.position"]
    return away / np.linalg.norm(away, axis=1)[:, None]


def test_a_junction_that_nothing_holds_is_named() -> None:
    model = star(0.0, 0.0, 0.0, 0.0)
    with pytest.raises(SimulationError, match="junction 'J'"):
        simulate(dataclasses.replace(model, forces=model.forces[:1]), 1.0)


def test_driven_machines_move_as_told() -> None:
    """All freedoms driven: position by formula; torque by inverse dynamics of the pendulum."""
    drive = Driver(name="d", joint="pin", function="0.5*sin(3*t)")
    run = simulate(Model(bodies=(BOB,), joints=(PIN,), drivers=(drive,)), 2.0, output=0.05)
    t = run.time
    assert run["pin.q"] == pytest.approx(0.5 * np.sin(3 * t), abs=1e-11)
    assert run["pin.v"] == pytest.approx(1.5 * np.cos(3 * t), abs=1e-10)
    assert run["d.force"] == pytest.approx(-4.5 * np.sin(3 * t) - 9.81 * np.cos(run["pin.q"]), abs=1e-8)


def test_tables_and_recorded_traces(tmp_path: Path) -> None:
    times = np.linspace(0.0, 2.0, 81)
    (tmp_path / "trace.csv").write_text(
        "time,pin.q\n" + "".join(f"{t!r},{float(np.sin(2 * t))!r}\n" for t in times.tolist()), encoding="utf-8"
    )
    table = Driver(name="d", joint="pin", times=tuple(times), values=tuple(np.sin(2.0 * times)))
    file = Driver(name="d", joint="pin", file=str(tmp_path / "trace.csv"))
    for drive in (table, file):
        run = simulate(Model(bodies=(BOB,), joints=(PIN,), drivers=(drive,)), 1.9, output=0.05)
        assert run["pin.q"] == pytest.approx(np.sin(2 * run.time), abs=1e-6)
        assert run["pin.a"] == pytest.approx(-4 * np.sin(2 * run.time), abs=2e-2)
    mech = Mechanism(Model(bodies=(BOB,), joints=(PIN,), drivers=(table,)))
    held = mech.clock([-1.0, 5.0])
    assert held[:, 1:] == pytest.approx(np.array([[0.0, 0.0, 0.0], [np.sin(4.0), 0.0, 0.0]]), abs=1e-9)


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"forces": (Force(name="bad", kind="joint", joint="pin", law="sqrt(0.5 - t)"),)}, "force 'bad'"),
        ({"drivers": (Driver(name="bad", joint="pin", function="sqrt(0.5 - t)"),)}, "driver 'bad'"),
    ],
)
def test_formulas_that_break_are_named_with_the_time(more: dict[str, object], where: str) -> None:
    with pytest.raises(SimulationError, match=r"At t = 0\.5 s") as raised:
        simulate(Model(bodies=(BOB,), joints=(PIN,), **more), 2.0)  # type: ignore[arg-type]
    assert raised.value.where == where
    assert raised.value.run is not None
