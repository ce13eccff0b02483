"""A target curve is drawn in the view by real mouse events, shown there, and becomes a linkage where it was drawn."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.tools.draw.tool import draw_controller
from app.tools.target_curve import curve_controller
from core.design.asked_designs import place_ground_in_plane
from core.design.linkage import XY, XZ, YZ, Drawing
from core.design.topologies import TOPOLOGIES
from core.mechanism import Mechanism
from core.model import Model


@pytest.fixture
def sheet(bench):
    """The tool in hand over an empty model, and the pixels of an ellipse about the middle of the view."""
    bench.window.run_command("tool.target_curve")
    bench.draw()
    middle = bench.view.rect().center()
    angles = np.linspace(0.0, 2.0 * np.pi, 36)
    bench.ellipse = [(middle.x() - 60 + 90 * np.cos(a), middle.y() - 40 * np.sin(a)) for a in angles]
    return bench


def panel_of(bench):
    return bench.window.docks.panels["design"]


def in_plane(bench, pixel):
    ratio = bench.view.devicePixelRatioF()
    return draw_controller(bench.view).plane_point_at(pixel[0] * ratio, pixel[1] * ratio)


def test_a_stroke_is_the_target_smoothed_and_shown(sheet):
    assert sheet.view.gestures.tool.id == "target_curve"
    wanted = np.array([in_plane(sheet, pixel) for pixel in sheet.ellipse[:-1]])
    sheet.drag(sheet.ellipse)
    sheet.wait(lambda: sheet.view.gestures.tool.id == "select")
    panel = panel_of(sheet)
    sheet.wait(lambda: bool(sheet.view.annotations.curves))
    assert panel.curve_page.closed.isChecked()
    points = panel.canvas.target
    assert len(points) == 64  # smoothed
    size = np.ptp(wanted, axis=0)
    np.testing.assert_allclose(np.ptp(points, axis=0), size, rtol=0.03)
    np.testing.assert_allclose(points.mean(axis=0), wanted.mean(axis=0), atol=0.02 * size.max())
    curve = np.array(sheet.view.annotations.curves[0])
    np.testing.assert_allclose(curve[:-1, [0, 2]], points, atol=1e-9)
    np.testing.assert_allclose(curve[:, 1], 0.0, atol=1e-9)
    panel.curve.clear()
    assert not sheet.view.annotations.curves


def test_a_stroke_is_smoothed_by_the_persons_terms_whatever_was_read_before(sheet):
    sheet.window.docks.show_panel("design")
    curve = panel_of(sheet).curve
    own = curve.page.smooth.text()
    curve.page.smooth.setText("5")
    for text in ("0 0; 0.1 0; 0.1 0.1", "0 0; 0.2 0; 0.1 0.1"):
        curve.take_points(text.replace(";", "\n"), ".csv", "points")
        assert curve.page.term_count() == 0
        assert len(curve.canvas.target) == 3
    sheet.drag(sheet.ellipse)
    sheet.wait(lambda: len(curve.canvas.target) == 64)
    assert curve.page.term_count() == 5
    curve.page.smooth.setText(own)
    curve.clear()


def test_clicks_end_by_enter_backspace_takes_one_back_and_esc_cancels(sheet):
    curve = curve_controller(sheet.view)
    for pixel in sheet.ellipse[::9]:
        sheet.click(*pixel)
    QTest.keyClick(sheet.view, Qt.Key.Key_Backspace)
    assert len(curve.points) == 3
    sheet.window.run_command("edit.cancel")
    assert not curve.points
    assert sheet.view.gestures.tool.id == "target_curve"
    seen = []
    curve.drawn.connect(seen.append)
    for pixel in sheet.ellipse[4:24:5]:
        sheet.click(*pixel)
    QTest.keyClick(sheet.view, Qt.Key.Key_Return)
    curve.drawn.disconnect(seen.append)
    assert len(seen[0].points) == 4
    assert not seen[0].closed
    assert not panel_of(sheet).curve_page.closed.isChecked()
    assert sheet.view.gestures.tool.id == "select"
    sheet.window.run_command("tool.target_curve")
    sheet.window.run_command("edit.cancel")
    assert sheet.view.gestures.tool.id == "select"


@pytest.mark.parametrize("plane", [XY, YZ])
def test_a_linkage_stands_in_the_plane_in_which_the_curve_was_drawn(plane):
    """Its point in that plane's coordinates is where it was in x, z."""
    values = {"a": 0.1, "b": 0.3, "c": 0.25, "d": 0.3, "px": 0.15, "py": 0.1, "x0": 0.05, "z0": 0.2, "turn": 0.4}
    model = TOPOLOGIES["four_bar"].model(values)
    X_WD = Drawing(Model(name="empty"), plane).X_WD.copy()
    X_WD[:3, 3] = (0.1, -0.2, 0.3)
    before, after = Mechanism(model), Mechanism(place_ground_in_plane(model, X_WD))
    q = before.assemble(before.rest())
    x, _, z = before.frame(q, "curve_point")[:3, 3]
    there = after.frame(q, "curve_point")[:3, 3]
    np.testing.assert_allclose(np.linalg.inv(X_WD) @ [*there, 1.0], [x, z, 0.0, 1.0], atol=1e-8)
    assert place_ground_in_plane(model, Drawing(Model(name="empty"), XZ).X_WD) is model
