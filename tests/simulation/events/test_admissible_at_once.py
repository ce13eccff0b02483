"""Forces of rows are admissible from the instant on at which a mode changes: closed forms where the first moment
decides."""

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.model import Body, Force, Gravity, Joint, Limit, Model, World
from core.simulation import simulate

WEIGHTLESS = World(gravity=Gravity(acceleration=(0.0, 0.0, 0.0)))
ALONG = {"kind": "prismatic", "axis": (1.0, 0.0, 0.0)}
FINE = {"rtol": 1e-10, "atol": 1e-12}


def carriage(limit, mass=1.0, **fields):
    joint = Joint(name="x", parent="world", child="body", limits=(limit,), **ALONG, **fields)
    return Model(name="carriage", world=WEIGHTLESS, bodies=(Body(name="body", mass=mass),), joints=(joint,))


@pytest.mark.parametrize("method", ["rk54", "radau", "adams"])
@pytest.mark.parametrize("ahead", [0.005, 0.05])
def test_a_load_that_falls_soon_overruns_a_motor_at_once(method, ahead):
    """m = 1, the load L = k (t₀ − t), a motor of 5 N to 1 m/s, from rest at the time T before t₀ at which
    5 (T − a) + ½ k (T² − a²) = 1: the limit is reached a before t₀. The load alone drives on, v = 1 + ½ k (a² − (t₀ −
    t)²), until a after t₀; from then on the motor keeps the limit as long as L + 5 > 0."""
    k = 40.0
    before = (-5.0 + np.sqrt(25.0 + 2.0 * k * (1.0 + 5.0 * ahead + 0.5 * k * ahead**2))) / k  # T
    load = Force(name="load", kind="joint", joint="x", law=f"-{k!r}*({before!r} - t)")
    model = carriage(Limit(velocity=1.0))
    model = Model(name="loaded", world=WEIGHTLESS, bodies=model.bodies, joints=model.joints, forces=(load,))
    run = simulate(model, before + 0.1, method=method, torque=[5.0], output=0.01, **FINE)
    s, v = run.time - before, run.v[:, 0]
    driven = 5.0 * (s + before) + 0.5 * k * (before**2 - s**2)
    overrun = 1.0 + 0.5 * k * (ahead**2 - s**2)
    expected = np.where(s < -ahead, driven, np.where(s < ahead, overrun, 1.0))
    np.testing.assert_allclose(v, expected, atol=1e-8)


@pytest.mark.parametrize("method", ["rk54", "radau", "adams"])
def test_a_command_that_passes_its_limit_changes_nothing_while_the_motor_is_overrun(method):
    """From 2 m/s a load brakes by 3 N down to the limit of 1 m/s, which the motor keeps; asked for 4 + 10 t N it would
    give 5 N at most from 0.1 s on, and gives nothing before the limit is reached at 1/3 s."""
    load = Force(name="load", kind="joint", joint="x", law="3")
    model = carriage(Limit(velocity=1.0, effort=5.0))
    model = Model(name="braked", world=WEIGHTLESS, bodies=model.bodies, joints=model.joints, forces=(load,))
    run = simulate(model, 0.6, method=method, v0=[2.0], torque={"x": "4 + 10*t"}, output=0.02, **FINE)
    np.testing.assert_allclose(run.v[:, 0], np.maximum(2.0 - 3.0 * run.time, 1.0), atol=1e-9)


