"""A machine that goes on in slices: the same motion as one run, and a pull that pulls."""

import numpy as np
import pytest

from core.errors import SimulationError
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model
from core.simulation import simulate
from core.simulation.live import SLICE, Live
from core.simulation.run.initial_state import start_speeds
from resources import examples
from tests.walks import walk


def machine(name):
    return Mechanism(load(next(example.path for example in examples() if example.name == name)))


@pytest.fixture(scope="module")
def pendulum():
    return machine("pendulum")


@pytest.fixture(scope="module")
def four_bar():
    return machine("four_bar")


MOVING = [example for example in examples() if example.name not in ("three_link",)]
"""All but the arm without masses."""


@pytest.mark.parametrize("example", walk(MOVING, name=lambda example: example.name))
def test_an_example_left_alone_moves_as_in_one_run(example):
    """The same steps of the same method: what differs is rounding, and what chaos makes of it."""
    mech = Mechanism(load(example.path))
    settings = {"duration": 0.4, **example.run_settings}
    settings["duration"] = min(settings["duration"], 0.4)
    start = {"q0": mech.rest(), "v0": start_speeds(mech)}
    run = simulate(mech, output=settings["duration"] / 4, **start, **settings)
    live = Live(mech, **start, **settings)
    for _ in range(4):
        live.advance(settings["duration"] / 4)
        at = int(np.searchsorted(run.time, live.time - 1e-9))  # there are more samples where modes change
        scale = max(1.0, np.abs(run.v[at]).max(initial=0.0))
        np.testing.assert_allclose(live.time, run.time[at], rtol=1e-12)
        np.testing.assert_allclose(mech.difference(run.q[at], live.q), 0.0, atol=1e-7)
        np.testing.assert_allclose(live.v, run.v[at], rtol=0.0, atol=1e-7 * scale)
        np.testing.assert_allclose(live.x, run.x[at], rtol=1e-6, atol=1e-7)
    assert live.damping_rates == ()


def test_a_torsional_oscillator_swings_as_the_formula_says():
    """q = q₀ cos ωt + v₀/ω sin ωt, in one run and left alone in real time, half of the spring a formula."""
    wheel = Body(name="wheel", mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=0.5))
    joint = Joint(name="axle", parent="world", child="wheel", stiffness=4.0)
    mech = Mechanism(Model(name="oscillator", bodies=(wheel,), joints=(joint,)))
    start = {"q0": [0.7], "v0": [1.5], "torque": {"axle": "-4*axle"}}
    live, run = Live(mech, **start), simulate(mech, 3.0, output=0.5, **start)
    w, t = 4.0, np.arange(7) * 0.5
    wanted = 0.7 * np.cos(w * t) + 1.5 / w * np.sin(w * t)
    np.testing.assert_allclose(run["axle.q"], wanted, atol=1e-6)
    for k in range(1, 7):
        live.advance(0.5)
        assert live.q[0] == pytest.approx(wanted[k], abs=1e-6)


@pytest.mark.parametrize("method", ["rk4", "adams", "radau"])
def test_it_goes_on_with_the_method_of_the_settings(four_bar, method):
    settings = {"method": method, "rtol": 1e-9, "atol": 1e-10, "step": 1e-3 if method == "rk4" else None}
    run = simulate(four_bar, 0.4, output=0.1, **settings)
    live = Live(four_bar, **settings)
    live.advance(0.4)
    np.testing.assert_allclose(live.q, run.q[-1], atol=1e-7)
    assert live.run().settings.method == method
    assert live.run().settings.rtol == 1e-9


def test_after_a_pull_it_goes_on_as_a_run_from_there(four_bar):
    live = Live(four_bar)
    live.grab(four_bar.frame_names[-1], np.zeros(3), [0.3, 0.1, 0.2])
    live.advance(0.2)
    live.release_grip()
    q, v, x = live.q, live.v, live.x
    live.advance(0.2)
    run = simulate(four_bar, 0.2, q0=q, v0=v, x0=x)
    np.testing.assert_allclose(live.q, run.q[-1], atol=1e-7)
    np.testing.assert_allclose(live.v, run.v[-1], atol=1e-6)


def test_what_damping_was_added_is_recorded(pendulum):
    live = Live(pendulum, damping=0.5)
    live.advance(0.02)
    live.damping = 3.0
    live.advance(0.02)
    live.damping = 0.0
    live.advance(0.02)
    assert live.damping_rates == (0.5, 3.0)
    (note,) = live.run().notes
    assert "0.5 and 3 per second" in note


def test_slices_make_the_same_motion_as_one_run(pendulum):
    q0 = pendulum.rest() + 0.5
    live = Live(pendulum, q0)
    live.advance(0.4)
    whole = simulate(pendulum, 0.4, q0=q0, rtol=1e-9, atol=1e-11)
    assert live.time == pytest.approx(0.4)
    assert np.allclose(live.q, whole.q[-1], atol=1e-5)
    assert np.allclose(live.v, whole.v[-1], atol=1e-4)


def test_formulas_act_as_in_a_run(pendulum):
    name = pendulum.v_names[0]
    torque = {name: f"2*sin(3*t) - 0.3*{name}.v"}
    live = Live(pendulum, pendulum.rest(), torque=torque)
    live.advance(0.5)
    whole = simulate(pendulum, 0.5, torque=torque)
    assert np.allclose(live.q, whole.q[-1], rtol=0.0, atol=1e-7)


