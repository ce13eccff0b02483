"""The handle of the tool: arrows hold the orientation, rings the origin, as far as joints allow; keys step it."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.analysis.tool_frame import tool_frame

Q = np.array([0.3, -1.2, 1.4, -0.6, 0.9, 0.2])


@pytest.fixture
def arm(bench):
    """A UR5 with the handle of its tool in the scene."""
    bench.example("ur5")
    bench.session.pose("Away", Q)
    bench.window.run_command("tool.configurations")
    bench.wait(lambda: bench.view.frame_handle.is_shown)
    bench.draw()
    yield bench
    bench.window.docks.show_panel("properties")


def tool_pose(bench):
    session = bench.session
    return np.asarray(session.mech.frame(session.q, tool_frame(session.model)))


def drag_part(bench, name, pixels):
    """Drag a part of the handle from a place where it is not covered, along the screen."""
    view, handle = bench.view, bench.view.scene.frame_handle
    part = next(each for each in handle.parts if each.name == name)
    pose, ratio = handle._part_pose(part), view.scene.pixel_ratio
    if part.kind == "slide":
        places = [pose[:3, 3] + 70.0 * pose[:3, 2]]
    else:
        places = [
            pose[:3, 3] + 58.0 * (np.cos(a) * pose[:3, 0] + np.sin(a) * pose[:3, 1]) for a in np.arange(0, 6, 0.2)
        ]
    for place in places:
        x, y = (each / ratio for each in view.scene.project(place))
        if view.frame_handle.handle_under(view.to_pointer(_point(x, y))) is part:
            bench.drag([(x, y), (x + 0.5 * pixels[0], y + 0.5 * pixels[1]), (x + pixels[0], y + pixels[1])])
            return
    raise AssertionError("the part is not seen")


def _point(x, y):
    from PySide6.QtCore import QPointF

    return QPointF(round(x), round(y))


def test_an_arrow_moves_along_its_axis_with_the_orientation_held(arm):
    X = tool_pose(arm)
    drag_part(arm, "move along z", (0, -40))
    moved = tool_pose(arm)
    assert moved[2, 3] > X[2, 3] + 0.01
    assert np.allclose(moved[:2, 3], X[:2, 3], atol=1e-4)
    assert np.allclose(moved[:3, :3], X[:3, :3], atol=1e-4)
    arm.session.undo()
    assert np.array_equal(arm.session.q, Q)


def test_a_ring_turns_about_its_axis_with_the_origin_held(arm):
    X = tool_pose(arm)
    drag_part(arm, "turn about z", (25, 10))
    moved = tool_pose(arm)
    R = moved[:3, :3] @ X[:3, :3].T
    assert np.trace(R) < 2.99
    assert np.allclose(R[:, 2], (0.0, 0.0, 1.0), atol=1e-4)
    assert np.allclose(moved[:3, 3], X[:3, 3], atol=1e-4)


def test_out_of_reach_the_tool_stays_on_its_axis(arm):
    X = tool_pose(arm)
    drag_part(arm, "move along z", (0, -900))
    moved = tool_pose(arm)
    assert np.allclose(moved[:2, 3], X[:2, 3], atol=1e-4)
    assert np.allclose(moved[:3, :3], X[:3, :3], atol=1e-4)


def test_keys_step_the_tool_and_shift_turns_it(arm):
    X = tool_pose(arm)
    arm.view.setFocus()
    QTest.keyClick(arm.view, Qt.Key.Key_PageUp)
    assert tool_pose(arm)[:3, 3] - X[:3, 3] == pytest.approx([0.0, 0.0, 0.01], abs=1e-6)
    arm.session.undo()
    QTest.keyClick(arm.view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    R = tool_pose(arm)[:3, :3] @ X[:3, :3].T
    assert np.degrees(np.arctan2(R[2, 1], R[1, 1])) == pytest.approx(5.0, abs=1e-4)
    assert R[0, 0] == pytest.approx(1.0, abs=1e-6)


def test_the_handle_goes_with_the_panel(arm):
    arm.window.docks.show_panel("properties")
    arm.wait(lambda: not arm.view.frame_handle.is_shown)
    arm.draw()
    assert arm.view.scene.frame_handle.pose is None


def test_neither_handle_nor_ghosts_are_there_before_the_panel_is_opened(bench):
    bench.example("ur5")
    assert not bench.window.docks.panels["configurations"].listed.is_wanted
    assert bench.window.properties.visibleRegion().isEmpty() is False
    assert not bench.view.frame_handle.is_shown
