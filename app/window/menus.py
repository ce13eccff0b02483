"""Menu entries that are not commands: panels, examples, recent files, saved views."""

from __future__ import annotations

from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QMenu

from app.plain_text import as_entry, as_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.window.actions import Actions
from app.window.docks import Docks
from app.window.files import Documents
from app.window.saved_views import SavedViews
from resources import examples


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
