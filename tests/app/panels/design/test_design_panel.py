"""The panel Design: search by a formula, try, apply, stop; a curve drawn by the mouse becomes a linkage."""

import threading

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from app.document.session import Session
from app.panels.design.machine_page import CURVE, FUNCTION, MOTION
from app.panels.design.panel import DesignPanel
from app.panels.design.search import ParameterSearchResult
from core.files import load
from resources import EXAMPLES


@pytest.fixture
def panel(qtbot, jobs):
    made = DesignPanel(Session(load(EXAMPLES / "four_bar.kst")), jobs)
    qtbot.addWidget(made)
    made.resize(1100, 320)
    made.show()
    yield made
    made.close()


def ask(panel, formula, *parameters):
    page = panel.machine_page
    page.vary.check_rows(*parameters)
    page.minimise.setText(formula)
    page.along.setCurrentIndex(page.along.findData("crank_pin"))


def ended(panel, qtbot):
    qtbot.waitUntil(lambda: panel.search_button.isEnabled())


def test_a_formula_is_made_least_tried_and_applied_as_one_step(panel, qtbot):
    session = panel._session
    before = session.model
    ask(panel, "rms(coupler_point.position.z - 0.35)", "a", "d")
    panel.machine_page.starts.setText("2")
    panel.start_search()
    ended(panel, qtbot)
    best = panel.found.best
    assert session.model is before
    assert not session.has_preview
    assert panel.results.item(0, 2).text() == f"{best.value:.6g}"
    panel.try_button.click()
    assert session.p["a"] == pytest.approx(best.parameters["a"])
    panel.try_button.click()
    assert session.p["a"] == pytest.approx(0.1)
    panel.apply_button.click()
    assert session.model.values()["a"] == best.parameters["a"]
    assert panel.machine_page.vary.item(0, 1).text() == f"{best.parameters['a']:.6g} m"
    session.undo()
    assert session.model.values() == before.values()


def test_what_is_wrong_is_said_and_nothing_begins(panel, qtbot):
    ask(panel, "rms(couplr_point.position.z)", "a")
    panel.start_search()
    ended(panel, qtbot)
    assert "coupler_point" in panel.note.text()
    ask(panel, "", "a")
    panel.start_search()
    ended(panel, qtbot)
    assert "formula is empty" in panel.note.text()
    panel.machine_page.vary.item(0, 2).setText("0.2")
    ask(panel, "a", "a")
    panel.start_search()
    assert "is not below the upper bound" in panel.note.text()


def test_a_search_is_paused_and_stopped_with_the_best(panel, qtbot):
    ask(panel, "rms(coupler_point.position.z - 0.35)", "a", "b", "c", "d")
    panel.machine_page.starts.setText("1000")
    panel.start_search()
    panel.pause_button.click()
    qtbot.wait(300)
    assert not panel.search_button.isEnabled()
    panel.pause_button.click()
    qtbot.waitUntil(lambda: bool(panel.chart.values))
    panel.stop_button.click()
    ended(panel, qtbot)
    assert panel.found is not None
    assert np.isfinite(panel.found.best.value)


def test_a_drawn_curve_becomes_a_linkage(panel, qtbot):
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    canvas = panel.canvas
    middle = canvas.rect().center()
    angles = np.linspace(0.0, 2.0 * np.pi, 40)
    spots = [middle + QPoint(int(70 * np.cos(a)), int(40 * np.sin(a))) for a in angles]
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=spots[0])
    for spot in spots:
        qtbot.mouseMove(canvas, spot)
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=spots[-1])
    assert len(canvas.target) >= 20
    panel.start_search()
    ended(panel, qtbot)
    best = panel.linkages[0]
    assert best.relative < 0.02
    session = panel._session
    panel.apply_button.click()
    assert session.model.name == "Four-bar linkage"
    assert session.mech.frame(session.q, "curve_point")[[0, 2], 3] == pytest.approx(best.curve(2)[0], abs=1e-6)
    session.undo()
    assert session.model.name == "Four-bar linkage"
    assert session.model.parameters[0].description == "Crank"


def test_points_are_read_from_a_file_and_bad_ones_named(panel, tmp_path):
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    good, bad = tmp_path / "curve.csv", tmp_path / "bad.csv"
    good.write_text("0,0\n0.1,0\n0.1,0.1\n")
    bad.write_text("0,0\n0.1,x\n")
    panel.curve.read_points(good)
    assert panel.canvas.target.tolist() == [[0, 0], [0.1, 0], [0.1, 0.1]]
    panel.curve.read_points(bad)
    assert "line 2" in panel.note.text()
    for kind, read in ((CURVE, panel.curve.read_points), (FUNCTION, panel.machine_page.read_rows)):
        panel.kind.setCurrentIndex(panel.kind.findData(kind))
        read(tmp_path / "nothing.csv")
        assert "nothing.csv" in panel.note.text()
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    panel.start_search()


