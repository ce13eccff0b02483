"""Opens the window's dialogs: help, keyboard map, films … each loaded when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.dialogs.film import FilmDialog
    from app.window.window import Window


class Dialogs:
    """Opens the dialogs of a window."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self.film_dialog: FilmDialog | None = None
        """Kept, with what was chosen in it, once it was opened."""

    def examples(self) -> None:
        """The gallery of examples."""
        from app.dialogs.examples_gallery import ExamplesGallery

        gallery = ExamplesGallery(self._window)
        gallery.chosen.connect(self._window.documents.start_example)
        gallery.open()

    def palette(self) -> None:
        """Find a command, function, element or example."""
        from app.dialogs.palette import CommandPalette

        CommandPalette(self._window).open_palette()

    def help(self, topic: str = "") -> None:
        """Help on a function, a command, a panel or an element; without a topic on what is under the pointer."""
        from app.dialogs.help import HelpDialog
        from app.window.pointed_help import topic_under_pointer

        HelpDialog.open_on(self._window, topic or topic_under_pointer(self._window))

    def film(self) -> None:
        """File, size and camera of a film of the current run."""
        from app.dialogs.film import FilmDialog

        if self.film_dialog is None:
            self.film_dialog = FilmDialog(self._window)
        self.film_dialog.open_film()

    def keyboard(self) -> None:
        """All keys and mouse gestures."""
        from app.dialogs.keyboard import KeyboardMap

        KeyboardMap(self._window).open()

    def messages(self) -> None:
        """All messages so far."""
        from app.dialogs.messages import MessageLog

        MessageLog(self._window.messages.log, self._window).open()

    def about(self) -> None:
        """Version and system."""
        from app.dialogs.about import About

        About(self._window).open()

    def licences(self) -> None:
        """Licences of the program and its libraries."""
        from app.dialogs.licences import Licences

        Licences(self._window).open()

    def close(self) -> None:
        """Listen no more."""
        if self.film_dialog is not None:
            self.film_dialog.close_dialog()
