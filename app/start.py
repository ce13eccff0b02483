"""Starting the window program."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QApplication

from app.collector import Collector
from resources import examples


def application(arguments: list[str]) -> QApplication:
    """The QApplication, with the surface VTK needs."""
    from app.viewport import prepare_surface

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
    app = application(arguments)
    from app.window import Window

    window = Window()
    window.show()
    path = Path(file) if file else examples()[0].path

    def begin() -> None:
        if file:
            window.documents.open(path)
        else:
            window.documents.start_example(path)
        window.recovery.offer()

    QTimer.singleShot(0, begin)
    return app.exec()