def test_designs_are_saved_with_the_document_and_come_back(panel):
    session = panel._session
    ask(panel, "rms(coupler_point.position.z - 0.35)", "a", "d")
    panel.machine_page.vary.item(0, 2).setText("0.08")
    panel.machine_page.require.setText("a + b < 1; c < 2")
    panel.saved.names.setEditText("high")
    panel.saved.save_button.click()
    aim = session.model.designs[0]
    assert aim.name == "high"
    assert aim.coordinate == "crank_pin"
    assert [row.parameter for row in aim.vary] == ["a", "d"]
    assert [row.formula for row in aim.require] == ["a + b < 1", "c < 2"]
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    panel.curve.take_points("0 0\n0.1 0\n0.1 0.1", ".csv", "points")
    panel.saved.names.setEditText("corner")
    panel.saved.save_button.click()
    assert [each.name for each in session.model.designs] == ["high", "corner"]
    panel.curve.clear()
    panel.saved.names.setCurrentText("corner")
    panel.saved.load_design()
    np.testing.assert_allclose(panel.canvas.target, [[0, 0], [0.1, 0], [0.1, 0.1]])
    panel.saved.names.setCurrentText("high")
    panel.saved.load_design()
    assert panel.kind.currentData() != CURVE
    assert panel.machine_page.minimise.text() == "rms(coupler_point.position.z - 0.35)"
    assert panel.machine_page.vary.item(0, 2).text() == "0.08"
    session.undo()
    session.undo()
    assert not session.model.designs


@pytest.mark.slow
def test_a_function_is_pasted_in_degrees_searched_saved_and_comes_back(panel, qtbot):
    page = panel.machine_page
    panel.kind.setCurrentIndex(panel.kind.findData(FUNCTION))
    page.vary.check_rows("a", "c")
    page.driven.setCurrentIndex(page.driven.findData("crank_pin"))
    page.output.setText("rocker_pin.q")
    mech, parameters = panel._session.mech, {"a": 0.12, "c": 0.28}
    angles = np.arange(0.0, 331.0, 30.0)
    q = mech.rest(parameters)
    lines = ["crank [deg]\trocker [deg]"]
    for angle in angles:
        q = mech.move(q, {"crank_pin": np.radians(angle)}, p=parameters, exact=True)
        lines.append(f"{angle}\t{np.degrees(q[mech.q_names.index('rocker_pin')]):.12g}")
    page.take_rows("\n".join(lines), "clipboard")
    assert len(panel.picture.wanted) == len(angles)
    panel.start_search()
    ended(panel, qtbot)
    assert dict(panel.found.best.parameters) == pytest.approx(parameters, abs=1e-6)
    np.testing.assert_allclose(panel.picture.found, panel.picture.wanted, atol=1e-5)
    assert "rad deviation (rms)" in panel.note.text()
    panel.saved.names.setEditText("ratio")
    panel.saved.save_button.click()
    aim = panel._session.model.designs[0]
    assert (aim.kind, aim.output, len(aim.function)) == ("function", "rocker_pin.q", len(angles))
    assert aim.function[1].x == pytest.approx(np.radians(30.0), abs=1e-12)
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    panel.saved.load_design()
    assert panel.kind.currentData() == FUNCTION
    assert [row[0] for row in page.points.read_rows({})] == pytest.approx(np.radians(angles), abs=1e-7)


def test_poses_that_cannot_be_read_are_named(panel, qtbot):
    page = panel.machine_page
    panel.kind.setCurrentIndex(panel.kind.findData(MOTION))
    page.vary.check_rows("a")
    page.take_rows("0 0.1 0.2", "clipboard")
    assert "clipboard, line 1" in panel.note.text()
    page.take_rows("x u v angle\n0 0.1 0.2 10", "clipboard")
    page.poses.item(0, 3).setText("10 kg")
    panel.start_search()
    assert "Poses, row 1, angle" in panel.note.text()
    page.poses.item(0, 3).setText("")
    panel.start_search()
    assert "A number is missing" in panel.note.text()
    page.vary.item(0, 2).setText("5 kg")
    panel.start_search()
    assert "row 'a', From" in panel.note.text()


def test_a_saved_curve_keeps_its_working_plane(panel):
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    panel.curve.take_points("0 0\n0.1 0\n0.1 0.1", ".csv", "points")
    X = np.array([[0.0, 0.0, 1.0, 0.2], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.1], [0.0, 0.0, 0.0, 1.0]])
    panel.in_view.X_WD = X
    panel.saved.names.setEditText("side")
    panel.saved.save_button.click()
    panel.curve.clear()
    panel.saved.names.setCurrentText("side")
    panel.saved.load_design()
    np.testing.assert_allclose(panel.in_view.X_WD, X, atol=1e-9)


