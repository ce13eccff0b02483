"""Many curves that come at once: drawn plot by plot, so that the window follows meanwhile; rows of legends are kept."""

import pytest
from PySide6.QtWidgets import QApplication

from app.panels.plots.panel import MANY
from app.plotting.curves import Plot, PlotSheet
from app.plotting.legend import Legend
from tests.app.panels.plots.test_plots import motion, plots  # noqa: F401

CHANNELS = tuple(f"{joint}.{what}" for joint in ("joint1", "joint2") for what in ("q", "v", "a"))
COUNT = 3


@pytest.fixture
def several(plots):  # noqa: F811
    """Three plots of six curves each of one run."""
    assert COUNT * len(CHANNELS) > MANY > len(CHANNELS)
    plots.runs.add(motion(plots.session.mech))
    plots.show_sheet(PlotSheet((Plot(CHANNELS),) * COUNT))
    QApplication.processEvents()
    return plots


def curves_of(panel):
    return [{curve.key for curve in chart.curves} for chart in panel.charts]


def wanted(panel):
    return [{(record.id, channel) for record in panel.runs.items for channel in CHANNELS}] * len(panel.charts)


def texts(legend):
    return [
        (row.curve.key, row.name.text(), row.run.text() if row.run and not row.run.isHidden() else "", row.toolTip())
        for row in legend.rows
    ]


def test_a_run_with_many_curves_is_drawn_plot_by_plot(bench, several):
    several.runs.add(motion(several.session.mech, amplitude=0.3))
    assert several.waiting
    assert curves_of(several) != wanted(several)
    bench.wait(lambda: not several.waiting)
    assert curves_of(several) == wanted(several)
    several.runs.seek(0.4)
    for chart in several.charts:
        assert chart.head.value() == pytest.approx(0.4)
        assert all(row.value.text() not in ("", "–") for row in chart.legend.rows)


def test_what_comes_while_plots_are_being_drawn_is_drawn_with_them(bench, several):
    several.runs.add(motion(several.session.mech, amplitude=0.3))
    assert several.waiting
    several.remove_plot(0)
    assert curves_of(several) == wanted(several)
    several.runs.add(motion(several.session.mech, amplitude=0.2))
    several.add_plot(Plot(CHANNELS))
    assert curves_of(several) == wanted(several)
    bench.wait(lambda: not several.waiting)
    assert curves_of(several) == wanted(several)


def test_rows_of_a_legend_stay_and_say_what_new_ones_would(bench, several):
    runs, mech = several.runs, several.session.mech
    one, legend = runs.items[0], several.charts[0].legend

    def kept(before):
        bench.wait(lambda: not several.waiting)
        fresh = Legend()
        fresh.show_curves(several.charts[0].curves)
        assert texts(legend) == texts(fresh)
        places = [legend._grid.getItemPosition(legend._grid.indexOf(row))[0] for row in legend.rows]
        assert places == list(range(len(legend.rows)))
        assert legend._grid.count() == len(legend.rows)
        fresh.deleteLater()
        return [row for row in before if row in legend.rows]

    first = list(legend.rows)
    two = runs.add(motion(mech, amplitude=0.3))
    assert kept(first) == first
    both = list(legend.rows)
    assert len(both) == 2 * len(first)
    runs.select(one)
    assert kept(both) == both
    assert legend.rows[: len(first)] == first, "those of the current run come first"
    runs.remove(two)
    assert kept(both) == first
    assert len(legend.rows) == len(first)
