"""Plots: what is chosen is drawn, in the person's units; cursors, several runs, growth, exports."""

import csv
import dataclasses
import io
import threading
from math import degrees

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage, QPainter, qGray
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from scipy.ndimage import gaussian_filter

from app.plotting import channels, export
from app.plotting.chart import clip_line
from app.plotting.curves import Plot, PlotSheet, build_curves
from app.plotting.dragged_channels import CHANNELS
from app.plotting.series import PlotColumns, compute_column, get_scalar_names, is_extension_of
from app.preferences.theme import LIGHT
from app.widgets.label import LEGIBLE
from core.simulation import simulate
from core.simulation.run.resampling import equilibrium_run
from core.simulation.run.run import select_samples

AMPLITUDE, RATE = 0.7, 3.0


def motion(mech, end=2.0, samples=201, amplitude=AMPLITUDE):
    """A run in which every joint swings as amplitude · sin(RATE · t); nothing is integrated."""
    t = np.linspace(0.0, end, samples)
    ones = np.ones(mech.nv)
    q = amplitude * np.outer(np.sin(RATE * t), ones)
    v = amplitude * RATE * np.outer(np.cos(RATE * t), ones)
    a = -amplitude * RATE**2 * np.outer(np.sin(RATE * t), ones)
    tau = mech.inverse_dynamics(q, v, a)
    still = equilibrium_run(mech, q[0])
    return dataclasses.replace(still, time=t, q=q, v=v, a=a, tau=tau, x=np.zeros((samples, mech.nx)))


@pytest.fixture
def plots(bench):
    """The panel in front, with the two-link arm open."""
    bench.example("two_link")
    bench.window.docks.show_panel("plots")
    panel = bench.window.plots
    bench.wait(panel.isVisible)
    panel.show_sheet(PlotSheet())
    panel.picker.search.clear()
    panel.fit_axes()
    return panel


def shown(plots):
    """Wait until everything is drawn."""
    plots.refresh()
    QApplication.processEvents()
    return plots.charts


def exported(bench, path):
    """Wait until the plots are in a file."""
    bench.window.plots.export(path)
    bench.wait(lambda: not bench.window.jobs.unfinished_jobs)
    return path.is_file()


def joints(plots):
    return plots.session.mech.q_names


# ------------------------------------------------------------------------------- choosing


def test_without_a_run_the_panel_says_what_it_is_for(plots):
    assert "Simulate" in plots.empty._words.text()
    assert not plots.empty.buttons


@pytest.mark.parametrize("width", [1000, 1500])
def test_proposals_stay_inside_the_panel_however_narrow(bench, plots, width):
    bench.window.resize(width, 700)
    plots.runs.add(motion(plots.session.mech))
    shown(plots)
    empty = plots.empty
    bench.wait(lambda: empty.buttons and all(button.width() > 60 for button in empty.buttons))
    assert len(empty.buttons) > 2
    for button in empty.buttons:
        assert button.isVisible()
        left = button.mapTo(empty, button.rect().topLeft()).x()
        assert 0 <= left <= left + button.width() <= empty.width()


def test_an_empty_plot_says_how_it_is_filled_until_it_is(plots):
    plots.runs.add(motion(plots.session.mech))
    plots.add_plot()
    (chart,) = shown(plots)
    assert chart.hint.isVisible()
    assert chart.hint.height() >= chart.hint.heightForWidth(chart.hint.width())
    plots.add([f"{joints(plots)[0]}.q"])
    assert not chart.hint.isVisible()
    plots.charts[0].removed.emit(f"{joints(plots)[0]}.q")
    assert chart.hint.isVisible()


