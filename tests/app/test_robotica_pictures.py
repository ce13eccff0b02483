"""Pictures that Robotica's line asks for in the window: boxes, and where one looks from afterwards."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

import resources

PATHS = {Path(entry.path).stem: Path(entry.path) for entry in resources.examples()}


@pytest.fixture
def panel(bench):
    bench.example("two_link")
    bench.window.docks.show("robotica")
    return bench.window.docks.panels["robotica"]


def typed(bench, panel, text):
    panel.input.clear()
    panel.input.setFocus()
    QTest.keyClicks(panel.input, text)
    QTest.keyClick(panel.input, Qt.Key.Key_Return)
    bench.wait(lambda: panel.job is None, 60.0)
    return panel.transcript.toPlainText().rpartition("In:= ")[2]


def test_the_box_holds_the_ellipsoids(bench, panel):
    """Of the two-link arm with unit lengths: the largest radius is σ₁(J), which reaches far beyond the arm."""
    typed(bench, panel, "RElp[{{q1, 0, 90 Degree, 2}}, {frame}]")
    box = bench.view.scene.range_box.bounds
    # stretched along y at q1 = 0, and along −x at 90°: the tip is 2 and 0 away along x, its ellipse √5 long each way
    assert box[2] <= -np.sqrt(5.0) + 1e-9
    assert box[0] <= -np.sqrt(5.0) + 1e-9
    assert box[3] >= 2.0


def test_another_robot_is_seen_from_where_one_looked_before_a_flat_picture(bench, panel):
    before = bench.view.viewpoint.goal
    typed(bench, panel, "RElp[{{q1, 0, 90 Degree, 2}}, {scale}]")
    assert bench.view.viewpoint.goal.parallel
    bench.open(PATHS["stanford"])
    bench.draw()
    now = bench.view.viewpoint.goal
    assert (now.azimuth, now.elevation, now.parallel) == (before.azimuth, before.elevation, before.parallel)
    assert now.target != before.target  # and all of it is seen
