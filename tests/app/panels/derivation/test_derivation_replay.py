"""The derivation replay in the window: steps, formulas, live numbers, arrows in the scene, keys; terms and scene."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.document.session import ElementRef
from app.panels.derivation.derivation_scene import SOURCE, arrow_glyphs
from app.panels.output.tables import TableView
from core.symbolic.derivation import Arrow, Picture
from tests.app.conftest import pump


@pytest.fixture
def replay(bench):
    bench.example("stanford")
    bench.window.run_command("derivation.replay")
    yield bench.window.derivation
    bench.window.run_command("derivation.close")


def derived(panel):
    assert pump(lambda: panel.page.part is not None and panel.page.part.view.is_typeset, 20.0)
    return panel.page.part


def arrows(bench):
    return bench.view.scene.overlays._arrows._shown.get(SOURCE, [])


def test_the_first_step_shows_all_frames(bench, replay):
    assert replay.isVisible()
    assert replay.list.count() == 43
    assert replay.page.title.text().startswith("1 / 43")
    assert len(arrows(bench)) == 3 * 7 + 6  # and the axis of each joint
    assert [name.text for name in bench.view.annotations.names] == [f"{{{i}}}" for i in range(7)]
    (table,) = replay.page.findChildren(TableView)
    assert [row[0] for row in table.content.table.rows] == [f"joint{i}" for i in range(1, 7)]
    assert [row[4:] for row in table.content.table.rows][2] == ("d3", "-pi/2")
    bench.window.resize(1500, 900)
    bench.wait(lambda: table.width() >= table.horizontalHeader().length())  # no column is hidden where there is room
    assert not replay.page.back.isEnabled()
    replay.step(1)
    assert [name.text for name in bench.view.annotations.names] == ["{0}", "{1}"]
    bench.wait(lambda: not replay.page.findChildren(TableView))
    replay.end()
    assert not bench.view.annotations.names


def test_keys_and_buttons_step(bench, replay):
    replay.list.setFocus()
    QTest.keyClick(replay.list, Qt.Key.Key_Right)
    assert replay.list.currentRow() == 1
    assert derived(replay).part.label == "A[1]"
    QTest.mouseClick(replay.page.forward, Qt.MouseButton.LeftButton)
    assert replay.current_step.title == "A2"
    QTest.keyClick(bench.window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert replay.current_step.title == "A1"
    QTest.keyClick(replay.list, Qt.Key.Key_End)
    assert replay.current_step.what == "tau"
    assert not replay.page.forward.isEnabled()
    assert derived(replay).part.proved


def test_a_replay_of_another_robot_begins_with_its_first_step_in_sight(bench, replay):
    rows = replay.list
    rows.setCurrentRow(rows.count() - 1)
    bench.wait(lambda: rows.viewport().rect().contains(rows.visualItemRect(rows.currentItem())))
    bench.window.run_command("derivation.close")
    bench.example("puma560")
    bench.window.run_command("derivation.replay")
    bench.wait(lambda: rows.viewport().rect().contains(rows.visualItemRect(rows.item(0))))


def test_numbers_follow_the_pose(bench, replay):
    row = next(k for k, step in enumerate(replay.steps) if step.label == "T[0,6]")
    replay.list.setCurrentRow(row)
    derived(replay)
    session = bench.session
    session.preview(q=session.q + 0.2)
    mech = session.mech
    expected = np.linalg.inv(mech.frame(session.q, "base")) @ mech.frame(session.q, "link6")

    def shown():
        return np.array(replay.page.numbers._matrix.entries)

    assert pump(lambda: np.allclose(shown(), expected, atol=1e-6), 5.0)
    session.preview(q=np.full(6, np.pi / 2))  # its cosine is 6e-17: rounding, not shown
    assert pump(lambda: np.allclose(shown()[:3, :3] % 1.0, 0.0, atol=1e-6), 5.0)
    assert {abs(x) for x in shown()[:3, :3].flat} == {0.0, 1.0}
    session.cancel_preview()


def test_the_picture_goes_with_the_panel(bench, replay):
    replay.step(13)
    assert arrows(bench)
    bench.window.docks.show_panel("output")
    pump(lambda: not arrows(bench), 2.0)
    assert not arrows(bench)
    bench.window.docks.show_panel("derivation")
    pump(lambda: arrows(bench), 2.0)
    assert arrows(bench)
    bench.window.run_command("derivation.close")
    assert not arrows(bench)
    assert not replay.is_open


def test_a_urdf_chain_has_a_derivation(bench):
    bench.example("kestrel")
    bench.window.run_command("derivation.replay")
    panel = bench.window.derivation
    panel.list.setCurrentRow(1)
    assert derived(panel).part.entries
    bench.window.run_command("derivation.close")


def test_loops_are_told(bench):
    bench.example("four_bar")
    bench.window.run_command("derivation.replay")
    panel = bench.window.derivation
    assert not panel.is_open
    assert "loop" in panel._reason.text()


def test_another_document_ends_it(bench, replay):
    bench.example("four_bar")
    assert not replay.is_open
    assert not arrows(bench)


def test_a_step_can_be_stopped(bench):
    bench.example("panda")
    bench.window.run_command("derivation.replay")
    panel = bench.window.derivation
    panel.list.setCurrentRow(next(k for k, step in enumerate(panel.steps) if step.what == "C"))
    assert pump(lambda: panel.page.waiting.isVisible(), 2.0)
    QTest.mouseClick(panel.page.stop, Qt.MouseButton.LeftButton)
    assert not panel.page.waiting.isVisible()
    assert pump(lambda: not bench.window.jobs.unfinished_jobs, 5.0)  # the work itself ends, too
    assert panel.page.part is None
    assert "Stopped" in panel.page.caption.text()
    bench.window.run_command("derivation.close")


def test_terms_and_scene_point_at_one_another(bench, replay):
    row = next(k for k, step in enumerate(replay.steps) if step.label == "J[:,1]")
    replay.list.setCurrentRow(row)
    view = derived(replay).view
    placed = next(
        (i, p) for i, row in enumerate(view.grid.cells) for p in row[0].setting.placed if p.token.symbols == ("d3",)
    )
    i, token = placed
    x, y = view.grid.cell_corner(i, 0)
    place = QPoint(round(x + token.x + token.token.width / 2), round(y + view.grid.cells[i][0].setting.height / 2))
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        QPointF(view.viewport().mapToGlobal(place)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view.viewport(), event)
    assert pump(lambda: bench.session.hover == ElementRef("joints", "joint3"), 2.0)
    bench.session.set_hovered_element(None)
    bench.session.select(ElementRef("joints", "joint3"))
    assert {"d3", "Dd3", "DDd3"} <= view.marked
    bench.session.select(None)
    assert not view.marked


def test_arrows_are_scaled_to_the_machine():
    given = (("linear", (4.0, 0, 0)), ("linear", (0, 1.0, 0)), ("offset", (0, 0, 0.7)), ("z", (0, 0, 0)))
    picture = Picture(tuple(Arrow(kind, np.zeros(3), np.array(vector)) for kind, vector in given))
    first, second, third = arrow_glyphs(picture, 2.0)
    np.testing.assert_allclose(np.linalg.norm(first.vector), 4 * np.linalg.norm(second.vector))
    np.testing.assert_allclose(np.linalg.norm(first.vector), 0.6)
    np.testing.assert_allclose(third.vector, [0, 0, 0.7])