def test_charts_stay_with_their_plots_when_one_goes_and_comes_back(bench, plots):
    plots.runs.add(motion(plots.session.mech))
    names = [f"{joint}.{word}" for joint in joints(plots) for word in ("q", "v")][:3]
    for name in names:
        plots.add_plot(Plot((name,)))
    first, second, third = plots.charts
    lines = [dict(chart._lines) for chart in (first, third)]
    plots.remove_plot(1)
    assert plots.charts == [first, third]
    assert [chart._lines for chart in plots.charts] == lines
    bench.session.undo()
    assert [plots.area.widget(k) for k in range(3)] == plots.charts
    assert plots.charts[::2] == [first, third]
    assert plots.charts[1] is not second
    assert [chart.plot.channels for chart in plots.charts] == [(name,) for name in names]
    plots.charts[2].activated.emit()
    assert plots.sheet.active == 2
    bench.session.redo()
    plots.charts[1].dropped.emit([names[0]])
    assert plots.sheet.plots[1].channels == (names[2], names[0])
    plots.charts[1].removed.emit(names[2])
    assert [plot.channels for plot in plots.sheet.plots] == [(names[0],), (names[0],)]


def test_values_of_a_legend_are_whole_and_names_legible_however_narrow_it_is(bench, plots):
    plots.runs.add(motion(plots.session.mech))
    plots.runs.add(motion(plots.session.mech, amplitude=0.4))
    tool = plots.session.mech.frame_names[-1]
    plots.add([f"{joints(plots)[0]}.q", f"{tool}.velocity"])
    (chart,) = shown(plots)
    for width in (1000, 1120, 1560):
        bench.window.resize(width, 760)
        QApplication.processEvents()
        plots.runs.seek(0.37)
        bench.wait(lambda: all(row.value.width() >= row.value.sizeHint().width() for row in chart.legend.rows))
        assert len(chart.legend.rows) == 8
        for row in chart.legend.rows:
            assert row.value.geometry().right() <= row.width()
            assert row.width() <= chart.legend.viewport().width()
            metrics = row.name.fontMetrics()
            least = min(metrics.horizontalAdvance(row.curve.label), metrics.horizontalAdvance(LEGIBLE))
            assert row.name.width() >= least
        assert chart.rect().contains(chart.legend.geometry())
        assert not chart.legend.geometry().intersects(chart.view.geometry())


def test_long_names_stand_whole_in_the_legend_of_a_wide_plot(bench, plots):
    bench.window.resize(1600, 760)
    QApplication.processEvents()
    plots.runs.add(motion(plots.session.mech))
    plots.add([f"{joints(plots)[0]}.reaction.force"])
    (chart,) = shown(plots)
    bench.wait(lambda: chart.width() > 700)
    (row,) = chart.legend.rows
    bench.wait(lambda: row.name.elided_text == f"{joints(plots)[0]}.reaction.force")


def test_names_of_lanes_have_the_room_that_their_words_leave(bench):
    """Modes are words, and no wider than the widest of them."""
    bench.example("belt_oscillator")
    bench.session.runs.add(simulate(bench.session.mech, 1.0))
    bench.window.docks.show_panel("plots")
    bench.window.plots.add(["rub.friction.mode"])
    (chart,) = shown(bench.window.plots)
    bench.window.resize(1440, 900)
    (row,) = chart.legend.rows
    bench.wait(lambda: row.name.elided_text == "rub.friction.mode")
    bench.session.runs.seek(0.6)
    bench.wait(lambda: row.value.text() == "slide-")
    assert row.value.width() >= row.value.sizeHint().width()


def test_a_proposal_draws_its_channels(bench, plots):
    plots.runs.add(motion(plots.session.mech))
    shown(plots)
    button = plots.empty.buttons[0]
    assert button.text() == "Joint coordinates"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    (chart,) = shown(plots)
    assert [curve.label for curve in chart.curves] == [f"{name}.q" for name in joints(plots)]
    for curve in chart.curves:
        assert curve.unit == "°"
        assert curve.y == pytest.approx(np.degrees(AMPLITUDE * np.sin(RATE * curve.times)), abs=1e-9)


def test_what_is_checked_in_the_tree_is_drawn_and_unchecked_taken_away(bench, plots):
    plots.runs.add(motion(plots.session.mech))
    shown(plots)
    plots.picker.search.setText(f"{joints(plots)[1]} speed")
    wanted = f"{joints(plots)[1]}.v"
    row = next(item for item in plots.picker._all_items() if item.data(0, Qt.ItemDataRole.UserRole) == wanted)
    assert not row.isHidden()
    other = next(i for i in plots.picker._all_items() if i.data(0, Qt.ItemDataRole.UserRole) == f"{joints(plots)[0]}.v")
    assert other.isHidden()
    row.setCheckState(0, Qt.CheckState.Checked)
    assert plots.sheet.active_plot.channels == (wanted,)
    row.setCheckState(0, Qt.CheckState.Unchecked)
    assert plots.sheet.active_plot.channels == ()


