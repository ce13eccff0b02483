"""Input sheet of a Robotica function: a field per argument, a check box per option, and the resulting line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from app.plain_text import as_tip
from app.preferences.settings import Settings
from app.widgets.label import Label
from app.widgets.options.panel_form import FormArea, PanelForm, row_label
from app.widgets.panel_parts import tool_button
from core.errors import KinetostatError
from core.files.mathematica.syntax import Call, Name, parse_all
from core.functions import Function
from core.robotica.command import Argument, Command, Word

GROUP = "Robotica"
BOXES = 3
"""Number of option boxes per row."""


def sheets(commands: Mapping[str, Command]) -> dict[str, Function]:
    """Return Robotica's functions as entries of the Functions panel, by id."""
    made = [
        Function(f"robotica.{name}", name, GROUP, f"{command.help}\n\n{command.manual}", command.run, robotica=name)
        for name, command in commands.items()
    ]
    return {function.id: function for function in made}


class RoboticaSheet(PanelForm):
    """Arguments of one of Robotica's functions; Run executes `line`."""

    def __init__(self, function: Function, command: Command, settings: Settings, folder: Callable[[], str]) -> None:
        super().__init__(function, settings, "Abort")
        self.command, self._folder = command, folder
        self.fields: dict[str, QLineEdit] = {}
        self.boxes: dict[str, QCheckBox] = {}
        self._build()
        self._recall()

    # ----------------------------------------------------------------------------- building

    def _build(self) -> None:
        self.preview = Label()
        self.preview.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.preview.setWordWrap(True)
        self.preview.setTextFormat(Qt.TextFormat.PlainText)
        self.preview.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.preview.setToolTip("The line that Run enters for you")
        self.preview.setAlignment(Qt.AlignmentFlag.AlignTop)
        lines = 1 + bool(self.command.arguments) + bool(self.command.words)  # room, so that boxes stay where they are
        self.preview.setMinimumHeight(lines * self.preview.fontMetrics().lineSpacing())
        self.reset_button.setVisible(bool(self.command.arguments))
        self.lay_out(self.command.name, "Explain this function and its options", self._area(), self.preview)

    def _area(self) -> FormArea:
        area = FormArea(self.command.help, self.command.manual)
        for argument in self.command.arguments:
            if argument.kind == "options":
                self._add_options(area.rows, argument)
            else:
                area.rows.addRow(row_label(argument.title, argument.help), self._field(argument))
        return area

    def _field(self, argument: Argument) -> QWidget:
        line = self._line(argument.id, argument.example, argument.help)
        return self._with_folder(line, argument) if argument.kind in ("read", "write") else line

    def _line(self, key: str, example: str, tip: str) -> QLineEdit:
        line = self.fields[key] = QLineEdit()
        line.setPlaceholderText(example)
        line.setToolTip(as_tip(tip))
        line.setAccessibleName(key)
        line.textEdited.connect(self._changed)
        line.returnPressed.connect(self.wanted)
        return line

    def _with_folder(self, line: QLineEdit, argument: Argument) -> QWidget:
        place = QWidget()
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(line, 1)
        row.addWidget(tool_button("folder", "Choose a file", lambda: self._choose(line, argument)))
        return place

    def _choose(self, line: QLineEdit, argument: Argument) -> None:
        start = os.path.join(self._folder(), line.text() if line.text() != "*" else "")
        if argument.kind == "read":
            path, _ = QFileDialog.getOpenFileName(self, argument.title, start)
        else:
            path, _ = QFileDialog.getSaveFileName(self, argument.title, start)
        if path:
            line.setText(path)
            self._changed()

    def _add_options(self, form: QFormLayout, argument: Argument) -> None:
        """Add boxes for words, and fields for options that have a value."""
        flags = [word for word in argument.words if not word.value]
        if flags:
            place = QWidget()
            grid = QGridLayout(place)
            grid.setContentsMargins(0, 0, 0, 0)
            for k, word in enumerate(flags):
                box = self.boxes[word.name] = QCheckBox(word.name)
                box.setToolTip(as_tip(word.help))
                box.clicked.connect(self._changed)
                grid.addWidget(box, k // BOXES, k % BOXES)
            form.addRow(place)
        for word in argument.words:
            if word.value:
                form.addRow(row_label(word.name, word.help), self._value(word))

    def _value(self, word: Word) -> QWidget:
        return self._line(word.name, word.default or "none", word.help)

    # ----------------------------------------------------------------------------- values

    def chosen(self) -> dict[str, Any]:
        """Return the sheet's contents by argument."""
        options = {
            **{name: box.isChecked() for name, box in self.boxes.items()},
            **{name: field.text() for name, field in self.fields.items()},
        }
        return {a.id: options if a.kind == "options" else self.fields[a.id].text() for a in self.command.arguments}

    @property
    def line(self) -> str:
        """Return the call that the sheet describes."""
        return self.command.line(self.chosen())

    def problem(self) -> str:
        """Return why the line cannot be run; "" if it can."""
        try:
            tree = parse_all(self.line)[0].tree
            self.command.given(tree if isinstance(tree, Call) else Call(Name(self.command.name), ()))
        except KinetostatError as error:
            return f"{error.what} {error.remedy}".strip()
        return ""

    def remember(self) -> None:
        """Keep the sheet's contents for the next use."""
        kept = {
            **{name: field.text() for name, field in self.fields.items()},
            **{name: box.isChecked() for name, box in self.boxes.items()},
        }
        self.settings.remember(f"functions/{self.function.id}", kept)

    def _recall(self) -> None:
        kept = self.settings.value(f"functions/{self.function.id}", {})
        self._fill(kept if isinstance(kept, dict) else {})

    def reset(self) -> None:
        """Restore all defaults."""
        self._fill({})

    def _fill(self, kept: Mapping[str, Any]) -> None:
        defaults = {argument.id: argument.default for argument in self.command.arguments}
        for name, field in self.fields.items():
            field.setText(str(kept.get(name, defaults.get(name, ""))))
        for name, box in self.boxes.items():
            box.setChecked(bool(kept.get(name, False)))
        self._changed()

    def _changed(self, *_: object) -> None:
        self.preview.setText(self.line)
        self.show_problem("")
        self.edited.emit()
