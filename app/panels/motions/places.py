"""List of the stored poses and targets."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, QTimer
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTreeWidget, QTreeWidgetItem

from app.document.motion_plans import MotionPlans
from app.document.revision import ElementRef
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.fields.field_dialogs import remove
from core.model.edits import edits
from core.motions.keyframes import insert_point

NAME = Qt.ItemDataRole.UserRole
HINT = "No pose is stored. Move the machine and press K."


class PlaceList(QTreeWidget):
    """Poses and targets: a click selects, a double click renames, the right button has more."""

    def __init__(self, plans: MotionPlans) -> None:
        super().__init__()
        self._plans = plans
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(4)
        self.setIconSize(QSize(16, 16))
        self.setAccessibleName("Poses and targets")
        self.setMinimumWidth(120)
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        self.itemClicked.connect(self._on_clicked)
        self.itemChanged.connect(self._on_renamed)
        self._shown: tuple[tuple[str, str, str], ...] = ()
        self.show_places()

    def show_places(self) -> None:
        """Show the poses and targets of the document."""
        model = self._plans.session.model
        rows = tuple(
            (collection, each.name, each.summary)
            for collection in ("poses", "targets")
            for each in getattr(model, collection)
        )
        if rows == self._shown and self.topLevelItemCount():
            return
        self._shown = rows
        self.blockSignals(True)
        self.clear()
        for collection, name, summary in rows:
            item = QTreeWidgetItem([name])
            item.setIcon(0, icon("pose" if collection == "poses" else "target"))
            item.setData(0, NAME, (collection, name))
            item.setToolTip(0, escape_tip(f"{name}: {summary}. Double click: rename; right button: go to, overwrite …"))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self.addTopLevelItem(item)
        if not rows:
            item = QTreeWidgetItem([HINT])
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            item.setToolTip(0, escape_tip(HINT))
            self.addTopLevelItem(item)
        self.setWordWrap(not rows)
        self.blockSignals(False)

    @property
    def chosen(self) -> str:
        """Name of the chosen pose or target; "" if none is chosen."""
        item = self.currentItem()
        data = item.data(0, NAME) if item is not None and item.isSelected() else None
        return str(data[1]) if data else ""

    def _on_clicked(self, item: QTreeWidgetItem) -> None:
        data = item.data(0, NAME)
        if data:
            self._plans.session.select(ElementRef(*data))

    def _on_renamed(self, item: QTreeWidgetItem) -> None:
        data, new = item.data(0, NAME), item.text(0).strip()
        if data and new != data[1]:
            QTimer.singleShot(0, self, partial(self._rename, str(data[0]), str(data[1]), new))

    def _rename(self, collection: str, name: str, new: str) -> None:
        rename_element(self._plans, collection, name, new)
        self._shown = ()
        self.show_places()

    def _open_menu(self, position: QPoint) -> None:
        item = self.itemAt(position)
        data = item.data(0, NAME) if item is not None else None
        if not data:
            return
        collection, name = data
        plans, menu = self._plans, QMenu(self)
        menu.addAction("Go to", partial(plans.go_to_place, name))
        menu.addAction("Overwrite with the present pose", partial(plans.overwrite_place, name))
        motion = plans.motion
        if motion is not None:
            menu.addAction(
                f"Add to {motion.name}",
                lambda: plans.change(f"Add {name}", lambda model, of: insert_point(model, of, name, plans.chosen)),
            )
        menu.addSeparator()
        menu.addAction("Rename", partial(self.editItem, item, 0))
        menu.addAction("Delete", lambda: remove(plans.session, ElementRef(collection, name), self))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.viewport().mapToGlobal(position))


def rename_element(plans: MotionPlans, collection: str, name: str, new: str) -> bool:
    """Rename a pose, target or motion as one undo step; an invalid name is reported."""
    return plans.session.apply(
        f"Rename {name} to {new}",
        lambda model: edits.rename(model, collection, name, new),
        select=ElementRef(collection, new),
    )