def test_a_channel_of_several_components_becomes_one_curve_each(plots):
    run = motion(plots.session.mech)
    plots.runs.add(run)
    tool = plots.session.mech.frame_names[-1]
    plots.add([f"{tool}.position"])
    (chart,) = shown(plots)
    assert [curve.label for curve in chart.curves] == [f"{tool}.position.{axis}" for axis in "xyz"]
    for k, curve in enumerate(chart.curves):
        assert curve.y == pytest.approx(run.mech.frame(run.q, tool)[:, k, 3])


def test_a_formula_without_a_number_at_any_time_says_where_it_breaks(plots):
    """Nothing can be drawn: plot and legend say it, with the first time and the part that has no number."""
    plots.runs.add(motion(plots.session.mech))
    plots.add(["2*log(joint1.q - 5)"])
    chart = shown(plots)[0]
    bench_words = "'2*log(joint1.q - 5)' has no finite value at any time of the run: at t = 0 s"
    assert chart.hint.isVisible()
    assert chart.hint.text().startswith(bench_words)
    assert "log(joint1.q - 5) is undefined, with joint1.q = 0." in chart.hint.text()
    assert chart.legend.rows[0].value.text() == "no number"
    assert "joint1.q = 0" in chart.legend.rows[0].toolTip()
    plots.add(["joint1.q"])
    chart = shown(plots)[0]
    assert not chart.hint.isVisible(), "another curve is drawn: the legend alone says it"
    assert [row.value.text() == "no number" for row in chart.legend.rows] == [True, False]


def test_a_formula_with_numbers_at_some_times_is_drawn_there(plots):
    plots.runs.add(motion(plots.session.mech))
    plots.add(["log(time - 1)"])
    chart = shown(plots)[0]
    assert not chart.hint.isVisible()
    assert np.isfinite(chart.curves[0].y).sum() == 100


def test_a_formula_is_drawn_and_a_wrong_one_explained(bench, plots):
    plots.runs.add(motion(plots.session.mech))
    shown(plots)
    first = joints(plots)[0]
    edit = plots.picker.edit
    edit.setFocus()
    QTest.keyClicks(edit, f"{first}.v^2/2")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    (chart,) = shown(plots)
    t = chart.curves[0].times
    assert chart.curves[0].y == pytest.approx((AMPLITUDE * RATE * np.cos(RATE * t)) ** 2 / 2)
    QTest.keyClicks(edit, f"{first}.w^2")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert f"{first}.w" in plots.picker.note.words
    assert plots.sheet.active_plot.channels == (f"{first}.v^2/2",)


def test_elements_dragged_from_the_tree_are_drawn_where_they_are_dropped(plots):
    plots.runs.add(motion(plots.session.mech))
    first, second = joints(plots)[:2]
    plots.add([f"{first}.q"])
    (chart,) = shown(plots)
    data = QMimeData()
    data.setData(CHANNELS, f"{second}.q\nenergy.total".encode())
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(30, 30), Qt.DropAction.CopyAction, data, left, none)
    QApplication.sendEvent(chart, enter)
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(30, 30), Qt.DropAction.CopyAction, data, left, none)
    QApplication.sendEvent(chart, drop)
    assert plots.sheet.active_plot.channels == (f"{first}.q", f"{second}.q", "energy.total")


# ------------------------------------------------------------------------------- axes and units


