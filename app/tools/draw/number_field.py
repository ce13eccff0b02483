"""Input field for numbers at the pointer or at a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout

from app.widgets.label import Label
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.viewport.stage import Stage

WIDTH, WIDEST = 150, 300
"""Pixels of the line, and of words below it before they are broken."""
ASIDE, MARGIN = 18, 4
"""Pixels between the pointer and the field, and between this and the edge of the view."""


class NumberField(QFrame):
    """Input line with a title. Text is parsed as it is typed; Enter accepts it, Esc closes the field."""

    def __init__(self, view: Stage) -> None:
        super().__init__(view.widget)
        self._view = view
        self.setObjectName("message")
        self.title, self.problem, self.worth = Label(), Label(), Label()
        self.worth.setObjectName("muted")
        self.line = QLineEdit()
        self.line.setFixedWidth(WIDTH)
        self.problem.setObjectName("problem")
        row = QHBoxLayout()
        for widget in (self.title, self.line, self.worth):
            row.addWidget(widget)
        row.addStretch(1)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(8, 4, 8, 4)
        rows.addLayout(row)
        rows.addWidget(self.problem)
        self.problem.hide()
        self._accept: Callable[[str], object] = lambda _text: None
        self._read: Callable[[str], str] | None = None
        self._left: Callable[[], object] | None = None
        self.line.textEdited.connect(self._text_edited)
        self.line.installEventFilter(self)
        self.hide()

    def ask(
        self,
        title: str,
        text: str,
        place: tuple[float, float],
        accept: Callable[[str], object],
        read: Callable[[str], str] | None = None,
        left: Callable[[], object] | None = None,
    ) -> None:
        """Open the field next to a position (pixels of the widget). accept : called by Enter with the text; read :
        called while typing, returns the value in words; left : called when the field is closed without a value. Errors
        raised by these are shown in the field."""
        self._accept, self._read, self._left = accept, read, left
        self.title.setText(title)
        self._clear_error()
        self.worth.setText("")
        self.line.setText(text)
        self._move_into_view(round(place[0]) + ASIDE, round(place[1]) + ASIDE)
        self.show()
        self.raise_()
        self.line.setFocus()
        if len(text) > 1:
            self.line.selectAll()
        elif read is not None:
            self._text_edited(text)

    def tell(self, error: KinetostatError) -> None:
        """Show an error next to the typed text; as a message if the field is closed."""
        if self.isVisible():
            self._show_error(error)
        else:
            self._view.session.message.emit("error", str(error))

    def close_field(self) -> None:
        """Close the field and return the keyboard to the viewport."""
        if self.isVisible():
            self.hide()
            self._view.widget.setFocus()

    def _text_edited(self, text: str) -> None:
        read = self._read
        if read is not None:
            self.worth.setText("")
            self._call_with_text(lambda typed: self.worth.setText(read(typed)), text)

    def _call_with_text(self, what: Callable[[str], object], text: str) -> bool:
        try:
            what(text)
        except KinetostatError as error:
            self._show_error(error)
            return False
        self._clear_error()
        return True

    def _clear_error(self) -> None:
        """Clear the error display."""
        self.problem.setText("")
        self.problem.hide()
        self._move_into_view(self.x(), self.y())

    def _show_error(self, error: KinetostatError) -> None:
        words = f"{error.what} {error.remedy}".strip()
        widest = min(WIDEST, self._view.widget.width() - 4 * MARGIN)
        self.problem.setWordWrap(True)
        self.problem.setFixedWidth(min(widest, self.problem.fontMetrics().horizontalAdvance(words) + 4))
        self.problem.setText(words)
        self.problem.show()
        self._move_into_view(self.x(), self.y())

    def _move_into_view(self, x: int, y: int) -> None:
        """Place the field as near to a position as the widget has room."""
        host = self._view.widget
        layout = self.layout()
        assert layout is not None
        layout.activate()  # else the row of the line still has the size of what was told before
        self.adjustSize()
        self.move(
            max(MARGIN, min(x, host.width() - self.width() - MARGIN)),
            max(MARGIN, min(y, host.height() - self.height() - MARGIN)),
        )

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Handle Enter, Esc and Tab in the field."""
        if not isinstance(event, QKeyEvent) or event.type() not in (
            QEvent.Type.KeyPress,
            QEvent.Type.ShortcutOverride,
        ):
            return False
        key = event.key()
        if key not in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_Tab):
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyPress:
            self._finish(Qt.Key(key))
        return True

    def _finish(self, key: Qt.Key) -> None:
        if key == Qt.Key.Key_Tab:
            self.line.insert(" < ")
            self._text_edited(self.line.text())
        elif key == Qt.Key.Key_Escape:
            self.close_field()
            if self._left is not None:
                self._left()
        elif self._call_with_text(self._accept, self.line.text()):
            self.close_field()
