"""Placeholder of an empty panel: a description of its later content, and a button that creates the first."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.widgets.label import Label


class EmptyPanel(QWidget):
    """Placeholder that emits `wanted` when its button is pressed."""

    wanted = Signal()

    def __init__(self, words: str, title: str) -> None:
        super().__init__()
        self.words = Label(words, wordWrap=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words.setProperty("muted", True)
        self.button = QPushButton(title)
        self.button.clicked.connect(self.wanted)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 10, 6)
        column.addStretch(1)
        column.addWidget(self.words)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(1)
