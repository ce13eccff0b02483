"""Gallery of machines as pictures under tabs, and the dialog with the example machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QTabBar, QVBoxLayout, QWidget

from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.label import Label
from resources import examples

PICTURE_SIZE = QSize(160, 120)
TITLE_HEIGHT = 34
"""Height of two lines of text below a picture, pixels."""
PATH_ROLE = Qt.ItemDataRole.UserRole


class GalleryEntry(NamedTuple):
    """Entry of the gallery: a file that can be opened, its title, a description, and optionally a picture."""

    title: str
    about: str
    path: Path
    picture: Path


def example_shelves() -> dict[str, list[GalleryEntry]]:
    """Return the example machines by subject."""
    shelves: dict[str, list[GalleryEntry]] = {}
    for each in examples():
        machine = GalleryEntry(each.title, each.about, each.path, each.thumbnail)
        shelves.setdefault(each.subject, []).append(machine)
    return shelves


class MachineShelf(QWidget):
    """Pictures of machines with a tab per subject; emits `chosen(Path)` when a machine is double-clicked, or clicked
    once if `at_once`."""

    chosen = Signal(Path)

    def __init__(self, *, at_once: bool = False) -> None:
        super().__init__()
        self._at_once = at_once
        self._shelves: Mapping[str, Iterable[GalleryEntry]] = {}
        self.tabs = QTabBar(drawBase=False, expanding=False)
        self.tabs.currentChanged.connect(self._fill_current_tab)
        self.list = QListWidget()
        self.list.setViewMode(QListWidget.ViewMode.IconMode)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setMovement(QListWidget.Movement.Static)
        self.list.setIconSize(PICTURE_SIZE)
        self.list.setGridSize(QSize(PICTURE_SIZE.width() + 16, PICTURE_SIZE.height() + TITLE_HEIGHT))
        self.list.setWordWrap(True)
        self.list.setMouseTracking(True)
        self.list.viewport().setAutoFillBackground(False)
        if at_once:
            self.list.setCursor(Qt.CursorShape.PointingHandCursor)
        (self.list.itemClicked if at_once else self.list.itemActivated).connect(self.choose_selected)
        if at_once:
            self.list.itemActivated.connect(self.choose_selected)
        self.list.currentItemChanged.connect(self._show_description)
        self.list.itemEntered.connect(self._show_description)
        self.about = Label("", wordWrap=True)
        self.about.setObjectName("muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tabs)
        column.addWidget(self.list, 1)
        column.addWidget(self.about)

    def fill(self, shelves: Mapping[str, Iterable[GalleryEntry]]) -> None:
        """Show these machines by subject; the current tab is kept if its subject still exists."""
        now = self.tabs.tabText(self.tabs.currentIndex())
        self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        self._shelves = shelves
        for subject in shelves:
            self.tabs.addTab(subject)
        self.tabs.blockSignals(False)
        self.tabs.setCurrentIndex(max(list(shelves).index(now) if now in shelves else 0, 0))
        self._fill_current_tab()

    def _fill_current_tab(self) -> None:
        self.list.clear()
        for machine in self._shelves.get(self.tabs.tabText(self.tabs.currentIndex()), ()):
            picture = QPixmap(str(machine.picture))
            item = QListWidgetItem(QIcon(picture) if not picture.isNull() else icon("model"), machine.title)
            item.setData(PATH_ROLE, str(machine.path))
            item.setToolTip(escape_tip(machine.about))
            item.setStatusTip(machine.about)
            item.setTextAlignment(Qt.AlignmentFlag.AlignHCenter)
            self.list.addItem(item)
        if not self._at_once:
            self.list.setCurrentRow(0)

    def _show_description(self, item: QListWidgetItem | None) -> None:
        self.about.setText(item.statusTip() if item is not None else "")

    def choose_selected(self) -> None:
        """Choose the selected machine."""
        item = self.list.currentItem()
        if item is not None:
            self.chosen.emit(Path(item.data(PATH_ROLE)))


class ExamplesGallery(QDialog):
    """Dialog to choose an example; emits `chosen(Path)`."""

    chosen = Signal(Path)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Examples")
        self.resize(930, 620)
        self.shelf = MachineShelf()
        self.shelf.fill(example_shelves())
        self.shelf.chosen.connect(self._take_example)
        note = Label("Each example opens as a copy; your changes are saved to another file.", wordWrap=True)
        note.setObjectName("muted")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.shelf.choose_selected)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.shelf)
        column.addWidget(note)
        column.addWidget(buttons)
        self.shelf.list.setFocus()

    def _take_example(self, path: Path) -> None:
        self.accept()
        self.chosen.emit(path)
