"""The start page, shown over the viewport while there is no machine, and on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QVBoxLayout

from app.background.signals import Lifetime
from app.commands import command_table
from app.dialogs.examples_gallery import GalleryEntry, MachineShelf, example_shelves
from app.document.revision import DocumentState
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.label import Label
from app.window import files
from resources import examples

if TYPE_CHECKING:
    from app.workbench import Workbench

CHOICES = {
    "tool.draw": "Draw a linkage\nfrom pin to pin",
    "file.open": "Open a file\nor drop it here",
    "add.chain": "Serial arm\nfrom a DH table",
    "add.link": "Add a link\nand build on it",
    "help.tour_four_bar": "Tour: a four-bar\nin two minutes",
}
"""Command id → text of its large button."""
RECENT = "Recent"
PLAIN = "select"
"""Tool that is active while the user has not chosen another."""
LARGEST = QSize(880, 640)
MARGIN, NARROW_MARGIN = 24, 6
BUTTONS = 84
"""Margin on each side, in pixels, that leaves the buttons of the viewport visible if there is enough space."""
PICTURE = QSize(36, 36)
WIDE, COLUMNS = 620, 3
"""Pixels from which all large buttons stand in one row, and how many do in a narrower page."""


class StartPage(QFrame):
    """Page at the centre of the viewport. It closes when there is a machine, when another tool is chosen, or when the
    user closes it."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench.stage.widget)
        self._bench, self._view = bench, bench.stage
        self._asked = self._closed = False
        self._document = bench.session.document
        """True if the page was requested over a machine; True if it was closed over an empty scene."""
        self.setObjectName("message")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.shelf = MachineShelf(at_once=True)
        self.shelf.chosen.connect(bench.files.open_example)
        self.unsaved = QPushButton(icon=icon("reset"))
        self.unsaved.setText("Unsaved work was kept when the program ended unexpectedly …")
        self.unsaved.clicked.connect(lambda: bench.run_command("file.recover"))
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 16, 22, 14)
        column.setSpacing(10)
        column.addLayout(self._create_header())
        column.addLayout(self._create_choice_buttons())
        column.addWidget(self.unsaved)
        column.addWidget(self.shelf, 1)
        self._life = Lifetime()
        self._life.listen(
            (bench.session.changed, self._on_document_changed), (self._view.gestures.chosen, self._on_tool_chosen)
        )
        self._view.widget.installEventFilter(self)
        self._fill_lists()
        self.update_visibility()

    def close(self) -> None:
        """Disconnect from session and tools."""
        self._life.close()

    def _create_header(self) -> QHBoxLayout:
        title = Label("What would you like to make?")
        font = title.font()
        font.setPointSizeF(1.5 * font.pointSizeF())
        title.setFont(font)
        shut = QToolButton(icon=icon("close"), toolTip="Close this page (Esc); File ▸ Start page shows it again")
        shut.setAutoRaise(True)
        shut.clicked.connect(self.hide_page)
        row = QHBoxLayout()
        row.addWidget(title)
        row.addStretch(1)
        row.addWidget(shut)
        return row

    def _create_choice_buttons(self) -> QGridLayout:
        self._grid = QGridLayout()
        self._grid.setSpacing(8)
        commands = command_table()
        self._buttons: list[QToolButton] = []
        for name, words in CHOICES.items():
            button = QToolButton(toolTip=escape_tip(commands[name].help))
            button.setIcon(icon(commands[name].icon))
            button.setIconSize(PICTURE)
            button.setText(words)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            button.clicked.connect(self._create_command_callback(name))
            self._buttons.append(button)
        return self._grid

    def _arrange_buttons(self, columns: int) -> None:
        """Arrange the large buttons in a number of columns."""
        for number, button in enumerate(self._buttons):
            self._grid.addWidget(button, *divmod(number, columns))

    def _create_command_callback(self, name: str) -> Callable[[], None]:
        return lambda: self._bench.run_command(name)

    def _fill_lists(self) -> None:
        """List the recent files and the examples."""
        known = {each.path: each for each in examples()}
        lately = [
            GalleryEntry(known[path].title, known[path].about, path, known[path].thumbnail)
            if path in known
            else GalleryEntry(path.stem, str(path), path, files.picture_path(path))
            for path in self._bench.settings.recent_files
        ]
        self.shelf.fill(({RECENT: lately} if lately else {}) | example_shelves())

    # ----------------------------------------------------------------------------- when it is seen

    def show_on_request(self) -> None:
        """Show the page at the user's request, whatever document is open."""
        self._asked, self._closed = True, False
        self._fill_lists()
        self.update_visibility()
        self.setFocus()

    def hide_page(self) -> None:
        """Hide the page at the user's request."""
        self._asked, self._closed = False, True
        self.update_visibility()
        self._view.widget.setFocus()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model:
            self._asked = False
            if self._document != self._bench.session.document:
                self._document = self._bench.session.document
                self._closed = False
                if self._is_document_empty:  # nothing is left that the tool in hand was working on
                    self._view.gestures.choose_tool(PLAIN)
            if self._is_document_empty and not self._closed and not self.isVisible():
                self._fill_lists()
        self.update_visibility()

    def _on_tool_chosen(self, tool: object) -> None:
        """Hide the page when a tool is chosen."""
        self.hide_page() if self.isVisible() else None

    @property
    def _is_document_empty(self) -> bool:
        model = self._bench.session.model
        return not (model.bodies or model.chains or model.frames or model.assemblies)

    def update_visibility(self) -> None:
        """Show the centred page, or hide it."""
        self.unsaved.setVisible(self._bench.files.recoverable)
        begins = self._is_document_empty and not self._closed and self._view.gestures.tool.id == PLAIN
        self.setVisible(self._asked or begins)
        self.centre_page()

    def eventFilter(self, host: QObject, event: QEvent) -> bool:
        """Keep the page in place when the viewport is resized."""
        if event.type() == QEvent.Type.Resize:
            self.centre_page()
        return False

    def centre_page(self) -> None:
        """Centre the page, as large as the viewport permits."""
        host = self._view.widget
        beside = BUTTONS if host.width() - 2 * BUTTONS > WIDE else NARROW_MARGIN
        margin = MARGIN if host.width() > LARGEST.width() else NARROW_MARGIN
        room = QSize(host.width() - 2 * beside, host.height() - 2 * margin)
        self.setFixedSize(room.boundedTo(LARGEST))
        self._arrange_buttons(len(CHOICES) if self.width() > WIDE else COLUMNS)
        self.move((host.width() - self.width()) // 2, (host.height() - self.height()) // 2)
        self.raise_()
