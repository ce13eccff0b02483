"""Lines of plots: their bounds are those of their numbers, and painting settles."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPen

from app.plotting.chart import Chart
from app.plotting.curves import Curve, Plot
from app.plotting.lines import PlotLine
from app.preferences.theme import LIGHT
from tests.app.conftest import settle

T = np.linspace(0.0, 10.0, 10_001)


class Paintings(QObject):
    """Counts them."""

    count = 0

    def eventFilter(self, watched, event):
        self.count += event.type() == QEvent.Type.Paint
        return False


def curve(y, x=T):
    return Curve((1, "a"), "a", "Run 1", x, x, y, "s", "m", "#1f77b4", current=True, over_time=True)


@pytest.fixture
def chart(qtbot):
    chart = Chart(LIGHT)
    qtbot.addWidget(chart)
    chart.show()
    return chart


@pytest.mark.parametrize("width", [105, 131, 233, 604])
def test_bounds_do_not_depend_on_what_is_shown_and_painting_ends(chart, width):
    y = np.sin(3.0 * T)
    chart.resize(width, 198)
    chart.show_curves(Plot(("a",)), [curve(y)])
    settle()
    line = chart._lines[1, "a"]
    for low, high in ((0.0, 10.0), (-1.76, 11.446), (-1.807, 11.707), (2.0, 2.5)):
        chart.box.setXRange(low, high, padding=0.0)
        settle()
        assert line.dataBounds(0) == (0.0, 10.0)
        assert line.dataBounds(1) == (y.min(), y.max())
    chart.fit_to_curves()
    settle()
    paintings = Paintings()
    chart.view.viewport().installEventFilter(paintings)
    settle()
    assert paintings.count == 0
    chart.view.viewport().removeEventFilter(paintings)


def test_what_is_not_finite_does_not_count(qapp):
    line = PlotLine("m", QPen(), thin=False)
    assert line.dataBounds(0) == (None, None)
    line.show_data(T[:4], np.array([np.nan, 2.0, np.inf, -1.0]), True)
    assert line.dataBounds(1) == (-1.0, 2.0)
    line.show_data(T[:1], np.array([np.nan]), True)
    assert line.dataBounds(1) == (None, None)


def test_areas_whose_units_stay_keep_their_lines(chart):
    def lines():
        return {key[1]: line for key, line in chart._lines.items()}

    def three(units):
        return [
            Curve((1, name), name, "Run 1", T, T, T, "s", unit, "#1f77b4", current=True, over_time=True)
            for name, unit in zip("abc", units, strict=False)
        ]

    plot = Plot(("a", "b", "c"))
    chart.show_curves(plot, three(["m", "s"]))
    before = lines()
    chart.show_curves(plot, three(["m", "s", "N"]))
    after = lines()
    assert (after["a"], after["b"]) == (before["a"], before["b"])
    assert [after[name].getViewBox() for name in "abc"] == [chart.axes.find_view_box(unit) for unit in ("m", "s", "N")]
    chart.show_curves(plot, three(["m", "rad", "N"]))
    assert chart.axes.units == ("m", "rad", "N")
    last = lines()
    assert last["a"] is after["a"]
    assert [last[name].getViewBox() for name in "abc"] == [chart.axes.find_view_box(unit) for unit in ("m", "rad", "N")]
    chart.show_curves(plot, three(["m"]))
    assert chart.box.others == []
    assert len(chart.axes.all_axes) == 2
