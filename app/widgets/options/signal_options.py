"""Editors for signal names: a line edit that completes the last name, a menu of all names by component, and example
names of the open machine for hints."""

from __future__ import annotations

from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter, QLineEdit, QMenu

from app.widgets.options.number_options import OptionEditor
from app.widgets.panel_parts import create_icon_button
from core.analysis.tool_frame import tool_frame
from core.functions.options import Signals, SignalValues
from core.mechanism import Mechanism

DELIMITERS = " ,=+-*/^("
"""Characters that end a name."""


class LastNameCompleter(QCompleter):
    """Completer for the last name on a line."""

    def splitPath(self, path: str) -> list[str]:
        """Return the name that is being typed."""
        return [path[last_name_start(path) :]]

    def pathFromIndex(self, index: Any) -> str:
        """Return the line with its last name completed."""
        edit = self.widget()
        text = edit.text() if isinstance(edit, QLineEdit) else ""
        return text[: last_name_start(text)] + super().pathFromIndex(index)


def last_name_start(text: str) -> int:
    """Return the index at which the last name of a line begins."""
    return 1 + max(text.rfind(mark) for mark in DELIMITERS)


class SignalNamesEditor(OptionEditor):
    """Editor for signal names, separated by commas."""

    option: Signals

    def build_widgets(self) -> None:
        self.line = QLineEdit()
        self.line.editingFinished.connect(self.changed)
        self.line.textEdited.connect(self._on_typed)
        self.line.setPlaceholderText(
            "name=value, …" if isinstance(self.option, SignalValues) and not self.option.ranges else "none"
        )
        self._names: tuple[str, ...] = ()
        self._pick = create_icon_button("add", "Choose a signal by component")
        self._pick.clicked.connect(self._open_names_menu)
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

    def signal_names(self) -> tuple[str, ...]:
        """Return the signal names of the current machine."""
        if not self._names:
            self._names = self.option.selectable_names(self.context())
            completer = LastNameCompleter(list(self._names), self.line)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.popup().setObjectName("completions")
            self.line.setCompleter(completer)
        return self._names

    def _on_typed(self) -> None:
        """Offer completions from the first letter on."""
        if not self._names:
            self.signal_names()
            self.line.completer().setCompletionPrefix(self.line.text()[last_name_start(self.line.text()) :])
            self.line.completer().complete()

    def _open_names_menu(self) -> None:
        """Open the menu of all names by component."""
        menu = QMenu(self)
        groups: dict[str, list[str]] = {}
        for name in self.signal_names():
            groups.setdefault(name.partition(".")[0], []).append(name)
        for owner, names in groups.items():
            target: Any = menu if len(names) == 1 else menu.addMenu(owner)
            for name in names:
                target.addAction(name).triggered.connect(lambda _=False, name=name: self.append_name(name))
        menu.exec(self._pick.mapToGlobal(self._pick.rect().bottomLeft()))

    def append_name(self, name: str) -> None:
        """Append a name."""
        text = self.line.text().strip().rstrip(",")
        ending = "=" if isinstance(self.option, SignalValues) and not self.option.ranges else ""
        self.line.setText(f"{text}, {name}{ending}" if text else f"{name}{ending}")
        self.line.setFocus()
        if not ending:
            self.changed.emit()


class ExampleNames(NamedTuple):
    """Names of the machine for use in examples: a joint, the joint's physical dimension, and a movable frame; "" for
    elements that the machine does not have."""

    joint: str = ""
    frame: str = ""
    dimension: str = ""

    @classmethod
    def from_machine(cls, mech: Mechanism | None) -> ExampleNames:
        """Return example names from a machine; empty names for None."""
        if mech is None or not mech.nv:
            return cls()
        found = next(
            (each for each in mech.coordinates if each.name in mech.v_names and _can_appear_in_formulas(each.name)),
            None,
        )
        frame = tool_frame(mech.model)
        return cls(
            found.name if found is not None else "",
            frame if frame in mech.frame_names and _can_appear_in_formulas(frame) else "",
            found.dimension if found is not None else "",
        )

    def format_hint(self, *examples: str, prefix: str = "", suffix: str = " …") -> str:
        """Return examples joined by commas, with {joint} and {frame} replaced by names. Examples whose name is missing
        are left out; if none remains, `prefix` alone is returned."""
        said = [
            each.format(joint=self.joint, frame=self.frame)
            for each in examples
            if (self.joint or "{joint}" not in each) and (self.frame or "{frame}" not in each)
        ]
        return f"{prefix}{': ' if prefix else ''}{', '.join(said)}{suffix}" if said else prefix


def _can_appear_in_formulas(name: str) -> bool:
    """Return True if a name can be used in formulas; the coordinates of joints with several, such as "foot.1",
    cannot."""
    return all(part.isidentifier() for part in name.split("."))
