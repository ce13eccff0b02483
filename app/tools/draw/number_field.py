"""The field in which numbers are typed at the pointer, or at a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit

from app.widgets.label import Label
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.viewport.stage import Stage

WIDTH, WIDEST = 150, 260
"""Pixels of the line, and of words beside it before they are broken."""
ASIDE = 18
"""Pixels between the pointer and the field."""


class NumberField(QFrame):
    """A line with a title. What is typed is read at once; Enter accepts it, Esc lets it go."""

    def __init__(self, view: Stage) -> None:
        super().__init__(view.widget)
        self._view = view
        self.setObjectName("message")
        self.title, self.problem, self.worth = Label(), Label(), Label()
        self.worth.setObjectName("muted")
        self.line = QLineEdit()
        self.line.setFixedWidth(WIDTH)
        self.problem.setObjectName("problem")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        for widget in (self.title, self.line, self.worth, self.problem):
            row.addWidget(widget)
        self._accept: Callable[[str], object] = lambda _text: None
        self._read: Callable[[str], str] | None = None
        self._left: Callable[[], object] | None = None
        self.line.textEdited.connect(self._edited)
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
        """Open beside a place (pixels of the widget). accept : what Enter does with the text; read : what typing does,
        and in words what it is worth; left : what letting it go does. Errors that these raise are told in the field."""
        self._accept, self._read, self._left = accept, read, left
        self.title.setText(title)
        self.problem.setText("")
        self.worth.setText("")
        self.line.setText(text)
        self.adjustSize()
        host = self._view.widget
        x = min(max(4, round(place[0]) + ASIDE), host.width() - self.width() - 4)
        y = min(max(4, round(place[1]) + ASIDE), host.height() - self.height() - 4)
        self.move(x, y)
        self.show()
        self.raise_()
        self.line.setFocus()
        if len(text) > 1:
            self.line.selectAll()
        elif read is not None:
            self._edited(text)

    def tell(self, error: KinetostatError) -> None:
        """An error of what was typed stands beside it; without a field it is a message."""
        if self.isVisible():
            self._explain(error)
        else:
            self._view.session.message.emit("error", str(error))

    def close_field(self) -> None:
        """Let it go; the keys are the viewport's again."""
        if self.isVisible():
            self.hide()
            self._view.widget.setFocus()

    def _edited(self, text: str) -> None:
        read = self._read
        if read is not None:
            self.worth.setText("")
            self._try(lambda typed: self.worth.setText(read(typed)), text)

    def _try(self, what: Callable[[str], object], text: str) -> bool:
        try:
            what(text)
        except KinetostatError as error:
            self._explain(error)
            return False
        self.problem.setText("")
        self.adjustSize()
        return True

    def _explain(self, error: KinetostatError) -> None:
        words = f"{error.what} {error.remedy}".strip()
        self.problem.setWordWrap(self.problem.fontMetrics().horizontalAdvance(words) > WIDEST)
        self.problem.setMinimumWidth(WIDEST if self.problem.wordWrap() else 0)
        self.problem.setText(words)
        self.adjustSize()
        self.move(max(4, min(self.x(), self._view.widget.width() - self.width() - 4)), self.y())

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Enter, Esc and Tab are the field's own."""
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
            self._edited(self.line.text())
        elif key == Qt.Key.Key_Escape:
            self.close_field()
            if self._left is not None:
                self._left()
        elif self._try(self._accept, self.line.text()):
            self.close_field()
