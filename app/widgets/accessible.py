"""Accessible names of input widgets for screen readers."""

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
        for kind in INPUTS
        for each in place.findChildren(kind)
        if not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
    ]


def _purpose_of(widget: QWidget) -> str:
    """Return a button's action from its tool tip, a line's purpose from its placeholder."""
    if isinstance(widget, QLineEdit):
        return widget.placeholderText()
    return widget.toolTip().split(":")[0].split(" (")[0] if isinstance(widget, QAbstractButton) else ""
