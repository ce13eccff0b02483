"""Labels that show text literally (only texts of the program itself may contain markup), notes below fields, texts
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

from app.plain_text import escape_tip
from core.errors import escape_control_characters


class Label(QLabel):
    """Label for arbitrary plain text."""

    def __init__(self, text: str = "", parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText, **properties)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(escape_control_characters(text))


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
    """Return the text colour of a severity, readable on the window background; '' returns a muted colour."""
    table = _DARK if is_dark(palette) else _LIGHT
    if severity in table:
        return QColor(table[severity])
    color = palette.color(QPalette.ColorRole.WindowText)
    color.setAlpha(150)
    return color


class Note(Label):
    """Text below a field; it takes no space when empty."""

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

    def show_text(self, text: str, severity: str = "") -> None:
        """Show text with the colour and symbol of a severity; empty text hides the note."""
        self._said = text, severity
        self._show_current_text()

    def hold_error(self, text: str) -> None:
        """Show an error above any other text until it is cleared with "". Text that only repeated the error is cleared
        with it."""
        if self._said[0] in self._held:
            self._said = "", ""
        self._held = text
        self._show_current_text()

    def _show_current_text(self) -> None:
        words, severity = self._said
        if self._held:
            words = self._held if words in self._held else f"{self._held}\n{words}"
            severity = "error"
        if (words, severity) == (self.words, self.severity):
            return
        self.words, self.severity = words, severity
        mark = SEVERITY_MARKS.get(severity, "")
        self.setText(f"{mark} {words}" if mark else words)
        self._update_color()
        self.setVisible(bool(words))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._update_color()

    def _update_color(self) -> None:
        palette = QPalette()  # the rest is the parent's
        palette.setColor(QPalette.ColorRole.WindowText, severity_color(self.severity, QGuiApplication.palette()))
        self.setPalette(palette)


LEGIBLE = "A few letters…"
"""Sample text whose width a label always keeps."""
FEWEST_DIGITS = 2
"""Number of digits shown in the narrowest field; the tool tip and the focused field show all digits."""


class ElidedLabel(Label):
    """Label for plain text that shortens long lines with "…"; the tool tip and `text()` then have the full text."""

    def __init__(self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(text)
        self._mode = mode

    def minimumSizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        longest = max(metrics.horizontalAdvance(line) for line in self.text().split("\n"))
        least = min(metrics.horizontalAdvance(LEGIBLE), longest)
        return QSize(least, super().minimumSizeHint().height())

    @property
    def elided_text(self) -> str:
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
            self.elided_text,
            self.foregroundRole(),
        )
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and not self.toolTip() and self.elided_text != self.text():
            QToolTip.showText(event.globalPos(), escape_tip(self.text()), self)
            return True
        return super().event(event)


class ElidedCombo(QComboBox):
    """Combo box that shortens its current entry with "…" where the field is too narrow; the open list is wide
    enough."""

    @property
    def elided_text(self) -> str:
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
        option.currentText = self.elided_text
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def showPopup(self) -> None:
        view = self.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + 2 * view.frameWidth() + self.iconSize().width())
        super().showPopup()


def fitting_number_text(format_number: Callable[[int], str], digits: int, width: int, metrics: QFontMetrics) -> str:
    """Return `format_number(digits)` shortened to the given width in pixels. Digits after the decimal point are cut off
    with "…", so that a rounded number is not mistaken for the exact one; a number whose exponent would be cut off is
    rounded to fewer digits."""
    whole = format_number(digits)
    if metrics.horizontalAdvance(whole) <= width:
        return whole
    cut = metrics.elidedText(whole, Qt.TextElideMode.ElideRight, width)
    if "e" not in whole and "." in cut.rstrip("…").rstrip("."):
        return cut
    for count in range(digits - 1, FEWEST_DIGITS, -1):
        if metrics.horizontalAdvance(format_number(count)) <= width:
            return format_number(count)
    return format_number(FEWEST_DIGITS)


INPUT_CLASSES = (QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QAbstractButton, QAbstractItemView)


def set_accessible_input_names(parent: QWidget, title: str) -> None:
    """Give each unnamed input inside a widget an accessible name from the label of its row; buttons with an icon are
    named after their action."""
    for each in _unnamed_inputs(parent):
        does = _describe_purpose(each) if isinstance(each, QAbstractButton) else ""
        each.setAccessibleName(f"{title}: {does}" if does else title)


def set_accessible_panel_names(panel: QWidget, title: str) -> None:
    """Give the unnamed widgets of a panel accessible names: their action or purpose, otherwise the panel's title."""
    for each in _unnamed_inputs(panel):
        each.setAccessibleName(_describe_purpose(each) or title)


def _unnamed_inputs(parent: QWidget) -> list[QWidget]:
    return [
        each
        for kind in INPUT_CLASSES
        for each in parent.findChildren(kind)
        if not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
    ]


def _describe_purpose(widget: QWidget) -> str:
    """Return the purpose of a widget: a button's action from its tool tip, a line edit's purpose from its
    placeholder."""
    if isinstance(widget, QLineEdit):
        return widget.placeholderText()
    return widget.toolTip().split(":")[0].split(" (")[0] if isinstance(widget, QAbstractButton) else ""