def test_every_unit_has_an_axis_of_its_own(plots):
    plots.runs.add(motion(plots.session.mech))
    first = joints(plots)[0]
    plots.add([f"{first}.q", f"{first}.v", f"{first}.tau"])
    (chart,) = shown(plots)
    assert chart.axes.units == ("°", "°/s", "N·m")
    assert len({id(chart.axes.find_view_box(unit)) for unit in chart.axes.units}) == 3
    assert [axis.labelText for axis in chart.axes.all_axes[1:]] == ["°", "°/s", "N·m"]
    plots.settings.degrees = False
    try:
        (chart,) = shown(plots)
        assert chart.axes.units == ("rad", "rad/s", "N·m")
        assert np.max(chart.curves[0].y) == pytest.approx(AMPLITUDE, rel=1e-3)
    finally:
        plots.settings.degrees = True


def test_axes_tell_small_numbers_as_they_are(plots):
    mech = plots.session.mech
    plots.runs.add(motion(mech, end=0.5, amplitude=1e-9))
    plots.add([f"{joints(plots)[0]}.q"])
    (chart,) = shown(plots)
    chart.apply_theme(
        plots.theme.colors
    )  # as after a change of theme: pyqtgraph would count in nano and milli from here on
    shown(plots)
    assert [axis.autoSIPrefixScale for axis in chart.axes.all_axes] == [1.0] * len(chart.axes.all_axes)


def test_any_channel_against_any_other(plots):
    plots.runs.add(motion(plots.session.mech))
    first = joints(plots)[0]
    plots.add_plot(Plot((f"{first}.v",), f"{first}.q"))
    (chart,) = shown(plots)
    (curve,) = chart.curves
    assert (curve.x / degrees(AMPLITUDE)) ** 2 + (curve.y / degrees(AMPLITUDE * RATE)) ** 2 == pytest.approx(1.0)
    assert not chart.head.isVisible()
    plots.runs.seek(0.4)
    (spot,) = chart.points.points()
    assert spot.pos().x() == pytest.approx(degrees(AMPLITUDE * np.sin(RATE * 0.4)), rel=1e-3)


@pytest.mark.parametrize("name", ["joint_kinds", "four_bar"])
def test_every_channel_of_the_tree_has_a_column_and_lengths_and_angles_their_units(name):
    from core.files import load
    from core.mechanism import Mechanism
    from resources import examples

    mech = Mechanism(load(next(each.path for each in examples() if each.name == name)))
    run = equilibrium_run(mech, mech.rest())
    for leaf in channels.iterate_channel_rows(channels.build_channel_tree(run)):
        for part_ in get_scalar_names(run, leaf.channel):
            assert compute_column(run, part_).shape == (1,)
            unitless = "orientation" in part_ or part_.rpartition(".")[2] in ("qx", "qy", "qz", "qw")
            measure = channels.physical_dimension(run, part_)
            assert bool(measure.symbol or measure.dimension != "none") != unitless, part_


@pytest.mark.parametrize(
    ("channel", "dimension"),
    [
        ("coil.length", "angle"),
        ("coil.rate", "angular_velocity"),
        ("coil.force", "torque"),
        ("closer.length", "angle"),
        ("closer.force", "torque"),
        ("spring.length", "length"),
        ("spring.force", "force"),
        ("gears.force", "torque"),
        ("tie.force", "force"),
        ("motor.force", "torque"),
        ("push.torque.x", "torque"),
        ("reach.x", "length"),
        ("reach.x.rate", "velocity"),
        ("speed.rate.x", "acceleration"),
        ("opening", "angle"),
        ("opening.rate", "angular_velocity"),
        ("pin_force.z", "force"),
    ],
)
def test_what_an_element_acts_along_decides_what_its_channels_measure(channel, dimension):
    from core.files import load
    from core.mechanism import Mechanism
    from resources import examples

    mech = Mechanism(load(next(each.path for each in examples() if each.name == "forces")))
    run = equilibrium_run(mech, mech.rest())
    assert compute_column(run, channel).shape == (1,)
    assert channels.physical_dimension(run, channel).dimension == dimension


