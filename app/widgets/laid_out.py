"""Laying out a form at once."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget


def lay_out(root: QWidget) -> None:
    """Give everything inside a widget its size now. Left to itself Qt does it level by level, one for each turn of the
    event loop: between pictures of the scene fields would be seen squeezed for a while."""
    inside = root.findChildren(QWidget)
    holders = {widget.parentWidget() for widget in inside}  # only they have something to lay out
    for widget in (*reversed(inside), root):
        if widget in holders:
            QCoreApplication.sendPostedEvents(widget, QEvent.Type.LayoutRequest)
