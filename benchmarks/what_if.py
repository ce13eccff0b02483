"""Delay of the window behind the user's hand.

    python -m benchmarks.what_if

Live what-if with two plots: from the movement of a slider until the new run of 10 s is in the session and its curves
are drawn, and what of it the scene's picture took (the processor draws it where there is no graphics hardware).
Dragging: what the window does for one movement of a joint handle, without the picture. Interactive dynamics:
calculation for each second shown, while a body is pulled.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import TYPE_CHECKING, Any

from benchmarks.watch import opened, turn

if TYPE_CHECKING:
    from app.window.window import Window

MOVES = 30
PLOTS = 2
MACHINES = ("four_bar", "puma560", "panda")
DRAGGED = ("stewart", "engine_v6", "puma560")
LIVE = ("four_bar", "puma560", "stewart", "engine_v6")
SETTLING = 2.0
"""s in which the way of computing drafts is found."""


class Painted:
    """Adds up the time of the scene's pictures."""

    def __init__(self, window: Window) -> None:
        self.seconds = 0.0
        scene: Any = window.viewport.scene
        render = scene.render

        def timed(*args: Any, **keywords: Any) -> None:
            began = time.perf_counter()
            render(*args, **keywords)
            self.seconds += time.perf_counter() - began

        scene.render = timed


def plotted(window: Window) -> None:
    """Joint coordinates and speeds, a plot each."""
    from app.plotting.channels import suggest_plots
    from app.plotting.curves import Plot

    record = window.session.runs.current
    assert record is not None
    window.docks.show_panel("plots")
    for x, channels in list(suggest_plots(record.run).values())[:PLOTS]:
        window.plots.add_plot(Plot(channels, x))


def latencies(name: str) -> tuple[list[float], list[float], list[float]]:
    """Seconds from each movement of the first joint's slider until its curves are drawn; those of them in which the
    scene was drawn; processor seconds of the window's thread."""
    window = opened(name)
    session, painted = window.session, Painted(window)
    heard: list[float] = []
    window.what_if.made.connect(heard.append)

    def move(value: float) -> None:
        before = len(heard)
        session.preview_coordinates({session.mech.q_names[0]: value})
        while len(heard) == before or window.plots.has_pending_changes:
            turn(0.0005)
        turn(0.0)

    window.what_if.set_enabled(True)
    while not heard:
        turn(0.01)
    plotted(window)
    first = float(session.q[0])
    for k in range(3):
        move(first - 0.01 * (k + 1))
        turn(SETTLING)
    took, drawn, used = [], [], []
    for k in range(MOVES):
        before, began, work = painted.seconds, time.perf_counter(), time.thread_time()
        move(first + 0.01 * k)
        took.append(time.perf_counter() - began)
        drawn.append(painted.seconds - before)
        used.append(time.thread_time() - work)
        turn(0.05)
    session.cancel_preview()
    window.dispose()
    return took, drawn, used


def drags(name: str) -> list[float]:
    """Seconds of the window's work for one movement of the first joint by hand, the picture left out."""
    window = opened(name)
    session = window.session
    coordinate = session.mech.coordinates[0]
    turn(1.0)
    first, taken = float(session.q[coordinate.index]), []
    for k in range(MOVES):
        began = time.perf_counter()
        session.preview_coordinates({coordinate.name: first + 0.005 * k})
        taken.append(time.perf_counter() - began)
    session.cancel_preview()
    window.dispose()
    return taken


def live_cost(name: str) -> float:
    """Processor seconds of calculation for a second of interactive dynamics, a body being pulled."""
    import numpy as np

    from core.files import load
    from core.mechanism import Mechanism
    from core.simulation.live import Live
    from resources import examples

    mech = Mechanism(load(next(example.path for example in examples() if example.name == name)))
    live = Live(mech, mech.rest(), damping=0.5)
    frame = mech.frame_names[-1]
    live.grab(frame, np.zeros(3), np.asarray(mech.frame(live.q, frame))[:3, 3] + 0.05)
    live.advance(0.2)
    began = time.thread_time()
    live.advance(1.0)
    return time.thread_time() - began


def main() -> None:
    """Print the figures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    print("what-if, ms:      median  largest   scene drawn   window's thread")
    for name in MACHINES:
        took, drawn, used = (in_ms(values) for values in latencies(name))
        print(
            f"{name:14}  {statistics.median(took):8.1f} {max(took):8.1f} {statistics.median(drawn):13.1f} "
            f"{statistics.median(used):17.1f}"
        )
    print("drag, ms:         median  largest")
    for name in DRAGGED:
        took = in_ms(drags(name))
        print(f"{name:14}  {statistics.median(took):8.1f} {max(took):8.1f}")
    print("interactive dynamics: calculation per second shown, s")
    for name in LIVE:
        print(f"{name:14}  {live_cost(name):8.3f}")


def in_ms(seconds: list[float]) -> list[float]:
    """Milliseconds."""
    return [1e3 * each for each in seconds]


if __name__ == "__main__":
    main()
