"""Steps where friction holds everything, and ends of modes with loose tolerances: closed forms."""

import numpy as np
import pytest

from core.model import Body, Inertia, Joint, Model
from core.simulation import simulate
from tests.simulation.published.test_friction_and_stops import FINE, METHODS, block, blocks, read

LOOSE = {"rtol": 1e-3, "atol": 1e-5}


@pytest.mark.parametrize("settings", [FINE, LOOSE], ids=["sharp", "loose"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("load", "when"),
    [("2*t", 5.0), ("0.001*t", 10_000.0), ("0.01*t^2", np.sqrt(1000.0)), ("1e-4*t^3", 1e5 ** (1.0 / 3.0))],
)
def test_a_block_breaks_away_when_its_load_says_whatever_the_tolerance(method, settings, load, when):
    """Static friction of 10 N on 1 kg: F(t) = 10 N."""
    model = blocks(block(1.0, friction=6.0, static_friction=10.0))
    run = simulate(model, 1.001 * when, method=method, torque={"x": load}, output=2.0 * when, **settings)
    moves = run.time[:-1][np.diff(run.q[:, 0]) != 0.0]
    assert moves[0] == pytest.approx(when, rel=1e-11 if settings is FINE else 1e-7)
    assert run.statistics.steps < (200 if load.endswith("*t") else 1500)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("load", ["12*exp(-((t - 7.3)/0.2)^2)", "12*sin(0.5*t)^400"])
def test_loads_that_come_and_go_while_nothing_moves_are_seen(method, load):
    """10 N hold 1 kg; the load passes that for less than a fifth of a second of 20 s."""
    model = blocks(block(1.0, friction=6.0, static_friction=10.0))
    run = simulate(model, 20.0, method=method, torque={"x": load}, output=40.0, **FINE)
    assert run.q[-1, 0] != 0.0


@pytest.mark.parametrize("method", METHODS)
def test_a_spring_that_was_pulled_both_ways_holds_between(method):
    """From 10 N down to −10 N, straight through the middle: a load of 9 − t N passes −10 N at 19 s."""
    model = blocks(block(1.0, friction=6.0, static_friction=10.0))
    run = simulate(model, 20.0, method=method, torque={"x": "9 - t"}, output=40.0, **FINE)
    moves = run.time[:-1][np.diff(run.q[:, 0]) != 0.0]
    assert moves[0] == pytest.approx(19.0, abs=1e-9)
    assert run.q[-1, 0] < 0.0


def test_what_is_held_beside_what_turns_evenly_is_looked_at_often():
    """An arm of 1 kg m turns about the vertical at 40 rad/s, without an error that could be estimated, on a carriage
    that 1590 N hold: less than the 1600 N that it takes, so that it breaks away within the first turn."""
    light = Inertia(ixx=1e-6, iyy=1e-6, izz=1e-6)
    carriage = Body(name="carriage", mass=1.0, inertia=light)
    arm = Body(name="arm", mass=1.0, center_of_mass=(1.0, 0.0, 0.0), inertia=light)
    slide = Joint(
        name="x",
        kind="prismatic",
        parent="world",
        child="carriage",
        axis=(1.0, 0.0, 0.0),
        friction=6.0,
        static_friction=1590.0,
    )
    pin = Joint(name="pin", parent="carriage", child="arm", axis=(0.0, 0.0, 1.0))
    model = Model(
        name="rotor",
        bodies=(carriage, arm),
        joints=(slide, pin),
    )
    run = simulate(model, 5.0, method="rk54", q0={"pin": 0.5}, v0={"pin": 40.0}, output=10.0, **FINE)
    moves = run.time[:-1][np.diff(run.q[:, 0]) != 0.0]
    assert moves[0] < 2.0 * np.pi / 40.0


@pytest.mark.parametrize("method", METHODS)
def test_brakes_whose_friction_follows_time_are_looked_at_often(method):
    """A brake of 10 N that opens for 0.3 s lets a block go that 5 N pull."""
    model = blocks(block(1.0, friction="10*(1 - exp(-((t - 3.3)/0.1)^8))"))
    run = simulate(model, 20.0, method=method, torque=[5.0], output=40.0, **FINE)
    assert run.q[-1, 0] > 0.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-2, 1e-3, 1e-4, 1e-5])
def test_loose_tolerances_leave_errors_of_their_size(method, rtol):
    """A spring with dry friction, and a block on a belt with eleven changes of modes."""
    data = read("fric_spring_mass_decay")
    p = data["parameters"]
    model = blocks(block(p["mass"], friction=p["kinetic_friction"], stiffness=p["stiffness"]))
    run = simulate(model, p["t_end"], method=method, q0=[p["x0"]], output=p["t_end"], rtol=rtol, atol=1e-2 * rtol)
    assert abs(run.q[-1, 0] - data["reference"]["final_position"]) < 2.0 * rtol
    data = read("fric_belt_stick_slip")
    p, last = data["parameters"], data["reference"]["rows"][-1]
    levels = {"friction": p["mu_kinetic"] * p["normal_force"], "static_friction": p["mu_static"] * p["normal_force"]}
    torque = {"x": f"-{p['k']}*(x + {p['belt_speed']}*t)"}
    run = simulate(
        blocks(block(p["m"], **levels)),
        p["t_end"],
        method=method,
        torque=torque,
        output=p["t_end"],
        rtol=rtol,
        atol=1e-2 * rtol,
    )
    assert abs(run.q[-1, 0] + p["belt_speed"] * p["t_end"] - last[1]) < rtol
