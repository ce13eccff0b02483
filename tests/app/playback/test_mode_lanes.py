"""Modes of joints over the timeline and in plots, flags of what happened; by clicks on what is seen."""

import os

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.playback.mode_lanes import FEW, HEIGHT
from app.playback.timeline import EDGE
from app.plotting.lines import LANES, StateLaneLine
from core.files import dumps
from core.model import Body, Inertia, Joint, Limit, Model, Pose
from tests.app.conftest import pump, settle


def picture(widget, name):
    """Kept where a person who looks at it asks for it."""
    if folder := os.environ.get("KINETOSTAT_PICTURES"):
        widget.grab().save(os.path.join(folder, f"{name}.png"))


def slider(name, offset, **fields):
    """A block on its own rail."""
    inertia = Inertia(ixx=0.01, iyy=0.01, izz=0.01)
    body = Body(name=f"block_{name}", mass=2.0, inertia=inertia)
    place = Pose(position=(0.0, offset, 0.0))
    ends = {"parent": "world", "child": body.name, "axis": (1.0, 0.0, 0.0)}
    return body, Joint(name=name, kind="prismatic", a=place, **ends, **fields)


@pytest.fixture
def rubbing(bench, tmp_path):
    """Six rails, open and run: one meets a stop, others rub; stops that nothing meets have nothing to tell."""
    stop = Limit(upper=0.2, stiffness=2e3, damping=5.0)
    first = slider("rail", 0.0, friction=3.0, static_friction=4.0, stiffness=40.0, start_speed=(2.0,), limits=(stop,))
    far = (Limit(upper=9.0),)
    others = (
        slider(f"rail{k}", 0.3 * k, friction=1.0, stiffness=20.0, start_speed=(0.5 * k,), limits=far)
        for k in range(1, 6)
    )
    pairs = (first, *others)
    model = Model(name="rails", bodies=tuple(b for b, _ in pairs), joints=tuple(j for _, j in pairs))
    path = tmp_path / "rails.kst"
    path.write_text(dumps(model), encoding="utf-8")
    bench.open(path)
    simulation = bench.window.simulation
    simulation.change_settings(duration=2.0)
    simulation.start()
    runs = bench.session.runs
    assert pump(lambda: not simulation.is_running and runs.current is not None and not runs.current.growing)
    bench.window.player.pause()
    bench.window.timeline.refresh_all()
    settle()
    return bench


def test_lanes_lie_below_the_track_and_fold(rubbing):
    timeline = rubbing.window.timeline
    lanes = timeline.lanes
    assert lanes.isVisible()
    assert len(lanes.visible_lanes) == FEW  # of six that rub, and one that is hit
    assert all(not lane.has_no_events for lane in lanes.visible_lanes)
    left = timeline.scrubber.mapTo(timeline, QPoint(0, 0)).x() + EDGE
    assert lanes.track == (left, left + timeline.scrubber.width() - 2 * EDGE)
    before = lanes.track
    timeline.label.setText("a number that is much longer than those before it")
    settle()
    assert lanes.track[1] == before[0] + timeline.scrubber.width() - 2 * EDGE < before[1]  # it follows the track
    timeline.refresh()
    settle()
    assert set(lanes.words) >= {"stick", "slide+", "slide-"}
    picture(rubbing.window, "lanes_folded")
    fold = lanes.collapse_link_rect.center().toPoint()
    QTest.mouseClick(lanes, Qt.MouseButton.LeftButton, pos=fold)
    settle()
    assert len(lanes.visible_lanes) == 12
    assert lanes.visible_lanes[-1].has_no_events  # a stop that nothing meets
    picture(rubbing.window, "lanes_open")
    QTest.mouseClick(lanes, Qt.MouseButton.LeftButton, pos=lanes.collapse_link_rect.center().toPoint())
    assert len(lanes.visible_lanes) == FEW


