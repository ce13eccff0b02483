"""The gallery of example machines, with pictures."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.label import Label
from resources import examples

PICTURE = QSize(200, 150)


class ExamplesGallery(QDialog):
    """Choose an example; `chosen(Path)`."""

    chosen = Signal(Path)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Examples")
        self.resize(930, 700)
        self.list = QListWidget()
        self.list.setViewMode(QListWidget.ViewMode.IconMode)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setMovement(QListWidget.Movement.Static)
        self.list.setIconSize(PICTURE)
        self.list.setGridSize(QSize(PICTURE.width() + 18, PICTURE.height() + 36))
        self.list.setSpacing(6)
        self.list.setWordWrap(True)
        for example in examples():
            picture = QPixmap(str(example.thumbnail))
            shown = QIcon(picture) if not picture.isNull() else icon("model")
            item = QListWidgetItem(shown, example.title)
            item.setData(Qt.ItemDataRole.UserRole, str(example.path))
            item.setToolTip(as_tip(example.about))
            item.setStatusTip(example.about)
            item.setTextAlignment(Qt.AlignmentFlag.AlignHCenter)
            self.list.addItem(item)
        self.about = Label("Each opens as a copy: what you change is saved elsewhere.", wordWrap=True)
        self.about.setObjectName("muted")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self._take)
        buttons.rejected.connect(self.reject)
        self.list.itemActivated.connect(self._take)
        self.list.currentItemChanged.connect(lambda item, _: self.about.setText(item.statusTip()))
        column = QVBoxLayout(self)
        column.addWidget(self.list)
        column.addWidget(self.about)
        column.addWidget(buttons)
        self.list.setCurrentRow(0)
        self.list.setFocus()

    def _take(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            path = Path(item.data(Qt.ItemDataRole.UserRole))
            self.accept()
            self.chosen.emit(path)
