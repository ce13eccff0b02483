"""Start of the program with its window: the opening frame at once, then the window, then what the first picture did not
need."""

from __future__ import annotations

import builtins
import gc
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, Qt, QTimer
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout

from app.background.signals import Lifetime
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.preferences.theme import PALETTES, wanted_look
from app.viewport.surface import prepare_surface
from app.widgets.label import Label
from core.codegen import background

if TYPE_CHECKING:
    from app.window.window import Window


FRAME_SIZE = (420, 190)
FRAME_ICON = 56


class OpeningFrame(QFrame):
    """A frame with the program's name and the file to open, at the centre of the screen until the window shows the
    machine. Needs nothing but Qt and the theme."""

    def __init__(self, settings: Settings, words: str) -> None:
        super().__init__(None, Qt.WindowType.SplashScreen | Qt.WindowType.FramelessWindowHint)
        colors = PALETTES[wanted_look(settings)]
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("opening")
        self.setStyleSheet(
            f"#opening {{ background: {colors.window}; border: 1px solid {colors.line}; }}"
            f"QLabel {{ color: {colors.text}; }} #muted {{ color: {colors.muted}; }}"
        )
        self.setWindowTitle("Kinetostat")
        picture, name, self.words = Label(), Label("Kinetostat"), Label(words)
        picture.setPixmap(icon("kinetostat").pixmap(FRAME_ICON, FRAME_ICON))
        font = name.font()
        font.setPointSizeF(1.7 * font.pointSizeF())
        name.setFont(font)
        self.words.setObjectName("muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        for label in (picture, name, self.words):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        self.setFixedSize(*FRAME_SIZE)
        middle = self.screen().availableGeometry().center()
        self.move(middle - self.rect().center())

    def appear(self) -> None:
        """Show the frame at once, before anything else is done."""
        self.show()
        QApplication.processEvents()
        self.repaint()
        QApplication.processEvents()


GARBAGE_CHECK_PERIOD = 400
"""Milliseconds between two checks for garbage."""


def freeze_existing_objects() -> None:
    """Exclude all existing objects from garbage collection. Called once the window exists: its modules and widgets are
    most of all objects and live until the end, and scanning them takes a tenth of a second."""
    gc.freeze()


def collect_due_garbage() -> int:
    """Collect garbage by Python's own thresholds. Returns the oldest generation collected, −1 if none."""
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            gc.collect(generation)
            return generation
    return -1


class GarbageCollector(QObject):
    """Collects cyclic garbage in the thread that created this object only, until it is closed.

    Python collects cycles in whichever thread happens to allocate. A cycle that holds a Qt object must not be destroyed
    in a compiler's or a job's thread: Qt crashes. So automatic collection is off while a window lives, and a timer
    collects.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self, interval=GARBAGE_CHECK_PERIOD)
        self._timer.timeout.connect(collect_due_garbage)
        self._timer.start()

    def close(self) -> None:
        """Leave garbage collection to Python again."""
        self._timer.stop()
        if self._was_on:
            gc.enable()


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
    GarbageCollector(app)
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
        self._seen = False
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
        if self._seen:  # the time is over before Qt has deleted this
            return
        self._seen = True
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
    from viz.system_libraries import skip_numpy_overrides

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
    from app.panels.properties.panel import prepare_forms
    from app.preferences.settings import data_folders, unwritable_folders_message

    freeze_existing_objects()
    window.complete_soon()
    background.resume()
    QTimer.singleShot(WARM_UP, window.properties, lambda: prepare_forms(window.properties))
    QTimer.singleShot(WARM_UP, window.status, window.status.prepare_integrators)
    window.run_preparation.begin()
    window.recovery.offer()
    if lost := unwritable_folders_message(data_folders()):
        window.session.message.emit("warning", lost)
