"""Find the help page of the item under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QDockWidget, QToolButton, QTreeWidget, QWidget

from app.commands import table
from app.panels.tree.machine_nodes import Node
from app.playback.timeline import Timeline
from app.viewport.viewport import Viewport
from app.widgets.fields.field_editor import FieldEditor
from app.window.status import StatusLine

if TYPE_CHECKING:
    from app.panels.functions.panel import FunctionPanel
    from app.workbench import Workbench


def help_topic_under_pointer(bench: Workbench, functions: FunctionPanel) -> str:
    """Return the help topic (with "#field" after it for a field) of the item under the pointer; outside the window, of
    the widget with the keyboard focus; "" for none."""
    place, window = QCursor.pos(), bench.widget
    widget = QApplication.widgetAt(place)
    if widget is None or widget.window() is not window:
        widget = window.focusWidget()
    return "" if widget is None else topic_of(bench, functions, widget, place)


def topic_of(bench: Workbench, functions: FunctionPanel, widget: QWidget, place: QPoint) -> str:
    """Return the topic of a widget, or of its nearest parent that has one. place: the pointer, on the screen."""
    field = ""
    at: QWidget | None = widget
    while at is not None and at is not bench.widget:
        if (
            isinstance(at, QToolButton)
            and at.defaultAction() is not None
            and at.defaultAction().objectName() in table()
        ):
            return at.defaultAction().objectName()
        if isinstance(at, FieldEditor):
            field = at.path.partition(".")[0]
        elif isinstance(at, QTreeWidget) and (topic := _row_topic(functions, at, place)):
            return topic
        elif isinstance(at, Viewport) and bench.stage.gestures.tool.id != "select":
            return f"tool.{bench.stage.gestures.tool.id}"
        elif isinstance(at, Viewport | Timeline | StatusLine):
            return {Viewport: "panel.scene", Timeline: "panel.timeline", StatusLine: "panel.status"}[_panel_class(at)]
        elif isinstance(at, QDockWidget):
            return _panel_topic(bench, functions, at, widget, field)
        at = at.parentWidget()
    return ""


def _panel_class(widget: QWidget) -> type:
    return next(kind for kind in (Viewport, Timeline, StatusLine) if isinstance(widget, kind))


def _row_topic(functions: FunctionPanel, tree: QTreeWidget, place: QPoint) -> str:
    """Return the function or the kind of element in the row under the pointer, or in the current row."""
    view = tree.viewport()
    inside = view.mapFromGlobal(place)
    item = tree.itemAt(inside) if view.rect().contains(inside) else tree.currentItem()
    if item is None:
        return ""
    topic = item.data(0, Qt.ItemDataRole.UserRole)
    if tree is functions.tree:
        return str(topic or "panel.functions")  # a function of the catalogue, or a command of Robotica
    if isinstance(topic, Node):
        collection = "model" if topic.selects_model else topic.ref.collection if topic.ref else ""
        return f"element.{collection}" if collection else ""
    return ""


def _panel_topic(bench: Workbench, functions: FunctionPanel, dock: QDockWidget, widget: QWidget, field: str) -> str:
    """Return the topic of a panel; in the properties panel that of the selected element, in a function's form that of
    the function."""
    panel = dock.objectName()
    if panel == "properties" and widget is not dock.widget():
        ref = bench.session.selection
        return f"element.{ref.collection if ref else 'model'}" + (f"#{field}" if field else "")
    if panel == "functions" and functions.form is not None and functions.form.isAncestorOf(widget):
        return f"function.{functions.chosen.id}" if functions.chosen else "panel.functions"
    return f"panel.{panel}"
