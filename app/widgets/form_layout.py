"""Layout of a form: computed at once, with a tab order in reading order that includes widgets created or expanded
later."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtWidgets import QScrollArea, QWidget

LINE_HEIGHT = 10
"""Difference in height within which widgets count as being on one line, pixels."""


def tab_stops(root: QWidget) -> list[QWidget]:
    """Return the widgets at which Tab stops inside a widget, in reading order: lines from the top, each from the
    left."""
    seen = [
        widget
        for widget in root.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and widget.isVisibleTo(root)
        and widget.isEnabled()
    ]
    tops = {widget: widget.mapTo(root, QPoint(0, 0)) for widget in seen}
    seen.sort(key=lambda widget: tops[widget].y())
    lines: list[list[QWidget]] = []
    for widget in seen:
        if not lines or tops[widget].y() - tops[lines[-1][0]].y() > LINE_HEIGHT:
            lines.append([])
        lines[-1].append(widget)
    return [widget for line in lines for widget in sorted(line, key=lambda each: tops[each].x())]


def tab_step(root: QWidget, forward: bool) -> bool:
    """Move the focus to the next or previous stop inside a widget; return False at its end, and when the focus is
    elsewhere."""
    places, focus = tab_stops(root), root.focusWidget()
    while focus is not None and focus is not root and focus not in places:
        focus = focus.parentWidget()  # a line inside a box
    if focus not in places:
        return False
    number = places.index(focus) + (1 if forward else -1)
    if not 0 <= number < len(places):
        return False
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    places[number].setFocus(reason)
    area = root.parentWidget()
    while area is not None and not isinstance(area, QScrollArea):
        area = area.parentWidget()
    if area is not None:
        area.ensureWidgetVisible(places[number])
    return True


def lay_out(root: QWidget) -> None:
    """Give everything inside a widget its size immediately. Qt alone lays out one level per turn of the event loop, so
    that fields would look squeezed between pictures of the scene."""
    inside = root.findChildren(QWidget)
    holders = {widget.parentWidget() for widget in inside}  # only they have something to lay out
    for widget in (*reversed(inside), root):
        if widget in holders:
            QCoreApplication.sendPostedEvents(widget, QEvent.Type.LayoutRequest)
