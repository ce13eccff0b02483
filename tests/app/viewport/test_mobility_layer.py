"""The marks of mobility in the window: switched on, following the hand, pointed to by results and findings."""

import time

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.document.session import ElementRef
from app.panels.output.parts import TablePart
from core.analysis.mobility_marks import MobilityMarker
from core.functions.catalogue import call
from core.mechanism import Mechanism
from tests.app.conftest import pump, settle
from tests.walks import slow

LONGEST_WAIT = 0.05
"""Seconds of the window's thread that the marks may take."""


@pytest.fixture
def layer(bench):
    """The layer of a window that shows a four-bar with its marks."""
    bench.example("four_bar")
    bench.window.run_command("view.show_mobility")
    assert pump(lambda: bench.window.mobility.is_up_to_date)
    return bench.window.mobility


def figures(bench):
    return bench.view.scene.mobility_marks


def fresh(session, frame=""):
    """The marks by a mechanism that the window does not know."""
    return MobilityMarker(Mechanism(session.model), frame, dict(session.p)).at(session.q)


def same_marks(shown, expected):
    assert [(m.kind, m.ref, m.text, m.form, m.chief) for m in shown] == [
        (m.kind, m.ref, m.text, m.form, m.chief) for m in expected
    ]
    for mark, other in zip(shown, expected, strict=True):
        np.testing.assert_allclose(mark.place, other.place, atol=1e-9)
        np.testing.assert_allclose(mark.direction, other.direction, atol=1e-9)
        assert mark.share == pytest.approx(other.share, abs=1e-9)


