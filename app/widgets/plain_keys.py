"""Which keys belong to the widget that has the focus, and which to the shortcuts of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

_HELD = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
NAVIGATION = frozenset(
    (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End,
     Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Space, Qt.Key.Key_Delete, Qt.Key.Key_F2)
)  # fmt: skip
"""Keys with which one walks and works in lists and tables."""


class PlainKeys(QObject):
    """Gives a widget its plain keys (all that type something if `typing`, and those of navigation) before the
    window's shortcuts take them."""

    def __init__(self, widget: QWidget, *, typing: bool = True) -> None:
        super().__init__(widget)
        self.typing = typing
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers() & _HELD
            types = self.typing and event.text().isprintable() and bool(event.text())
            if plain and (types or event.key() in NAVIGATION):
                event.accept()
                return True
        return False


class FieldKeys(QObject):
    """Keys of a text field: while something is typed in it, Escape and undo are the field's own; otherwise undo
    and redo are the document's."""

    def __init__(self, widget: QWidget, edited: Callable[[], bool]) -> None:
        super().__init__(widget)
        self.edited = edited
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