@pytest.mark.parametrize(
    ("example", "lost"),
    [("clutch", ["energy.friction"]), ("bouncing_pendulum", ["energy.stops"]), ("pendulum", [])],
)
def test_energies_are_proposed_with_what_friction_and_stops_take(example, lost):
    """With them the sum stays: nothing seems to vanish."""
    from core.files import load
    from resources import EXAMPLES

    run = simulate(load(EXAMPLES / f"{example}.kst"), 1.0)
    _, names = channels.suggest_plots(run)["Energies"]
    assert list(names) == ["energy.kinetic", "energy.potential", "energy.total", *lost]
    if example == "bouncing_pendulum":
        assert run["energy.stops"][-1] > 1.0
        assert np.ptp(run["energy.total"] + run["energy.stops"]) < 1e-6


def test_forces_in_joints_are_proposed_those_that_close_loops_too():
    from core.files import load
    from core.mechanism import Mechanism
    from core.model import Driver
    from core.model.edits import edits
    from resources import EXAMPLES

    mech = Mechanism(load(EXAMPLES / "slider_crank.kst"))
    run = equilibrium_run(mech, mech.rest())
    _, names = channels.suggest_plots(run)["Forces in joints"]
    assert set(names) == {f"{j}.reaction.force" for j in ("shaft", "crank_pin", "cylinder", "piston_pin")}
    for name in names:
        wrench = run[name.removesuffix(".force")]
        assert compute_column(run, name) == pytest.approx(np.linalg.norm(wrench[:, 3:], axis=1))
        assert channels.physical_dimension(run, name).dimension == "force"
    driver = Driver(name="motor", joint="shaft", function="60 deg + 60 rpm*t")
    driven = Mechanism(edits.add(mech.model, driver))
    assert channels.suggest_plots(equilibrium_run(driven, driven.rest()))["Driving forces"] == (
        "time",
        ("motor.force",),
    )
    texts = {leaf.channel for leaf in channels.iterate_channel_rows(channels.build_channel_tree(run))}
    assert {"cylinder.reaction.torque", "piston.velocity.magnitude"} <= texts


def test_the_tree_calls_an_angle_an_angle_and_a_torque_a_torque():
    from core.files import load
    from core.mechanism import Mechanism
    from resources import examples

    mech = Mechanism(load(next(each.path for each in examples() if each.name == "forces")))
    texts = {
        leaf.channel: leaf.text
        for leaf in channels.iterate_channel_rows(channels.build_channel_tree(equilibrium_run(mech, mech.rest())))
    }
    assert (texts["coil.length"], texts["coil.force"]) == ("angle", "torque")
    assert (texts["spring.length"], texts["spring.force"]) == ("length", "force")


# ------------------------------------------------------------------------------- cursors


def test_the_playhead_is_linked_with_the_timeline_both_ways(bench, plots):
    run = motion(plots.session.mech)
    plots.runs.add(run)
    first = joints(plots)[0]
    plots.add([f"{first}.q"])
    (chart,) = shown(plots)
    plots.runs.seek(0.8)
    assert chart.head.value() == pytest.approx(0.8)
    assert chart.legend.rows[0].value.text().startswith(f"{degrees(AMPLITUDE * np.sin(RATE * 0.8)):.4g}")
    bench.wait(lambda: chart.visible_range[1] > 1.9)
    QApplication.processEvents()

    def pixel(t):
        low, high = chart.box.viewRange()[1]
        return chart.view.mapFromScene(chart.box.mapViewToScene(QPointF(t, 0.2 * low + 0.8 * high)))

    port = chart.view.viewport()
    start, end = pixel(0.8), pixel(1.5)
    QTest.mousePress(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    for k in range(1, 11):
        place = QPoint(round(start.x() + (end.x() - start.x()) * k / 10), start.y())
        move(port, place)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, end)
    assert plots.runs.time == pytest.approx(1.5, abs=0.03)
    assert plots.session.q == pytest.approx(run.at(plots.runs.time), abs=1e-9)


