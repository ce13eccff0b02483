"""The window as the tests see it: real, shown on the tests' own screen, with settings of its own."""

import threading
import time
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.viewport import prepare_surface

prepare_surface()  # before any test makes the QApplication

PATIENCE = 20.0


def pump(until=lambda: False, seconds=0.05):
    """Let Qt work until something is true; at most so long."""
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.001)
    return until()


@dataclass
class Bench:
    """A shown window and the hands on it."""

    window: object

    @property
    def session(self):
        return self.window.session

    @property
    def view(self):
        return self.window.viewport

    def open(self, path):
        """Open a file as a person does, and wait."""
        self.window.documents.open(path)
        assert pump(lambda: not self.window.documents.opening.busy, PATIENCE)
        self.draw()

    def example(self, name):
        """Open one of the examples."""
        from resources import examples

        self.open(next(example.path for example in examples() if example.name == name))

    def draw(self):
        """Have the picture brought up to date."""
        self.view.look(self.view._goal)
        pump()
        self.view.repaint()

    def wait(self, until, seconds=PATIENCE):
        assert pump(until, seconds)

    def press(self, x, y, button=Qt.MouseButton.LeftButton, keys=Qt.KeyboardModifier.NoModifier):
        QTest.mousePress(self.view, button, keys, QPoint(round(x), round(y)))

    def move(self, x, y, keys=Qt.KeyboardModifier.NoModifier):
        """The pointer moves. (QTest would move the screen's own pointer and not wait for what comes of it.)"""
        place = QPoint(round(x), round(y))
        event = QMouseEvent(QEvent.Type.MouseMove, QPointF(place), QPointF(self.view.mapToGlobal(place)),
                            Qt.MouseButton.NoButton, Qt.MouseButton.NoButton, keys)  # fmt: skip
        QApplication.sendEvent(self.view, event)
        pump(seconds=0.01)

    def release(self, x, y, button=Qt.MouseButton.LeftButton, keys=Qt.KeyboardModifier.NoModifier):
        QTest.mouseRelease(self.view, button, keys, QPoint(round(x), round(y)))
        pump(seconds=0.01)

    def drag(self, points, button=Qt.MouseButton.LeftButton, keys=Qt.KeyboardModifier.NoModifier):
        """Press at the first point, move through all, release at the last."""
        self.press(*points[0], button, keys)
        for point in points[1:]:
            self.move(*point)
        self.release(*points[-1], button, keys)

    def click(self, x, y, button=Qt.MouseButton.LeftButton):
        self.drag([(x, y)], button)

    def messages(self, severity):
        return [message.text for message in self.window.messages.log if message.severity == severity]


@pytest.fixture
def bench(qapp, tmp_path):
    """A window with an empty model. Afterwards: nothing unexpected was told, no thread is left."""
    from app.settings import Settings
    from app.window import Window

    threads = threading.active_count()
    window = Window(settings=Settings(tmp_path / "settings.ini"))
    window.resize(1280, 860)
    window.show()
    QTest.qWaitForWindowExposed(window)
    window.activateWindow()
    QTest.qWaitForWindowActive(window, 5000)
    pump(seconds=0.1)
    bench = Bench(window)
    yield bench
    unexpected = [text for text in bench.messages("error") if "unexpectedly" in text]
    log = list(window.messages.log)
    window.dispose()
    window.hide()
    window.deleteLater()
    pump(seconds=0.02)
    assert not unexpected, unexpected
    assert log is not None
    assert threading.active_count() <= threads + COMPILERS


COMPILERS = 1
"""The kernel's one background thread lives as long as the program."""
