"""Menus, toolbar and shortcuts, built from the table of commands; and the menus of panels, examples, recent files and
saved views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from app.commands import Command, command_table
from app.document.revision import ElementRef
from app.document.session import Session
from app.plain_text import escape_entry, escape_tip, format_tip
from app.preferences.element_icons import collection_icon
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.window.docks import Docks
from app.window.files import FileCommands
from app.window.view_state import SavedViews
from resources import examples

if TYPE_CHECKING:
    from app.background.guard import Guard
    from app.workbench import Workbench


MENUS = ("File", "Edit", "Add", "View", "Tools", "Simulation", "Functions", "Help")
TOOLBAR = ("file", "edit", "tool", "simulation", "add", "view", "help")


class Actions:
    """One QAction per command. `refresh` enables, checks and retitles the actions to match the current state of the
    workbench."""

    def __init__(self, window: QMainWindow, bench: Workbench, guard: Guard) -> None:
        self._window, self._bench, self._guard = window, bench, guard
        self.by_id = {command.id: self._create_action(command) for command in command_table().values()}
        self.menus: dict[str, QMenu] = {}
        self._fill_menus()
        self.toolbar = self._create_toolbar()

    def _create_action(self, command: Command) -> QAction:
        action = QAction(icon(command.icon), command.title, self._window)
        action.setObjectName(command.id)
        keys = [QKeySequence(text.strip()) for text in command.shortcut.split(",") if text.strip()]
        action.setShortcuts(keys)
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        key = keys[0].toString(QKeySequence.SequenceFormat.NativeText) if keys else ""
        action.setToolTip(format_tip(command.title.rstrip("…"), key, command.help))
        action.setStatusTip(command.help)
        action.setCheckable(command.checked is not None)
        action.setIconVisibleInMenu(command.checked is None)  # a picture would stand where the check mark does
        action.triggered.connect(lambda checked=False: self.run(command.id))
        self._window.addAction(action)
        return action

    def run(self, command_id: str) -> None:
        """Run a command if it is available now; exceptions are shown as messages."""
        command = command_table()[command_id]
        if command.is_available(self._bench):
            self._guard.call(command.run, self._bench)
        self.refresh()

    def refresh(self) -> None:
        """Update the state and the title of all actions."""
        session = self._bench.session
        for command in command_table().values():
            action = self.by_id[command.id]
            action.setEnabled(command.is_available(self._bench))
            if command.checked is not None:
                action.setChecked(command.checked(self._bench))
        for verb, label in (("undo", session.undo_label), ("redo", session.redo_label)):
            words = f"{verb.title()} {label[:1].lower()}{label[1:]}" if label else verb.title()
            self.by_id[f"edit.{verb}"].setText(escape_entry(words))

    # ----------------------------------------------------------------------------- menus

    def find_or_create_menu(self, path: str) -> QMenu:
        """Return the menu at a path such as "View/Show"; a missing menu is created."""
        if path not in self.menus:
            head, _, title = path.rpartition("/")
            parent = self.find_or_create_menu(head) if head else self._window.menuBar()
            self.menus[path] = parent.addMenu(title)
            self.menus[path].setToolTipsVisible(True)
        return self.menus[path]

    def _fill_menus(self) -> None:
        for name in MENUS:
            self.find_or_create_menu(name)
        self.menus["File"].aboutToShow.connect(self.refresh)
        last: dict[str, str] = {}
        for command in command_table().values():
            if not command.menu or command.menu == "context":
                continue
            menu = self.find_or_create_menu(command.menu)
            if last.setdefault(command.menu, command.section) != command.section:
                menu.addSeparator()
                last[command.menu] = command.section
            menu.addAction(self.by_id[command.id])
        for name in MENUS:
            self.menus[name].menuAction().setVisible(not self.menus[name].isEmpty())

    def context_menu(self, ref: ElementRef | None, parent: QWidget) -> QMenu:
        """Return the context menu of an element, or of the empty scene."""
        menu = QMenu(parent)
        kind = ref.collection if ref is not None else "scene"
        if ref is not None:
            title = menu.addAction(icon(_icon_name(self._bench.session, ref)), escape_entry(ref.name))
            title.setEnabled(False)
        fitting = [c for c in command_table().values() if kind in c.context or ("*" in c.context and ref is not None)]
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

    def _create_toolbar(self) -> QToolBar:
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
                bar.addWidget(self._create_palette_button())
                continue
            actions = self._toolbar_actions(group)
            if actions and bar.actions() and group != TOOLBAR[-1]:
                bar.addSeparator()
            for action in actions:
                bar.addAction(action)
        self._window.addToolBar(bar)
        return bar

    def _create_palette_button(self) -> QToolButton:
        """Return the wide toolbar button that opens the command palette."""
        button = QToolButton()
        button.setObjectName("finder")
        button.setIcon(icon("search"))
        button.setText("Find a command    Ctrl+Shift+P")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setToolTip(self.by_id["help.palette"].toolTip())
        button.clicked.connect(lambda: self.run("help.palette"))
        return button

    def _toolbar_actions(self, group: str) -> Iterable[QAction]:
        return [self.by_id[command.id] for command in command_table().values() if command.toolbar == group]


def _icon_name(session: Session, ref: ElementRef) -> str:
    """Return the icon name of an element."""
    if ref.collection == "joints":
        return session.model.expanded.find("joints", ref.name).kind
    return collection_icon(ref.collection)


def add_panel_entries(actions: Actions, docks: Docks) -> None:
    """Add a show/hide entry for every panel."""
    menu = actions.find_or_create_menu("View/Panels")
    first = menu.actions()[0] if menu.actions() else None
    for place in docks.places:
        toggle = docks.docks[place.id].toggleViewAction()
        menu.insertAction(first, toggle) if first is not None else menu.addAction(toggle)


def add_file_menus(actions: Actions, documents: FileCommands, settings: Settings) -> None:
    """Add the submenus of examples and recent files to the File menu."""
    recent, gallery = actions.find_or_create_menu("File/Open recent"), actions.find_or_create_menu("File/Open example")
    recent.aboutToShow.connect(lambda: _fill_recent_files(recent, actions, documents, settings))
    _fill_examples(gallery, documents)
    for menu in (recent, gallery):
        actions.find_or_create_menu("File").insertMenu(actions.by_id["file.reload"], menu)


def _fill_examples(menu: QMenu, documents: FileCommands) -> None:
    menu.setStyleSheet("QMenu { icon-size: 56px; }")
    for example in examples():
        entry = menu.addAction(QIcon(str(example.thumbnail)), example.title)
        entry.triggered.connect(lambda _=False, path=example.path: documents.open_example(path))
        _set_entry_tip(entry, example.about)


def _fill_recent_files(menu: QMenu, actions: Actions, documents: FileCommands, settings: Settings) -> None:
    menu.clear()
    for path in settings.recent_files:
        _set_entry_tip(menu.addAction(escape_entry(path.name), lambda path=path: documents.open(path)), str(path))
    if settings.recent_files:
        menu.addSeparator()
    menu.addAction(actions.by_id["file.forget_recent"])


def add_saved_views_menu(actions: Actions, views: SavedViews) -> None:
    """Add the submenu of saved views, with an entry to open and one to delete each view."""
    menu = actions.find_or_create_menu("View/Saved views")
    menu.aboutToShow.connect(lambda: _fill_saved_views(menu, actions, views))


def _fill_saved_views(menu: QMenu, actions: Actions, views: SavedViews) -> None:
    menu.clear()
    menu.addAction(actions.by_id["view.keep"])
    if not views.views:
        return
    menu.addSeparator()
    for name in views.views:
        menu.addAction(icon("view_iso"), escape_entry(name), lambda name=name: views.show_view(name))
    delete = menu.addMenu(icon("delete"), "Delete")
    for name in views.views:
        delete.addAction(escape_entry(name), lambda name=name: views.delete_view(name))


def _set_entry_tip(entry: QAction, text: str) -> None:
    entry.setToolTip(escape_tip(text))
    entry.setStatusTip(text)
