"""Interactive dynamics in the window: it runs, is pulled with the mouse, paused, moved by hand, and leaves a run."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest

from app.document.session import ElementRef
from core.model import Gravity
from tests.app.conftest import MAKING


def started(bench, name, edit=None):
    bench.example(name)
    if edit is not None:
        bench.session.apply("Edit", edit)
    bench.window.run_command("simulation.interactive")
    bench.wait(lambda: bench.window.interactive.running, MAKING)
    return bench.window.interactive


def without_gravity(model):
    return replace(model, world=replace(model.world, gravity=Gravity(kind="none")))


def place_of(bench, body):
    """Pixel on which a body lies: its bounds' middle, or near it."""
    box = np.asarray(bench.view.scene.bounds(("bodies", body))).reshape(3, 2)
    for part in (0.5, 0.3, 0.7, 0.1, 0.9):
        x, y = bench.view.scene.project(box[:, 0] + part * (box[:, 1] - box[:, 0]))
        hit = bench.view.scene.pick(x, y)
        if hit is not None and hit.ref == ("bodies", body):
            return x / bench.view.devicePixelRatioF(), y / bench.view.devicePixelRatioF()
    raise AssertionError(f"{body} is not seen")


def test_it_falls_in_real_time_and_leaves_a_run(bench):
    interactive = started(bench, "pendulum")
    bench.wait(lambda: interactive.live is not None and interactive.live.time > 0.3)
    assert interactive.live.time > 0.3
    QTest.keyClick(bench.window, Qt.Key.Key_Space)
    assert not interactive.running
    assert interactive.on
    QTest.keyClick(bench.window, Qt.Key.Key_Escape)
    assert not interactive.on
    run = bench.session.runs.current.run
    assert run.time[-1] > 0.3
    assert bench.session.undo_label == ""


def test_ctrl_drag_pulls_the_body_under_the_pointer(bench):
    bench.example("pendulum")
    body = bench.session.model.expanded.bodies[-1].name
    x, y = place_of(bench, body)
    interactive = bench.window.interactive
    handles = bench.view.scene.handles
    bench.session.select(ElementRef("bodies", body))
    bench.view.handles.highlight_handle(handles.visible_parts[0])
    assert handles._text.GetInput()
    bench.press(x, y, keys=Qt.KeyboardModifier.ControlModifier)
    assert not handles._text.GetInput()
    bench.move(x + 40, y - 5, keys=Qt.KeyboardModifier.ControlModifier)
    bench.wait(lambda: interactive.running, MAKING)
    before = bench.session.q.copy()
    for k in range(10):
        bench.move(x + 40 + 8 * k, y - 10, keys=Qt.KeyboardModifier.ControlModifier)
    assert interactive.live.pull is not None
    bench.wait(lambda: np.abs(bench.session.q - before).max() > 0.02)
    assert np.linalg.norm(interactive.live.pull.force) > 0.0
    assert bench.view.annotations.lines
    bench.release(x + 120, y - 10, keys=Qt.KeyboardModifier.ControlModifier)
    assert interactive.live.pull is None
    assert not bench.view.annotations.lines
    bench.wait(lambda: bench.view.gestures.tool.id == "pull")  # what the hints say of dragging is true from now on
    bench.window.run_command("simulation.interactive")
    assert not interactive.on
    assert bench.view.gestures.tool.id == "select"


def test_what_the_hand_moves_goes_on_with_its_speed(bench):
    interactive = started(bench, "pendulum")
    interactive.set_damping("none")
    name = bench.session.mech.q_names[0]
    q = float(bench.session.q[0])
    interactive.clock = itertools.count(0.0, 0.01).__next__
    for k in range(20):
        bench.session.preview_coordinates({name: q + 0.01 * k})
        QCoreApplication.processEvents()
    live = interactive.live
    held = live.time
    bench.session.commit("Move by hand")
    assert live.time == held
    assert live.q[0] == pytest.approx(bench.session.q[0])
    interactive.clock = time.monotonic
    assert live.v[0] > 0.0
    bench.wait(lambda: live.time > held + 0.05)
    interactive.stop()


def test_while_it_is_held_a_body_is_dragged_by_hand_and_goes_on_with_the_hand(bench):
    """Nothing runs during the drag; the pose left is the one that is gone on from, with the hand's speed."""
    interactive = started(bench, "pendulum")
    interactive.set_damping("none")
    QTest.keyClick(bench.window, Qt.Key.Key_Space)
    live, body = interactive.live, bench.session.model.expanded.bodies[-1].name
    bench.session.select(None)
    x, y = place_of(bench, body)
    held, before = live.time, bench.session.q.copy()
    interactive.clock = itertools.count(0.0, 0.01).__next__  # a hand that does not rest, whatever the machine does
    bench.press(x, y)
    for k in range(1, 15):
        bench.move(x + 4 * k, y)
    assert not interactive.running
    assert live.pull is None
    assert abs(bench.session.q[0] - before[0]) > 0.05
    way = np.sign(bench.session.q[0] - before[0])
    bench.release(x + 56, y)
    assert live.time == held
    assert bench.window.status.words.text().startswith("Paused")  # also after the drag
    assert live.q[0] == pytest.approx(bench.session.q[0])
    interactive.clock = time.monotonic
    assert way * live.v[0] > 0.0
    QTest.keyClick(bench.window, Qt.Key.Key_Space)
    assert interactive.running
    bench.wait(lambda: live.time > held + 0.02)
    interactive.stop()
    assert bench.window.status.words.text().startswith("Rest on a part")


