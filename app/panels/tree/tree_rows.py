"""The rows of the model tree: renamed in place, dragged as channels, pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    QTimer,
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

from app.panels.tree.machine_nodes import Node
from app.plotting.dragged_channels import CHANNELS, dragged
from app.widgets.plain_keys import PlainKeys

if TYPE_CHECKING:
    from app.panels.tree.panel import ModelTree

NODE = Qt.ItemDataRole.UserRole
Index: TypeAlias = QModelIndex | QPersistentModelIndex


class RenameDelegate(QStyledItemDelegate):
    """Renames in place; a refused name keeps the row as it was and says why."""

    def __init__(self, tree: ModelTree) -> None:
        super().__init__(tree)
        self.tree = tree

    def setEditorData(self, widget: QWidget, index: Index) -> None:
        """What is typed already stays when the row is drawn anew."""
        if not (isinstance(widget, QLineEdit) and widget.isModified()):
            super().setEditorData(widget, index)

    def setModelData(self, widget: QWidget, model: QAbstractItemModel, index: Index) -> None:
        node = index.data(NODE)
        if isinstance(widget, QLineEdit) and isinstance(node, Node) and node.ref is not None:
            self.tree.rename(node.ref, widget.text())


class TreeView(QTreeWidget):
    """The rows; tells the panel what the pointer is on."""

    def __init__(self, panel: ModelTree) -> None:
        super().__init__(panel)
        self.panel = panel
        self.setMouseTracking(True)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        PlainKeys(self, typing=False)

    def mimeTypes(self) -> list[str]:
        return [CHANNELS, "text/plain"]

    def mimeData(self, items: Sequence[QTreeWidgetItem]) -> QMimeData:
        """The channels of a run that the rows stand for, one per line."""
        return dragged(channel for item in items for channel in item.data(0, NODE).channels)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        item = self.itemAt(event.position().toPoint())
        node = item.data(0, NODE) if item is not None else None
        self.panel.session.point_at(node.ref if isinstance(node, Node) else None)
        super().mouseMoveEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.panel.fit_columns()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self.panel.fit_columns)  # rows that came while the tab was hidden had no width

    def leaveEvent(self, event: QEvent) -> None:
        self.panel.session.point_at(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.panel.remove_selected()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2) and self.state() != (
            QAbstractItemView.State.EditingState
        ):
            self.panel.rename_selected()
        else:
            super().keyPressEvent(event)
