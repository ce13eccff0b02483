"""Levels of long columns: the extremes of what is seen, in no more blocks than wanted, whatever the length."""

import numpy as np
import pytest

from app.document.run_tree import RunTree
from app.plotting.chart import Chart
from app.plotting.curves import Plot, build_curves
from app.plotting.headless import PlotDisplayUnits
from app.plotting.series import LONG_COLUMN, MinMaxLevels, PlotColumns
from app.preferences.theme import LIGHT
from core.files import load
from core.simulation import simulate
from core.simulation.run.run import select_samples
from resources import examples
from tests.app.conftest import settle

Y = np.cumsum(np.random.default_rng(1).normal(size=200_003))
Y[5000:9000] = np.nan


@pytest.mark.parametrize(
    "seen", [(0, len(Y), 800), (333, 190_000, 777), (4000, 10_000, 500), (100, 200, 800), (0, len(Y), 1), (7, 8, 300)]
)
def test_blocks_have_the_least_and_largest_numbers_of_what_is_seen(seen):
    first, last, count = seen
    places, lows, highs = MinMaxLevels().extended_by(Y).visible_blocks(*seen)
    assert len(places) <= 2 * count + 2
    assert np.nanmin(lows) <= np.nanmin(Y[first:last])
    assert np.nanmax(highs) >= np.nanmax(Y[first:last])
    edges = np.append(places[:-1] + np.diff(places) // 2, last)
    for k in range(1, len(places) - 1):  # every sample lies between what is drawn around its place
        near = Y[edges[k - 1] : edges[k]]
        if np.isfinite(near).any():
            assert np.nanmin(near) >= np.nanmin(lows[k - 1 : k + 2])
            assert np.nanmax(near) <= np.nanmax(highs[k - 1 : k + 2])


def test_levels_that_grew_are_those_of_the_whole():
    whole, grown = MinMaxLevels().extended_by(Y), MinMaxLevels()
    for end in (1, 30, 31, 33, 64, 65, 1000, 50_000, 50_001, 123_457, len(Y)):
        grown = grown.extended_by(Y[:end])
        assert grown.value_range == (np.nanmin(Y[:end]), np.nanmax(Y[:end]))
    for seen in ((0, len(Y), 500), (77_777, 190_000, 100)):
        for one, other in zip(whole.visible_blocks(*seen), grown.visible_blocks(*seen), strict=True):
            assert np.array_equal(one, other, equal_nan=True)


def test_what_is_seen_does_not_shimmer_when_it_moves():
    levels = MinMaxLevels().extended_by(Y)
    there = dict(
        zip(levels.visible_blocks(10_000, 110_000, 500)[0], levels.visible_blocks(10_000, 110_000, 500)[1], strict=True)
    )
    moved = dict(
        zip(levels.visible_blocks(20_123, 120_123, 500)[0], levels.visible_blocks(20_123, 120_123, 500)[1], strict=True)
    )
    common = sorted(set(there) & set(moved))[2:-2]
    assert len(common) > 400
    assert [there[k] for k in common] == [moved[k] for k in common]


def test_numbers_that_are_infinite_have_no_part_in_the_range():
    rows = np.sin(np.arange(100_000.0))
    finite = rows.min(), rows.max()
    rows[[5, 70_000]] = np.inf, -np.inf
    assert MinMaxLevels().extended_by(rows).value_range == pytest.approx(finite, abs=1e-6)
    assert MinMaxLevels().extended_by(np.full(1000, np.nan)).value_range is None


@pytest.fixture(scope="module")
def long_run():
    path = next(example.path for example in examples() if example.name == "double_pendulum")
    return simulate(load(path), 120.0, method="rk4", step=1e-3, output=1e-3)


def test_a_long_curve_is_drawn_with_no_more_points_than_the_screen_needs(qtbot, long_run):
    runs, series = RunTree(), PlotColumns()
    record = runs.add(select_samples(long_run, slice(0, 90_000)), growing=True)
    chart = Chart(LIGHT)
    qtbot.addWidget(chart)
    chart.resize(800, 200)
    chart.show()
    plot = Plot(("phi1.v", "energy.kinetic"))
    for run in (record.run, long_run):
        runs.replace(record, run)
        assert len(run) > LONG_COLUMN
        chart.show_curves(plot, build_curves(plot, runs, series, PlotDisplayUnits()))
        chart.fit_to_curves()
        settle()
        for curve in chart.curves:
            assert curve.levels is not None
            assert curve.is_x_increasing
            line = chart._lines[curve.key]
            across, numbers = line.curve.getData()
            assert len(across) <= 4 * chart.box.width() + 8
            assert (np.nanmin(numbers), np.nanmax(numbers)) == pytest.approx((curve.y.min(), curve.y.max()))
            assert line.dataBounds(1) == (curve.y.min(), curve.y.max())
            np.testing.assert_allclose(curve.point_at_time(33.3333)[1], np.interp(33.3333, curve.x, curve.y))
    speeds = chart.curves[0]
    assert np.allclose(np.deg2rad(speeds.y), long_run["phi1.v"])
    chart.box.setXRange(50.0, 50.1, padding=0.0)
    settle()
    across, numbers = chart._lines[speeds.key].curve.getData()
    inside = (speeds.x >= 50.0) & (speeds.x <= 50.1)
    assert set(np.round(speeds.y[inside], 9)) <= set(np.round(numbers, 9)), "each sample, once there is room for it"
    radians = build_curves(plot, runs, series, PlotDisplayUnits(degrees=False))
    assert np.array_equal(radians[0].y, long_run["phi1.v"])
    assert chart.nearest_sample_time(33.3334) == pytest.approx(33.333)


def test_what_a_long_run_shows_is_made_at_the_desk(long_run):
    runs, wanted = RunTree(), {}

    class BackgroundDesk:
        def request(self, key, task):
            wanted[key] = task

    series = PlotColumns(BackgroundDesk())
    record = runs.add(long_run)
    assert series.get_curve_columns(record, "time", "phi1.q", (1.0, 0.5)) == (None, True)
    for work in wanted.values():
        work()
    pair, late = series.get_curve_columns(record, "time", "phi1.q", (1.0, 0.5))
    assert not late
    assert np.array_equal(pair.shown.y, 2.0 * long_run["phi1.q"])
    assert pair.shown.levels is not None
    assert series.get_curve_columns(record, "time", "phi1.q", (1.0, 0.25)) == (None, True), (
        "other units are other numbers"
    )


def test_angles_that_are_counted_go_on_counting_in_a_run_that_grows():
    """A turning sensor knows whole turns from its own first sample only."""
    path = next(example.path for example in examples() if example.name == "engine_v6")
    run = simulate(load(path), 0.4, output=1e-3)
    channel = next(name for name in run.channels if name.endswith(".q") and abs(run[name][-1] - run[name][0]) > 7.0)
    runs, series = RunTree(), PlotColumns()
    record = runs.add(select_samples(run, slice(0, 100)))
    for end in (100, 223, len(run)):
        runs.replace(record, select_samples(run, slice(0, end)))
        pair, _ = series.get_curve_columns(record, "time", channel)
        np.testing.assert_allclose(pair.y.rows, run[channel][:end], atol=1e-9)
