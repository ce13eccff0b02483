"""Start of the program with its window."""

from __future__ import annotations

import builtins
import gc
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication

from app.background.collector import Collector, freeze_existing_objects
from app.background.lifetime import Lifetime
from app.preferences.settings import Settings
from app.viewport.surface import prepare_surface
from app.window.opening_frame import OpeningFrame
from core.codegen import background

if TYPE_CHECKING:
    from app.window.window import Window

ENDED = 130
"""Exit code of a program ended by a signal, as in shells."""
WARM_UP = 500
"""Milliseconds after the first picture at which forms are prepared."""
LONGEST = 10_000
"""Milliseconds after which waiting for the first picture ends."""
HAND_OVER = 2e-4
"""Seconds after which a thread gives the interpreter to one that waits. Each call into Qt gives it away for a moment:
with Python's own 5 ms, what it takes to get it back would add up to tenths of a second in a turn of the window."""


def application(arguments: list[str]) -> QApplication:
    """Return the QApplication, with the OpenGL surface that VTK needs."""
    remove_import_hook()
    sys.setswitchinterval(HAND_OVER)
    running = QApplication.instance()
    if isinstance(running, QApplication):
        return running
    prepare_surface()
    QCoreApplication.setApplicationName("Kinetostat")
    app = QApplication(arguments[:1] or ["kinetostat"])
    app.setApplicationDisplayName("")
    app.setDesktopFileName("kinetostat")
    Collector(app)
    return app


def remove_import_hook() -> None:
    """Remove PySide's import hook, which searches the source of every imported module for feature switches that nobody
    uses here: that takes a tenth of the start and keeps all sources in memory."""
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)


class Ending(QObject):
    """Handles Ctrl+C in the terminal and the end of the terminal or desktop session: unsaved work is kept for the next
    start."""

    def __init__(self, window: Window) -> None:
        super().__init__()
        self._window = window
        self._here, self._there = socket.socketpair()
        for end in (self._here, self._there):
            end.setblocking(False)
        self._before = signal.set_wakeup_fd(self._there.fileno())
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), lambda *_: None)  # the socket wakes Qt, which waits outside Python
        self._notifier = QSocketNotifier(self._here.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._end)

    def close(self) -> None:
        """Restore the signal handlers."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._before)
        self._here.close()
        self._there.close()

    def _end(self) -> None:
        self._notifier.setEnabled(False)
        self._window.guard.call(self._window.end_by_force)
        QCoreApplication.exit(ENDED)


class FirstPicture(QObject):
    """Keeps the opening frame, and suppresses other drawing, until the first machine is visible; then starts everything
    else."""

    def __init__(self, window: Window, frame: OpeningFrame, then: Callable[[], object]) -> None:
        super().__init__(window)
        self._view, self._frame, self._then = window.viewport, frame, then
        self._life = Lifetime()
        self._life.listen(
            (window.session.changed, lambda *_: self.draw()),
            (window.files.awaited, lambda coming: None if coming else self.draw()),
        )
        self._view.awaiting = True
        self._view.drawn.connect(self._drawn)
        QTimer.singleShot(LONGEST, self, self._picture_seen)

    def draw(self) -> None:
        """Draw the first picture, once the machine is loaded or failed to load."""
        self._life.close()
        self._view.awaiting = False
        self._view.hurry()
        self._view.update()

    def _drawn(self) -> None:
        if not self._view.awaiting:
            self._picture_seen()

    def _picture_seen(self) -> None:
        self._view.drawn.disconnect(self._drawn)
        self.draw()
        self._frame.close()
        self._then()
        self.deleteLater()


def start(file: str, arguments: list[str]) -> int:
    """Open the window on a file, or on the start page without one, and run until it is closed."""
    gc.disable()  # of what is loaded nothing is garbage; then the window's collector looks
    app = application(arguments)
    settings = Settings()
    frame = OpeningFrame(settings, f"Opening {Path(file).name} …" if file else "Starting …")
    frame.appear()
    background.hold()
    from viz.vtk_libraries import skip_numpy_overrides

    skip_numpy_overrides()
    from app.window.window import Window

    freeze_existing_objects()
    window = Window(settings=settings, at_once=False)
    ending = Ending(window)
    freeze_existing_objects()
    first = FirstPicture(window, frame, lambda: begin_services(window))
    if file:
        window.files.open(Path(file))
    else:
        _ = window.start_page
        first.draw()
    window.show()
    try:
        return app.exec()
    finally:
        ending.close()


def begin_services(window: Window) -> None:
    """Start the services that are not needed before the first machine is visible."""
    from app.panels.properties.prebuilt_forms import prepare_forms
    from app.preferences.folders import obstacle, places

    freeze_existing_objects()
    window.complete_soon()
    background.resume()
    QTimer.singleShot(WARM_UP, window.properties, lambda: prepare_forms(window.properties))
    QTimer.singleShot(WARM_UP, window.status, window.status.prepare_integrators)
    window.run_preparation.begin()
    window.recovery.offer()
    if lost := obstacle(places()):
        window.session.message.emit("warning", lost)
