"""Editors for signal names: a line that completes the last name, and a menu of all names by component."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter, QLineEdit, QMenu

from app.widgets.options.option_editor import OptionEditor
from app.widgets.tool_button import tool_button
from core.functions.options import Signals, SignalValues

DELIMITERS = " ,=+-*/^("
"""Characters that end a name."""


class LastNameCompleter(QCompleter):
    """Completer of the last name on a line."""

    def splitPath(self, path: str) -> list[str]:
        """Return the name being typed."""
        return [path[last_name_start(path) :]]

    def pathFromIndex(self, index: Any) -> str:
        """Return the line with its last name completed."""
        edit = self.widget()
        text = edit.text() if isinstance(edit, QLineEdit) else ""
        return text[: last_name_start(text)] + super().pathFromIndex(index)


def last_name_start(text: str) -> int:
    """Return the index at which the last name of a line begins."""
    return 1 + max(text.rfind(mark) for mark in DELIMITERS)


class SignalsEditor(OptionEditor):
    """Names separated by commas."""

    option: Signals

    def build(self) -> None:
        self.line = QLineEdit()
        self.line.editingFinished.connect(self.changed)
        self.line.textEdited.connect(self._on_typed)
        self.line.setPlaceholderText(
            "name=value, …" if isinstance(self.option, SignalValues) and not self.option.ranges else "none"
        )
        self._names: tuple[str, ...] = ()
        self._pick = tool_button("add", "Choose by component")
        self._pick.clicked.connect(self._offer)
        self.row.addWidget(self.line, 1)
        self.row.addWidget(self._pick)

    def value(self) -> str:
        return self.line.text().strip()

    def show_value(self, value: Any) -> None:
        if isinstance(value, dict):
            value = tuple(f"{name}={number}" for name, number in value.items())
        self.line.setText(value if isinstance(value, str) else ", ".join(map(str, value or ())))

    def refresh(self) -> None:
        self._names = ()
        self.line.setCompleter(None)

    def names(self) -> tuple[str, ...]:
        """Return the signal names of the current machine."""
        if not self._names:
            self._names = self.option.names(self.context())
            completer = LastNameCompleter(list(self._names), self.line)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.popup().setObjectName("completions")
            self.line.setCompleter(completer)
        return self._names

    def _on_typed(self) -> None:
        """Offer completions from the first letter on."""
        if not self._names:
            self.names()
            self.line.completer().setCompletionPrefix(self.line.text()[last_name_start(self.line.text()) :])
            self.line.completer().complete()

    def _offer(self) -> None:
        """Open the menu of all names by component."""
        menu = QMenu(self)
        groups: dict[str, list[str]] = {}
        for name in self.names():
            groups.setdefault(name.partition(".")[0], []).append(name)
        for owner, names in groups.items():
            target: Any = menu if len(names) == 1 else menu.addMenu(owner)
            for name in names:
                target.addAction(name).triggered.connect(lambda _=False, name=name: self.add(name))
        menu.exec(self._pick.mapToGlobal(self._pick.rect().bottomLeft()))

    def add(self, name: str) -> None:
        """Append a name."""
        text = self.line.text().strip().rstrip(",")
        ending = "=" if isinstance(self.option, SignalValues) and not self.option.ranges else ""
        self.line.setText(f"{text}, {name}{ending}" if text else f"{name}{ending}")
        self.line.setFocus()
        if not ending:
            self.changed.emit()
