"""Simulating in the window: F5, a run that grows and plays, the timeline, branches, the list of runs."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.simulation import simulate

LONG = 400.0
"""s; the integrators' machine code is made once."""


def simulated(bench, **wishes):
    bench.window.simulation.wish(**wishes)
    bench.window.run("simulation.run")
    bench.wait(lambda: not bench.window.simulation.running, LONG)
    return bench.session.runs.current


def test_f5_makes_a_run_that_plays(bench):
    bench.example("pendulum")
    bench.window.simulation.wish(duration=2.0, output=0.01)
    QTest.keyClick(bench.window, Qt.Key.Key_F5)
    bench.wait(lambda: not bench.window.simulation.running, LONG)
    record = bench.session.runs.current
    assert record is not None
    assert record.run.time[-1] == pytest.approx(2.0)
    assert bench.window.timeline.isVisible()
    assert bench.view.player.playing
    expected = simulate(bench.session.mech, 2.0, rtol=1e-6, atol=1e-8, output=0.01, q0=record.run.q[0])
    assert np.allclose(record.run.q, expected.q)
    assert bench.session.undo_label == ""


def test_what_if_follows_a_slider_during_the_movement(bench):
    bench.example("pendulum")
    simulated(bench, duration=3.0, output=None)
    bench.view.player.hold()
    bench.window.run("play.close")
    what_if = bench.window.what_if
    bench.window.run("simulation.what_if")
    heard = []
    what_if.made.connect(heard.append)
    bench.wait(lambda: heard, LONG)
    name = bench.session.mech.q_names[0]
    for value in (0.2, 0.4, 0.6):
        heard.clear()
        bench.session.preview_coordinates({name: value})
        bench.wait(lambda: heard)
        run = bench.session.runs.current.run
        assert bench.session.previewing
        assert run.q[0, 0] == pytest.approx(value)
        assert len(run) > 500
    bench.session.commit("Move")
    bench.wait(lambda: what_if._worker.idle)
    bench.window.run("simulation.what_if")
    assert not what_if.on
    what_if.made.disconnect(heard.append)