def hover(view, index):
    """The pointer moves onto a row."""
    viewport, place = view.viewport(), QPointF(view.visualRect(index).center())
    none = Qt.MouseButton.NoButton
    event = QMouseEvent(
        QEvent.Type.MouseMove, place, viewport.mapToGlobal(place), none, none, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(viewport, event)
    settle()


def leave(view):
    QApplication.sendEvent(view.viewport(), QEvent(QEvent.Type.Leave))
    settle()


def test_off_at_first_and_remembered(bench):
    bench.example("four_bar")
    assert not bench.window.mobility.is_on
    assert figures(bench).marks == ()
    action = bench.window.command_actions()["view.show_mobility"]
    assert not action.isChecked()
    button = next(each for each in bench.view.overlay._buttons if each is not None and each.defaultAction() is action)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert pump(lambda: bool(figures(bench).marks))
    assert action.isChecked()
    assert bench.window.settings.view_flag("mobility")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert figures(bench).marks == ()
    assert not bench.window.mobility_legend.isVisible()


def test_the_marks_are_the_kernels_at_the_pose_shown(bench, layer):
    same_marks(figures(bench).marks, fresh(bench.session).marks)
    assert not figures(bench).old
    assert [line.text for line in bench.window.mobility_legend.shown] == [
        "1 degree of freedom",
        "3 redundant constraints",
    ]


def test_while_a_joint_is_dragged_the_marks_follow_and_end_as_a_fresh_call(bench, layer):
    """Dragged by its ring through several poses: each time the hand rests the marks are those of the pose."""
    session, view = bench.session, bench.view
    session.select(ElementRef("joints", "crank_pin"))
    bench.draw()
    (part,) = [part for part in view.scene.handles.visible_parts if part.joint == "crank_pin"]
    spot = view.scene.handles.part_position(part)
    center = np.array(view.scene.project(spot.centre)) / view.devicePixelRatioF()
    angles = np.linspace(0.3, 1.6, 9)
    points = [center + 64.0 * np.array([np.cos(a), -np.sin(a)]) for a in angles]
    start = _on_ring(view, part, center)
    bench.press(*start)
    seen = []
    for point in points:
        before = np.array(session.q)
        bench.move(*point)
        if np.array_equal(before, session.q):
            continue
        assert session.has_preview
        assert pump(lambda: layer.is_up_to_date)
        same_marks(figures(bench).marks, fresh(session).marks)
        assert not figures(bench).old
        seen.append(tuple(session.q))
    bench.release(*points[-1])
    assert len(set(seen)) > 3


def _on_ring(view, part, center):
    """A pixel on the ring of a part."""
    for radius in range(20, 80, 2):
        for angle in np.linspace(0.0, 2.0 * np.pi, 72):
            point = center + radius * np.array([np.cos(angle), np.sin(angle)])
            if view.handle_under(view.to_pointer(QPointF(*point))) == part:
                return point
    raise AssertionError("no ring")


def test_marks_of_a_pose_that_is_gone_fade_until_the_next_are_known(bench, layer, monkeypatch):
    held = []
    make = MobilityMarker.at

    def slow(self, q):
        while held:
            time.sleep(0.005)
        return make(self, q)

    monkeypatch.setattr(MobilityMarker, "at", slow)
    held.append(True)
    session = bench.session
    before = figures(bench).marks
    for value in (1.2, 1.3, 1.4):
        session.preview_coordinates({"crank_pin": value})
        settle()
        assert figures(bench).old
        assert figures(bench).marks == before
    held.clear()
    assert pump(lambda: layer.is_up_to_date)
    assert not figures(bench).old
    same_marks(figures(bench).marks, fresh(session).marks)
    session.cancel_preview()


def test_an_answer_about_another_machine_is_dropped(bench, layer, monkeypatch):
    held = [True]
    make = MobilityMarker.at

    def slow(self, q):
        while held:
            time.sleep(0.005)
        return make(self, q)

    monkeypatch.setattr(MobilityMarker, "at", slow)
    bench.session.preview_coordinates({"crank_pin": 1.2})
    bench.example("pendulum")
    assert figures(bench).marks == ()
    held.clear()
    assert pump(lambda: layer.is_up_to_date)
    names = {mark.ref[1] for mark in figures(bench).marks}
    assert names <= {*bench.session.mech.joint_names, *bench.session.mech.frame_names}
    assert names


@pytest.mark.parametrize("name", ["stewart", *slow("engine_v6")])
def test_the_windows_thread_has_little_work_with_the_marks(bench, name):
    """Processor time of the window's thread for each step of a movement, which other work on the machine leaves as it
    is; the marks themselves take a tenth of a second."""
    bench.example(name)
    session = bench.session
    moved = session.mech.q_names[session.mech.joint_q("leg1.slide" if name == "stewart" else "shaft").start]
    without = _steps(session, moved)
    bench.window.run_command("view.show_mobility")
    assert pump(lambda: bench.window.mobility.is_up_to_date)
    beside = _steps(session, moved)
    session.cancel_preview()
    assert np.median(beside) - np.median(without) < LONGEST_WAIT
    assert pump(lambda: bench.window.mobility.is_up_to_date)


def _steps(session, name):
    """Processor seconds of this thread for each of forty steps of a coordinate."""
    start = float(session.q[session.mech.q_names.index(name)])
    found = []
    for k in range(40):
        begun = time.thread_time()
        session.preview_coordinates({name: start + 0.002 * k})
        settle()
        found.append(time.thread_time() - begun)
        time.sleep(0.005)
    return found


def test_the_window_never_waits_for_marks_and_only_the_newest_pose_is_asked_for(bench, layer, monkeypatch):
    """While the thread is held up the pose moves on; then one call, that of the last pose, brings all up to date."""
    asked, held = [], [True]
    make = MobilityMarker.at

    def slow(self, q):
        asked.append(q.copy())
        while held:
            time.sleep(0.005)
        return make(self, q)

    monkeypatch.setattr(MobilityMarker, "at", slow)
    session = bench.session
    session.preview_coordinates({"crank_pin": 1.0})
    assert pump(lambda: len(asked) == 1)  # the thread is held up from here on
    for k in range(30):
        session.preview_coordinates({"crank_pin": 1.0 + 0.01 * k})
        settle()
        assert session.mech.coordinate(session.q, "crank_pin")[0] == pytest.approx(1.0 + 0.01 * k)
    assert len(asked) == 1
    held.clear()
    assert pump(lambda: layer.is_up_to_date)
    assert len(asked) == 2
    np.testing.assert_array_equal(asked[-1], session.q)
    session.cancel_preview()


def test_a_selected_body_shows_the_screw_of_its_own_motion(bench, layer):
    drawn = figures(bench)
    count = len(drawn._figures)
    bench.session.select(ElementRef("bodies", "coupler"))
    assert pump(lambda: layer.is_up_to_date)
    assert len(drawn._figures) == count + 1
    assert "free: coupler turns" in "\n".join(actor.GetInput() for actor, _ in drawn._labels)


def test_words_are_few_until_a_component_is_looked_at(bench, layer):
    def words():
        return [actor.GetInput() for actor, mark in figures(bench)._labels if mark.kind == "redundant"]

    assert words() == ["moving_pin_b: 3 redundant"]
    bench.session.set_hovered_element(ElementRef("joints", "moving_pin_b"))
    assert words()[0].split("\n")[1:] == [item.component for item in layer.diagnosis.mobility.redundant]


def test_a_row_of_the_mobility_result_lights_up_its_components(bench, layer):
    session = bench.session
    session.produced.emit(call("mobility", session.context()))
    bench.window.docks.show_panel("output")
    card = bench.window.output.cards[-1]
    assert pump(lambda: card.is_complete)
    settle()
    tables = {part._table.title: part.view for part in card.findChildren(TablePart)}
    view = tables["Redundant constraints"]
    index = view.model().index(0, 0)
    refs = (
        ElementRef("joints", "moving_pin_b"),
        *(ElementRef("joints", n) for n in ("crank_pin", "moving_pin_a", "rocker_pin")),
    )
    hover(view, index)
    assert set(session.pointed_out_refs) == set(refs)
    assert bench.view.scene.referenced_elements == session.pointed_out_refs
    leave(view)
    assert session.pointed_out_refs == ()
    assert bench.view.scene.referenced_elements == ()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center())
    assert session.selection == ElementRef("joints", "moving_pin_b")
    leave(view)
    assert set(session.pointed_out_refs) == set(refs)
    session.select(None)
    assert session.pointed_out_refs == ()
    moving = tables["Free motions"]
    hover(moving, moving.model().index(0, 0))
    assert session.pointed_out_refs == (ElementRef("joints", "crank_pin"),)


