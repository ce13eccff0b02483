"""Labels that show text literally (only texts of the program itself may contain markup), notes beneath fields, texts
shortened with "…" where they do not fit, and accessible names for screen readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QHelpEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QTextEdit,
    QToolTip,
    QWidget,
)

from app.plain_text import as_tip
from core.errors import visible


class Label(QLabel):
    """Label for arbitrary plain text."""

    def __init__(self, text: str = "", parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText, **properties)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(visible(text))


class MarkupLabel(QLabel):
    """Label for the program's own HTML text. It must not contain text from files."""

    def __init__(self, html: str = "", parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(html, parent, textFormat=Qt.TextFormat.RichText, **properties)


_LIGHT = {"error": "#b3261e", "warning": "#8a5a00", "hint": "#2f5f9e", "done": "#2e6b34"}
_DARK = {"error": "#ff8a80", "warning": "#f0bf63", "hint": "#8fb8ee", "done": "#8fd197"}
SEVERITY_MARKS = {"error": "✕", "warning": "▲", "hint": "ℹ", "done": "✓", "": ""}
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
        mark = SEVERITY_MARKS.get(severity, "")
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


LEGIBLE = "A few letters…"
"""Sample text whose width a label always keeps."""
FEWEST_DIGITS = 2
"""Digits shown in the narrowest field; the tool tip and the focused field show all."""


class ElidedLabel(Label):
    """Label with plain text whose long lines are shortened with "…"; the tool tip then has the full text, and so has
    `text()`."""

    def __init__(self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(text)
        self._mode = mode

    def minimumSizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        longest = max(metrics.horizontalAdvance(line) for line in self.text().split("\n"))
        least = min(metrics.horizontalAdvance(LEGIBLE), longest)
        return QSize(least, super().minimumSizeHint().height())

    @property
    def shown(self) -> str:
        """Return the text as shortened to the available width."""
        room, metrics = self.contentsRect().width(), self.fontMetrics()
        return "\n".join(metrics.elidedText(line, self._mode, room) for line in self.text().split("\n"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            self.alignment().value,
            self.palette(),
            self.isEnabled(),
            self.shown,
            self.foregroundRole(),
        )
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and not self.toolTip() and self.shown != self.text():
            QToolTip.showText(event.globalPos(), as_tip(self.text()), self)
            return True
        return super().event(event)


class ElidedCombo(QComboBox):
    """Combo box that shortens its chosen entry with "…" where the field is too narrow; the open list is wide enough."""

    @property
    def shown(self) -> str:
        """Return the text as shortened to the available width."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self)
        return self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room.width() - 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.shown
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def showPopup(self) -> None:
        view = self.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + 2 * view.frameWidth() + self.iconSize().width())
        super().showPopup()


def fitting_number_text(text: Callable[[int], str], digits: int, room: int, metrics: QFontMetrics) -> str:
    """Return `text(digits)` shortened to the given width in pixels, with "…" after the decimal point, so that a rounded
    number is not taken for the exact one; a number whose exponent would be cut off is rounded to fewer digits."""
    whole = text(digits)
    if metrics.horizontalAdvance(whole) <= room:
        return whole
    cut = metrics.elidedText(whole, Qt.TextElideMode.ElideRight, room)
    if "e" not in whole and "." in cut.rstrip("…").rstrip("."):
        return cut
    for count in range(digits - 1, FEWEST_DIGITS, -1):
        if metrics.horizontalAdvance(text(count)) <= room:
            return text(count)
    return text(FEWEST_DIGITS)


INPUT_CLASSES = (QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QAbstractButton, QAbstractItemView)


def name_inputs(place: QWidget, title: str) -> None:
    """Name every unnamed input in `place` after its row; buttons with an icon are named by their action."""
    for each in _unnamed_inputs(place):
        does = _purpose_of(each) if isinstance(each, QAbstractButton) else ""
        each.setAccessibleName(f"{title}: {does}" if does else title)


def name_panel(panel: QWidget, title: str) -> None:
    """Name unnamed widgets of a panel by their action or purpose, otherwise after the panel."""
    for each in _unnamed_inputs(panel):
        each.setAccessibleName(_purpose_of(each) or title)


def _unnamed_inputs(place: QWidget) -> list[QWidget]:
    return [
        each
        for kind in INPUT_CLASSES
        for each in place.findChildren(kind)
        if not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
    ]


def _purpose_of(widget: QWidget) -> str:
    """Return a button's action from its tool tip, a line's purpose from its placeholder."""
    if isinstance(widget, QLineEdit):
        return widget.placeholderText()
    return widget.toolTip().split(":")[0].split(" (")[0] if isinstance(widget, QAbstractButton) else ""
