"""The arm's other configurations in the scene: pointed at, chosen by a click, taken by a double click, as undone."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.viewport.configuration_ghosts import EMPHASISED, QUIET

Q = np.array([0.3, -1.2, 1.4, -0.6, 0.9, 0.2])


@pytest.fixture
def arm(bench):
    """A UR5 away from singular poses, with its eight configurations in the scene."""
    bench.example("ur5")
    bench.session.pose("Away", Q)
    bench.window.run_command("tool.configurations")
    listed = bench.window.docks.panels["configurations"].listed
    bench.wait(lambda: listed.present is not None)
    bench.draw()
    yield bench, listed
    bench.window.docks.show_panel("properties")


def free_place_of_a_ghost(bench, listed):
    """A place in the picture where only a ghost is, and which one."""
    view, scene = bench.view, bench.view.scene
    mech, ratio = bench.session.mech, scene.pixel_ratio
    for k, each in enumerate(listed.solutions):
        if k == listed.present:
            continue
        origins = np.asarray(mech.poses(each.q))[:, :3, 3]
        for point in (*origins, *(0.5 * (origins[1:] + origins[:-1])), *(0.7 * origins[1:] + 0.3 * origins[:-1])):
            x, y = scene.project(point)
            pointer = view.to_pointer(QPoint(round(x / ratio), round(y / ratio)).toPointF())
            if scene.pick(pointer.x, pointer.y) is None and view.configurations.ghost_under(pointer) == k:
                bench.move(round(x / ratio), round(y / ratio))
                if listed.pointed == k:  # else a handle is in front
                    return round(x / ratio), round(y / ratio), k
    raise AssertionError("no ghost is seen beside the machine")


def test_a_ghost_is_pointed_at_chosen_and_taken(arm):
    bench, listed = arm
    overlays, session = bench.view.scene.overlays, bench.session
    assert len(listed.solutions) == 8
    assert QUIET in overlays._ghosts.sources
    x, y, k = free_place_of_a_ghost(bench, listed)
    bench.move(x, y)
    assert listed.pointed == k
    assert EMPHASISED in overlays._ghosts.sources
    bench.move(2, 2)
    assert listed.pointed is None
    bench.click(x, y)
    assert listed.chosen == k
    wanted = listed.solutions[k].q
    QTest.mouseDClick(bench.view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(x, y))
    assert np.allclose(session.q, wanted)
    session.undo()
    assert np.array_equal(session.q, Q)


def test_ghosts_go_with_the_panel_and_with_the_box(arm):
    bench, listed = arm
    overlays = bench.view.scene.overlays
    listed.show_ghosts(False)
    bench.draw()
    assert QUIET not in overlays._ghosts.sources
    listed.show_ghosts(True)
    bench.draw()
    assert QUIET in overlays._ghosts.sources
    bench.window.docks.show_panel("properties")
    bench.wait(lambda: not listed.is_wanted)
    bench.draw()
    assert QUIET not in overlays._ghosts.sources
