"""The window as the tests see it: real, shown on the tests' own screen, with settings of its own."""

import shutil
import threading
import time
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QEvent, QEventLoop, QPoint, QPointF, Qt
from PySide6.QtGui import QCursor, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.panels.simulation.start_rows import StartRows
from app.viewport.surface import request_opengl_format
from viz.camera import CameraView
from viz.scene import quality
from viz.scene.scene import Scene

request_opengl_format()  # before any test makes the QApplication

PATIENCE = 60.0
"""s; what is waited for has come when it is there: only a failure takes so long."""
MAKING = 400.0
"""s; the first run of all makes the integrators' machine code."""
ROUNDS = 10
DRAW, SMOOTH = Scene.render, quality.set_antialiasing
SIZE = (1120, 760)


@pytest.fixture
def settings(tmp_path):
    """Preferences of nobody."""
    from app.preferences.settings import Settings

    return Settings(tmp_path / "settings.ini")


@pytest.fixture
def session():
    """An arm that is open without a window; modules that need another machine have their own."""
    from app.document.session import Session
    from core.files import load
    from resources import EXAMPLES

    return Session(load(EXAMPLES / "puma560.kst"))


@pytest.fixture
def four_bar(bench, tmp_path):
    """The path of a four-bar of the person's own, which is open."""
    from resources import EXAMPLES

    path = tmp_path / "four_bar.kst"
    shutil.copy(EXAMPLES / "four_bar.kst", path)
    bench.open(path)
    return path


@pytest.fixture
def jobs(qtbot):
    """Work beside the window, none of which is left at the end."""
    from app.background.jobs import Jobs

    jobs = Jobs()
    yield jobs
    assert jobs.close()


def pump(until, seconds=PATIENCE):
    """Let Qt work until something is true; at most so long."""
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.001)
    return until()


def settle():
    """Let Qt do all that is to be done now, and what follows from it; of what goes on for ever some rounds."""
    work = QAbstractEventDispatcher.instance()
    for _ in range(ROUNDS):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if not work.processEvents(QEventLoop.ProcessEventsFlag.AllEvents):
            return


@dataclass
class Bench:
    """A shown window and the hands on it."""

    window: object
    arranged: object = None
    """State of the docks that stand as at first."""

    @property
    def session(self):
        return self.window.session

    @property
    def view(self):
        return self.window.viewport

    def open(self, path):
        """Open a file as a person does, and wait."""
        self.window.files.open(path)
        assert pump(lambda: not self.window.files.opening.is_busy, PATIENCE)
        self.draw()

    def example(self, name):
        """Open one of the examples."""
        from resources import examples

        self.open(next(example.path for example in examples() if example.name == name))

    def draw(self):
        """Have the picture brought up to date, and drawn: what is picked in it then lies where it is seen."""
        for _ in range(2):  # what is done now may set the camera off once more
            self.view.viewpoint.set_view(self.view.viewpoint.target_view)
            settle()
        self.view.viewpoint.set_view(self.view.viewpoint.target_view)
        drawn = []

        def draw(scene, fast=False):
            DRAW(scene, fast)
            drawn.append(scene)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Scene, "render", draw)
            self.view.repaint()
            if not drawn:  # the screen shows the window later
                self.view.update()
                assert pump(lambda: drawn)

    def wait(self, until, seconds=PATIENCE):
        assert pump(until, seconds)

    def press(self, x, y, button=Qt.MouseButton.LeftButton, keys=Qt.KeyboardModifier.NoModifier):
        QTest.mousePress(self.view, button, keys, QPoint(round(x), round(y)))

    def move(self, x, y, keys=Qt.KeyboardModifier.NoModifier):
        """The pointer moves. (QTest would move the screen's own pointer and not wait for what comes of it.)"""
        place = QPoint(round(x), round(y))
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(place),
            QPointF(self.view.mapToGlobal(place)),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.NoButton,
            keys,
        )
        QApplication.sendEvent(self.view, event)
        settle()

    def release(self, x, y, button=Qt.MouseButton.LeftButton, keys=Qt.KeyboardModifier.NoModifier):
        QTest.mouseRelease(self.view, button, keys, QPoint(round(x), round(y)))
        settle()

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


def new_bench(settings_file):
    """A new window with an empty model, shown and active."""
    from app.preferences.settings import Settings
    from app.window.window import Window

    settings = Settings(settings_file)
    settings.shows_hands = False  # pictures are compared
    window = Window(settings=settings)
    window.resize(*SIZE)
    window.show()
    QTest.qWaitForWindowExposed(window)
    put_pointer_away(window)
    window.activateWindow()
    QTest.qWaitForWindowActive(window, 5000)
    settle()
    return Bench(window)


