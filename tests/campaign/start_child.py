"""The window as it is started, with work at once: an example, a run, plots, a moving slider, a function, an edit.

`python -m tests.campaign.start_child EXAMPLE SEED ENDING` closes the window after one of `ENDINGS`, ends with 0, and
prints what was imported or made where it must not be. A crash is printed by faulthandler.
"""

from __future__ import annotations

import faulthandler
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.window.window import Window

QT = ("PySide6", "shiboken6", "pyqtgraph", "app")
"""Packages whose modules make types of Qt."""
LIFE = (3000, 7000)
"""ms from the first picture to the end of a start that ends after its work."""
SHORT = (0, 600)
"""ms from the event that a start ends with to its end."""
ENDINGS = ("after work", "first picture", "run begins", "compiling")
"""The event that the window is closed after."""


class Watch:
    """Notes each module with types of Qt that another thread than the window's loads (a finder of `sys.meta_path`)."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Look whether this thread may load a module; never find one."""
        if threading.current_thread() is not threading.main_thread() and name.partition(".")[0] in QT:
            self.found.append(f"'{threading.current_thread().name}' loads {name}")


def work(window: Window, luck: random.Random) -> None:
    """Do at once what is at hand: in random order, at random moments of the first seconds."""
    from PySide6.QtCore import QTimer

    def slide() -> None:
        window.what_if.set_enabled(True)
        name = window.session.mech.q_names[0]
        for k in range(20):
            move = window.session.q[0] + 0.01 * k
            QTimer.singleShot(40 * k, lambda move=move: window.session.preview_coordinates({name: move}))

    def edit() -> None:
        from core.model import Parameter
        from core.model.edits import edits

        window.session.apply("Change it", lambda model: edits.add(model, Parameter(name="more", value=1.0)))

    actions: list[Callable[[], object]] = [
        slide,
        edit,
        lambda: window.docks.show_panel("plots"),
        lambda: window.docks.show_panel("functions"),
        lambda: window.run_command("simulation.run"),
        lambda: window.run_command("view.fit"),
    ]
    luck.shuffle(actions)
    for action in actions:
        QTimer.singleShot(luck.randrange(1500), lambda action=action: window.guard.call(action))


def close_after(window: Window, ending: str, luck: random.Random) -> None:
    """Close the window, and end the program with it, after an event."""
    from PySide6.QtCore import QTimer

    from core.codegen import background

    def end() -> None:
        from PySide6.QtCore import QCoreApplication

        if luck.random() < 0.5:
            window.dispose()
        QCoreApplication.exit(0)

    def end_while_compiling() -> None:
        QTimer.singleShot(*((luck.randint(*SHORT), end) if background.is_busy() else (5, end_while_compiling)))

    if ending == "first picture":
        QTimer.singleShot(luck.randint(*SHORT), end)
        return
    work(window, luck)
    if ending == "run begins":
        QTimer.singleShot(1, lambda: window.guard.call(lambda: window.run_command("simulation.run")))
        QTimer.singleShot(luck.randint(*SHORT), end)
    elif ending == "compiling":
        QTimer.singleShot(0, end_while_compiling)
        QTimer.singleShot(LIFE[1], end)
    else:
        QTimer.singleShot(luck.randint(*LIFE), end)


def main(example: str, seed: int, ending: str) -> int:
    """Start the window as the program does; gives what the program gives, 1 where the watch found something."""
    faulthandler.enable()
    watch, luck = Watch(), random.Random(seed)
    sys.meta_path.insert(0, watch)  # type: ignore[arg-type]
    from app.window import start
    from resources import EXAMPLES

    begin_services = start.start_deferred_services

    def begun(window: Window) -> None:
        begin_services(window)
        close_after(window, ending, luck)

    start.start_deferred_services = begun
    code = start.run_program(str(Path(EXAMPLES, f"{example}.kst")), sys.argv[:1])
    for each in watch.found:
        print(each)
    return code or int(bool(watch.found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
