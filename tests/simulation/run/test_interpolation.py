"""Positions between samples that lie far apart: what loops and drivers ask for holds there, too."""

import dataclasses

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from core.model import Driver
from core.simulation import simulate
from core.simulation.run.resampling import resample_run
from core.simulation.run.settings import LONGEST_OUTPUT, MOST_SAMPLES, SAMPLES, check_settings
from resources import examples

R, L = 0.1, 0.35
"""m; crank and rod of the slider-crank."""


def example(name):
    return load(next(each.path for each in examples() if each.name == name))


def slider(angle):
    """x = r cos a + √(l² − r² sin² a), distance of the pin of the piston from the shaft"""
    return R * np.cos(angle) + np.sqrt(L**2 - (R * np.sin(angle)) ** 2)


def between(run, count=60):
    return np.random.default_rng(3).uniform(run.time[0], run.time[-1], count)


def test_a_slider_crank_is_closed_although_it_turns_several_times_between_two_samples():
    mech = Mechanism(example("slider_crank"))
    run = simulate(mech, 4.0, v0={"shaft": 25.0}, output=0.5)
    assert np.abs(np.diff(run["shaft.q"])).min() > 2.0 * np.pi
    times = between(run)
    found = resample_run(run, times)
    assert found["shaft.q"] == pytest.approx(np.interp(times, run.time, run["shaft.q"]), abs=1e-7)
    assert found["cylinder.q"] == pytest.approx(slider(found["shaft.q"]), abs=1e-7)
    assert found["constraint.residual"].max() < 1e-7
    assert run.at(times[0]) == pytest.approx(found.q[0], abs=1e-12)
    for k in (0, 3, len(run) - 1):
        assert np.array_equal(run.at(run.time[k]), run.q[k])


def test_a_driven_crank_stands_where_its_driver_says():
    model = example("slider_crank")
    driven = dataclasses.replace(model, drivers=(Driver(name="motor", joint="shaft", function="1 + 10*t + sin(3*t)"),))
    run = simulate(driven, 2.0, q0={"shaft": 1.0}, output=0.3)
    times = between(run)
    found = resample_run(run, times)
    angle = 1.0 + 10.0 * times + np.sin(3.0 * times)
    assert found["shaft.q"] == pytest.approx(angle, abs=1e-7)
    assert found["cylinder.q"] == pytest.approx(slider(angle), abs=1e-7)


@pytest.mark.parametrize("name", ["engine_v6", "stewart", "four_bar"])
def test_loops_do_not_gape_between_samples(name):
    run = simulate(Mechanism(example(name)), 2.0, output=0.1)
    found = resample_run(run, between(run, 20))
    assert found["constraint.residual"].max() < 1e-7


def test_drivers_that_turn_too_far_between_two_samples_show_the_nearer_one():
    model = example("slider_crank")
    driven = dataclasses.replace(model, drivers=(Driver(name="motor", joint="shaft", function="1 + 1000*t"),))
    run = simulate(driven, 1.0, q0={"shaft": 1.0}, output=0.5)
    assert np.array_equal(run.at(0.1), run.q[0])
    assert np.array_equal(run.at(0.4), run.q[1])


@pytest.mark.parametrize(
    ("duration", "apart"),
    [
        (1.0, 1.0 / SAMPLES),
        (LONGEST_OUTPUT * SAMPLES, LONGEST_OUTPUT),
        (100.0, LONGEST_OUTPUT),
        (1e5, 1e5 / MOST_SAMPLES),
        (3e7, 3e7 / MOST_SAMPLES),
    ],
)
def test_unless_asked_otherwise_samples_lie_as_close_as_eyes_need_them_and_memory_allows(duration, apart):
    mech = Mechanism(example("pendulum"))
    chosen = check_settings(mech, duration, "rk54", None, 1e-6, 1e-8, None, 0.0, None, None, 100)
    assert chosen.output == pytest.approx(apart)
    assert len(chosen.times()) <= MOST_SAMPLES + 1
    asked = check_settings(mech, duration, "rk54", None, 1e-6, 1e-8, duration / 7.0, 0.0, None, None, 100)
    assert len(asked.times()) == 8
