"""The first picture of the window: what follows it begins once, also where it is seen at the end of the longest
wait."""

from types import SimpleNamespace

from PySide6.QtCore import QObject, Signal

from app.window.start import FirstPictureWait


class View(QObject):
    drawn = Signal()

    def use_movement_quality(self):
        pass

    def update(self):
        pass


class Document(QObject):
    changed, awaited = Signal(object, object), Signal(bool)


class Window(QObject):
    def __init__(self):
        super().__init__()
        self.viewport, self.session, self.files = View(self), Document(self), Document(self)


def test_what_follows_begins_once(qtbot):
    window, begun = Window(), []
    first = FirstPictureWait(
        window, SimpleNamespace(close=lambda: begun.append("closed")), lambda: begun.append("begun")
    )
    window.viewport.drawn.emit()  # of the empty scene
    assert not begun
    first.draw_first_picture()
    window.viewport.drawn.emit()
    first._on_first_picture_visible()  # as the timer calls it while this waits to be deleted
    assert begun == ["closed", "begun"]
