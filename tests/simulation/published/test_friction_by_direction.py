"""Dry friction that differs by direction: closed forms of swings, inclines and ratchets, in runs and at rest."""

import numpy as np
import pytest

from core.analysis.equilibrium import equilibrium
from core.errors import ModelError, SimulationError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Body, Force, Joint, Model
from core.simulation import simulate
from tests.simulation.published.test_friction_and_stops import FINE, LIGHT, METHODS, block, blocks

G = 9.81


@pytest.mark.parametrize("method", METHODS)
def test_each_half_swing_loses_by_the_friction_against_it(method):
    """m ẍ + k x = −F₊ or F₋: amplitudes fall by 2F/k, and rest is where k|x| is within friction at rest."""
    mass, k, onward, backward, x = 2.0, 50.0, 1.5, 4.0, 1.0
    half, turns, expected = np.pi * np.sqrt(mass / k), [x], x
    while k * expected > backward if expected > 0.0 else -k * expected > onward:
        expected += -2 * (expected - backward / k) if expected > 0.0 else -2 * (expected + onward / k)
        turns.append(expected)
    model = blocks(block(mass, friction=onward, backward_friction=backward, stiffness=k))
    run = simulate(model, half * (len(turns) + 1), method=method, q0=[x], output=half, **FINE)
    asked = np.searchsorted(run.time, half * np.arange(len(turns)) - 1e-9)
    np.testing.assert_allclose(run.q[asked, 0], turns, atol=1e-7)
    assert run.q[-1, 0] == pytest.approx(turns[-1], abs=1e-7)
    assert run.v[-1, 0] == 0.0
    way = np.abs(np.diff(turns))
    assert run["energy.friction"][-1] == pytest.approx(backward * way[::2].sum() + onward * way[1::2].sum(), rel=1e-6)


