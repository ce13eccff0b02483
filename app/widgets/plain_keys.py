"""Routing of keys and wheel turns to the focused widget or to the window's shortcuts; the wheel over a scrolling list
scrolls the list and does not change the fields it passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QDockWidget, QMainWindow, QWidget

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
"""Keys for navigating and working in lists and tables."""


LEAVING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape)
"""Keys with which a finished field gives the keyboard focus back."""


class FocusedKeyFilter(QObject):
    """Event filter for the keys of a widget while it or one of its children has the focus. It is installed only then:
    forms have many fields whose layout causes many events, and each of them would call Python."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        _connect_focus_changes()
        focused = QApplication.focusWidget()
        self.set_listening(focused is not None and (focused is widget or widget.isAncestorOf(focused)))

    def set_listening(self, on: bool) -> None:
        """Start or stop filtering as the widget gains or loses the focus."""
        widget = self.parent()
        widget.removeEventFilter(self)
        if on:
            widget.installEventFilter(self)


class PlainKeyFilter(FocusedKeyFilter):
    """Gives a widget its plain keys (all typing keys if `typing`, and those in `keys`) before the window's shortcuts
    take them."""

    def __init__(self, widget: QWidget, *, typing: bool = True, keys: frozenset[Qt.Key] = NAVIGATION) -> None:
        super().__init__(widget)
        self.typing, self.keys = typing, keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers() & _HELD
            types = self.typing and event.text().isprintable() and bool(event.text())
            if plain and (types or event.key() in self.keys):
                event.accept()
                return True
        return False


class TextFieldKeyFilter(FocusedKeyFilter):
    """Key filter for a text field: while text is being typed, Escape and undo act on the field; otherwise undo and redo
    act on the document. After Escape the keyboard focus returns to the scene, as after Enter."""

    def __init__(self, widget: QWidget, is_edited: Callable[[], bool]) -> None:
        super().__init__(widget)
        self.edited = is_edited

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        if event.key() == Qt.Key.Key_Escape and self.edited():
            event.accept()
            if QApplication.activePopupWidget() is None:  # else it closes a list of completions
                QTimer.singleShot(0, watched, lambda: self._return_focus(watched))
            return True
        undoes = event.matches(QKeySequence.StandardKey.Undo) or event.matches(QKeySequence.StandardKey.Redo)
        if undoes and not self.edited():
            event.ignore()
            return True
        return False

    def _return_focus(self, field: QObject) -> None:
        focused = QApplication.focusWidget()
        if isinstance(field, QWidget) and focused is not None and (focused is field or field.isAncestorOf(focused)):
            return_focus_to_scene(field)


def return_focus_to_scene(field: QWidget) -> None:
    """Return the keyboard focus from a finished field to the scene of the main window, whose keys are commands."""
    window: QWidget | None = field.window()
    while isinstance(window, QDockWidget):
        window = window.parentWidget()
    if isinstance(window, QMainWindow):
        window.centralWidget().setFocus(Qt.FocusReason.OtherFocusReason)


class SpinBoxKeyFilter(FocusedKeyFilter):
    """Key filter for a spin box: Enter and Escape return the keyboard focus to the scene."""

    def __init__(self, field: QAbstractSpinBox) -> None:
        super().__init__(field)
        self._field = field

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent):
            return False
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()  # it leaves the field, and cancels nothing else
            return True
        if event.type() == QEvent.Type.KeyPress and event.key() in LEAVING:
            # after the field took the key
            QTimer.singleShot(0, self._field, lambda: return_focus_to_scene(self._field))
        return False


def _on_focus_changed(old: QWidget | None, new: QWidget | None) -> None:
    lost, gained = _widget_and_parents(old), _widget_and_parents(new)
    for widget in [*(each for each in lost if each not in gained), *gained]:
        for child in widget.children():
            if isinstance(child, FocusedKeyFilter):
                child.set_listening(widget in gained)


def _widget_and_parents(widget: QWidget | None) -> list[QWidget]:
    found = []
    while widget is not None:
        found.append(widget)
        widget = None if widget.isWindow() else widget.parentWidget()
    return found


_followed: list[QObject] = []


def _connect_focus_changes() -> None:
    """Connect the application's focus changes to the key filters, once."""
    app = QApplication.instance()
    if isinstance(app, QApplication) and app not in _followed:
        _followed[:] = [app]
        app.focusChanged.connect(_on_focus_changed)


if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as _Widget
else:
    _Widget = object  # a Qt object has one base of Qt; its mixins are plain Python


class WheelWhenFocused(_Widget):
    """Mixin that lets wheel turns pass to the surrounding widget unless this widget is focused. List it before the Qt
    base class."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the value if focused; otherwise let the surrounding list scroll."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
