"""Messages shown in a card over the viewport, never in a modal dialog (the log panel lists all messages)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.plain_text import escape_entry
from app.preferences.icons import icon
from app.widgets.label import Label
from core.later import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN_FOR = {"done": 3500, "hint": 6000, "warning": 12000, "error": 0}
"""Time for which a message is shown, by severity, ms; 0: until closed or replaced."""
WIDEST = 640


@dataclass(frozen=True)
class Message:
    """One message of the session with its severity and text."""

    time: datetime
    severity: str
    text: str


class MessageCard(QFrame):
    """Card that shows the newest message at the top of a widget and keeps all messages in `log`. `words` converts a
    text to the user's units; the signal `shown` is emitted with severity and text."""

    shown = Signal(str, str)

    def __init__(self, host: QWidget, words: Callable[[str], str] = str) -> None:
        super().__init__(host)
        self.setObjectName("message")
        self.log: list[Message] = []
        self._words = words
        self._picture, self._text = Label(), Label()
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._buttons: list[QPushButton] = []
        self._answers = QHBoxLayout()
        self._answers.addStretch(1)
        close = QToolButton(icon=icon("close"), toolTip="Close this message", autoRaise=True)
        close.clicked.connect(self.dismiss)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        middle = QVBoxLayout()  # answers stand below the text: beside it they would squeeze it in a narrow window
        middle.addWidget(self._text)
        middle.addLayout(self._answers)
        row.addLayout(middle, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.dismiss)
        self._fresh = QTimer(self, singleShot=True, interval=0)
        host.installEventFilter(self)
        self.hide()

    def show_message(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message. `choices` maps button titles to callbacks; with choices the message stays until a button is
        pressed."""
        text = self._words(text)
        self.log.append(Message(datetime.now(), severity, text))
        self.shown.emit(severity, text)
        self._draw_icon()
        self._text.setText(text)
        self._text.setAccessibleName(f"{severity}: {text}")
        self._show_choices(choices or {})
        self.show()
        self._update_position()
        self.raise_()
        duration = 0 if choices else SHOWN_FOR.get(severity, 0)
        self._fresh.start()
        self._timer.stop()
        if duration:
            self._timer.start(duration)

    def _draw_icon(self) -> None:
        """Draw the icon of the message in the colours of the current theme."""
        if self.log:
            self._picture.setPixmap(icon(self.log[-1].severity).pixmap(20, 20))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self._draw_icon()

    def _show_choices(self, choices: dict[str, Callable[[], object]]) -> None:
        """Show a button for each choice, replacing those of the previous message."""
        for button in self._buttons:
            self._answers.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = [self._choice_button(title, action) for title, action in choices.items()]
        for place, button in enumerate(self._buttons):
            self._answers.insertWidget(place, button)

    def _choice_button(self, title: str, action: Callable[[], object]) -> QPushButton:
        button = QPushButton(escape_entry(title))

        def pressed() -> None:
            self.dismiss()
            action()

        button.clicked.connect(pressed)
        return button

    def dismiss(self) -> None:
        """Hide the message."""
        self._timer.stop()
        self.hide()

    def dismiss_unless_waiting(self) -> None:
        """Hide the message because it no longer applies, unless it waits for an answer."""
        if not self._buttons:
            self.dismiss()

    def hide_outdated_error(self, *_: object) -> None:
        """Hide an error once another action has succeeded. An error reported within the same event stays."""
        if not self._fresh.isActive() and self.log and self.log[-1].severity == "error":
            self.dismiss_unless_waiting()

    @property
    def text(self) -> str:
        """Text of the message being shown; '' if there is none."""
        return "" if self.isHidden() else self._text.text()

    def eventFilter(self, host: QObject, event: QEvent) -> bool:
        """Keep the card in place when the host widget is resized."""
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._update_position()
        return False

    def _update_position(self) -> None:
        host = self.parentWidget()
        width = max(220, min(WIDEST, host.width() - 140))
        self.setFixedWidth(width)
        self.layout().activate()
        self.resize(width, self.layout().totalHeightForWidth(width))
        self.move(max(12, (host.width() - width) // 2 - 40), 12)
