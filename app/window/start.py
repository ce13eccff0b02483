"""Starting the window program."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication

from app.background.collector import Collector, keep_what_is_there
from resources import examples

if TYPE_CHECKING:
    from app.window.window import Window

ENDED = 130
"""Exit code of a program that was told to end, as shells have it."""
WARM_UP = 1500
"""Milliseconds after the start at which the integrators are made ready, beside the window, and forms in it."""


def application(arguments: list[str]) -> QApplication:
    """The QApplication, with the surface VTK needs."""
    from app.viewport.surface import prepare_surface

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


class Ending(QObject):
    """Ctrl+C in the terminal, the end of the terminal or of the desktop: what is unsaved is kept for the next start."""

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
        """Listen no more."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._before)
        self._here.close()
        self._there.close()

    def _end(self) -> None:
        self._notifier.setEnabled(False)
        self._window.guard.call(self._window.end_by_force)
        QCoreApplication.exit(ENDED)


def start(file: str, arguments: list[str]) -> int:
    """Open the window on a file (or the first example) and run until it is closed."""
    app = application(arguments)
    from app.panels.properties.prebuilt_forms import prepare_forms
    from app.preferences.folders import obstacle, places
    from app.window.window import Window

    window = Window()
    ending = Ending(window)
    window.show()
    keep_what_is_there()
    QTimer.singleShot(WARM_UP, window.properties, lambda: prepare_forms(window.properties))
    path = Path(file) if file else examples()[0].path

    def begin() -> None:
        if file:
            window.files.open(path)
        else:
            window.files.start_example(path)
        window.recovery.offer()
        if lost := obstacle(places()):
            window.session.message.emit("warning", lost)

    QTimer.singleShot(0, begin)
    try:
        return app.exec()
    finally:
        ending.close()
