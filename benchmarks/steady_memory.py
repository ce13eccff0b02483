"""Memory over one long session of the window.

    python -m benchmarks.steady_memory [MACHINES [EDITS [RUNS]]]     (200, 1000 and 100 by default)

Machines are opened one after another in one window, a value is edited, a run is computed. After each tenth of a part:
resident memory (MB), what the garbage collector counts, actors in the scene, widgets, machines, runs, programs and
models alive. An edit leaves a model, which undo brings back; what else goes on growing is a leak.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.startup import resident
from benchmarks.watch import PATIENCE, turn

if TYPE_CHECKING:
    from app.window.window import Window

MACHINES = ("pendulum", "four_bar", "puma560", "stewart", "slider_crank", "scara")
"""Opened in turn."""
EDITED = ("pendulum",)
"""Edited, then opened again for each run: runs of a document are kept as long as it is open."""
PARTS = 10
COUNTED = ("Mechanism", "Run", "Program", "Model")


def wait(until: Callable[[], object]) -> None:
    """Let the window work until something is true."""
    end = time.monotonic() + PATIENCE
    while not until():
        if time.monotonic() > end:
            raise TimeoutError("The window does not get on.")
        turn(0.01)


def left(window: Window) -> str:
    """Objects alive now, as a row."""
    from PySide6.QtWidgets import QApplication

    turn(1.0)
    gc.unfreeze()
    gc.collect()
    alive = gc.get_objects()
    counts = [sum(type(each).__name__ == kind for each in alive) for kind in COUNTED]
    actors = window.viewport.scene.renderer.GetViewProps().GetNumberOfItems()
    numbers = (round(resident()), len(alive), actors, len(QApplication.allWidgets()), *counts)
    return "".join(f"{number:>10}" for number in numbers)


def parts(title: str, window: Window, times: int, step: Callable[[int], None]) -> None:
    """Do a step so many times, and tell what is left on the way."""
    size = max(times // PARTS, 1)
    for k in range(times):
        step(k)
        if (k + 1) % size == 0:
            print(f"{k + 1:>5} {title:10}{left(window)}", flush=True)


def main() -> None:
    """Print the rows."""
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    from app.dialogs.leaving import SaveChoice
    from app.preferences.settings import Settings
    from app.window import files
    from app.window.start import create_application
    from app.window.window import Window
    from core.model.edits import edits
    from resources import EXAMPLES

    machines, changes, runs = (*map(int, sys.argv[1:]), *(200, 1000, 100)[len(sys.argv) - 1 :])
    files.ask = lambda *_: SaveChoice()  # what is unsaved may go
    create_application(sys.argv)
    window = Window(settings=Settings(Path(tempfile.mkdtemp(prefix="kinetostat-")) / "settings.ini"))
    window.guard.remove()  # what goes wrong here is to end this program
    window.show()
    session, simulation = window.session, window.simulation

    def open_one(k: int, names: Sequence[str] = MACHINES) -> None:
        window.files.open(EXAMPLES / f"{names[k % len(names)]}.kst")
        wait(lambda: not window.files.opening.is_busy)

    def edit(k: int) -> None:
        body = session.model.bodies[-1]
        session.apply("Edit", lambda model: edits.change(model, "bodies", body.name, mass=1.0 + 1e-3 * (k % 7)))
        turn(0.01)

    def run(_k: int) -> None:
        open_one(0, EDITED)
        simulation.change_settings(duration=0.2, output=0.01)
        simulation.start()
        wait(lambda: not simulation.is_running)

    print(f"{'':16}" + "".join(f"{word:>10}" for word in ("MB", "objects", "actors", "widgets", *COUNTED)))
    parts("machines", window, machines, open_one)
    open_one(0, EDITED)
    parts("edits", window, changes, edit)
    parts("runs", window, runs, run)
    window.dispose()


if __name__ == "__main__":
    main()
