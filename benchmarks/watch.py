"""Watching the window's thread: how long each turn of its event loop takes, and what of it is drawing the scene.

Busy machines and slow ones make every turn long. So a turn is also told in pieces of a work that is always the same.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from app.window.window import Window

PATIENCE = 60.0
"""s"""
CALM = 0.3
"""Seconds for which the window is watched after a step is over: what it put off belongs to it."""


def piece_of_work() -> dict[str, object]:
    """Objects, a dictionary, small arrays: what a window does. It takes a millisecond where the figures of
    docs/responsiveness.md were taken."""
    table: dict[str, object] = {}
    for k in range(800):
        row = np.array([k, 0.5 * k, 1.0])
        table[f"row {k % 97}"] = (row @ row, [k, str(k)])
    return table


def piece() -> float:
    """Processor seconds of a piece of work now."""
    taken = []
    for _ in range(3):
        began = time.thread_time()
        piece_of_work()
        taken.append(time.thread_time() - began)
    return statistics.median(taken)


def opened(name: str) -> Window:
    """The window with an example, as the program starts it for the first time."""
    from app.document.session import Session
    from app.panels.properties.panel import prepare_forms
    from app.preferences.settings import Settings
    from app.window.start import create_application, freeze_existing_objects
    from app.window.window import Window
    from core.files import load
    from resources import examples

    create_application(sys.argv)
    session = Session(load(next(example.path for example in examples() if example.name == name)))
    window = Window(session, Settings(Path(tempfile.mkdtemp(prefix="kinetostat-")) / "settings.ini"))
    window.show()
    freeze_existing_objects()
    prepare_forms(window.properties)
    return window


def ended(window: Window) -> None:
    """The window is over and its widgets are gone: the program has one, and those of the next are not to wait for
    it."""
    window.dispose()
    window.hide()
    window.deleteLater()
    turn(0.1)


def turn(seconds: float) -> None:
    """Let the window work for a while."""
    from PySide6.QtCore import QCoreApplication, QEvent

    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.0005)


class Drawing:
    """Adds up processor and wall seconds of the scene's pictures and of putting the window together with them: what
    the processor does where there is no graphics hardware."""

    def __init__(self, window: Window) -> None:
        self.cpu = self.wall = 0.0
        self._began: tuple[float, float] | None = None
        scene: Any = window.viewport.scene
        render = scene.render

        def timed(*args: Any, **keywords: Any) -> None:
            self._begin()
            render(*args, **keywords)
            self._end()

        scene.render = timed
        if window.viewport.is_hardware_composed:
            window.viewport.canvas.aboutToCompose.connect(self._begin)
            window.viewport.canvas.frameSwapped.connect(self._end)

    def _begin(self) -> None:
        self._began = time.thread_time(), time.perf_counter()

    def _end(self) -> None:
        if self._began is not None:
            self.cpu += time.thread_time() - self._began[0]
            self.wall += time.perf_counter() - self._began[1]
            self._began = None


@dataclass
class Cost:
    """Milliseconds of the window's thread: of its longest turn (processor, wall) and of all turns together, the scene's
    drawing left out, and of that drawing (all processor); and the longest turn in pieces of work."""

    longest: float = 0.0
    longest_wall: float = 0.0
    work: float = 0.0
    drawing: float = 0.0
    pieces: float = 0.0

    def __or__(self, other: Cost) -> Cost:
        """One after the other."""
        return Cost(
            max(self.longest, other.longest),
            max(self.longest_wall, other.longest_wall),
            self.work + other.work,
            self.drawing + other.drawing,
            max(self.pieces, other.pieces),
        )

    @classmethod
    def usual(cls, costs: Sequence[Cost]) -> Cost:
        """Of a movement that is made again and again: the worst of its turns, and what it takes in the median."""
        return cls(
            max(cost.longest for cost in costs),
            max(cost.longest_wall for cost in costs),
            statistics.median(cost.work for cost in costs),
            statistics.median(cost.drawing for cost in costs),
            max(cost.pieces for cost in costs),
        )


class Watch:
    """Takes the turns of a window's event loop one at a time."""

    def __init__(self, window: Window) -> None:
        self.drawing = Drawing(window)
        self._piece = piece()

    def turn(self, action: Callable[[], object]) -> Cost:
        """Return the cost of an action that nothing can interrupt."""
        drawn = self.drawing.cpu, self.drawing.wall
        cpu, wall = time.thread_time(), time.perf_counter()
        action()
        cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
        beside = self.drawing.cpu - drawn[0]
        cpu, wall = 1e3 * (cpu - beside), 1e3 * (wall - self.drawing.wall + drawn[1])
        return Cost(cpu, wall, cpu, 1e3 * beside, cpu / (1e3 * self._piece))

    def step(
        self, action: Callable[[], object], until: Callable[[], object] = lambda: True, calm: float = CALM
    ) -> Cost:
        """Return the cost of a step, from the user's action until a condition is true, and a while longer."""
        from PySide6.QtCore import QCoreApplication, QEvent

        def events() -> None:
            QCoreApplication.processEvents()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

        before = piece()
        cost = self.turn(action)
        end = time.perf_counter() + PATIENCE
        while not until():
            if time.perf_counter() > end:
                raise TimeoutError("The step does not end.")
            cost |= self.turn(events)
            time.sleep(0.0005)
        end = time.perf_counter() + calm
        while time.perf_counter() < end:
            cost |= self.turn(events)
            time.sleep(0.0005)
        self._piece = (before + piece()) / 2
        cost.pieces = cost.longest / (1e3 * self._piece)
        return cost