def test_stop_before_anything_is_found_waits_for_nothing(panel, qtbot, monkeypatch):
    """What a search prepares may take as long as it likes: the panel is free, and what comes of it later is dropped."""
    go_on, begun = threading.Event(), threading.Event()

    def slow(*_):
        def work(progress, cancelled):
            begun.set()
            go_on.wait(30.0)
            return ParameterSearchResult(None, {})

        return work

    monkeypatch.setattr("app.panels.design.panel.parameter_search_work", slow)
    ask(panel, "rms(coupler_point.position.z - 0.35)", "a")
    panel.start_search()
    qtbot.waitUntil(begun.is_set)
    panel.stop_button.click()
    ended(panel, qtbot)
    assert not go_on.is_set()
    assert "before a solution was found" in panel.note.text()
    go_on.set()
    qtbot.waitUntil(lambda: not panel.searching._jobs.unfinished_jobs)
    assert panel.found is None
    assert panel.search_button.isEnabled()


def test_stop_while_a_further_linkage_is_prepared_keeps_what_was_found(panel, qtbot, monkeypatch):
    from core.design.path_synthesis import SynthesisProgress, synthesise
    from core.design.target_curves import target

    angles = 2.0 * np.pi * np.arange(24) / 24
    points = np.column_stack([0.1 * np.cos(angles), 0.2 + 0.06 * np.sin(angles)])
    first, *others = synthesise(target(points), "slider_crank", starts=4, count=2)
    go_on = threading.Event()

    def slow(*_):
        def work(progress, cancelled):
            progress.show(SynthesisProgress("watt", 0.1, first, tuple(others)))
            go_on.wait(30.0)
            return (first,)

        return work

    monkeypatch.setattr("app.panels.design.panel.linkage_search_work", slow)
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    panel.curve.show_target(points)
    panel.start_search()
    qtbot.waitUntil(lambda: panel.searching.has_found)
    panel.stop_button.click()
    ended(panel, qtbot)
    assert not go_on.is_set()
    assert panel.linkages == (first, *others)
    go_on.set()
    qtbot.waitUntil(lambda: not panel.searching._jobs.unfinished_jobs)
    assert panel.linkages == (first, *others)


def opened(panel, name):
    """Open an example in the panel's session."""
    assert panel._session.start_document(load(EXAMPLES / f"{name}.kst"))


def test_the_curve_of_an_example_is_shown_at_once_and_searched_for(panel, qtbot):
    opened(panel, "four_bar_for_a_curve")
    assert panel.kind.currentData() == CURVE
    assert panel.saved.names.currentText() == "stroke"
    assert panel.canvas.target.shape == (28, 2)
    panel.start_search()
    ended(panel, qtbot)
    assert panel.linkages[0].error < 0.45e-3
    panel.apply_button.click()
    assert len(panel.canvas.target) == 28  # the document is the same
    opened(panel, "four_bar")
    assert panel.saved.names.currentText() == ""
    assert not len(panel.canvas.target)


@pytest.mark.slow
def test_the_spring_of_an_example_is_tuned_from_the_panel(panel, qtbot):
    opened(panel, "governor_arm")
    assert panel.saved.names.currentText() == "period"
    assert panel.machine_page.minimise.text() == "(mode[1].period - 1)^2"
    panel.start_search()
    ended(panel, qtbot)
    assert panel.found.best.parameters["k"] == pytest.approx(0.12 * (2.0 * np.pi) ** 2 - 1.1, rel=1e-4)
    panel.saved.show_design("wide_swings")
    panel.start_search()
    ended(panel, qtbot)
    assert panel.found.best.parameters["k"] == pytest.approx(3.7218, rel=1e-4)


def test_who_does_not_look_sees_no_design(panel):
    panel.hide()
    opened(panel, "four_bar_for_a_curve")
    assert not len(panel.canvas.target)
    panel.show()
    assert len(panel.canvas.target) == 28


@pytest.mark.slow
def test_a_search_waits_while_the_window_shows_what_it_found(panel, qtbot):
    """No evaluation runs between the moment at which the search waits and the end of the preview."""
    ask(panel, "rms(coupler_point.position.z - 0.35)", "a", "b", "c", "d")
    panel.machine_page.starts.setText("1000")
    waiting = []
    preview = panel._session.preview
    panel._session.preview = lambda **what: (waiting.append(panel.searching.waits.is_set()), preview(**what))
    panel.start_search()
    qtbot.waitUntil(lambda: len(waiting) >= 3)
    panel.stop_button.click()
    ended(panel, qtbot)
    assert all(waiting)
    assert panel.found is not None