def test_a_rigid_stop_that_is_met_and_left_within_a_step_is_met():
    """A mass on a spring turns around 1e-6 m beyond a rigid stop of e = 1, x = −cos t: it is met where cos t = −(1 −
    1e-6), within 1.5 ms before and after the turn, and thrown back with the speed that it has there."""
    depth = 1e-6
    spring = Force(name="spring", kind="joint", joint="x", law="x")
    model = carriage(Limit(lower=-9.0, upper=1.0 - depth, stop="rigid", restitution=1.0))
    model = Model(name="grazing", world=WEIGHTLESS, bodies=model.bodies, joints=model.joints, forces=(spring,))
    run = simulate(model, 4.0, q0=[-1.0], output=0.5, rtol=1e-9, atol=1e-11)
    met = [event.time for event in run.events if "hit" in event.what]
    np.testing.assert_allclose(met, [np.pi - np.arccos(1.0 - depth)], atol=1e-6)
    assert run.q[:, 0].max() <= 1.0 - depth + 1e-11
    after = run.time > met[0]
    late = run.time[after] - met[0]
    np.testing.assert_allclose(run.q[after, 0], np.cos(late + np.arccos(1.0 - depth)), atol=1e-6)


@pytest.mark.parametrize("restitution", [0.3, 0.7, 0.95, 1.0])
def test_many_bounces_between_elastic_stops(restitution):
    """Each gives back e of the speed, whatever rounding does where a stop is left."""
    rng = np.random.default_rng(7)
    for lower, speed in zip(rng.uniform(-0.5, -0.1, 20), rng.uniform(0.5, 7.0, 20), strict=True):
        limit = Limit(lower=float(lower), upper=0.275, stiffness=540.0, restitution=restitution)
        run = simulate(carriage(limit), 2.0, v0=[float(speed)], output=0.5, **FINE)
        hits = sum(event.what.startswith("hit") for event in run.events)
        left = sum(event.what.startswith("left") for event in run.events)
        assert hits - left in (0, 1)
        assert not run.notes
        if hits == left:
            np.testing.assert_allclose(abs(run.v[-1, 0]), speed * restitution**hits, rtol=1e-7)


@pytest.mark.parametrize("method", ["rk54", "radau"])
def test_an_impact_ends_the_force_of_a_stop_that_would_pull(method):
    """A carriage slowly leaves its stop, k p − d v > 0, when another that rides on it meets a rigid stop: now d v' is
    more than k p. Nothing acts on either from that instant on."""
    low, high = Body(name="low", mass=1.0), Body(name="high", mass=1.0)
    rigid = Limit(lower=-9.0, upper=0.0, stop="rigid", restitution=0.5)
    joints = (
        Joint(
            name="x",
            parent="world",
            child="low",
            limits=(Limit(lower=0.0, upper=9.0, stiffness=1000.0, damping=20.0),),
            **ALONG,
        ),
        Joint(name="y", parent="low", child="high", limits=(rigid,), **ALONG),
    )
    mech = Mechanism(Model(name="two", world=WEIGHTLESS, bodies=(low, high), joints=joints))
    run = simulate(mech, 0.02, method=method, q0=[-0.01, -2e-3], v0=[0.0, 3.0], output=0.005, **FINE)
    hit = next(event.time for event in run.events if event.joint == "y")
    after = (
        np.flatnonzero(run.time >= hit)[1:] if np.count_nonzero(run.time == hit) > 1 else np.flatnonzero(run.time > hit)
    )
    before = np.flatnonzero(run.time == hit)[0]
    assert run.a[before, 0] > 1.0  # it pressed
    np.testing.assert_allclose(run.a[after], 0.0, atol=1e-9)
    momentum = 2.0 * run.v[:, 0] + run.v[:, 1]
    np.testing.assert_allclose(momentum[after], momentum[before], rtol=1e-12)
    np.testing.assert_allclose(run.v[after, 1], -0.5 * run.v[before, 1], rtol=1e-9)


def test_directions_of_what_does_not_rub_are_no_changes():
    """A machine at rest, of which a joint without friction trembles by rounding: steps stay long."""
    from tests.analysis.four_bar import four_bar

    model = four_bar(friction=50.0)
    run = simulate(model, 5.0, method="adams", output=1.0)
    assert run.statistics[0] < 300
    np.testing.assert_allclose(run.q, run.q[:1] + np.zeros_like(run.q), atol=1e-12)