def put_pointer_away(window):
    """The screen's own pointer shall not rest on a part of the machine: its handle would appear."""
    QCursor.setPos(window.mapToGlobal(QPoint(2, 2)))
    settle()


def end(bench):
    """Close the window for good; nothing runs on."""
    bench.window.dispose()
    bench.window.hide()
    bench.window.deleteLater()
    settle()


def fresh(bench):
    """As after the start: empty model, first settings, select tool, no message."""
    from app.runs.run_settings import RunSettings
    from core.model import Model

    window = bench.window
    while (menu := QApplication.activePopupWidget()) is not None:
        menu.close()
    window.setUpdatesEnabled(False)
    window.interactive.stop()
    window.viewport.gestures.cancel_gesture()
    window.viewport.gestures.on_pointer_left()
    window.sequence.close_sequence()
    window.player.set_speed(1.0)
    window.viewport.gestures.choose_tool("select")
    window.simulation.change_settings(
        **RunSettings().remembered_settings()
    )  # of a short run another test could not see its motion
    settings = window.settings
    for key in settings._store.allKeys():
        settings.forget(key)
        if key in (
            "look",
            "units/degrees",
            "units/millimetres",
            "view/grid",
            "view/handles",
            "view/mobility",
            "ellipsoid/shown",
        ):
            settings.changed.emit(key)
    window.viewport.viewpoint.set_view(CameraView())
    window.files.source = None
    window.session.start_document(Model(name="untitled"))
    put_pointer_away(window)
    window.session.set_hovered_element(None)
    window.viewport.show_hint()
    window.messages.dismiss()
    window.messages.log.clear()
    window.notices.clear()
    if (window.width(), window.height()) != SIZE:  # now that nothing wide is shown any more
        window.resize(*SIZE)
        assert pump(lambda: (window.width(), window.height()) == SIZE, PATIENCE), window.minimumSizeHint()
    window.output.clear()
    for rows in window.findChildren(StartRows):
        rows.setCurrentIndex(0)
    window.setUpdatesEnabled(True)
    if not window.isVisible():
        window.show()
    if not window.isActiveWindow():
        window.activateWindow()
        QTest.qWaitForWindowActive(window, 5000)
    if window.saveState() != bench.arranged:
        window.docks.restore_initial_layout()
        settle()  # the docks take their sizes
        bench.arranged = window.saveState()


def _prepare(scene, fast=None):
    """All of a picture but its colours. Drawn are pictures to be kept, and the first, which tells what draws."""
    if fast is None or scene._fineness is None:
        DRAW(scene)
    else:
        scene.prepare_render()


@pytest.fixture(scope="session", autouse=True)
def _colours_as_they_are():
    """Where no test looks at its colours, the 3-D view is not drawn: a processor takes longer for that than for all
    else in the window. Pictures that are kept are drawn, with jagged edges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scene, "render", _prepare)
        patch.setattr(quality, "set_antialiasing", lambda *_: None)
        yield


@pytest.fixture
def drawn(monkeypatch):
    """The 3-D view is drawn on the screen; its edges stay jagged."""
    monkeypatch.setattr(Scene, "render", DRAW)


@pytest.fixture
def smoothed(monkeypatch):
    """The 3-D view is drawn on the screen, with smooth edges once it rests."""
    monkeypatch.setattr(Scene, "render", DRAW)
    monkeypatch.setattr(quality, "set_antialiasing", SMOOTH)


@pytest.fixture(scope="session")
def shared_bench(qapp, tmp_path_factory):
    """One window for most tests; at the end no thread is left."""
    before = set(threading.enumerate())
    bench = new_bench(tmp_path_factory.mktemp("settings") / "settings.ini")
    yield bench
    end(bench)

    def left():
        return [each for each in set(threading.enumerate()) - before if not each.name.startswith(LASTING_THREADS)]

    assert pump(lambda: not left()), left()


@pytest.fixture(autouse=True)
def _let_go(monkeypatch):
    """The question before a document is left is answered with "discard", where a test says nothing else."""
    from app.dialogs.leaving import SaveChoice

    monkeypatch.setattr("app.window.files.ask", lambda parent, loss: SaveChoice())


@pytest.fixture
def bench(shared_bench):
    """A window as after the start. Afterwards: nothing unexpected was told."""
    fresh(shared_bench)
    yield shared_bench
    unexpected = [text for text in shared_bench.messages("error") if "unexpectedly" in text]
    assert not unexpected, unexpected


@pytest.fixture
def own_bench(qapp, tmp_path):
    """A window for a test that closes it."""
    bench = new_bench(tmp_path / "settings.ini")
    yield bench
    end(bench)


LASTING_THREADS = ("kinetostat-compiler", "kinetostat-arrays", "findings", "Dask-Callback-Thread", "IO loop")
"""They belong to no window: once begun they wait for work as long as the program runs."""
