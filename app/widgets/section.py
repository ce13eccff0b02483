"""A collapsible group with a title line; its content is created when it is first opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.label import Label

INDENT = 10
"""Indentation of the content, pixels."""

remembered: dict[str, bool] = {}
"""Open and closed groups by key, for as long as the program runs."""


class Section(QWidget):
    """Title line (arrow, title, buttons) with content beneath. Emits `folded(bool)` when collapsed or expanded."""

    folded = Signal(bool)

    def __init__(
        self,
        title: str,
        make: Callable[[], QWidget],
        key: str = "",
        *,
        opened: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.key = key
        self._make = make
        self._words = ""
        self.content: QWidget | None = None
        self.arrow = QToolButton(self, text=title, checkable=True, autoRaise=True)
        self.arrow.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.arrow.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.arrow.setIconSize(QSize(12, 12))
        self.arrow.setObjectName("section")  # the sheet of the program knows it
        self.arrow.clicked.connect(self._on_clicked)
        self.summary = Label(parent=self)
        self.summary.setProperty("muted", True)
        self.summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.header = QHBoxLayout()
        self.header.setContentsMargins(0, 0, 0, 0)
        self.header.setSpacing(0)
        self.header.addWidget(self.arrow)
        self.header.addWidget(self.summary, 1)
        self.body = QVBoxLayout()
        self.body.setContentsMargins(INDENT, 0, 0, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(2)
        column.addLayout(self.header)
        column.addLayout(self.body)
        self.open(remembered.get(key, opened))

    def summarize(self, words: str) -> None:
        """Show a short muted text next to the title while the group is collapsed."""
        self._words = words
        self.summary.setText("" if self.opened else words)

    def set_title(self, title: str) -> None:
        """Change the title."""
        self.arrow.setText(title)

    def add_button(self, icon_name: str, help: str, run: Callable[[], object]) -> QToolButton:
        """Add a small button at the right end of the title line."""
        button = QToolButton(self, icon=icon(icon_name), toolTip=as_tip(help), autoRaise=True)
        button.setIconSize(QSize(14, 14))
        button.setObjectName("small")
        button.setAccessibleName(help)
        button.clicked.connect(lambda: run())
        self.header.addWidget(button)
        return button

    @property
    def opened(self) -> bool:
        """True while the group is expanded."""
        return self.arrow.isChecked()

    def open(self, on: bool = True) -> None:
        """Show or hide the content."""
        self.arrow.setChecked(on)
        self.arrow.setIcon(icon("down" if on else "right"))
        if on and self.content is None:
            self.content = self._make()
            self.body.addWidget(self.content)
        if self.content is not None:
            self.content.setVisible(on)
        self.summary.setText("" if on else self._words)
        self.folded.emit(on)

    def _on_clicked(self, on: bool) -> None:
        if self.key:
            remembered[self.key] = on
        self.open(on)
