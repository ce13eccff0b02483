"""Machines that prove stiff: the automatic method changes and says so, one that was chosen says what helps."""

import numpy as np
import pytest

from core.errors import SimulationError
from core.files import load
from core.mechanism import Mechanism
from core.simulation import Run, simulate
from core.simulation.live import Live
from resources import examples
from tests.simulation.methods.test_order import DAMPER, INERTIA, STIFF, stiff_wheel

PATHS = {example.name: example.path for example in examples()}


def exact(t):
    """From 1 rad at rest."""
    fast, slow = sorted(np.roots([INERTIA, DAMPER, STIFF]).real)
    return (slow * np.exp(fast * t) - fast * np.exp(slow * t)) / (slow - fast)


def test_the_automatic_method_changes_on_the_way_and_says_when():
    """A million time constants a second: explicit steps would be six million."""
    run = simulate(stiff_wheel(), 20.0, q0=[1.0])
    np.testing.assert_allclose(run["axle.q"], exact(run.time), atol=2e-7)
    assert run.statistics.steps < 1000
    (note,) = run.notes
    assert "stiff" in note
    assert "radau" in note
    assert float(note.split("t = ")[1].split(" s")[0]) < 1e-3
    assert run.complete


def test_samples_before_and_after_the_change_are_of_one_motion():
    """Two hundred samples lie before the change."""
    run = simulate(stiff_wheel(), 1.0, q0=[1.0], output=1e-6, max_steps=100_000)
    assert run.notes
    np.testing.assert_allclose(run["axle.q"], exact(run.time), atol=2e-7)
    np.testing.assert_allclose(np.diff(run.time), 1e-6, rtol=1e-6)


@pytest.mark.parametrize("method", ["rk54", "rk853"])
def test_a_method_that_was_chosen_stays_and_says_what_helps(method):
    run = simulate(stiff_wheel(), 1.0, method=method, q0=[1.0])
    np.testing.assert_allclose(run["axle.q"], exact(run.time), atol=1e-6)
    assert run.statistics.steps > 1.0 / 2e-5
    (note,) = run.notes
    assert "Use the method radau" in note
    assert run.settings.method == method
    with pytest.raises(SimulationError, match="use radau"):
        simulate(stiff_wheel(), 20.0, method=method, q0=[1.0], max_steps=60_000)


def test_real_time_changes_the_method_too():
    live = Live(Mechanism(stiff_wheel()), [1.0])
    live.advance(0.2)
    assert live.q[0] == pytest.approx(float(exact(np.array([0.2]))[0]), abs=2e-7)
    assert any("radau" in note for note in live.run().notes)
    live.set_pose([0.5])
    live.advance(0.1)
    assert live.q[0] == pytest.approx(0.5 * float(exact(np.array([0.1]))[0]), abs=2e-7)


def test_notes_are_kept_with_the_run(tmp_path):
    run = simulate(stiff_wheel(), 20.0, q0=[1.0], output=1.0)
    run.save(tmp_path / "run.h5")
    assert Run.load(tmp_path / "run.h5").notes == run.notes != ()


@pytest.mark.parametrize("name", ["puma560", "triple_pendulum", "four_bar", "stewart", "forces", "flyball_governor"])
def test_machines_that_are_not_stiff_move_by_the_explicit_method(name):
    mech = Mechanism(load(PATHS[name]))
    automatic, explicit = (simulate(mech, 0.5, method=method) for method in ("auto", "rk54"))
    assert automatic.notes == explicit.notes == ()
    assert automatic.statistics.steps == explicit.statistics.steps
    np.testing.assert_allclose(automatic.q, explicit.q, rtol=0.0, atol=1e-12)


def test_fast_oscillation_without_damping_is_not_stiff():
    """10 kHz without damping: accuracy, not stability, asks for short steps."""
    from core.model import Body, Inertia, Joint, Model

    wheel = Body(name="wheel", mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0))
    joint = Joint(name="axle", parent="world", child="wheel", stiffness=(2e4 * np.pi) ** 2)
    run = simulate(Model(name="m", bodies=(wheel,), joints=(joint,)), 1.0, q0=[1e-3], output=0.1, rtol=1e-6, atol=1e-6)
    assert run.statistics.steps > 60_000
    assert run.notes == ()
