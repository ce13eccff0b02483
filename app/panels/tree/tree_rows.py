"""Rows of the model tree: renaming in place, dragging channels, highlighting under the pointer, and menus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from PySide6.QtCore import QAbstractItemModel, QEvent, QMimeData, QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QMenu,
    QStyledItemDelegate,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.commands import command_table, element_edits
from app.document.revision import ElementRef
from app.document.session import Session
from app.panels.tree.tree_nodes import Node
from app.plotting.dragged_channels import CHANNELS, channel_mime_data
from app.preferences.element_icons import joint_icon
from app.preferences.icons import icon
from app.widgets.plain_keys import PlainKeyFilter
from app.widgets.quantities.quantity_text import Units
from core.model import JOINT_KINDS, new_elements
from core.model.edits import edits

NODE = Qt.ItemDataRole.UserRole
Index: TypeAlias = QModelIndex | QPersistentModelIndex


class RenameDelegate(QStyledItemDelegate):
    """Delegate for renaming in place; a name that is not accepted leaves the row unchanged and the reason is
    reported."""

    _typed = Signal(object, str)

    def __init__(self, parent: QWidget, rename: Callable[[ElementRef, str], bool]) -> None:
        super().__init__(parent)
        self._typed.connect(rename, Qt.ConnectionType.QueuedConnection)

    def setEditorData(self, widget: QWidget, index: Index) -> None:
        """Fill the editor once; typed text is kept when the row is redrawn."""
        if not (isinstance(widget, QLineEdit) and widget.isModified()):
            super().setEditorData(widget, index)

    def setModelData(self, widget: QWidget, model: QAbstractItemModel, index: Index) -> None:
        """Rename once the view has closed the editor: a new name fills the view with new rows, which it must not meet
        while it moves to another row."""
        node = index.data(NODE)
        if isinstance(widget, QLineEdit) and isinstance(node, Node) and node.ref is not None:
            self._typed.emit(node.ref, widget.text())


class TreeView(QTreeWidget):
    """Tree widget. `pointed(Ref or None)`: the element under the pointer changed; `resized`: column widths may need
    updating."""

    pointed = Signal(object)
    resized = Signal()
    rename_wanted = Signal()
    remove_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        PlainKeyFilter(self, typing=False)

    def mimeTypes(self) -> list[str]:
        return [CHANNELS, "text/plain"]

    def mimeData(self, items: Sequence[QTreeWidgetItem]) -> QMimeData:
        """Return the channels of a run that belong to the rows, one per line."""
        return channel_mime_data(channel for item in items for channel in item.data(0, NODE).channels)

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


class ModelTreeProtocol(Protocol):
    """Protocol of the model tree for which menus are created."""

    session: Session
    settings: Units
    commands: Callable[[], Mapping[str, QAction]] | None
    add_menu: QMenu

    @property
    def widget(self) -> QWidget:
        """Return the parent widget for menus and dialogs."""
        ...

    def rename_selected(self) -> None:
        """Begin renaming the selected row in place."""
        ...

    def remove_selected(self) -> None:
        """Delete the selected element."""
        ...

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold every row but the ground."""
        ...


def create_row_menu(tree: ModelTreeProtocol, node: Node | None) -> QMenu:
    """Create the menu of actions on a row, or on the empty tree."""
    menu = QMenu(tree.widget)
    fill_add_menu(tree, menu)
    if node is not None and node.ref is not None and not node.derived:
        menu.addSeparator()
        menu.addAction(icon("rename"), "Rename", tree.rename_selected)
        menu.addAction(icon("duplicate"), "Duplicate", lambda: element_edits.duplicate_selected(tree.session))
        menu.addAction(icon("delete"), "Delete", tree.remove_selected)
    if node is not None and node.ref is not None:
        _add_result_entries(tree, menu, node.ref.collection)
    menu.addSeparator()
    menu.addAction("Unfold all", lambda: tree.fold_all(False))
    menu.addAction("Fold all", lambda: tree.fold_all(True))
    return menu


def offer_ground_to_tool(tree: ModelTreeProtocol, node: Node) -> None:
    """Pass the ground to a tool that asks for a point, after its row was clicked."""
    if node.selects_model:
        tree.session.grounded.emit()


SHOWING = ("view.trace", "vectors.", "plots.add")
"""Prefixes of the ids of commands that show results of a run for an element."""


def _add_result_entries(tree: ModelTreeProtocol, menu: QMenu, collection: str) -> None:
    """Add the scene menu's entries for trajectories, vectors and curves of the element; only in a window that has a
    scene."""
    if tree.commands is None:
        return
    actions = tree.commands()
    menu.addSeparator()
    for command in command_table().values():
        action = actions[command.id]
        if command.id.startswith(SHOWING) and collection in command.context and action.isEnabled():
            menu.addAction(action)


BY_POINTING = (("Add/Force", "force"), ("Add/Constraint", "constraint"), ("Add/Sensor", "sensor"))
"""Menus of the window that are repeated in the menu of the tree."""


def _add_pointing_entries(tree: ModelTreeProtocol, menu: QMenu) -> None:
    """Add entries for elements that are created by pointing in the scene; only in a window that has a scene."""
    if tree.commands is None:
        return
    actions = tree.commands()
    for path, drawing in BY_POINTING:
        inner = menu.addMenu(icon(drawing), path.partition("/")[2])
        for command in command_table().values():
            if command.menu == path:
                inner.addAction(actions[command.id])
    for name in ("add.driver", "add.assembly"):
        menu.addAction(actions[name])


def fill_add_menu(tree: ModelTreeProtocol, menu: QMenu) -> None:
    """Add entries for everything that can be added at the selection."""
    if menu is tree.add_menu:
        menu.clear()
    session = tree.session
    place = element_edits.new_element_holder(session)
    links = menu.addMenu(icon("link"), f"Link on {place}")
    for kind, info in JOINT_KINDS.items():
        links.addAction(icon(joint_icon(kind)), info.title, lambda kind=kind: element_edits.add_link(session, kind))
    menu.addAction(
        icon("frame"),
        f"Frame on {place}",
        lambda: element_edits.add_element(
            session, "frames", lambda model: new_elements.add_frame(model, element_edits.new_element_holder(session))
        ),
    )
    connect = menu.addAction(
        icon("connect"), "Joint…", lambda: element_edits.ask_joint(session, tree.settings, tree.widget)
    )
    connect.setEnabled(bool(session.model.expanded.bodies))
    commands = tree.commands  # placing next to the machine needs the scene
    if commands is None:
        menu.addAction(icon("body"), "Free body", lambda: element_edits.add_element(session, "bodies", edits.free_body))
    else:
        menu.addAction(icon("body"), "Free body", lambda: commands()["add.body"].trigger())
    _add_pointing_entries(tree, menu)
    menu.addAction(icon("chain"), "DH chain…", lambda: element_edits.ask_chain(session, tree.settings, tree.widget))
    menu.addAction(
        icon("parameter"),
        "Parameter",
        lambda: element_edits.add_element(session, "parameters", new_elements.add_parameter),
    )
    menu.addAction(
        icon("material"), "Material", lambda: element_edits.add_element(session, "materials", new_elements.add_material)
    )
