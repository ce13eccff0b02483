"""Channels that take long are computed beside the window; plots show what there is until they come."""

import dataclasses
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from app.plotting import series as module
from app.plotting.channels import component_names
from app.plotting.column_work import BackgroundColumnWorker
from app.plotting.curves import PlotSheet
from app.plotting.legend import WAITING
from app.plotting.series import PlotColumns, get_scalar_names, is_stored
from core.errors import KinetostatError
from core.simulation.run.resampling import equilibrium_run
from core.simulation.run.run import select_samples
from tests.app.conftest import pump
from tests.app.panels.plots.test_plots import motion

HELD = "energy.kinetic"


@pytest.fixture
def plots(bench):
    bench.example("two_link")
    bench.window.docks.show_panel("plots")
    panel = bench.window.plots
    bench.wait(panel.isVisible)
    panel.show_sheet(PlotSheet())
    return panel


@pytest.fixture
def gate(monkeypatch):
    """Computing of one channel waits here until it is opened; says in which thread it was done."""
    open_, threads, original = threading.Event(), [], module.compute_column

    def column(run, name):
        if name == HELD:
            threads.append(threading.current_thread())
            assert open_.wait(20.0)
        return original(run, name)

    monkeypatch.setattr(module, "compute_column", column)
    open_.threads = threads
    yield open_
    open_.set()


def curve_of(plots, channel):
    return next(curve for curve in plots.charts[0].curves if curve.label == channel)


def test_a_channel_that_takes_long_is_computed_beside_the_window(bench, plots, gate):
    run = motion(plots.session.mech)
    plots.runs.add(run)
    first = plots.session.mech.q_names[0]
    plots.add([f"{first}.q", HELD])
    assert curve_of(plots, f"{first}.q").y.shape == (len(run),)
    assert curve_of(plots, HELD).waiting
    assert [row.value.text() for row in plots.charts[0].legend.rows if row.curve.label == HELD] == [WAITING]
    assert plots.waiting
    gate.set()
    bench.wait(lambda: not plots.waiting)
    assert curve_of(plots, HELD).y == pytest.approx(run[HELD])
    assert threading.main_thread() not in gate.threads


def test_there_is_room_for_the_whole_of_a_curve_before_it_comes(bench, plots, gate):
    run = motion(plots.session.mech)
    plots.runs.add(run)
    plots.add([HELD])
    (chart,) = plots.charts
    low, high = chart.window
    assert low <= run.time[0]
    assert run.time[-1] <= high < 1.5 * run.time[-1]
    assert curve_of(plots, HELD).at(0.5) is None


def test_until_another_run_is_computed_the_last_curve_stays(bench, plots, gate):
    run, other = motion(plots.session.mech), motion(plots.session.mech, samples=151, amplitude=0.3)
    gate.set()
    record = plots.runs.add(run)
    plots.add([HELD])
    bench.wait(lambda: not plots.waiting)
    gate.clear()
    plots.runs.replace(record, other)
    plots.refresh()
    shown = curve_of(plots, HELD)
    assert not shown.waiting
    assert shown.y == pytest.approx(run[HELD])
    assert len(shown.x) == len(shown.times) == len(run)
    gate.set()
    bench.wait(lambda: not plots.waiting)
    assert curve_of(plots, HELD).y == pytest.approx(other[HELD])


def test_of_runs_that_follow_one_another_only_the_newest_is_computed(bench, plots, gate):
    mech = plots.session.mech
    record = plots.runs.add(motion(mech))
    plots.add([HELD])
    for k in range(5):
        plots.runs.replace(record, motion(mech, amplitude=0.1 + 0.1 * k))
        plots.refresh()
    gate.set()
    bench.wait(lambda: not plots.waiting)
    assert len(gate.threads) == 2  # the one that was begun, and the last
    assert curve_of(plots, HELD).y == pytest.approx(record.run[HELD])


def test_a_file_has_every_curve_also_those_that_were_still_computed(bench, plots, gate, tmp_path):
    run = motion(plots.session.mech)
    plots.runs.add(run)
    plots.add([HELD])
    assert curve_of(plots, HELD).waiting
    threading.Timer(0.05, gate.set).start()
    plots.export(tmp_path / "plot.csv")
    bench.wait(lambda: not bench.window.jobs.unfinished_jobs)
    rows = np.loadtxt(tmp_path / "plot.csv", delimiter=",", skiprows=1)
    assert rows[:, 1] == pytest.approx(run[HELD])


