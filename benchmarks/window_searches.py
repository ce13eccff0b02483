"""The window's thread while the panels Design, Studies and Identification and workspace maps work, and how soon they
stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.watch import PATIENCE, Cost, Watch, ended, opened, turn

if TYPE_CHECKING:
    from app.window.window import Window
    from core.simulation import Run

Rows = Iterator[tuple[str, Cost]]
BEFORE_STOP = 0.7
"""Seconds for which a panel works before it is stopped."""
LONGEST_SEARCH = 8.0
"""Seconds after which a search that has no end of its own is stopped."""
CALM = 0.6


def searches() -> Rows:
    """Each panel at its work, to its end or for a while; then again, and stopped."""
    yield from designs()
    yield from studies()
    yield from fits()
    yield from maps()


def _asked(
    watch: Watch, title: str, begin: Callable[[], object], stop: Callable[[], object], over: Callable[[], bool]
) -> Rows:
    """A question asked: its turns; then asked again and stopped."""
    ends = time.perf_counter() + LONGEST_SEARCH
    stopping = False

    def until() -> bool:
        nonlocal stopping
        if not stopping and time.perf_counter() > ends:
            stopping = True
            stop()
        return over()

    yield title, watch.step(begin, until, CALM)
    begin()
    turn(BEFORE_STOP)
    cost = Cost()
    if not over():
        stop()
        begun = time.perf_counter()
        while not over() and time.perf_counter() < begun + PATIENCE:
            turn(0.001)
        cost = Cost(longest_wall=1e3 * (time.perf_counter() - begun))
    yield f"  stopped, {title}: until it ends", cost


def designs() -> Rows:
    """Parameters by a formula, a curve by any linkage."""
    from app.panels.design.machine_page import CURVE

    window = opened("four_bar")
    turn(1.5)
    watch = Watch(window)
    yield "panel Design shown", watch.step(lambda: window.docks.show_panel("design"), calm=CALM)
    panel: Any = window.docks.panels["design"]
    page = panel.machine_page
    page.vary.check("a", "b", "c", "d")
    page.minimise.setText("rms(coupler_point.position.z - 0.35)")
    page.along.setCurrentIndex(page.along.findData("crank_pin"))
    page.starts.setText("200")
    over = panel.search_button.isEnabled
    yield from _asked(watch, "design by a formula", panel.search, panel.stop, over)
    yield "what was found applied", watch.step(panel.apply, calm=CALM)
    panel.kind.setCurrentIndex(panel.kind.findData(CURVE))
    panel.curve_page.topology.setCurrentIndex(panel.curve_page.topology.findData("auto"))
    t = 2.0 * np.pi * np.arange(40) / 40
    panel.curve_page.points.setText("; ".join(f"{x:.4f} {z:.4f}" for x, z in _leaf(t)))
    panel.curve_page.points.returnPressed.emit()
    yield from _asked(watch, "curve by any linkage", panel.search, panel.stop, over)
    yield "linkage applied", watch.step(panel.apply, calm=CALM)
    ended(window)


def _leaf(t: Any) -> Any:
    return np.column_stack([0.1 * np.cos(t) + 0.03 * np.cos(2.0 * t), 0.2 + 0.06 * np.sin(t) - 0.02 * np.sin(2.0 * t)])


def studies() -> Rows:
    """The study of the V6, of ten times as many rows."""
    window = opened("engine_v6")
    turn(1.5)
    watch = Watch(window)
    yield "panel Studies shown", watch.step(lambda: window.docks.show_panel("studies"), calm=CALM)
    panel: Any = window.docks.panels["studies"]
    panel.asked.count.setText("1000")
    yield from _asked(watch, "study of the V6", panel.start, panel.stop, lambda: panel.work is None)
    panel.table.choose(3)
    yield "a row opened", watch.step(panel.open, calm=CALM)
    ended(window)


def fits() -> Rows:
    """Forces of the PUMA 560 from its run, a run of it fitted, an exciting motion."""
    from app.panels.identification.panel import FORCES, MOTION

    window = opened("puma560")
    turn(1.5)
    watch = Watch(window)
    yield "panel Identification shown", watch.step(lambda: window.docks.show_panel("identification"), calm=CALM)
    panel: Any = window.docks.panels["identification"]
    over = panel.kind.isEnabled
    window.session.runs.add(_run(window))
    panel.source.setCurrentIndex(panel.source.count() - 1)
    yield "a run taken as a trace", watch.step(lambda: panel.source.activated.emit(1), over, CALM)
    panel.kind.setCurrentIndex(panel.kind.findData(FORCES))
    yield from _asked(watch, "forces of the PUMA 560", panel.start, panel.stop, over)
    panel.kind.setCurrentIndex(panel.kind.findData(MOTION))
    yield from _asked(watch, "an exciting motion of the PUMA 560", panel.start, panel.stop, over)
    ended(window)


def _run(window: Window) -> Run:
    from core.simulation import simulate

    mech = window.session.mech
    return simulate(mech, 4.0, output=0.01, v0=np.full(mech.nv, 0.3))


def maps() -> Rows:
    """Workspace maps of an arm and of a platform."""
    for name, kind in (("puma560", "manipulability"), ("stewart", "reach")):
        window = opened(name)
        turn(1.5)
        watch, functions = Watch(window), window.functions
        yield f"form of the map, {name}", watch.step(lambda: window.panels.open_function("workspace"), calm=CALM)  # noqa: B023
        form = functions.form
        assert form is not None
        form.show_options(form.options() | {"kind": kind, "samples": 200_000})
        state = {"over": True}

        def begin(state: dict[str, bool] = state, functions: Any = functions) -> None:
            state["over"] = False
            job = functions.run()
            assert job is not None, "the form has a problem"
            job.ended.connect(lambda: state.update(over=True))

        yield from _asked(watch, f"map of {name}", begin, functions.stop, lambda state=state: state["over"])  # type: ignore[misc]
        ended(window)
