"""Opens the window's dialogs (help, keyboard map, films …), each imported when first opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.background.lifetime import Lifetime
from app.tours import TOURS

if TYPE_CHECKING:
    from app.dialogs.film import FilmDialog
    from app.dialogs.messages import MessageCard
    from app.tours.tour_card import TourCard
    from app.window.start_page import StartPage
    from app.workbench import Workbench


class Dialogs:
    """Opens the dialogs of a window.

    topic : of what is under the pointer, for help on it
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

    def examples(self) -> None:
        """Open the gallery of examples."""
        from app.dialogs.examples_gallery import ExamplesGallery

        gallery = ExamplesGallery(self._bench.widget)
        gallery.chosen.connect(self._bench.files.start_example)
        gallery.open()

    def start_page(self) -> None:
        """Show the start page."""
        if self.make_page is not None:
            self.make_page().show_again()

    def leave_start_page(self) -> bool:
        """Close the start page; returns False if it was not visible."""
        if self.page is None or not self.page.isVisible():
            return False
        self.page.hide_page()
        return True

    def palette(self) -> None:
        """Open the command palette, which finds a command, function, element or example."""
        from app.dialogs.palette import CommandPalette

        CommandPalette(self._bench).open_palette()

    def help(self, topic: str = "") -> None:
        """Show help on a function, command, panel or element; without a topic, on the item under the pointer."""
        from app.dialogs.help import HelpDialog

        dialog = HelpDialog.open_on(self._bench.widget, topic or self._topic())
        dialog.chosen.connect(self._bench.files.start_example)

    def tour(self, name: str) -> None:
        """Start a tour, or continue it where it was left."""
        from app.tours.tour_card import TourCard

        if self.tour_card is not None and self.tour_card.on:
            self.tour_card.leave()
        self.leave_start_page()
        self.tour_card = TourCard(self._bench, TOURS[name])

    def film(self) -> None:
        """Open the dialog for a film: file, size and camera."""
        from app.dialogs.film import FilmDialog

        if self.film_dialog is None:
            self.film_dialog = FilmDialog(self._bench, self._life)
        self.film_dialog.open_film()

    def keyboard(self) -> None:
        """Show all keys and mouse gestures."""
        from app.dialogs.keyboard import KeyboardMap

        KeyboardMap(self._bench.widget).open()

    def about(self) -> None:
        """Show the program's version and the system."""
        from app.dialogs.about import About

        About(self._bench.widget).open()

    def licences(self) -> None:
        """Show the licences of the program and its libraries."""
        from app.dialogs.licences import Licences

        Licences(self._bench.widget).open()

    def close(self) -> None:
        """Close the dialogs and disconnect."""
        self._life.close()
        if self.tour_card is not None and self.tour_card.on:
            self.tour_card.close_card()
