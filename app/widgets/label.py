"""Labels that show text literally; only texts of the program itself may contain markup."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from core.errors import visible


class Label(QLabel):
    """Label for arbitrary plain text."""

    def __init__(self, text: str = "", parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText, **properties)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(visible(text))


class MarkupLabel(QLabel):
    """Label for the program's own HTML text. It must not contain text from files."""

    def __init__(self, html: str = "", parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(html, parent, textFormat=Qt.TextFormat.RichText, **properties)