def test_a_click_on_a_lane_goes_to_the_instant(rubbing):
    lanes, runs = rubbing.window.timeline.lanes, rubbing.session.runs
    row = next(row for row, lane in enumerate(lanes.visible_lanes) if lane.name == "rail.friction")
    change = lanes.visible_lanes[row].stretches[1].begin
    at = QPoint(round(lanes._x(change)) + 2, round((row + 0.5) * HEIGHT))
    QTest.mouseClick(lanes, Qt.MouseButton.LeftButton, pos=at)
    assert runs.time == pytest.approx(change, abs=1e-12)
    bars = list(lanes.bars(row))
    assert [stretch.word for _, stretch in bars] == [stretch.word for stretch in lanes.visible_lanes[row].stretches]


def test_flags_tell_what_happened_and_a_click_goes_there(rubbing):
    timeline, run = rubbing.window.timeline, rubbing.session.runs.current.run
    flags = [mark for mark in timeline.scrubber.marks if mark.is_flag]
    assert len(flags) == len({event.time for event in run.events})
    hit = next(event for event in run.events if event.what.startswith("hit"))
    flag = next(mark for mark in flags if "rail: hit upper stop" in mark.text)
    first, last = float(run.time[0]), float(run.time[-1])
    assert first + flag.share * (last - first) == pytest.approx(hit.time)
    x = EDGE + flag.share * (timeline.scrubber.width() - 2 * EDGE)
    QTest.mouseClick(timeline.scrubber, Qt.MouseButton.LeftButton, pos=QPoint(round(x) + 2, 4))
    assert rubbing.session.runs.time == pytest.approx(hit.time)


def test_words_are_drawn_as_lanes_in_plots(rubbing):
    panel = rubbing.window.plots
    panel.show_channels(["rail.q", "rail.friction.mode", "rail.stop.mode"]) if hasattr(panel, "show_channels") else None
    picture(rubbing.window, "plots")
    settle()


def test_a_lane_says_the_word_at_the_playhead(qtbot, rubbing):
    from app.plotting.chart import Chart
    from app.plotting.curves import Plot, build_curves, format_value
    from app.plotting.series import PlotColumns
    from app.preferences.theme import DARK, LIGHT

    run = rubbing.session.runs.current.run
    plot = Plot(("rail.q", "rail.friction.mode", "rail.stop.mode"))
    for colors, look in ((LIGHT, "light"), (DARK, "dark")):
        chart = Chart(colors)
        qtbot.addWidget(chart)
        chart.resize(800, 300)
        chart.show()
        found = build_curves(plot, rubbing.session.runs, PlotColumns(), rubbing.window.settings)
        chart.show_curves(plot, found)
        chart.set_cursor_times(0.05)
        settle()
        lanes = [line for line in chart._lines.values() if isinstance(line, StateLaneLine)]
        assert len(lanes) == 2
        assert LANES in chart.axes.units
        left, lanes_axis = chart.axes.all_axes[1:]
        assert left.width() > 0.0
        assert not lanes_axis.isVisible()
        assert lanes_axis.width() == 0.0
        bars = chart.mapFromGlobal(
            chart.view.mapToGlobal(
                chart.view.mapFromScene(lanes[0].mapToScene(lanes[0].boundingRect()).boundingRect().topLeft())
            )
        ).y()
        assert chart.across.mapTo(chart, chart.across.rect().bottomLeft()).y() <= bars + 2
        friction = next(curve for curve in found if curve.label == "rail.friction.mode")
        for time in (0.01, 0.5, 1.9):
            word = run["rail.friction.mode"][np.searchsorted(run.time, time, side="right") - 1]
            assert format_value(friction, friction.point_at_time(time)[1]) == word
        picture(chart, f"chart_{look}")
        chart.show_curves(Plot(("rail.friction.mode", "rail.stop.mode")), found[1:])
        settle()
        picture(chart, f"chart_alone_{look}")
