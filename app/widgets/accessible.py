"""Names of inputs for those who cannot see the label beside them."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

INPUTS = (QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QAbstractButton, QAbstractItemView)


def name_inputs(place: QWidget, title: str) -> None:
    """Give every input in `place` that has no name the title of its row; buttons with an icon say what they do, too."""
    for each in _nameless(place):
        does = _says(each) if isinstance(each, QAbstractButton) else ""
        each.setAccessibleName(f"{title}: {does}" if does else title)


def name_panel(panel: QWidget, title: str) -> None:
    """Give what has no name in a panel one of its own (what a button does, what a line is for), else the panel's."""
    for each in _nameless(panel):
        each.setAccessibleName(_says(each) or title)


def _nameless(place: QWidget) -> list[QWidget]:
    return [
        each
        for kind in INPUTS
        for each in place.findChildren(kind)
        if not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
    ]


def _says(widget: QWidget) -> str:
    """What a button does by its tool tip, what is typed into a line by its placeholder."""
    if isinstance(widget, QLineEdit):
        return widget.placeholderText()
    return widget.toolTip().split(":")[0].split(" (")[0] if isinstance(widget, QAbstractButton) else ""
