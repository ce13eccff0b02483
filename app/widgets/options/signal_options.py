"""Editors for signal names: a line that completes the last name, a menu of all names by component, and names of the
open machine for examples in hints."""

from __future__ import annotations

from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter, QLineEdit, QMenu

from app.widgets.options.number_options import OptionEditor
from app.widgets.panel_parts import tool_button
from core.analysis.tool_frame import tool_frame
from core.functions.options import Signals, SignalValues
from core.mechanism import Mechanism

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


class ExampleNames(NamedTuple):
    """A joint with the names `joint.q`, `joint.v`, `joint.tau`, its physical dimension, and a movable frame; "" for
    what the machine does not have."""

    joint: str = ""
    frame: str = ""
    dimension: str = ""

    @classmethod
    def of(cls, mech: Mechanism | None) -> ExampleNames:
        """Return example names of a machine; empty names for None."""
        if mech is None or not mech.nv:
            return cls()
        found = next((each for each in mech.coordinates if each.name in mech.v_names and _in_formulas(each.name)), None)
        frame = tool_frame(mech.model)
        return cls(
            found.name if found is not None else "",
            frame if frame in mech.frame_names and _in_formulas(frame) else "",
            found.dimension if found is not None else "",
        )

    def hint(self, *examples: str, begin: str = "", end: str = " …") -> str:
        """Return examples joined by commas, with {joint} and {frame} replaced by names; examples without a name are
        left out, and `begin` alone remains if none is left."""
        said = [
            each.format(joint=self.joint, frame=self.frame)
            for each in examples
            if (self.joint or "{joint}" not in each) and (self.frame or "{frame}" not in each)
        ]
        return f"{begin}{': ' if begin else ''}{', '.join(said)}{end}" if said else begin


def _in_formulas(name: str) -> bool:
    """Return True if formulas may use a name; coordinates of joints with several, such as "foot.1", cannot be used."""
    return all(part.isidentifier() for part in name.split("."))
