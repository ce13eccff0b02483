"""Texts that are shortened with "…" where they do not fit, so that they do not force the window to be wide."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QToolTip

from app.plain_text import as_tip
from app.widgets.label import Label

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


def fitting(text: Callable[[int], str], digits: int, room: int, metrics: QFontMetrics) -> str:
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
