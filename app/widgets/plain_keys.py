"""Which keys belong to the widget that has the focus, and which to the shortcuts of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget

_HELD = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
NAVIGATION = frozenset(
    (
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Space,
        Qt.Key.Key_Delete,
        Qt.Key.Key_F2,
    )
)
"""Keys with which one walks and works in lists and tables."""


class PlainKeys(QObject):
    """Gives a widget its plain keys (all that type something if `typing`, and `keys`) before the window's shortcuts
    take them."""

    def __init__(self, widget: QWidget, *, typing: bool = True, keys: frozenset[Qt.Key] = NAVIGATION) -> None:
        super().__init__(widget)
        self.typing, self.keys = typing, keys
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers() & _HELD
            types = self.typing and event.text().isprintable() and bool(event.text())
            if plain and (types or event.key() in self.keys):
                event.accept()
                return True
        return False


class FieldKeys(QObject):
    """Keys of a text field: while something is typed in it, Escape and undo are the field's own; otherwise undo
    and redo are the document's. It listens while the field has the focus: forms have many fields, and making and
    laying them out has many events."""

    def __init__(self, widget: QWidget, edited: Callable[[], bool]) -> None:
        super().__init__(widget)
        self.edited = edited
        _follow_focus()

    def listen(self, on: bool) -> None:
        """The field got or lost the focus."""
        widget = self.parent()
        widget.removeEventFilter(self)
        if on:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        if event.key() == Qt.Key.Key_Escape and self.edited():
            event.accept()
            return True
        undoes = event.matches(QKeySequence.StandardKey.Undo) or event.matches(QKeySequence.StandardKey.Redo)
        if undoes and not self.edited():
            event.ignore()
            return True
        return False


def _focus_moved(old: QWidget | None, new: QWidget | None) -> None:
    for widget, on in ((old, False), (new, True)):
        for child in widget.children() if widget is not None else ():
            if isinstance(child, FieldKeys):
                child.listen(on)


_followed: list[QObject] = []


def _follow_focus() -> None:
    """Tell fields of the running program about the focus."""
    app = QApplication.instance()
    if isinstance(app, QApplication) and app not in _followed:
        _followed[:] = [app]
        app.focusChanged.connect(_focus_moved)
