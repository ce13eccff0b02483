"""Steps where friction holds everything, where something begins to move, and in stops; ends of modes with loose
tolerances: closed forms."""

import numpy as np
import pytest

from core.model import Body, Inertia, Joint, Limit, Model
from core.simulation import simulate
from tests.simulation.published.test_friction_and_stops import FINE, METHODS, block, blocks, read

LOOSE = {"rtol": 1e-3, "atol": 1e-5}
WALL = Limit(upper=0.2, stiffness=400.0, damping=2.0)


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


@pytest.mark.parametrize("method", ["rk54", "rk853"])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_what_begins_at_rest_does_not_begin_with_a_step_for_nothing(method, tolerance):
    """A spring of 10 rad/s, where speeds are nothing and say nothing of a step: the first is no tenth of the next."""
    model = blocks(block(1.0, stiffness=100.0))
    settings = {"method": method, "q0": [1.0], "rtol": tolerance, "atol": 1e-2 * tolerance}
    run = simulate(model, 2.0, output=4.0, **settings)
    assert run.q[-1, 0] == pytest.approx(np.cos(20.0), abs=20.0 * tolerance)
    assert run.statistics.shortest_step > 0.1 * run.statistics.longest_step


@pytest.mark.parametrize("method", ["rk54", "rk853"])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-3, 1e-4])
def test_steps_into_an_elastic_stop_suit_it(method, tolerance):
    """Flights have no error and ask for steps as long as the run: at a stop a hundred times as stiff as they are long
    no step is tried again and again."""
    limit = Limit(upper=0.3, stiffness=1e4, damping=0.0)
    model = blocks(block(1.0, limits=(limit,)))
    settings = {"method": method, "v0": [1.0], "rtol": tolerance, "atol": 1e-2 * tolerance}
    run = simulate(model, 1.0, torque=[0.0], output=2.0, **settings)
    contact = np.pi / 100.0
    assert run.q[-1, 0] == pytest.approx(0.3 - (1.0 - 0.3 - contact), abs=5.0 * tolerance)
    assert run.statistics.rejected <= 2


@pytest.mark.parametrize("method", [*METHODS, "rk4", "semi_implicit_euler"])
def test_friction_that_stays_as_it_is_through_a_step_is_no_other(method):
    """Friction that depends on nothing is made once for a step; levels given as formulas, here of the same size, at
    each evaluation. A load that swings makes two blocks turn and stick; one of them meets its stop."""
    load = {"x1": "2*sin(3*t)", "x2": "3*sin(2*t) - 1.5*(x2 - x1)"}
    runs = []
    for levels in ((0.3, 0.8), ("0.3 + 1e-30*sin(t)", "0.8 + 1e-30*sin(t)")):
        pairs = [block(1.0 + i, f"block{i}", f"x{i}", friction=levels[i - 1], limits=(WALL,)) for i in (1, 2)]
        runs.append(simulate(blocks(*pairs), 5.0, method=method, torque=load, output=0.5, **FINE))
    plain, anew = (run.q[np.searchsorted(run.time, np.arange(1, 11) * 0.5 - 1e-9)] for run in runs)
    np.testing.assert_allclose(plain, anew, atol=1e-9)
    assert plain[:, 1].max() > 0.05
    assert runs[0].modes.shape == runs[1].modes.shape