def test_pose_to_rest_begins_anew_from_there(bench):
    """Though the document is at rest already."""
    interactive = started(bench, "pendulum")
    live, rest = interactive.live, bench.session.reference_configuration.copy()
    bench.wait(lambda: abs(live.q[0] - rest[0]) > 0.2)
    interactive.pause()
    bench.window.run_command("edit.rest")
    assert interactive.on
    assert live.q[0] == pytest.approx(rest[0])
    assert live.v[0] == pytest.approx(0.0)
    np.testing.assert_allclose(bench.session.q, rest)
    interactive.resume()
    bench.wait(lambda: abs(live.q[0] - rest[0]) > 0.01)
    interactive.stop()


def test_a_running_body_is_pulled_though_a_handle_lies_over_it(bench):
    interactive = started(bench, "pendulum", without_gravity)  # it stays where the pointer looks for it
    body = bench.session.model.expanded.bodies[-1].name
    handles = bench.view.scene.handles
    bench.session.select(ElementRef("joints", bench.session.mech.coordinates[0].joint))
    bench.draw()
    (part,) = handles.visible_parts
    over = over_body(bench, part, body)
    bench.press(*over)
    bench.move(over[0] + 20, over[1])
    bench.move(over[0] + 40, over[1])
    bench.wait(lambda: interactive.live.pull is not None)
    bench.release(over[0] + 40, over[1])
    interactive.stop()


def over_body(bench, part, body):
    """A pixel where a handle lies over a body."""
    view, ratio = bench.view, bench.view.devicePixelRatioF()
    grip = view.scene.handles.create_grip(part)
    u = np.cross(grip.axis, [0.3, -0.4, 0.87])
    u /= np.linalg.norm(u)
    for angle in np.linspace(0.0, 2.0 * np.pi, 180):
        point = grip.centre + grip.radius * (np.cos(angle) * u + np.sin(angle) * np.cross(grip.axis, u))
        x, y = view.scene.project(point)
        behind, front = view.scene.pick(x, y, handles=False), view.scene.pick(x, y)
        if front is not None and front.handle == part and behind is not None and behind.ref == ("bodies", body):
            return x / ratio, y / ratio
    raise AssertionError("the handle lies nowhere over the body")


def test_a_click_on_a_handle_selects_the_body_under_it(bench):
    """A drag moves the joint; a click that does not move means what is seen under the thin line."""
    bench.example("pendulum")
    session = bench.session
    body, joint = session.model.expanded.bodies[-1].name, session.mech.coordinates[0].joint
    session.select(ElementRef("joints", joint))
    bench.draw()
    (part,) = bench.view.scene.handles.visible_parts
    x, y = over_body(bench, part, body)
    bench.click(x, y)
    assert session.selection == ElementRef("bodies", body)
    assert session.undo_label == ""
    bench.drag([(x, y), (x + 12, y + 8), (x + 24, y + 20)])
    assert session.selection == ElementRef("joints", joint)
    assert session.undo_label == f"Move {joint}"


def test_another_document_ends_it(bench):
    interactive = started(bench, "pendulum")
    bench.example("four_bar")
    assert not interactive.on
    assert bench.session.runs.items == ()


def test_it_moves_as_a_simulation_does(bench):
    """F6, left alone, then F5: the same start and settings, the same motion at the same times."""
    bench.window.simulation.change_settings(method="auto", duration=2.0, output=0.02)
    interactive = started(bench, "four_bar")
    assert interactive.damping == "none"
    bench.wait(lambda: interactive.live is not None and interactive.live.time > 0.4)
    interactive.stop()
    live = bench.session.runs.current
    assert live.name == "Interactive"
    bench.window.run_command("simulation.run")
    bench.wait(lambda: not bench.window.simulation.is_running and bench.session.runs.current is not live, MAKING)
    run = bench.session.runs.current.run
    at = np.flatnonzero(run.time < live.run.time[-1])[1:]
    same = [int(np.argmin(np.abs(live.run.time - t))) for t in run.time[at]]
    np.testing.assert_allclose(live.run.time[same], run.time[at], rtol=0.0, atol=1e-9)
    assert np.ptp(run.q[at]) > 1e-2
    np.testing.assert_allclose(live.run.q[same], run.q[at], atol=1e-8)
    for name in ("method", "rtol", "atol"):
        assert getattr(live.run.settings, name) == getattr(run.settings, name)


def test_damping_that_was_chosen_is_seen_while_it_acts_and_stands_in_the_name(bench):
    interactive = started(bench, "pendulum")
    said = bench.window.status.words.text
    assert "damping" not in said()
    bench.window.run_command("simulation.damping_strong")
    assert "Artificial damping: strong, 3 per second" in said()
    live = interactive.live
    before = live.time
    bench.wait(lambda: live.time > before + 0.1)
    interactive.stop()
    record = bench.session.runs.current
    assert record.name == "Interactive, artificial damping 3 1/s"
    assert any("3 per second" in note for note in record.run.notes)
    assert "damping" not in said()
