"""Menus, toolbar and shortcuts: from the table of commands, and for panels, examples, recent files and saved views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from app.commands import Command, table
from app.document.revision import Ref
from app.document.session import Session
from app.plain_text import as_entry, as_tip, headed_tip
from app.preferences.element_icons import collection_icon
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.window.docks import Docks
from app.window.files import Documents
from app.window.view_state import SavedViews
from resources import examples

if TYPE_CHECKING:
    from app.background.guard import Guard
    from app.workbench import Workbench


MENUS = ("File", "Edit", "Add", "View", "Tools", "Simulation", "Functions", "Help")
TOOLBAR = ("file", "edit", "tool", "simulation", "add", "view", "help")


class Actions:
    """One QAction per command. `refresh` enables, checks and renames them for the present state of the workbench."""

    def __init__(self, window: QMainWindow, bench: Workbench, guard: Guard) -> None:
        self._window, self._bench, self._guard = window, bench, guard
        self.by_id = {command.id: self._action(command) for command in table().values()}
        self.menus: dict[str, QMenu] = {}
        self._fill_menus()
        self.toolbar = self._toolbar()

    def _action(self, command: Command) -> QAction:
        action = QAction(icon(command.icon), command.title, self._window)
        action.setObjectName(command.id)
        keys = [QKeySequence(text.strip()) for text in command.shortcut.split(",") if text.strip()]
        action.setShortcuts(keys)
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        key = keys[0].toString(QKeySequence.SequenceFormat.NativeText) if keys else ""
        action.setToolTip(headed_tip(command.title.rstrip("…"), key, command.help))
        action.setStatusTip(command.help)
        action.setCheckable(command.checked is not None)
        action.setIconVisibleInMenu(command.checked is None)  # a picture would stand where the check mark does
        action.triggered.connect(lambda checked=False: self.run(command.id))
        self._window.addAction(action)
        return action

    def run(self, command_id: str) -> None:
        """Run a command if it applies now; errors become messages."""
        command = table()[command_id]
        if command.applies(self._bench):
            self._guard.call(command.run, self._bench)
        self.refresh()

    def refresh(self) -> None:
        """Update all actions."""
        session = self._bench.session
        for command in table().values():
            action = self.by_id[command.id]
            action.setEnabled(command.applies(self._bench))
            if command.checked is not None:
                action.setChecked(command.checked(self._bench))
        for verb, label in (("undo", session.undo_label), ("redo", session.redo_label)):
            words = f"{verb.title()} {label[:1].lower()}{label[1:]}" if label else verb.title()
            self.by_id[f"edit.{verb}"].setText(as_entry(words))

    # ----------------------------------------------------------------------------- menus

    def menu(self, path: str) -> QMenu:
        """Return the menu at a path such as "View/Show", creating it if needed."""
        if path not in self.menus:
            head, _, title = path.rpartition("/")
            parent = self.menu(head) if head else self._window.menuBar()
            self.menus[path] = parent.addMenu(title)
            self.menus[path].setToolTipsVisible(True)
        return self.menus[path]

    def _fill_menus(self) -> None:
        for name in MENUS:
            self.menu(name)
        self.menus["File"].aboutToShow.connect(self.refresh)
        last: dict[str, str] = {}
        for command in table().values():
            if not command.menu or command.menu == "context":
                continue
            menu = self.menu(command.menu)
            if last.setdefault(command.menu, command.section) != command.section:
                menu.addSeparator()
                last[command.menu] = command.section
            menu.addAction(self.by_id[command.id])
        for name in MENUS:
            self.menus[name].menuAction().setVisible(not self.menus[name].isEmpty())

    def context_menu(self, ref: Ref | None, parent: QWidget) -> QMenu:
        """Return the context menu of an element, or of the empty scene."""
        menu = QMenu(parent)
        kind = ref.collection if ref is not None else "scene"
        if ref is not None:
            title = menu.addAction(icon(_icon_name(self._bench.session, ref)), as_entry(ref.name))
            title.setEnabled(False)
        fitting = [c for c in table().values() if kind in c.context or ("*" in c.context and ref is not None)]
        fitting.sort(key=lambda command: not command.id.startswith("view."))
        section = None if ref is None else ""
        inner: dict[str, QMenu] = {}
        for command in fitting:
            if section is not None and command.section != section:
                menu.addSeparator()
            section = command.section
            _, _, submenu = command.menu.partition("/")
            if submenu and not command.id.startswith("view."):
                if submenu not in inner:
                    inner[submenu] = menu.addMenu(icon(command.icon), submenu)
                inner[submenu].addAction(self.by_id[command.id])
            else:
                menu.addAction(self.by_id[command.id])
        return menu

    # ----------------------------------------------------------------------------- toolbar

    def _toolbar(self) -> QToolBar:
        bar = QToolBar("Toolbar", self._window)
        bar.setObjectName("toolbar")
        bar.setMovable(False)
        bar.setIconSize(QSize(20, 20))
        bar.toggleViewAction().setVisible(False)
        for group in TOOLBAR:
            if group == TOOLBAR[-1]:
                space = QWidget()
                space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
                bar.addWidget(space)
                bar.addWidget(self._palette_button())
                continue
            actions = self._actions_of_group(group)
            if actions and bar.actions() and group != TOOLBAR[-1]:
                bar.addSeparator()
            for action in actions:
                bar.addAction(action)
        self._window.addToolBar(bar)
        return bar

    def _palette_button(self) -> QToolButton:
        """Return the wide button that opens the command palette."""
        button = QToolButton()
        button.setObjectName("finder")
        button.setIcon(icon("search"))
        button.setText("Find a command    Ctrl+Shift+P")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setToolTip(self.by_id["help.palette"].toolTip())
        button.clicked.connect(lambda: self.run("help.palette"))
        return button

    def _actions_of_group(self, group: str) -> Iterable[QAction]:
        return [self.by_id[command.id] for command in table().values() if command.toolbar == group]


def _icon_name(session: Session, ref: Ref) -> str:
    """Return the icon name of an element."""
    if ref.collection == "joints":
        return session.model.expanded.find("joints", ref.name).kind
    return collection_icon(ref.collection)


def add_panels(actions: Actions, docks: Docks) -> None:
    """Add a show/hide entry for every panel."""
    menu = actions.menu("View/Panels")
    first = menu.actions()[0] if menu.actions() else None
    for place in docks.places:
        toggle = docks.docks[place.id].toggleViewAction()
        menu.insertAction(first, toggle) if first is not None else menu.addAction(toggle)


def add_files(actions: Actions, documents: Documents, settings: Settings) -> None:
    """Add the examples and the recent files."""
    recent, gallery = actions.menu("File/Open recent"), actions.menu("File/Open example")
    recent.aboutToShow.connect(lambda: _fill_recent(recent, actions, documents, settings))
    _fill_examples(gallery, documents)
    for menu in (recent, gallery):
        actions.menu("File").insertMenu(actions.by_id["file.reload"], menu)


def _fill_examples(menu: QMenu, documents: Documents) -> None:
    menu.setStyleSheet("QMenu { icon-size: 56px; }")
    for example in examples():
        entry = menu.addAction(QIcon(str(example.thumbnail)), example.title)
        entry.triggered.connect(lambda _=False, path=example.path: documents.start_example(path))
        _explain(entry, example.about)


def _fill_recent(menu: QMenu, actions: Actions, documents: Documents, settings: Settings) -> None:
    menu.clear()
    for path in settings.recent:
        _explain(menu.addAction(as_entry(path.name), lambda path=path: documents.open(path)), str(path))
    if settings.recent:
        menu.addSeparator()
    menu.addAction(actions.by_id["file.forget_recent"])


def add_views(actions: Actions, views: SavedViews) -> None:
    """Add the saved views, to look from and to delete."""
    menu = actions.menu("View/Saved views")
    menu.aboutToShow.connect(lambda: _fill_views(menu, actions, views))


def _fill_views(menu: QMenu, actions: Actions, views: SavedViews) -> None:
    menu.clear()
    menu.addAction(actions.by_id["view.keep"])
    if not views.views:
        return
    menu.addSeparator()
    for name in views.views:
        menu.addAction(icon("view_iso"), as_entry(name), lambda name=name: views.look(name))
    delete = menu.addMenu(icon("delete"), "Delete")
    for name in views.views:
        delete.addAction(as_entry(name), lambda name=name: views.delete(name))


def _explain(entry: QAction, text: str) -> None:
    entry.setToolTip(as_tip(text))
    entry.setStatusTip(text)
