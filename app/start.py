"""Starting the window program."""

from __future__ import annotations

import signal
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QApplication

from app.collector import Collector, keep_what_is_there
from resources import examples

WARM_UP = 1500
"""Milliseconds after the start at which the integrators are made ready, beside the window, and forms in it."""


def application(arguments: list[str]) -> QApplication:
    """The QApplication, with the surface VTK needs."""
    from app.surface import prepare_surface

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


def start(file: str, arguments: list[str]) -> int:
    """Open the window on a file (or the first example) and run until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C in the terminal ends the program
    app = application(arguments)
    from app.integrator_code import integrators
    from app.panels.form_preparation import prepare_forms
    from app.window import Window

    window = Window()
    window.show()
    keep_what_is_there()
    QTimer.singleShot(WARM_UP, integrators().begin)
    QTimer.singleShot(WARM_UP, window.properties, lambda: prepare_forms(window.properties))
    path = Path(file) if file else examples()[0].path

    def begin() -> None:
        if file:
            window.documents.open(path)
        else:
            window.documents.start_example(path)
        window.recovery.offer()

    QTimer.singleShot(0, begin)
    return app.exec()
