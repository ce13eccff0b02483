"""Friction by sign(v) that sticks, and borders that hold: motion along them against closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq

from core.mechanism import Mechanism
from core.model import Body, Force, Gravity, Joint, Model, World
from core.simulation import simulate, simulator
from core.simulation.run import begun_run

METHODS = ("rk54", "rk853", "adams", "radau", "radau5")
MASS = 2.0


def sliders(*laws, chained=False, gravity=None):
    """Blocks on guides with a law each, side by side or each on the one before."""
    bodies = tuple(Body(name=f"block{k}", mass=MASS) for k in range(len(laws)))
    joints = tuple(
        Joint(
            name=f"x{k}",
            kind="prismatic",
            parent=f"block{k - 1}" if chained and k else "world",
            child=f"block{k}",
            axis=(1.0, 0.0, 0.0),
        )
        for k in range(len(laws))
    )
    forces = tuple(Force(name=f"f{k}", kind="joint", joint=f"x{k}", law=law) for k, law in enumerate(laws))
    field = Gravity(kind="none") if gravity is None else Gravity(acceleration=gravity)
    return Mechanism(Model(name="sliders", bodies=bodies, joints=joints, forces=forces, world=World(gravity=field)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("push", [0.0, 3.0, -2.5])
@pytest.mark.parametrize("law", ["4*sign(x0.v)", "4*sign(rate)", "if(x0.v > 0, 4, -4)"])
def test_a_block_stops_and_stays(method, push, law):
    """From 1 m/s with (4 − push)/m to rest; then the friction is the push."""
    run = simulate(sliders(law), 3.0, method=method, v0=[1.0], torque={"x0": str(push)}, output=0.01)
    slower = (4.0 - push) / MASS
    t = np.minimum(run.time, 1.0 / slower)
    np.testing.assert_allclose(run["x0.q"], t - 0.5 * slower * t**2, atol=1e-9)
    after = run.time > 1.0 / slower + 1e-6
    assert after.sum() > 90
    np.testing.assert_allclose(run["x0.v"][after], 0.0, atol=1e-11)
    np.testing.assert_allclose(run["x0.a"][after], 0.0, atol=1e-9)
    assert run.statistics.steps < 60


def test_accelerations_that_hold_are_kept_for_one_piece_of_samples_alone(monkeypatch):
    """A block at rest has none, in every piece of a long run; what is kept does not grow with the run."""
    monkeypatch.setattr(begun_run, "LARGEST_PIECE", 16)
    monkeypatch.setattr(simulator, "LARGEST_PIECE", 16)
    monkeypatch.setattr(simulator, "FIRST_PIECE", 5)
    states = []
    begun = simulator.allocate_run
    monkeypatch.setattr(simulator, "allocate_run", lambda *given: states.append(begun(*given)) or states[-1])
    run = simulate(sliders("4*sign(x0.v)"), 3.0, v0=[1.0], torque={"x0": "3*sin(20*t)"}, output=0.01)
    assert max(len(each.state.slid) for each in states) == 16
    after = run.time > 1.5
    np.testing.assert_allclose(run["x0.a"][after], 0.0, atol=1e-9)
    assert after.sum() > 100


@pytest.mark.parametrize("method", METHODS)
def test_a_block_on_an_incline_holds_from_rest(method):
    """m g sin 20° = 6.71 N against 8 N, and on against 5 N."""
    slope = np.deg2rad(20.0)
    gravity = (9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope))
    held = simulate(sliders("8*sign(x0.v)", gravity=gravity), 10.0, method=method)
    assert np.max(np.abs(held["x0.q"])) < 1e-12
    moving = simulate(sliders("5*sign(x0.v)", gravity=gravity), 1.0, method=method, output=0.1)
    faster = gravity[0] - 5.0 / MASS
    np.testing.assert_allclose(moving["x0.q"], 0.5 * faster * moving.time**2, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_stick_and_slip_under_a_swinging_push(method):
    """6 sin 3t against 4 N from rest: it breaks loose where 6 sin 3t = ±4, and slips until its speed is zero again."""
    loose = np.arcsin(4.0 / 6.0) / 3.0

    def speed(t):
        return np.cos(3.0 * loose) - np.cos(3.0 * t) - 2.0 * (t - loose)

    stuck = brentq(speed, loose + 0.2, loose + 1.0, xtol=1e-15)
    way = np.cos(3.0 * loose) * (stuck - loose) - (np.sin(3.0 * stuck) - np.sin(3.0 * loose)) / 3.0
    way -= (stuck - loose) ** 2
    assert stuck < 12.0 * np.pi / 30.0 < loose + np.pi / 3.0  # it sticks then
    run = simulate(
        sliders("4*sign(x0.v)"),
        1.5 * np.pi,
        method=method,
        torque={"x0": "6*sin(3*t)"},
        rtol=1e-10,
        atol=1e-11,
        output=np.pi / 30.0,
    )
    # half a period forth, half a period back
    np.testing.assert_allclose(run["x0.q"][12::10], [way, 0.0, way, 0.0], atol=1e-9)
    np.testing.assert_allclose(run["x0.v"][12::10], 0.0, atol=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_blocks_on_each_other_stick_one_after_the_other(method):
    """The upper drags the lower: both slow down with 1 m/s² until the lower sticks after 1 s, the upper after 1.5 s."""
    mech = sliders("4*sign(x0.v)", "2*sign(x1.v)", chained=True)
    run = simulate(mech, 2.5, method=method, v0=[1.0, 0.5], output=0.05)
    t, later = np.minimum(run.time, 1.0), np.clip(run.time - 1.0, 0.0, 0.5)
    np.testing.assert_allclose(run["x0.q"], t - 0.5 * t**2, atol=1e-9)
    np.testing.assert_allclose(run["x1.q"], 0.5 * t + 0.5 * later - 0.5 * later**2, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_blocks_that_stick_at_the_same_instant(method):
    run = simulate(
        sliders("4*sign(x0.v)", "4*sign(x1.v)", "2*sign(x2.v)"), 2.0, method=method, v0=[1.0, -1.0, 0.5], output=0.05
    )
    t = np.minimum(run.time, 0.5)
    way = t - t**2
    np.testing.assert_allclose(run.q, np.stack([way, -way, 0.5 * way], axis=1), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_relay_holds_its_border(method):
    """Sliding mode: with 10 sign(q + v/2) the machine falls onto the line v = −2 q, and creeps home along it."""
    run = simulate(sliders("10*sign(x0 + 0.5*x0.v)"), 4.0, method=method, q0=[1.0], rtol=1e-9, atol=1e-10, output=0.1)
    reach = brentq(lambda t: 1.0 - 2.5 * t**2 - 2.5 * t, 0.0, 1.0, xtol=1e-15)
    before = run.time < reach
    start = 1.0 - 2.5 * reach**2
    wanted = np.where(before, 1.0 - 2.5 * run.time**2, start * np.exp(-2.0 * (run.time - reach)))
    np.testing.assert_allclose(run["x0.q"], wanted, atol=1e-7)