def test_a_finding_lights_up_all_components_concerned(bench, layer):
    window, session = bench.window, bench.session
    window.docks.show_panel("findings")
    assert pump(lambda: window.findings.mobility.mobility_of(session.model) is not None)
    settle()
    view = window.findings.list
    hover(view, _row(view, "already fixed by"))
    assert set(session.pointed_out_refs) == {
        ElementRef("joints", name) for name in ("moving_pin_b", "crank_pin", "moving_pin_a", "rocker_pin")
    }
    place = view.visualRect(_row(view, "already fixed by")).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.selection == ElementRef("joints", "moving_pin_b")


def _row(view, words):
    """The cell of the finding that says these words."""
    (found,) = view.findItems(words, Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive, 1)
    return view.indexFromItem(found, 1)


def test_a_line_of_the_legend_points_to_its_components(bench, layer):
    legend = bench.window.mobility_legend
    row = next(widget for widget in legend._widgets if "redundant" in widget.label.text())
    middle = QPointF(row.rect().center())
    QApplication.sendEvent(row, QEnterEvent(middle, middle, QPointF(row.mapToGlobal(QPoint(2, 2)))))
    assert bench.session.pointed_out_refs == (ElementRef("joints", "moving_pin_b"),)
    QTest.mouseClick(row, Qt.MouseButton.LeftButton)
    assert bench.session.selection == ElementRef("joints", "moving_pin_b")


def test_pitches_are_said_in_the_persons_units(bench):
    bench.example("bricard")
    bench.window.run_command("view.show_mobility")
    bench.session.select(ElementRef("bodies", "rod2"))
    assert pump(lambda: bench.window.mobility.is_up_to_date)
    mark = next(m for m in figures(bench).marks if m.ref == ("bodies", "rod2"))
    settings = bench.window.settings
    for millimetres in (True, False):
        settings.millimetres = millimetres
        said = settings.format_value(2.0 * np.pi * mark.pitch, "length").replace("\u202f", " ")
        assert any(said in actor.GetInput() for actor, _ in figures(bench)._labels), said


def test_pictures_show_the_marks(bench, layer, drawn):
    """Twice the picture, once with the marks: only then there is their red."""
    with_marks = _red(bench.view.grab_picture())
    bench.window.run_command("view.show_mobility")
    assert with_marks > _red(bench.view.grab_picture()) + 20


def _red(image):
    """How many pixels are as red as redundancies are."""
    shown = image.convertToFormat(QImage.Format.Format_RGB888)
    pixels = np.frombuffer(shown.constBits(), np.uint8).reshape(shown.height(), shown.bytesPerLine())
    rgb = pixels[:, : 3 * shown.width()].reshape(shown.height(), shown.width(), 3).astype(int)
    return int(((rgb[..., 0] > 170) & (rgb[..., 1] < 90) & (rgb[..., 2] < 90)).sum())
