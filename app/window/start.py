"""Start of the program with its window: first a splash frame, then the window, then everything that the first picture
does not need."""

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
from app.preferences.theme import PALETTES, effective_look
from app.viewport.surface import request_opengl_format
from app.widgets.label import Label
from core.codegen import background

if TYPE_CHECKING:
    from app.window.window import Window


FRAME_SIZE = (420, 190)
FRAME_ICON = 56


class SplashFrame(QFrame):
    """Frame at the centre of the screen with the names of the program and of the file to open, shown until the window
    displays the machine. Needs only Qt and the theme."""

    def __init__(self, settings: Settings, words: str) -> None:
        super().__init__(None, Qt.WindowType.SplashScreen | Qt.WindowType.FramelessWindowHint)
        colors = PALETTES[effective_look(settings)]
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

    def show_at_once(self) -> None:
        """Show the frame immediately, before anything else is done."""
        self.show()
        QApplication.processEvents()
        self.repaint()
        QApplication.processEvents()


GARBAGE_CHECK_PERIOD = 400
"""Interval in milliseconds at which garbage collection is considered."""


def freeze_existing_objects() -> None:
    """Exclude all existing objects from garbage collection. Called once the window exists: its modules and widgets are
    the majority of all objects and live until the end, and scanning them takes a tenth of a second."""
    gc.freeze()


def collect_due_garbage() -> int:
    """Collect the garbage that is due by Python's own thresholds. Returns the oldest generation collected; −1 if none
    was due."""
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            gc.collect(generation)
            return generation
    return -1


class GarbageCollector(QObject):
    """Collects cyclic garbage only in the thread that created this object, until it is closed.

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
        """Return garbage collection to Python."""
        self._timer.stop()
        if self._was_on:
            gc.enable()


ENDED = 130
"""Exit code of a program ended by a signal, as in shells."""
WARM_UP = 500
"""Delay in milliseconds after the first picture until forms are prepared."""
LONGEST = 10_000
"""Longest time in milliseconds to wait for the first picture."""
HAND_OVER = 2e-4
"""Time in seconds after which a thread releases the interpreter to a waiting one. Each call into Qt releases it
briefly; with Python's default of 5 ms, waiting to get it back would add up to tenths of a second per turn of the event
loop."""


def create_application(arguments: list[str]) -> QApplication:
    """Return a new QApplication with the default OpenGL surface format that VTK needs."""
    remove_import_hook()
    sys.setswitchinterval(HAND_OVER)
    running = QApplication.instance()
    if isinstance(running, QApplication):
        return running
    request_opengl_format()
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


class TerminationHandler(QObject):
    """Handles Ctrl+C in the terminal and the end of the terminal or desktop session: unsaved work is saved for the next
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
        self._notifier.activated.connect(self._terminate)

    def close(self) -> None:
        """Restore the signal handlers."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._before)
        self._here.close()
        self._there.close()

    def _terminate(self) -> None:
        self._notifier.setEnabled(False)
        self._window.guard.call(self._window.terminate)
        QCoreApplication.exit(ENDED)


class FirstPictureWait(QObject):
    """Keeps the splash frame, and suppresses other drawing, until the first machine is visible; then starts everything
    else."""

    def __init__(self, window: Window, frame: SplashFrame, then: Callable[[], object]) -> None:
        from app.document.analyses import model_analysis_of

        super().__init__(window)
        self._view, self._frame, self._then = window.viewport, frame, then
        self._analysis = model_analysis_of(window.session)
        self._analysis.hold()
        self._life = Lifetime()
        self._life.listen(
            (window.session.changed, lambda *_: self.draw_first_picture()),
            (window.files.awaited, lambda coming: None if coming else self.draw_first_picture()),
        )
        self._seen = False
        self._view.awaiting = True
        self._view.drawn.connect(self._on_first_picture_drawn)
        QTimer.singleShot(LONGEST, self, self._on_first_picture_visible)

    def draw_first_picture(self) -> None:
        """Draw the first picture once the machine has been loaded or has failed to load."""
        self._life.close()
        self._view.awaiting = False
        self._view.use_movement_quality()
        self._view.update()

    def _on_first_picture_drawn(self) -> None:
        if not self._view.awaiting:
            self._on_first_picture_visible()

    def _on_first_picture_visible(self) -> None:
        if self._seen:  # the time is over before Qt has deleted this
            return
        self._seen = True
        self._view.drawn.disconnect(self._on_first_picture_drawn)
        self.draw_first_picture()
        self._frame.close()
        self._analysis.release()
        self._then()
        self.deleteLater()


def run_program(file: str, arguments: list[str]) -> int:
    """Open the window on a file, or on the start page if no file is given, and run until it is closed."""
    gc.disable()  # of what is loaded nothing is garbage; then the window's collector looks
    app = create_application(arguments)
    settings = Settings()
    frame = SplashFrame(settings, f"Opening {Path(file).name} …" if file else "Starting …")
    frame.show_at_once()
    background.delay_compilation()
    from viz.system_libraries import disable_numpy_overrides

    disable_numpy_overrides()
    from app.window.window import Window

    freeze_existing_objects()
    window = Window(settings=settings, at_once=False)
    ending = TerminationHandler(window)
    freeze_existing_objects()
    first = FirstPictureWait(window, frame, lambda: start_deferred_services(window))
    if file:
        window.files.open(Path(file))
    else:
        _ = window.start_page
        first.draw_first_picture()
    window.show()
    try:
        return app.exec()
    finally:
        ending.close()


def start_deferred_services(window: Window) -> None:
    """Start the services that are not needed before the first machine is visible."""
    from app.panels.properties.panel import prepare_forms
    from app.preferences.settings import data_folders, unwritable_folders_message

    freeze_existing_objects()
    window.create_missing_panels_soon()
    background.resume_compilation()
    QTimer.singleShot(WARM_UP, window.properties, lambda: prepare_forms(window.properties))
    QTimer.singleShot(WARM_UP, window.status, window.status.compile_integrators)
    window.run_preparation.begin()
    window.recovery.offer_leftovers()
    if lost := unwritable_folders_message(data_folders()):
        window.session.message.emit("warning", lost)
