"""Menus of the model tree: elements that can be added, and actions on a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.commands import element_edits, table
from app.document.session import Session
from app.panels.tree.machine_nodes import Node
from app.preferences.element_icons import joint_icon
from app.preferences.icons import icon
from app.widgets.quantities.quantity_text import Units
from core.model import JOINT_KINDS, new_elements
from core.model.edits import edits


class Tree(Protocol):
    """Protocol of the tree in which the menus are opened."""

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


def row_menu(tree: Tree, node: Node | None) -> QMenu:
    """Return the menu of actions on a row, or on the empty tree."""
    menu = QMenu(tree.widget)
    fill_add_menu(tree, menu)
    if node is not None and node.ref is not None and not node.derived:
        menu.addSeparator()
        menu.addAction(icon("rename"), "Rename", tree.rename_selected)
        menu.addAction(icon("duplicate"), "Duplicate", lambda: element_edits.duplicate(tree.session))
        menu.addAction(icon("delete"), "Delete", tree.remove_selected)
    if node is not None and node.ref is not None:
        _add_result_entries(tree, menu, node.ref.collection)
    menu.addSeparator()
    menu.addAction("Unfold all", lambda: tree.fold_all(False))
    menu.addAction("Fold all", lambda: tree.fold_all(True))
    return menu


def offer_ground(tree: Tree, node: Node) -> None:
    """Offer the ground to tools that ask for a point, after its row was clicked."""
    if node.selects_model:
        tree.session.grounded.emit()


SHOWING = ("view.trace", "vectors.", "plots.add")
"""Prefixes of the ids of commands that show an element's results of a run."""


def _add_result_entries(tree: Tree, menu: QMenu, collection: str) -> None:
    """Add the scene menu's entries for trajectories, vectors and curves of the element; only in a window that has a
    scene."""
    if tree.commands is None:
        return
    actions = tree.commands()
    menu.addSeparator()
    for command in table().values():
        action = actions[command.id]
        if command.id.startswith(SHOWING) and collection in command.context and action.isEnabled():
            menu.addAction(action)


BY_POINTING = (("Add/Force", "force"), ("Add/Constraint", "constraint"), ("Add/Sensor", "sensor"))
"""Menus of the window that are repeated here."""


def _add_by_pointing(tree: Tree, menu: QMenu) -> None:
    """Add entries for elements that are added by pointing in the scene; only in a window that has a scene."""
    if tree.commands is None:
        return
    actions = tree.commands()
    for path, drawing in BY_POINTING:
        inner = menu.addMenu(icon(drawing), path.partition("/")[2])
        for command in table().values():
            if command.menu == path:
                inner.addAction(actions[command.id])
    for name in ("add.driver", "add.assembly"):
        menu.addAction(actions[name])


def fill_add_menu(tree: Tree, menu: QMenu) -> None:
    """Add entries for everything that can be added at the selection."""
    if menu is tree.add_menu:
        menu.clear()
    session = tree.session
    place = element_edits.holder(session)
    links = menu.addMenu(icon("link"), f"Link on {place}")
    for kind, info in JOINT_KINDS.items():
        links.addAction(icon(joint_icon(kind)), info.title, lambda kind=kind: element_edits.add_link(session, kind))
    menu.addAction(
        icon("frame"),
        f"Frame on {place}",
        lambda: element_edits.add(
            session, "frames", lambda model: new_elements.frame_on(model, element_edits.holder(session))
        ),
    )
    connect = menu.addAction(
        icon("connect"), "Joint…", lambda: element_edits.ask_joint(session, tree.settings, tree.widget)
    )
    connect.setEnabled(bool(session.model.expanded.bodies))
    commands = tree.commands  # beside the machine needs the scene
    if commands is None:
        menu.addAction(icon("body"), "Free body", lambda: element_edits.add(session, "bodies", edits.free_body))
    else:
        menu.addAction(icon("body"), "Free body", lambda: commands()["add.body"].trigger())
    _add_by_pointing(tree, menu)
    menu.addAction(icon("chain"), "DH chain…", lambda: element_edits.ask_chain(session, tree.settings, tree.widget))
    menu.addAction(
        icon("parameter"), "Parameter", lambda: element_edits.add(session, "parameters", new_elements.parameter)
    )
    menu.addAction(icon("material"), "Material", lambda: element_edits.add(session, "materials", new_elements.material))
