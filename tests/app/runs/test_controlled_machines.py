"""A machine with controllers in the window: a gain as a slider of what-if, and pulled while it runs in real time."""

import numpy as np
import pytest

from core.simulation import simulate
from tests.app.conftest import MAKING


def test_a_gain_is_a_slider_of_what_if(bench):
    """With a payload that it does not know, the arm sags by an amount that goes with 1/kp."""
    bench.example("tracking_arm")
    bench.window.simulation.change_settings(duration=3.0, output=None)
    what_if, session, heard = bench.window.what_if, bench.session, []
    what_if.made.connect(heard.append)
    what_if.set_enabled(True)
    bench.wait(lambda: heard and what_if._worker.is_idle, MAKING)
    for kp in (100.0, 400.0):
        heard.clear()
        session.preview(parameters={"kp": kp})
        bench.wait(lambda: heard and what_if._worker.is_idle and not what_if._timer.isActive(), MAKING)
        run = session.runs.current.run
        assert run.settings.parameters["kp"] == kp
        alone = simulate(session.mech, 3.0, parameters={"kp": kp}, output=0.5)
        shown = np.interp(alone.time, run.time, run["track.elbow.error"])
        assert shown == pytest.approx(alone["track.elbow.error"], abs=1e-4)
    session.cancel_preview()
    what_if.set_enabled(False)
    what_if.made.disconnect(heard.append)


def test_it_runs_in_real_time_and_follows_its_motion(bench):
    """F6 leaves a run that is the run of F5, sampled controller included."""
    bench.example("tracking_arm")
    bench.window.run_command("simulation.interactive")
    interactive = bench.window.interactive
    bench.wait(lambda: interactive.running, MAKING)
    bench.wait(lambda: interactive.live is not None and interactive.live.time > 0.4)
    bench.window.run_command("simulation.interactive")
    assert not interactive.on
    live = bench.session.runs.current.run
    alone = simulate(bench.session.mech, 0.4, output=0.1)
    for joint, channel in (("elbow", "track.elbow.error"), ("wrist", "level.wrist.error")):
        shown = np.interp(alone.time, live.time, live[channel])
        assert shown == pytest.approx(alone[channel], abs=2e-4), joint
        assert np.abs(alone[channel]).max() > 1e-3
