"""The response to torques in the function panel: fields for symbols without value, runs, plots with proportions."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from resources import examples
from viz.camera import contains_box


@pytest.fixture
def form(bench):
    bench.example("one_link")
    return chosen(bench)


def chosen(bench):
    """The form of the function, with its defaults (options are remembered from the last use)."""
    bench.window.panels.open_function("response")
    form = bench.window.functions.form
    form.reset()
    return form


def fields(form):
    editor = form.editors["values"]
    return {label.text(): edit for label, edit in zip(labels(editor), editor._edits.values(), strict=True)}


def labels(editor):
    return [editor._grid.itemAtPosition(row, 0).widget() for row in range(len(editor._edits))]


def typed(edit, text):
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def test_torque_file_symbols_get_fields_and_the_response_is_a_run(bench, form):
    assert fields(form) == {}
    chooser = form.editors["torques"]
    chooser.menu.aboutToShow.emit()
    offered = {action.text(): action for action in chooser.menu.actions()}
    offered["sine_tracker.tau"].trigger()
    assert list(fields(form)) == ["k1", "k2"]
    assert fields(form)["k1"].placeholderText() == "required"
    QTest.mouseClick(form.run_button, Qt.MouseButton.LeftButton)
    told = bench.window.messages
    bench.wait(
        lambda: (
            not bench.window.jobs.unfinished_jobs
            and "k1, k2" in " ".join(label.text() for label in told.findChildren(QLabel))
        ),
        60.0,
    )
    typed(fields(form)["k1"], "400")
    typed(fields(form)["k2"], "40")
    typed(form.editors["initial"]._edits["joint1"], "1 rad")
    QTest.mouseClick(form.run_button, Qt.MouseButton.LeftButton)
    bench.wait(lambda: not bench.window.jobs.unfinished_jobs and bench.session.runs.current is not None, 60.0)
    run = bench.session.runs.current.run
    expected = 3 * np.sin(run.time) - (-1.0 - 17.0 * run.time) * np.exp(-20.0 * run.time)
    np.testing.assert_allclose(run["joint1.q"], expected, atol=1e-7)
    assert bench.window.docks.panels["output"].cards[-1].result.title == "Response"
    assert not told.isVisible()  # what was missing has been given


def test_a_robot_that_grew_by_its_values_is_seen_whole(bench):
    bench.example("two_link")
    form = chosen(bench)
    typed(fields(form)["a1"], "8")
    QTest.mouseClick(form.run_button, Qt.MouseButton.LeftButton)
    bench.wait(lambda: not bench.window.jobs.unfinished_jobs and bench.session.runs.current is not None, 60.0)
    scene = bench.view.scene
    assert scene.bounds()[1] > 9.0
    assert contains_box(bench.view.viewpoint.target_view, scene.size, scene.bounds())


def test_parameters_that_are_only_assumed_have_fields_too(bench):
    bench.example("two_link")
    form = chosen(bench)
    shown = fields(form)
    assert list(shown) == ["a1", "a2", "g", "m1", "I1", "m2", "I2"]
    assert shown["a1"].placeholderText() == "default 1"
    typed(shown["a1"], "3")
    assert form.options()["values"] == {"a1": 3.0}


@pytest.mark.parametrize("aspect", [0.5, 2.0])
def test_simplot_keeps_the_height_over_width(bench, aspect):
    from core.robotica.robotica_session import Session
    from core.robotica.workspace import ScriptHost

    bench.example("two_link")
    path = next(example.path for example in examples() if example.name == "two_link")
    session = Session(ScriptHost(str(path)))
    session.run("Response[{0, 1}, {q1[0] == 0.3}];")
    (result,) = session.run(f"SimPlot[q1, {{q2}}, {{{aspect}}}]")
    bench.session.produced.emit(result)
    chart = bench.window.plots.charts[-1]
    bench.wait(lambda: chart.box.width() > 20 and abs(chart.box.height() / chart.box.width() - aspect) < 0.03)
    bench.window.resize(bench.window.width() - 160, bench.window.height() - 60)
    bench.wait(lambda: abs(chart.box.height() / chart.box.width() - aspect) < 0.03)


def test_simplot_prints_its_plot_where_files_are_written(bench, tmp_path):
    from PySide6.QtGui import QImage

    from core.robotica.robotica_session import Session
    from core.robotica.workspace import ScriptHost

    bench.example("two_link")
    session = Session(ScriptHost(str(next(example.path for example in examples() if example.name == "two_link"))))
    session.state.folder, session.state.place = str(tmp_path / "read"), str(tmp_path)
    session.run("Response[{0, 1}, {q1[0] == 0.3}];")
    (result,) = session.run("SimPlot[t, {q1, q2}, {mprint}]")
    plots = len(bench.window.plots.sheet.plots)
    bench.session.produced.emit(result)
    assert QImage(str(tmp_path / "msimplot.png")).width() > 600
    assert len(bench.window.plots.sheet.plots) == plots + 1
