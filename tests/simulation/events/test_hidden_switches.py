"""Forces that are switched on and off within one step of a method act, however the switch is written."""

import numpy as np
import pytest

from core.files import loads
from core.simulation import simulate

VARIABLE = ("rk32", "rk54", "rk853", "adams", "radau")
PENDULUM = """kinetostat: 1
name: brake
bodies: {{a: {{mass: 1, center_of_mass: [0, 0, -1]}}}}
joints: {{q: {{parent: world, child: a, axis: [0, 1, 0], rest: [60 deg]}}}}
forces: {{brake: {{kind: joint, joint: q, law: "{}"}}}}
"""
FLIGHT = """kinetostat: 1
name: flight
world: {{gravity: {{kind: none}}}}
bodies: {{a: {{mass: 1}}}}
joints: {{x: {{kind: prismatic, parent: world, child: a, axis: [1, 0, 0], start_speed: [1]}}}}
forces: {{bumper: {{kind: joint, joint: x, law: "{}"}}}}
"""
STRIPS = (
    "if(q > -0.002 and q < 0.002, 100*q.v, 0)",
    "if(q > -0.002, if(q < 0.002, 100*q.v, 0), 0)",
    "if(abs(q) < 0.002, 100*q.v, 0)",
    "if(q^2 < 0.002^2, 100*q.v, 0)",
)
"""One strip, |q| < 0.002 rad, in which a pendulum is braked."""


@pytest.mark.parametrize("method", VARIABLE)
def test_a_narrow_brake_acts_however_it_is_written(method):
    """Of mass m = 1 kg at l = 1 m: the strip takes 100 · 0.004 N·m·s at each passage, more than the pendulum has at its
    third; then it rests at the bottom."""
    for law in STRIPS:
        run = simulate(loads(PENDULUM.format(law)), 10.0, output=0.1, method=method)
        assert run["energy.total"][-1] + 9.80665 < 1e-3, law


@pytest.mark.parametrize("method", VARIABLE)
@pytest.mark.parametrize("duration", [1.5, 3.0, 20.0])
def test_a_bumper_is_met_whatever_duration_was_asked_for(method, duration):
    """It takes ½ v² = ½ k d² with d = 0.001 m, of 0.1 m."""
    run = simulate(loads(FLIGHT.format("1e6*max(0.1 - abs(x - 1.1), 0)")), duration, method=method)
    assert run["x.v"][-1] == pytest.approx(-1.0, abs=1e-4)


@pytest.mark.parametrize("method", VARIABLE)
@pytest.mark.parametrize("law", ["1e4*max(x - 0.5, 0)^1.5", "if(x - 0.5 > 0, 1e4*(x - 0.5)^1.5, 0)"])
def test_a_ball_comes_back_from_hertz_contact_and_does_not_chatter(method, law):
    """Its force ends as d^1.5, and has no value beyond: energy is kept."""
    run = simulate(loads(FLIGHT.format(law)), 3.0, method=method)
    assert run["x.v"][-1] == pytest.approx(-1.0, abs=1e-4)


def test_what_is_switched_inside_of_a_switch_is_found_first():
    """At x = 1 the bend of |x − 1| ends a step in whose course the strip around it began: its momentum c · width counts
    whole."""
    run = simulate(loads(FLIGHT.format("if(abs(x - 1) < 0.25, 0.8*x.v, 0)")), 4.0, rtol=1e-8)
    assert run["x.v"][-1] == pytest.approx(1.0 - 0.8 * 0.5, abs=1e-7)


def test_samples_on_both_sides_of_a_switch_are_of_their_own_side():
    """v = 1 before x = 0.5 and 1 − 2 (x − 0.5) behind it."""
    run = simulate(loads(FLIGHT.format("if(x > 0.5, 2*x.v, 0)")), 1.0, output=1e-3, rtol=1e-9, method="rk853")
    x, v = run["x.q"], run["x.v"]
    np.testing.assert_allclose(v, 1.0 - 2.0 * np.maximum(x - 0.5, 0.0), atol=1e-7)


def test_fixed_steps_say_that_they_do_not_stop_at_switches():
    run = simulate(loads(FLIGHT.format("1e3*max(x - 0.5, 0)")), 1.0, method="rk4", step=1e-3)
    assert any("Fixed steps do not end at discontinuities in formulas of 'bumper'" in note for note in run.notes)
    smooth = simulate(loads(FLIGHT.format("1e3*x")), 1.0, method="rk4", step=1e-3)
    assert not smooth.notes


def test_jumps_without_an_indicator_are_noted():
    run = simulate(loads(FLIGHT.format("floor(2*x)")), 1.0)
    assert any("Formulas of 'bumper' jump (at ==, !=, floor or ceil)" in note for note in run.notes)
    of_constants = simulate(loads(FLIGHT.format("if(floor(2.5) == 2, x, 0)")), 1.0)
    assert not of_constants.notes


def test_of_more_switches_than_can_be_watched_the_rest_is_noted():
    law = " + ".join(f"max(x - {k}, 0)" for k in range(70))
    run = simulate(loads(FLIGHT.format(law)), 0.1)
    assert "Formulas switch in 70 places, but the run locates only 64 of the switches." in run.notes
