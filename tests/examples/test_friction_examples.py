"""What the examples of friction say of themselves."""

import numpy as np

from core.files import load
from core.simulation import simulate
from resources import EXAMPLES
from tests.simulation.published.test_friction_and_stops import read, samples_at

FINE = {"rtol": 1e-10, "atol": 1e-12}


def test_the_belt_oscillator_sticks_and_slips_as_published():
    """Ten changes, and the period of the limit cycle: 0.3 s of sticking, 3 cm at 0.1 m/s, and the way back."""
    reference = read("fric_belt_stick_slip")
    run = simulate(load(EXAMPLES / "belt_oscillator.kst"), 4.0, output=0.1, **FINE)
    told = [(event.time, event.what) for event in run.events]
    expected = [(t, "slipped" if slips else "stuck") for t, _, slips in reference["reference"]["events"]]
    assert [what for _, what in told] == [what for _, what in expected]
    np.testing.assert_allclose([t for t, _ in told], [t for t, _ in expected], atol=1e-9)
    slips = [t for t, what in told if what == "slipped"]
    np.testing.assert_allclose(np.diff(slips), reference["reference"]["period_of_limit_cycle"], atol=1e-9)
    rows = np.array(reference["reference"]["rows"])
    asked = samples_at(run, rows[:, 0])
    np.testing.assert_allclose(run["x.x"][asked], rows[:, 1], atol=1e-9)
    np.testing.assert_allclose(run["rub.friction.force"][asked], rows[:, 3], atol=1e-7)


def test_the_pendulum_hits_its_stop_when_elliptic_integrals_say():
    impacts = np.array(read("limit_pendulum_bounce")["reference"]["restitution"]["rows"])
    run = simulate(load(EXAMPLES / "bouncing_pendulum.kst"), 5.9, output=0.1, **FINE)
    assert {event.what for event in run.events} == {"hit lower stop"}
    np.testing.assert_allclose([event.time for event in run.events], impacts[:, 0], atol=1e-9)
    before = np.searchsorted(run.time, impacts[:, 0] - 1e-6)
    np.testing.assert_allclose(run["pin.v"][[before, before + 1]].T, impacts[:, 1:3], atol=1e-8)


def test_the_brake_stops_the_arm_holds_it_and_lets_it_go():
    run = simulate(load(EXAMPLES / "braked_arm.kst"), 5.0, output=0.01, **FINE)
    held = (run.time > 1.0) & (run.time < 2.99)
    assert np.ptp(run.q[held, 0]) == 0.0
    assert abs(4.0 * 9.81 * 0.35 * np.sin(run.q[held, 0][0])) < 15.0
    assert np.abs(run.v[run.time > 3.1, 0]).max() > 3.0


def test_the_clutch_slips_and_locks():
    """60 t slows the motor by 60 t − 20 over 0.4 kg·m² and drives the load by 60 t − 10 over 0.9, until speeds agree;
    then 20 − 10, from 3 s on 20 − 200 act on both, which asks for less than the clutch holds."""
    run = simulate(load(EXAMPLES / "clutch.kst"), 5.0, output=0.01, **FINE)
    locked = run.time > 1.5
    np.testing.assert_allclose(run.v[locked, 0], run.v[locked, 1], atol=1e-8)
    assert run.v[run.time < 1.0, 0].min() > run.v[run.time < 1.0, 1].max() + 20.0
    np.testing.assert_allclose(np.diff(run.v[run.time > 3.0, 0]) / 0.01, -180.0 / 1.3, atol=1e-5)


def test_block_on_block_breaks_loose_one_after_the_other():
    """(3 t − 15)/6 from 5 s on; the upper block takes 2 N at most, 1 m/s², from 7 s on (the window runs 10 s)."""
    run = simulate(load(EXAMPLES / "block_on_block.kst"), 10.0, output=0.1, **FINE)
    t = run.time
    lower, relative = run.v.T
    upper = lower + relative
    np.testing.assert_allclose(lower[t < 7.0], np.maximum(t[t < 7.0] - 5.0, 0.0) ** 2 / 4.0, atol=1e-8)
    np.testing.assert_allclose(relative[t < 7.0], 0.0, atol=1e-12)
    late = t > 7.0
    np.testing.assert_allclose(upper[late], 1.0 + (t[late] - 7.0), atol=1e-8)
    np.testing.assert_allclose(lower[late], 1.0 + (t[late] - 7.0) + 3.0 * (t[late] - 7.0) ** 2 / 8.0, atol=1e-8)
