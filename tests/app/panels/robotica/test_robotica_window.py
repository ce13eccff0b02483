"""Robotica in the window: boxes round pictures, where one looks from afterwards, runs made elsewhere, the line."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

import resources
from core.simulation import simulate
from tests.app.panels.robotica.test_robotica_line import typed

PATHS = {Path(entry.path).stem: Path(entry.path) for entry in resources.examples()}


@pytest.fixture
def panel(bench):
    bench.example("two_link")
    bench.window.docks.show_panel("robotica")
    return bench.window.docks.panels["robotica"]


def test_the_box_holds_the_ellipsoids(bench, panel):
    """Of the two-link arm with unit lengths: the largest radius is σ₁(J), which reaches far beyond the arm."""
    typed(bench, panel, "RElp[{{q1, 0, 90 Degree, 2}}, {frame}]")
    box = bench.view.scene.range_box.bounds
    # stretched along y at q1 = 0, and along −x at 90°: the tip is 2 and 0 away along x, its ellipse √5 long each way
    assert box[2] <= -np.sqrt(5.0) + 1e-9
    assert box[0] <= -np.sqrt(5.0) + 1e-9
    assert box[3] >= 2.0


def test_another_robot_is_seen_from_where_one_looked_before_a_flat_picture(bench, panel):
    before = bench.view.viewpoint.target_view
    typed(bench, panel, "RElp[{{q1, 0, 90 Degree, 2}}, {scale}]")
    assert bench.view.viewpoint.target_view.parallel
    bench.open(PATHS["stanford"])
    bench.draw()
    now = bench.view.viewpoint.target_view
    assert (now.azimuth, now.elevation, now.parallel) == (before.azimuth, before.elevation, before.parallel)
    assert now.target != before.target  # and all of it is seen


def test_a_run_made_elsewhere_is_saved_and_plotted_from_the_line(bench, panel, tmp_path):
    bench.session.runs.add(simulate(bench.session.mech, 1.0), "pendulum")
    told = typed(bench, panel, f'SaveResponse["{tmp_path / "run.sim"}"]')
    assert "11 rows" in told
    assert "samples plotted" in typed(bench, panel, "SimPlot[t, {q1, q2}]")


def test_a_line_that_is_being_written_is_not_lost_among_earlier_ones(bench, panel):
    typed(bench, panel, "FKin[]")
    panel.input.setText("MPrint[M, ")
    for key, text in ((Qt.Key.Key_Up, "FKin[]"), (Qt.Key.Key_Down, "MPrint[M, "), (Qt.Key.Key_Down, "MPrint[M, ")):
        QTest.keyClick(panel.input, key)
        assert panel.input.text() == text


def test_symbols_of_coordinates_are_completed(panel):
    assert {"q1", "q2"} <= set(panel.find_completions("RElp[{{q")[1])
    assert panel.find_completions("2 Sqr")[1] == ["Sqrt"]
