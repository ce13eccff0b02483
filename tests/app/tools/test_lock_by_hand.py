"""K locks a part: its marks, what dragging and drawing then do, and that it comes back with the document."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.document.session import ElementRef
from app.tools.draw.tool import draw_controller
from core.design import linkage
from core.design.linkage import ground
from core.model import Model


@pytest.fixture
def four_bar(bench):
    bench.window.activateWindow()
    bench.view.setFocus()
    bench.session.start_document(
        linkage.link(Model(name="four-bar"), [(0.0, 0.0), (0.04, 0.08), (0.2, 0.14), ground(0.24, 0.0)])
    )
    bench.view.viewpoint.look_from("front")
    bench.view.viewpoint.fit_next_picture()
    bench.draw()
    return bench


def lock(bench, body):
    bench.session.select(ElementRef("bodies", body))
    QTest.keyClick(bench.view, Qt.Key.Key_K, Qt.KeyboardModifier.ShiftModifier)


def seen(bench, x, z):
    pixel = np.array(bench.view.scene.project(np.array([x, 0.0, z]))) / bench.view.devicePixelRatioF()
    return float(pixel[0]), float(pixel[1])


def test_shift_k_locks_and_unlocks_and_both_are_seen_and_undone(four_bar):
    bench = four_bar
    lock(bench, "link3")
    assert bench.session.locked_bodies == {"link3"}
    (mark,) = bench.view.annotations.locks
    assert mark == pytest.approx((0.2133, 0.0, 0.0933), abs=1e-3), "amid its pins and its beginning"
    item = bench.window.tree.items["bodies:link3"]
    assert not item.icon(1).isNull()
    assert "Locked" in item.toolTip(0)
    bench.session.undo()
    assert bench.view.annotations.locks == ()
    assert bench.window.tree.items["bodies:link3"].icon(1).isNull()
    bench.session.redo()
    lock(bench, "link3")
    assert bench.session.locked_bodies == frozenset()


def test_a_drag_of_the_machine_leaves_a_locked_part_where_it_is(four_bar):
    bench = four_bar
    lock(bench, "link3")
    pose = dict(bench.session.state.pose)
    bench.view.gestures.choose_tool("move")
    bench.drag([seen(bench, 0.02, 0.04), seen(bench, 0.05, 0.04), seen(bench, 0.1, 0.05)])
    assert bench.session.q == pytest.approx(bench.session.rest, abs=1e-9)
    assert dict(bench.session.state.pose) == pytest.approx(pose, abs=1e-9)
    bench.session.select(ElementRef("joints", "A"))
    bench.draw()
    assert not bench.view.scene.handles.shown, "an arrow that can be seen can be used"


def test_in_draw_pins_of_a_locked_link_stay_and_others_are_dragged(four_bar):
    bench = four_bar
    lock(bench, "link3")
    bench.view.gestures.choose_tool("draw")
    bench.draw()
    model = bench.session.model
    bench.move(*seen(bench, 0.2, 0.14))
    bench.drag([seen(bench, 0.2, 0.14), seen(bench, 0.21, 0.16), seen(bench, 0.22, 0.18)])
    assert bench.session.model is model
    assert "“link3” is locked" in bench.messages("hint")[-1]
    before = bench.session.mech.frame(bench.session.q, "link3")
    bench.move(*seen(bench, 0.04, 0.08))
    bench.drag([seen(bench, 0.04, 0.08), seen(bench, 0.05, 0.1), seen(bench, 0.06, 0.12)])
    assert bench.session.model is not model
    assert bench.session.mech.frame(bench.session.q, "link3") == pytest.approx(before, abs=1e-9)
    assert draw_controller(bench.view).drawing.pin("B").point == pytest.approx((0.06, 0.12), abs=2e-3)


def test_locks_come_back_with_what_is_seen_of_a_document(four_bar):
    bench = four_bar
    lock(bench, "link2")
    kept = bench.window.surroundings.collect_sections()
    assert kept["locks"] == ["link2"]
    bench.session.start_document(bench.session.model)
    assert bench.session.locked_bodies == frozenset()
    bench.window.surroundings.restore_view({"locks": ["link2", "gone"]})
    assert bench.session.locked_bodies == {"link2"}
    assert not bench.session.undo_label
