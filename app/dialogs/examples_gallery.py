"""The gallery of example machines, with pictures."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from app.widgets.label import Label
from app.widgets.machine_shelf import MachineShelf, example_shelves


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
        note = Label("Each opens as a copy: what you change is saved elsewhere.", wordWrap=True)
        note.setObjectName("muted")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.shelf.take)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.shelf)
        column.addWidget(note)
        column.addWidget(buttons)
        self.shelf.list.setFocus()

    def _take_example(self, path: Path) -> None:
        self.accept()
        self.chosen.emit(path)