def on_incline(angle, **fields):
    """A block of 2 kg; onward is up."""
    axis = (np.cos(angle), 0.0, np.sin(angle))
    slide = Joint(name="s", kind="prismatic", parent="world", child="block", axis=axis, **fields)
    return Model(name="incline", bodies=(Body(name="block", mass=2.0, inertia=LIGHT),), joints=(slide,))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_block_on_an_incline_breaks_away_by_the_level_of_its_direction(method, sign):
    """Pulled with p t: it slips where that is weight ± F_s, and then m a = p t − weight ∓ F_k."""
    levels = {"friction": 3.0, "static_friction": 4.0, "backward_friction": 12.0, "backward_static_friction": 14.0}
    weight = 2.0 * G * np.sin(0.3)
    rest, slide = (4.0, 3.0) if sign > 0.0 else (14.0, 12.0)
    breaks = rest + sign * weight
    run = simulate(
        on_incline(0.3, **levels), breaks + 2.0, method=method, torque={"s": f"{sign}*t"}, output=0.5, **FINE
    )
    slipped = next(event for event in run.events if event.what == "slipped")
    assert slipped.time == pytest.approx(breaks, abs=1e-8)
    expected = sign * ((rest - slide) * 4.0 / 2.0 + 8.0 / 6.0) / 2.0  # ∫∫ (rest − slide + s) ds, 2 s after it broke
    assert run.q[-1, 0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_ratchet_turns_onward_freely_and_never_back(method):
    model = blocks(block(1.0, friction=0.0, backward_friction=1e3))
    run = simulate(model, 4 * np.pi, method=method, torque={"x": "sin(t)"}, output=np.pi / 4, **FINE)
    t = run.time % (2 * np.pi)
    # ẋ = 1 − cos t, which is never negative: it comes to rest at 2π and goes on at once
    np.testing.assert_allclose(run.v[:, 0], 1.0 - np.cos(t), atol=1e-6)
    back = simulate(model, 2.0, method=method, torque={"x": "-3*t"}, output=0.5)
    np.testing.assert_array_equal(back.q, 0.0)
    loose = simulate(model, 2.0, method=method, output=0.5)
    np.testing.assert_array_equal(loose.q, 0.0)


@pytest.mark.parametrize("speed", [0.05, -0.05, 1.0, -1.0])
def test_stribeck_s_curve_has_the_levels_of_its_direction(speed):
    levels = {"friction": 3.0, "static_friction": 5.0, "backward_friction": 1.0, "backward_static_friction": 8.0}
    kinetic, static = (3.0, 5.0) if speed > 0.0 else (1.0, 8.0)
    mech = Mechanism(on_incline(0.0, **levels, stribeck_speed=0.1))

    def resists(v):
        return np.sign(v) * (kinetic + (static - kinetic) * np.exp(-((v / 0.1) ** 2)))

    assert mech.inverse_dynamics([0.0], [speed], [0.0])[0] == pytest.approx(resists(speed))
    run = simulate(mech, 1e-3, v0=[speed], output=2e-4, rtol=1e-10)
    np.testing.assert_allclose(run["s.friction.force"], -resists(run["s.v"]), rtol=1e-9)
    np.testing.assert_allclose(run["s.a"], -resists(run["s.v"]) / 2.0, rtol=1e-9)


def test_statics_know_directions():
    mech = Mechanism(on_incline(0.0, friction=3.0, backward_friction=7.0))
    still = np.zeros(1)
    found = mech.inverse_dynamics_ranges(still, still, still)
    assert (found.tau_min[0], found.tau_max[0]) == pytest.approx((-7.0, 3.0))
    for tau, a in ((2.9, 0.0), (-6.9, 0.0), (3.5, 0.25), (-7.5, -0.25)):
        assert mech.forward_dynamics(still, still, [tau])[0] == pytest.approx(a, abs=1e-12)
    for tau, safety in ((1.5, 2.0), (-1.5, 7.0 / 1.5)):
        balance = equilibrium(mech, still, tau=np.array([tau]), friction=True).friction
        assert balance.safety == pytest.approx(safety)
        assert balance.forces["s"] == pytest.approx(-tau)


def test_a_spring_is_held_from_either_side_by_its_own_level():
    mech = Mechanism(on_incline(0.0, friction=3.0, backward_friction=7.0, stiffness=100.0))
    for start, held in ((0.05, 0.05), (-0.02, -0.02), (0.2, 0.07), (-0.2, -0.03)):
        assert equilibrium(mech, [start], friction=True).q[0] == pytest.approx(held, abs=1e-8)


def test_a_follower_turned_round_rubs_by_its_own_direction():
    from core.model import Mimic

    one = on_incline(0.0)
    follower = Joint(
        name="f",
        kind="prismatic",
        parent="world",
        child="c",
        friction=2.0,
        backward_friction=5.0,
        mimic=Mimic(leader="s", ratio=-1.0),
    )
    model = Model(name="m", bodies=(*one.bodies, Body(name="c")), joints=(*one.joints, follower))
    mech, still = Mechanism(model), np.zeros(1)
    found = mech.inverse_dynamics_ranges(still, still, still)
    assert (found.tau_min[0], found.tau_max[0]) == pytest.approx((-2.0, 5.0))
    run = simulate(mech, 0.1, v0=[1.0], output=0.1)
    assert run.v[-1, 0] == pytest.approx(1.0 - 5.0 / 2.0 * 0.1, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_clutch_that_only_holds_backward(method):
    """Two rotors: the first may turn ahead of the second, not fall behind it."""
    axis = (0.0, 0.0, 1.0)
    bodies = tuple(Body(name=name, inertia=LIGHT.__class__(ixx=1.0, iyy=1.0, izz=1.0)) for name in "ab")
    joints = tuple(Joint(name=f"j{name}", parent="world", child=name, axis=axis) for name in "ab")
    clutch = Force(name="c", kind="clutch", joint="ja", leader="jb", friction=0.0, backward_friction="50 + 0*t")
    model = Model(name="m", bodies=bodies, joints=joints, forces=(clutch,))
    ahead = simulate(model, 1.0, method=method, v0=[2.0, 1.0], output=0.5, **FINE)
    np.testing.assert_allclose(ahead.v[-1], [2.0, 1.0], atol=1e-9)
    driven = simulate(model, 1.0, method=method, torque={"jb": 4.0}, output=0.5, **FINE)
    np.testing.assert_allclose(driven.v[-1], [2.0, 2.0], atol=1e-7)


def test_levels_are_kept_in_files_and_refused_where_they_have_no_meaning():
    model = on_incline(0.0, friction=3.0, backward_friction="2 + 3", backward_static_friction=9.0)
    assert loads(dumps(model)).joints == model.joints
    with pytest.raises(ModelError, match=r"joint 's', backward_static_friction.*static friction at least as large"):
        on_incline(0.0, friction=3.0, backward_friction=5.0, backward_static_friction=4.0)
    with pytest.raises(ModelError, match=r"joint 's', backward_static_friction.*static friction at least as large"):
        on_incline(0.0, friction=3.0, backward_static_friction=2.0)
    with pytest.raises(SimulationError, match="joint 's', backward_friction"):
        simulate(on_incline(0.0, friction=3.0, backward_friction="-1 - 1"), 0.1)