def move(port, place):
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QMouseEvent

    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        QPointF(port.mapToGlobal(place)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(port, event)
    QApplication.processEvents()


def test_two_lines_measure_times_and_values(plots):
    plots.runs.add(motion(plots.session.mech))
    first = joints(plots)[0]
    plots.add([f"{first}.q"])
    (chart,) = shown(plots)
    plots.bar.measure.setChecked(True)
    try:
        chart.measured.emit(0.5, 1.0)
        assert "0.5 s" in chart.note.text()
        assert "2 Hz" in chart.note.text()
        wanted = degrees(AMPLITUDE * (np.sin(RATE * 1.0) - np.sin(RATE * 0.5)))
        number = float(chart.legend.rows[0].value.text().split()[1].replace("−", "-"))
        assert number == pytest.approx(wanted, rel=1e-4)
    finally:
        plots.bar.measure.setChecked(False)
    assert chart.note.isHidden()


# ------------------------------------------------------------------------------- several runs


def test_runs_lie_over_one_another_in_their_colours_and_faint_ones_behind(plots):
    mech, runs = plots.session.mech, plots.runs
    one, two = runs.add(motion(mech)), runs.add(motion(mech, amplitude=0.3))
    first, second = joints(plots)[:2]
    plots.add([f"{first}.q", f"{second}.q"])
    (chart,) = shown(plots)
    assert {curve.color for curve in chart.curves if curve.key[0] == one.id} == {one.color}
    assert len({curve.dash for curve in chart.curves if curve.key[0] == two.id}) == 2
    assert chart.curves[-1].key[0] == two.id
    runs.set_visible(one, False)
    (chart,) = shown(plots)
    assert {curve.key[0] for curve in chart.curves} == {two.id}
    assert len({curve.color for curve in chart.curves}) == 2
    runs.remove(one)
    one = runs.add(motion(mech), faint=True, select=False)
    (chart,) = shown(plots)
    faint = [curve for curve in chart.curves if curve.key[0] == one.id]
    assert all(curve.opacity < 1.0 and curve.dash == "dash" for curve in faint)
    assert chart.curves[0] in faint
    assert {row.curve.key[0] for row in chart.legend.rows} == {two.id}


def test_a_growing_run_is_drawn_as_it_grows_without_computing_its_start_again(plots, monkeypatch):
    run = motion(plots.session.mech)
    record = plots.runs.add(part_of(run, 50), growing=True)
    asked = []
    from app.plotting import series as module

    original = module.compute_column
    monkeypatch.setattr(
        module, "compute_column", lambda r, name: asked.append((name, len(r.time))) or original(r, name)
    )
    plots.add(["energy.kinetic"])
    shown(plots)
    plots.runs.replace(record, part_of(run, 120), growing=True)
    (chart,) = shown(plots)
    plots.runs.replace(record, run)
    (chart,) = shown(plots)
    assert [count for name, count in asked if name == "energy.kinetic"] == [50, 71, 82], "with the last sample before"
    assert chart.curves[0].y == pytest.approx(run["energy.kinetic"])


def part_of(run, count):
    cut = {name: getattr(run, name)[:count] for name in ("time", "q", "v", "a", "tau", "x")}
    return dataclasses.replace(run, **cut)


def test_another_run_is_not_taken_for_a_longer_one(plots):
    mech = plots.session.mech
    run, other = motion(mech), motion(mech, amplitude=0.5)
    assert is_extension_of(run, part_of(run, 20))
    assert not is_extension_of(other, part_of(run, 20))
    assert not is_extension_of(part_of(run, 20), run)
    assert select_samples(run, slice(150, None)).time == pytest.approx(run.time[150:])


def test_a_run_without_a_channel_has_no_curve_for_it(plots):
    plots.runs.add(motion(plots.session.mech))
    found = build_curves(Plot(("nobody.q", "energy.total")), plots.runs, PlotColumns(), plots.settings)
    assert [curve.label for curve in found] == ["energy.total"]


def test_plots_are_remembered_for_each_model(bench, plots):
    plots.runs.add(motion(plots.session.mech))
    plots.add(["energy.total"])
    bench.example("pendulum")
    assert plots.sheet == PlotSheet()
    bench.example("two_link")
    assert plots.sheet.active_plot.channels == ("energy.total",)
    plots.show_sheet(PlotSheet())


# ------------------------------------------------------------------------------- files


def test_numbers_are_exported_with_units_and_all_digits(bench, plots, tmp_path):
    run = motion(plots.session.mech)
    plots.runs.add(run)
    first = joints(plots)[0]
    plots.add([f"{first}.q", "energy.total"])
    shown(plots)
    assert exported(bench, tmp_path / "plot.csv")
    head, *rows = list(csv.reader(io.StringIO((tmp_path / "plot.csv").read_text())))
    assert head == ["time [s]", f"{first}.q [°]", "energy.total [J]"]
    table = np.array(rows, dtype=float)
    assert (table[:, 0] == run.time).all()
    assert (table[:, 2] == run["energy.total"]).all()
    assert np.radians(table[:, 1]) == pytest.approx(run[f"{first}.q"], abs=1e-15)


def test_numbers_are_written_beside_the_window(bench, plots, tmp_path, monkeypatch):
    plots.runs.add(motion(plots.session.mech))
    plots.add(["energy.total"])
    shown(plots)
    rows, threads = export._table_rows, []

    def watched(columns, separator):
        threads.append(threading.current_thread())
        yield from rows(columns, separator)

    monkeypatch.setattr(export, "_table_rows", watched)
    assert exported(bench, tmp_path / "plot.csv")
    assert threads
    assert threading.main_thread() not in threads


def test_pictures_and_drawings_are_exported(bench, plots, tmp_path):
    plots.runs.add(motion(plots.session.mech))
    first = joints(plots)[0]
    plots.add([f"{first}.q", f"{first}.v"])
    (chart,) = shown(plots)
    for suffix in (".png", ".svg", ".pdf"):
        assert exported(bench, tmp_path / f"plot{suffix}")
    picture = QImage(str(tmp_path / "plot.png"))
    assert picture.width() == 2 * chart.view.width()
    drawn = {
        picture.pixelColor(x, y).name() for x in range(0, picture.width(), 2) for y in range(0, picture.height(), 2)
    }
    assert len(drawn) > 20
    text = (tmp_path / "plot.svg").read_text()
    assert f"{first}.q" in text
    assert text.count("<p") > 10
    assert (tmp_path / "plot.pdf").read_bytes().startswith(b"%PDF")


def test_a_drawing_shows_what_the_picture_shows(bench, plots, tmp_path):
    plots.runs.add(motion(plots.session.mech))
    first = joints(plots)[0]
    plots.add([f"{first}.q", "energy.total"])
    charts = shown(plots)
    assert exported(bench, tmp_path / "plot.svg")
    picture = export.render_image(charts, LIGHT, 1.0)
    drawing = QImage(picture.size(), QImage.Format.Format_RGB32)
    drawing.fill(0xFFFFFFFF)
    painter = QPainter(drawing)
    QSvgRenderer(str(tmp_path / "plot.svg")).render(painter)
    painter.end()
    # smooth over a few pixels: edges are drawn a little differently, but nothing is elsewhere or of another size
    grey = [
        gaussian_filter(
            np.array(
                [[qGray(image.pixel(x, y)) for x in range(image.width())] for y in range(image.height())], dtype=float
            ),
            3.0,
        )
        for image in (picture, drawing)
    ]
    assert np.ptp(grey[0]) > 50.0
    assert np.max(np.abs(grey[0] - grey[1])) < 0.4 * np.ptp(grey[0])
    assert np.corrcoef(grey[0].ravel(), grey[1].ravel())[0, 1] > 0.95


def test_what_cannot_be_exported_is_said(bench, plots, tmp_path):
    plots.runs.add(motion(plots.session.mech))
    plots.add(["energy.total"])
    shown(plots)
    assert not exported(bench, tmp_path / "plot.bmp")
    assert not exported(bench, tmp_path / "nowhere" / "plot.csv")
    assert len(bench.messages("error")) == 2
    assert "is not a plot format" in bench.messages("error")[0]


def test_copying_puts_a_picture_and_numbers_on_the_clipboard(plots):
    plots.runs.add(motion(plots.session.mech))
    plots.add(["energy.total"])
    export.copy_to_clipboard(shown(plots))
    data = QApplication.clipboard().mimeData()
    assert data.hasImage()
    assert data.text().splitlines()[0] == "time [s]\tenergy.total [J]"


def test_plots_over_time_move_together_unless_unlinked(plots):
    plots.runs.add(motion(plots.session.mech))
    plots.add(["energy.total"])
    plots.add_plot(Plot(("energy.kinetic",)))
    one, two = shown(plots)
    one.box.setXRange(0.5, 1.0, padding=0.0)
    QApplication.processEvents()
    assert two.visible_range == pytest.approx((0.5, 1.0), abs=0.05)
    plots.bar.link.setChecked(False)
    try:
        one.box.setXRange(0.1, 0.2, padding=0.0)
        QApplication.processEvents()
        assert two.visible_range[1] > 0.5
    finally:
        plots.bar.link.setChecked(True)
    plots.fit_axes()


# ------------------------------------------------------------------------------- drawings of a part


def blue(path, size):
    """(height, width) where a drawing of this size has ink of the first curve's colour."""
    drawing = QImage(size, QImage.Format.Format_RGB32)
    drawing.fill(0xFFFFFFFF)
    painter = QPainter(drawing)
    QSvgRenderer(str(path)).render(painter)
    painter.end()
    return np.array(
        [
            [(drawing.pixelColor(x, y).blue() - drawing.pixelColor(x, y).red()) > 60 for x in range(size.width())]
            for y in range(size.height())
        ]
    )


def test_a_drawing_of_a_part_ends_at_its_edges(bench, plots, tmp_path):
    plots.runs.add(motion(plots.session.mech))
    plots.add([f"{joints(plots)[0]}.q"])
    (chart,) = shown(plots)
    chart.box.setRange(xRange=(0.0, 1.5), yRange=(-20.0, 20.0), padding=0.0)
    shown(plots)
    assert exported(bench, tmp_path / "part.svg")
    ink = blue(tmp_path / "part.svg", export.render_image([chart], LIGHT, 1.0).size())
    area = chart.box.sceneBoundingRect().toAlignedRect()
    assert ink[area.top() : area.bottom(), area.left() : area.right()].sum() > 50
    assert not ink[area.bottom() + 2 : chart.view.height()].any()  # it goes down to −40°
    assert chart.box.viewRange()[1] == pytest.approx([-20.0, 20.0])
    (line,) = chart._lines.values()
    assert len(line.getOriginalDataset()[0]) == 201  # the window shows all of it again


@given(
    points=st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=2, max_size=12),
)
def test_a_clipped_line_is_what_of_it_is_inside(points):
    """Its length is that of the points, dense along the line, that are inside."""
    x, y = np.array(points, dtype=float).T
    cx, cy = clip_line(x, y, (-1.0, -1.0), (1.0, 1.0))
    seen = ~np.isnan(cx)
    assert (np.abs(cx[seen]) <= 1.0 + 1e-9).all()
    assert (np.abs(cy[seen]) <= 1.0 + 1e-9).all()

    def length(x, y):
        steps = np.hypot(np.diff(x), np.diff(y))
        return float(np.nansum(steps))

    share = (np.arange(4000) + 0.5) / 4000
    within = 0.0
    for k in range(len(x) - 1):
        px, py = x[k] + share * (x[k + 1] - x[k]), y[k] + share * (y[k + 1] - y[k])
        within += np.hypot(x[k + 1] - x[k], y[k + 1] - y[k]) * np.mean((np.abs(px) <= 1.0) & (np.abs(py) <= 1.0))
    assert length(cx, cy) == pytest.approx(within, abs=0.02 * len(x))


def test_a_line_that_stays_inside_stays_one_line():
    t = np.linspace(0.0, 1.0, 50)
    cx, cy = clip_line(t, np.sin(t), (0.0, 0.0), (1.0, 1.0))
    assert (cx == t).all()
    assert (cy == np.sin(t)).all()


def test_a_dialog_that_names_no_format_gives_a_picture(bench, tmp_path, monkeypatch):
    from PySide6.QtWidgets import QFileDialog

    bench.window.plots.add_plot(Plot(("energy.kinetic",)))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(tmp_path / "plot"), ""))
    bench.window.plots.ask_export()
    bench.wait((tmp_path / "plot.png").is_file)
