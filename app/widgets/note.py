"""Note beneath a field: an error, a warning, or the value of a formula."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.widgets.label import Label

_LIGHT = {"error": "#b3261e", "warning": "#8a5a00", "hint": "#2f5f9e", "done": "#2e6b34"}
_DARK = {"error": "#ff8a80", "warning": "#f0bf63", "hint": "#8fb8ee", "done": "#8fd197"}
MARKS = {"error": "✕", "warning": "▲", "hint": "ℹ", "done": "✓", "": ""}
"""Symbols of severities, so that colour is never the only indication."""


def is_dark(palette: QPalette) -> bool:
    """Return True if the window has light text on a dark background."""
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def severity_color(severity: str, palette: QPalette) -> QColor:
    """Return the text colour of a severity, readable on the window background; '' gives a muted colour."""
    table = _DARK if is_dark(palette) else _LIGHT
    if severity in table:
        return QColor(table[severity])
    color = palette.color(QPalette.ColorRole.WindowText)
    color.setAlpha(150)
    return color


class Note(Label):
    """Text under a field that takes no space when empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.severity = ""
        self.words = ""
        self._said, self._held = ("", ""), ""
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * 0.9)
        self.setFont(font)
        self.hide()

    def say(self, words: str, severity: str = "") -> None:
        """Show text with the colour and symbol of a severity; empty text hides the note."""
        self._said = words, severity
        self._show()

    def hold(self, words: str) -> None:
        """Show an error above whatever else is said, until "" is held. What repeated the error goes with it."""
        if self._said[0] in self._held:
            self._said = "", ""
        self._held = words
        self._show()

    def _show(self) -> None:
        words, severity = self._said
        if self._held:
            words = self._held if words in self._held else f"{self._held}\n{words}"
            severity = "error"
        if (words, severity) == (self.words, self.severity):
            return
        self.words, self.severity = words, severity
        mark = MARKS.get(severity, "")
        self.setText(f"{mark} {words}" if mark else words)
        self._paint()
        self.setVisible(bool(words))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._paint()

    def _paint(self) -> None:
        palette = QPalette()  # the rest is the parent's
        palette.setColor(QPalette.ColorRole.WindowText, severity_color(self.severity, QGuiApplication.palette()))
        self.setPalette(palette)
