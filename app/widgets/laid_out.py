"""Immediate layout of a form."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget


def lay_out(root: QWidget) -> None:
    """Give everything inside a widget its size immediately. Qt alone lays out one level per turn of the event loop, so
    that fields would look squeezed between pictures of the scene."""
    inside = root.findChildren(QWidget)
    holders = {widget.parentWidget() for widget in inside}  # only they have something to lay out
    for widget in (*reversed(inside), root):
        if widget in holders:
            QCoreApplication.sendPostedEvents(widget, QEvent.Type.LayoutRequest)
