"""The menus of the model tree: what can be added, and what can be done with a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from app.commands import element_edits
from app.panels.tree.machine_nodes import Node
from app.preferences.element_icons import joint_icon
from app.preferences.icons import icon
from core.model import JOINT_KINDS
from core.model.edits import edits, starters

if TYPE_CHECKING:
    from app.panels.tree.panel import ModelTree


def row_menu(tree: ModelTree, node: Node | None) -> QMenu:
    """What can be done with a row, or with the empty tree."""
    menu = QMenu(tree)
    fill_add_menu(tree, menu)
    if node is not None and node.ref is not None and not node.derived:
        menu.addSeparator()
        menu.addAction(icon("rename"), "Rename", tree.rename_selected)
        menu.addAction(icon("duplicate"), "Duplicate", lambda: element_edits.duplicate(tree.session))
        menu.addAction(icon("delete"), "Delete", tree.remove_selected)
    if node is not None and node.ref is not None:
        _show(tree, menu, node.ref.collection)
    menu.addSeparator()
    menu.addAction("Unfold all", lambda: tree.fold_all(False))
    menu.addAction("Fold all", lambda: tree.fold_all(True))
    return menu


def tell_ground(tree: ModelTree, node: Node) -> None:
    """The ground's row was clicked: tools that ask for a point may mean it."""
    if node.selects_model:
        tree.session.grounded.emit()


SHOWING = ("view.trace", "vectors.", "plots.add")
"""How ids of commands begin that show of an element what a run has."""


def _show(tree: ModelTree, menu: QMenu, collection: str) -> None:
    """Ways, vectors and curves of the element, as in the scene's menu; only in a window that has one."""
    from app.commands import table

    actions = getattr(tree.window(), "actions_", None)
    if actions is None:
        return
    actions.refresh()
    menu.addSeparator()
    for command in table().values():
        action = actions.by_id.get(command.id)
        if command.id.startswith(SHOWING) and collection in command.context and action.isEnabled():
            menu.addAction(action)


BY_POINTING = (("Add/Force", "force"), ("Add/Constraint", "constraint"), ("Add/Sensor", "sensor"))
"""Menus of the window that stand here, too."""


def _add_by_pointing(tree: ModelTree, menu: QMenu) -> None:
    """What is added by pointing at it in the scene; only in a window that has one."""
    from app.commands import table

    actions = getattr(tree.window(), "actions_", None)
    if actions is None:
        return
    actions.refresh()
    for path, drawing in BY_POINTING:
        inner = menu.addMenu(icon(drawing), path.partition("/")[2])
        for command in table().values():
            if command.menu == path:
                inner.addAction(actions.by_id[command.id])
    for name in ("add.driver", "add.assembly"):
        menu.addAction(actions.by_id[name])


def fill_add_menu(tree: ModelTree, menu: QMenu) -> None:
    """Everything that can be added where the selection is."""
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
            session, "frames", lambda model: starters.frame_on(model, element_edits.holder(session))
        ),
    )
    connect = menu.addAction(icon("connect"), "Joint…", lambda: element_edits.ask_joint(session, tree.settings, tree))
    connect.setEnabled(bool(session.model.expanded.bodies))
    actions = getattr(tree.window(), "actions_", None)  # beside the machine needs the scene
    alone = lambda: element_edits.add(session, "bodies", edits.free_body)  # noqa: E731
    menu.addAction(icon("body"), "Free body", alone if actions is None else lambda: actions.run("add.body"))
    _add_by_pointing(tree, menu)
    menu.addAction(icon("chain"), "DH chain…", lambda: element_edits.ask_chain(session, tree.settings, tree))
    menu.addAction(icon("parameter"), "Parameter", lambda: element_edits.add(session, "parameters", starters.parameter))
    menu.addAction(icon("material"), "Material", lambda: element_edits.add(session, "materials", starters.material))