def test_the_pull_ends_where_spring_and_weight_balance(pendulum):
    frame = pendulum.frame_names[-1]
    live = Live(pendulum, pendulum.rest(), damping=4.0)
    at = np.asarray(pendulum.frame(live.q, frame))[:3, 3] + [0.0, 0.0, 0.0]
    local = np.array([0.05, 0.0, 0.0])
    live.grab(frame, local, at + np.array([0.4, 0.0, 0.2]))
    live.advance(6.0)
    assert np.abs(live.v).max() < 1e-3
    # at rest the pull's moments balance gravity: J^T f = g(q)
    gravity = pendulum.inverse_dynamics(live.q, np.zeros(pendulum.nv), np.zeros(pendulum.nv))
    pulled = live._pull_forces(np.asarray(pendulum.mass_matrix(live.q)), 0.004)
    assert np.allclose(pulled, gravity, atol=2e-3 * max(1.0, np.abs(gravity).max()))


def test_loops_stay_closed_under_the_pull(four_bar):
    live = Live(four_bar, four_bar.rest())
    frame = four_bar.frame_names[-1]
    live.grab(frame, np.zeros(3), np.asarray(four_bar.frame(live.q, frame))[:3, 3] + 0.1)
    for _ in range(50):
        live.advance(0.02)
        assert np.abs(four_bar.constraint_residual(live.q)).max() < 1e-9
    assert np.linalg.norm(live.pull.force) > 0.0


def test_the_hand_s_speed_is_kept_consistent(four_bar):
    live = Live(four_bar, four_bar.rest())
    live.set_pose(four_bar.rest(), np.ones(four_bar.nv))
    assert np.abs(np.asarray(four_bar.constraint_jacobian(live.q)) @ live.v).max() < 1e-9


def test_everything_is_recorded(pendulum):
    live = Live(pendulum, pendulum.rest() + 0.3)
    assert live.run() is None
    live.advance(0.2)
    run = live.run()
    assert run.time[0] == 0.0
    assert run.time[-1] == pytest.approx(0.2)
    assert len(run) == 51
    energy = run["energy.total"]
    assert np.diff(energy).max() < 1e-6  # its joint rubs: energy only goes
    assert run["energy.kinetic"][-1] > 0.0


def test_damping_takes_energy_away(pendulum):
    free, damped = (Live(pendulum, pendulum.rest() + 0.5, damping=rate) for rate in (0.0, 3.0))
    for live in (free, damped):
        live.advance(2.0)
    energies = [float(np.asarray(pendulum.energy(live.q, live.v).total)) for live in (free, damped)]
    assert energies[1] < energies[0]


def test_a_spring_and_damper_in_series_goes_on_from_slice_to_slice():
    series = machine("forces")
    names = [name for name in series.x_names if name.rpartition(".")[2] not in "xyz"]
    assert names, "the example has an element with a state of its own"
    live = Live(series, series.rest())
    live.advance(0.4)
    whole = simulate(series, 0.4, rtol=1e-9, atol=1e-11)
    for name in names:
        k = series.x_names.index(name)
        travelled = np.ptp(whole.x[:, k])
        assert travelled > 1e-4
        assert live.states[name] == pytest.approx(whole.x[-1, k], abs=1e-3 * travelled)
    recorded = live.run()
    assert recorded.x.shape == (len(recorded), series.nx)
    assert np.allclose(recorded.states_at(0.2), whole.states_at(0.2), atol=1e-4)


@pytest.mark.parametrize("name", ["four_bar", "stewart", "forces"])
def test_a_slice_is_what_simulate_gives_over_the_same_time(name):
    mech = machine(name)
    live = Live(mech, mech.rest())
    live.advance(0.2)
    q, v, x, start = live.q, live.v, live.x, live.time
    tau = np.linspace(-1.0, 1.0, mech.nv)
    live.grab(mech.frame_names[-1], np.zeros(3), np.zeros(3))
    live._slice_forces = lambda h: tau
    live.advance(SLICE)
    whole = simulate(mech, SLICE, q0=q, v0=v, x0=x, start=start, torque=tau, rtol=1e-12, atol=1e-13)
    assert np.allclose(live.q, whole.q[-1], rtol=0.0, atol=1e-7)
    assert np.allclose(live.v, whole.v[-1], rtol=0.0, atol=1e-5 * max(1.0, np.abs(v).max()))
    assert np.allclose(live.x, whole.x[-1], rtol=0.0, atol=1e-6)


def test_loops_stay_closed_in_slices_that_follow_one_another(four_bar):
    live = Live(four_bar, four_bar.rest())
    live.grab(four_bar.frame_names[-1], np.zeros(3), [0.3, 0.1, 0.2])
    live.advance(4.0)
    assert np.abs(four_bar.constraint_residual(live.q)).max() < 1e-8
    assert np.abs(four_bar.constraint_jacobian(live.q) @ live.v).max() < 1e-6 * max(1.0, np.abs(live.v).max())


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_steps_that_are_too_long_are_told(method):
    """ω h = 28 where the methods are stable up to 2.8 and nothing: the message of a run, not a fault of the program."""
    wheel = Body(name="wheel", mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=0.5))
    joint = Joint(name="axle", parent="world", child="wheel", stiffness=4e8)
    mech = Mechanism(Model(name="oscillator", bodies=(wheel,), joints=(joint,)))
    with pytest.raises(SimulationError, match="the solution is unstable with steps of"):
        Live(mech, q0=[0.7], method=method, step=1e-3).advance(3.0)
