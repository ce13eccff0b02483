"""Opens the dialogs of the window (help, keyboard map, film …). Each dialog is imported when it is first opened; help
opens at the page for the item under the pointer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QDockWidget, QToolButton, QTreeWidget, QWidget

from app.background.signals import Lifetime
from app.commands import command_table
from app.panels.tree.tree_nodes import Node
from app.playback.timeline import Timeline
from app.tours import TOURS
from app.viewport.viewport import Viewport
from app.widgets.fields.field_editor import FieldEditor
from app.window.status import StatusLine

if TYPE_CHECKING:
    from app.dialogs.film import FilmDialog
    from app.dialogs.messages import MessageCard
    from app.panels.functions.panel import FunctionPanel
    from app.tours.tour_card import TourCard
    from app.window.start_page import StartPage
    from app.workbench import Workbench


class DialogOpener:
    """Opens the dialogs of a window.

    topic : returns the help topic of the item under the pointer
    """

    def __init__(self, bench: Workbench, messages: MessageCard, topic: Callable[[], str]) -> None:
        self._bench, self._messages, self._topic = bench, messages, topic
        self._life = Lifetime()
        self.film_dialog: FilmDialog | None = None
        """Kept, with what was chosen in it, once it was opened."""
        self.tour_card: TourCard | None = None
        """The card of the tour that was begun last."""
        self.page: StartPage | None = None
        self.make_page: Callable[[], StartPage] | None = None
        """The start page, once there is one."""

    def open_examples(self) -> None:
        """Open the gallery of examples."""
        from app.dialogs.examples_gallery import ExamplesGallery

        gallery = ExamplesGallery(self._bench.widget)
        gallery.chosen.connect(self._bench.files.open_example)
        gallery.open()

    def show_start_page(self) -> None:
        """Show the start page."""
        if self.make_page is not None:
            self.make_page().show_on_request()

    def close_start_page(self) -> bool:
        """Close the start page; returns False if it was not visible."""
        if self.page is None or not self.page.isVisible():
            return False
        self.page.hide_page()
        return True

    def open_palette(self) -> None:
        """Open the command palette, which finds a command, function, element or example."""
        from app.dialogs.palette import CommandPalette

        CommandPalette(self._bench).open_palette()

    def open_help(self, topic: str = "") -> None:
        """Show help on a function, command, panel or element; without a topic, on the item under the pointer."""
        from app.dialogs.help import HelpDialog

        dialog = HelpDialog.open_topic(self._bench.widget, topic or self._topic())
        dialog.chosen.connect(self._bench.files.open_example)

    def start_tour(self, name: str) -> None:
        """Start a tour, or continue it from where the user left it."""
        from app.tours.tour_card import TourCard

        if self.tour_card is not None and self.tour_card.on:
            self.tour_card.leave()
        self.close_start_page()
        self.tour_card = TourCard(self._bench, TOURS[name])

    def open_film_dialog(self) -> None:
        """Open the dialog that exports a film: file, size and camera."""
        from app.dialogs.film import FilmDialog

        if self.film_dialog is None:
            self.film_dialog = FilmDialog(self._bench, self._life)
        self.film_dialog.open_film()

    def open_keyboard_map(self) -> None:
        """Show the keyboard shortcuts and mouse gestures."""
        from app.dialogs.help import KeyboardDialog

        KeyboardDialog(self._bench.widget).open()

    def open_about(self) -> None:
        """Show the program's version and the system."""
        from app.dialogs.about import AboutDialog

        AboutDialog(self._bench.widget).open()

    def open_licences(self) -> None:
        """Show the licences of the program and its libraries."""
        from app.dialogs.about import LicencesDialog

        LicencesDialog(self._bench.widget).open()

    def close(self) -> None:
        """Close the dialogs and disconnect."""
        self._life.close()
        if self.tour_card is not None and self.tour_card.on:
            self.tour_card.close_card()


def help_topic_under_pointer(bench: Workbench, functions: FunctionPanel) -> str:
    """Return the help topic of the item under the pointer, with "#field" appended for a field. If the pointer is
    outside the window, return the topic of the widget with the keyboard focus. "" if there is none."""
    place, window = QCursor.pos(), bench.widget
    widget = QApplication.widgetAt(place)
    if widget is None or widget.window() is not window:
        widget = window.focusWidget()
    return "" if widget is None else find_help_topic(bench, functions, widget, place)


def find_help_topic(bench: Workbench, functions: FunctionPanel, widget: QWidget, position: QPoint) -> str:
    """Return the help topic of a widget, or of its nearest ancestor that has one. The position is that of the pointer,
    in screen coordinates."""
    field = ""
    at: QWidget | None = widget
    while at is not None and at is not bench.widget:
        if (
            isinstance(at, QToolButton)
            and at.defaultAction() is not None
            and at.defaultAction().objectName() in command_table()
        ):
            return at.defaultAction().objectName()
        if isinstance(at, FieldEditor):
            field = at.path.partition(".")[0]
        elif isinstance(at, QTreeWidget) and (topic := _row_help_topic(functions, at, position)):
            return topic
        elif isinstance(at, Viewport) and bench.stage.gestures.tool.id != "select":
            return f"tool.{bench.stage.gestures.tool.id}"
        elif isinstance(at, Viewport | Timeline | StatusLine):
            return {Viewport: "panel.scene", Timeline: "panel.timeline", StatusLine: "panel.status"}[_panel_class(at)]
        elif isinstance(at, QDockWidget):
            return _panel_help_topic(bench, functions, at, widget, field)
        at = at.parentWidget()
    return ""


def _panel_class(widget: QWidget) -> type:
    return next(kind for kind in (Viewport, Timeline, StatusLine) if isinstance(widget, kind))


def _row_help_topic(functions: FunctionPanel, tree: QTreeWidget, position: QPoint) -> str:
    """Return the help topic of the tree row under the pointer, or of the current row: a function or a kind of
    element."""
    view = tree.viewport()
    inside = view.mapFromGlobal(position)
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


def _panel_help_topic(
    bench: Workbench, functions: FunctionPanel, dock: QDockWidget, widget: QWidget, field: str
) -> str:
    """Return the help topic of a panel: in the properties panel that of the selected element, in the form of a function
    that of the function."""
    panel = dock.objectName()
    if panel == "properties" and widget is not dock.widget():
        ref = bench.session.selection
        return f"element.{ref.collection if ref else 'model'}" + (f"#{field}" if field else "")
    if panel == "functions" and functions.form is not None and functions.form.isAncestorOf(widget):
        return f"function.{functions.chosen_function.id}" if functions.chosen_function else "panel.functions"
    return f"panel.{panel}"
