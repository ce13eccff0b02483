"""Accounts of energy do not depend on how often samples are taken: closed forms, and the balance itself."""

import numpy as np
import pytest

from core.files import load, loads
from core.simulation import simulate
from resources import EXAMPLES

SHAKEN = """kinetostat: 1
name: shaken
world: {gravity: {kind: none}}
bodies: {a: {mass: 2}}
joints: {s: {kind: prismatic, parent: world, child: a, axis: [1, 0, 0]}}
drivers: {d: {joint: s, function: "sin(5*t)"}}
"""
DAMPED = """kinetostat: 1
name: damped
world: {gravity: {kind: none}}
bodies: {a: {mass: 2}}
joints: {s: {kind: prismatic, parent: world, child: a, axis: [1, 0, 0], damping: 3}}
"""
RUBBING = """kinetostat: 1
name: block
world: {gravity: {kind: none}}
bodies: {a: {mass: 2}}
joints: {x: {kind: prismatic, parent: world, child: a, axis: [1, 0, 0], friction: "LEVEL"}}
"""


@pytest.mark.parametrize("output", [0.01, 0.1, 0.5])
def test_work_of_a_driver_at_any_output_step(output):
    """½ m v² with v = 5 cos 5t."""
    run = simulate(loads(SHAKEN), 1.0, output=output)
    np.testing.assert_allclose(run["energy.drivers"], 25.0 * (np.cos(5.0 * run.time) ** 2 - 1.0), atol=1e-6)


@pytest.mark.parametrize("output", [0.02, 0.2])
def test_work_of_dampers_and_joint_forces_at_any_output_step(output):
    """v = 5 exp(−1.5 t), and the work of a constant force is the force times the way."""
    run = simulate(loads(DAMPED), 1.0, output=output, v0=[5.0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run["energy.dampers"], 25.0 * (1.0 - np.exp(-3.0 * run.time)), atol=1e-6)
    pushed = simulate(loads(DAMPED), 1.0, output=output, torque={"s": 7.0}, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(pushed["energy.motors"], 7.0 * (pushed["s.q"] - pushed["s.q"][0]), atol=1e-6)


def test_the_balance_of_a_driven_linkage_with_few_samples():
    run = simulate(load(EXAMPLES / "quick_return.kst"), 1.0, output=0.1, rtol=1e-9, atol=1e-11)
    assert np.max(run["energy.drivers"]) > 0.1
    assert np.ptp(run["energy.balance"]) < 1e-7


@pytest.mark.parametrize(("level", "lost"), [("3", 12.75), ("3*t", 6.9375), ("2 + t^2", None)])
def test_heat_of_friction_in_fixed_steps_is_what_was_lost(level, lost):
    run = simulate(loads(RUBBING.replace("LEVEL", level)), 1.0, method="rk4", step=1e-2, v0=[5.0])
    kinetic = float(run["energy.kinetic"][0] - run["energy.kinetic"][-1])
    assert run["x.friction.loss"][-1] == pytest.approx(kinetic, rel=1e-6)
    if lost is not None:
        assert kinetic == pytest.approx(lost, rel=1e-9)
