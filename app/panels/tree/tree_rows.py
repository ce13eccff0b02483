"""Rows of the model tree: renaming in place, dragging as channels, highlighting under the pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyledItemDelegate,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.document.revision import Ref
from app.panels.tree.machine_nodes import Node
from app.plotting.dragged_channels import CHANNELS, dragged
from app.widgets.plain_keys import PlainKeys

NODE = Qt.ItemDataRole.UserRole
Index: TypeAlias = QModelIndex | QPersistentModelIndex


class RenameDelegate(QStyledItemDelegate):
    """Delegate that renames in place; a refused name keeps the row unchanged and reports why."""

    def __init__(self, parent: QWidget, rename: Callable[[Ref, str], bool]) -> None:
        super().__init__(parent)
        self._rename = rename

    def setEditorData(self, widget: QWidget, index: Index) -> None:
        """Keep typed text when the row is redrawn."""
        if not (isinstance(widget, QLineEdit) and widget.isModified()):
            super().setEditorData(widget, index)

    def setModelData(self, widget: QWidget, model: QAbstractItemModel, index: Index) -> None:
        node = index.data(NODE)
        if isinstance(widget, QLineEdit) and isinstance(node, Node) and node.ref is not None:
            self._rename(node.ref, widget.text())


class TreeView(QTreeWidget):
    """Widget of the rows. `pointed(Ref or None)`: the element under the pointer changed; `resized`: column widths may
    need updating."""

    pointed = Signal(object)
    resized = Signal()
    rename_wanted = Signal()
    remove_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        PlainKeys(self, typing=False)

    def mimeTypes(self) -> list[str]:
        return [CHANNELS, "text/plain"]

    def mimeData(self, items: Sequence[QTreeWidgetItem]) -> QMimeData:
        """Return the channels of a run that the rows represent, one per line."""
        return dragged(channel for item in items for channel in item.data(0, NODE).channels)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        item = self.itemAt(event.position().toPoint())
        node = item.data(0, NODE) if item is not None else None
        self.pointed.emit(node.ref if isinstance(node, Node) else None)
        super().mouseMoveEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self.resized.emit)  # rows that came while the tab was hidden had no width

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed.emit(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.remove_wanted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2) and self.state() != (
            QAbstractItemView.State.EditingState
        ):
            self.rename_wanted.emit()
        else:
            super().keyPressEvent(event)