def test_why_a_channel_cannot_be_computed_is_said_once(bench, plots, monkeypatch):
    original = module.compute_column

    def column(run, name):
        if name == HELD:
            raise KinetostatError(f"No {name} today.")
        return original(run, name)

    monkeypatch.setattr(module, "compute_column", column)
    plots.runs.add(motion(plots.session.mech))
    plots.add([HELD])
    bench.wait(lambda: not plots.waiting)
    plots.refresh()
    assert len(bench.messages("error")) == 1
    assert f"No {HELD} today." in bench.messages("error")[0]
    assert not plots.charts[0].curves
    plots.show_sheet(PlotSheet())


def test_a_defect_in_computing_is_told_and_does_not_end_the_thread(qtbot):
    work, done = BackgroundColumnWorker(), []

    def broken():
        raise ZeroDivisionError

    with qtbot.captureExceptions() as told:
        work.request("broken", broken)
        assert pump(lambda: told, 5.0)
    assert told[0][0] is ZeroDivisionError
    work.request("fine", lambda: done.append(True))
    assert work.wait(5.0)
    assert done
    work.close()


def test_what_took_little_time_is_not_behind_what_took_much(qapp, monkeypatch):
    work, order, begin, seconds = BackgroundColumnWorker(), [], threading.Event(), [0.0]
    monkeypatch.setattr("app.plotting.column_work.time", SimpleNamespace(perf_counter=lambda: sum(seconds)))
    work.request("slow", lambda: seconds.append(1.0))
    work.request("quick", lambda: None)
    assert work.wait(5.0)
    work.request("first", begin.wait)
    for key in ("slow", "quick"):
        work.request(key, lambda key=key: order.append(key))
    begin.set()
    assert work.wait(5.0)
    assert order == ["quick", "slow"]
    work.close()


def test_without_a_desk_everything_is_computed_at_once(two_link_run):
    record, series = two_link_run, PlotColumns()
    pair, late = series.get_curve_columns(record, "time", HELD)
    assert not late
    assert pair.y.rows == pytest.approx(record.run[HELD])
    assert series.get_curve_columns(record, "time", HELD)[0] is pair


@pytest.fixture
def two_link_run():
    from app.document.run_tree import RunTree
    from core.files import load
    from core.mechanism import Mechanism
    from resources import examples

    mech = Mechanism(load(next(each.path for each in examples() if each.name == "two_link")))
    return RunTree().add(motion(mech))


def test_columns_grow_with_their_run(two_link_run, monkeypatch):
    whole = two_link_run.run
    computed, original = [], module.compute_column
    monkeypatch.setattr(module, "compute_column", lambda run, name: computed.append(len(run)) or original(run, name))
    series, found = PlotColumns(), None
    for end in (40, 90, 201):
        two_link_run.run = select_samples(whole, slice(0, end))
        found, _ = series.get_curve_columns(two_link_run, "joint1.q", HELD)
        assert len(found.x.rows) == len(found.y.rows) == end
    assert (
        computed.count(51) == 1
    )  # the energy of what came, with the last sample before; coordinates are there already
    assert found.y.rows == pytest.approx(whole[HELD])
    assert found.x.rows == pytest.approx(whole["joint1.q"])


@pytest.mark.parametrize("name", ["two_link", "four_bar", "forces", "joint_kinds", "stewart", "n_four_bar"])
def test_components_and_what_samples_hold_are_known_without_computing(name):
    from core.files import load
    from core.mechanism import Mechanism
    from resources import examples

    mech = Mechanism(load(next(each.path for each in examples() if each.name == name)))
    run = equilibrium_run(mech, mech.rest())
    empty = dataclasses.replace(run)
    for channel in run.channels:
        assert get_scalar_names(empty, channel) == component_names(run, channel), channel
        if is_stored(run, channel):
            values = run[channel].reshape(len(run), -1)
            assert any(np.isin(values, getattr(run, held)).all() for held in ("time", "q", "v", "a", "tau")), channel
    assert any(is_stored(run, channel) for channel in run.channels)
    assert not empty.computed_channels._kept
