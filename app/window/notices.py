"""Notices above the viewport that ask a question. They stay until they are answered or no longer apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QToolButton, QVBoxLayout, QWidget

from app.preferences.icons import icon
from app.widgets.label import Label

HIGHEST = 150
"""Largest height in pixels; further notices are reached by scrolling."""
CHANGED, GONE = "changed outside", "deleted outside"
"""Keys of notices about changes to the open file by other programs."""
Choices = Mapping[str, Callable[[], object]]


class Notice(QFrame):
    """One notice: a sentence and a button for each answer. Closing it changes nothing."""

    def __init__(self, severity: str, text: str, choices: Choices, closed: Callable[[], object]) -> None:
        super().__init__()
        self.setObjectName("notice")
        self.text = text
        self._severity, self._picture = severity, Label()
        words = Label(text)
        words.setWordWrap(True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 5, 8, 5)
        row.addWidget(self._picture)
        row.addWidget(words, 1)
        for title, action in choices.items():
            button = QPushButton(title)
            button.clicked.connect(action)
            row.addWidget(button)
        close = QToolButton(icon=icon("close"), toolTip="Not now", autoRaise=True)
        close.clicked.connect(closed)
        row.addWidget(close)
        self.setAccessibleName(f"{severity}: {text}")
        self._draw_icon()

    def _draw_icon(self) -> None:
        """Draw the icon of the notice in the colours of the current theme."""
        self._picture.setPixmap(icon(self._severity).pixmap(18, 18))

    def changeEvent(self, event: QEvent) -> None:
        """Redraw the icon when the theme changes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self._draw_icon()


class Notices(QScrollArea):
    """All notices, by key; hidden while there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(1)
        self.setWidget(inner)
        self._bars: dict[str, Notice] = {}
        self.hide()

    def show_notice(self, key: str, severity: str, text: str, choices: Choices) -> None:
        """Show a notice; it replaces the one with the same key. Pressing an answer removes the notice and then calls
        the action."""
        self.remove(key)

        def removing_notice_first(action: Callable[[], object]) -> Callable[[], object]:
            def remove_notice_and_act() -> None:
                self.remove(key)
                action()

            return remove_notice_and_act

        bar = Notice(
            severity, text, {title: removing_notice_first(a) for title, a in choices.items()}, lambda: self.remove(key)
        )
        self._bars[key] = bar
        self._column.addWidget(bar)
        self._fit_height()

    def remove(self, key: str) -> None:
        """Remove a notice."""
        bar = self._bars.pop(key, None)
        if bar is not None:
            self._column.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
            self._fit_height()

    def clear(self) -> None:
        """Remove all notices."""
        for key in tuple(self._bars):
            self.remove(key)

    @property
    def notice_texts(self) -> dict[str, str]:
        """Texts of the notices shown, by key."""
        return {key: bar.text for key, bar in self._bars.items()}

    def press_button(self, key: str, title: str) -> None:
        """Press the button with this title of a notice."""
        next(button for button in self._bars[key].findChildren(QPushButton) if button.text() == title).click()

    def resizeEvent(self, event: object) -> None:
        """Adapt the height, because texts wrap differently at the new width."""
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        self.setVisible(bool(self._bars))
        width = max(self.viewport().width(), 300)
        heights = [bar.layout().totalHeightForWidth(width) for bar in self._bars.values()]
        self.setFixedHeight(min(sum(heights) + max(0, len(heights) - 1), HIGHEST))
