"""The sheet of a Robotica function: a field per argument, a box per option, and the line they make."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.panels.form_area import FormArea, head, row_label
from app.settings import Settings
from app.widgets.note import Note
from app.widgets.tool_button import tool_button
from core.errors import KinetostatError
from core.functions import Function
from core.robotica.command import Argument, Command, Word
from core.robotica.syntax import Call, Name, parse_all

GROUP = "Robotica"
BOXES = 3
"""Option boxes beside one another."""


def sheets(commands: Mapping[str, Command]) -> dict[str, Function]:
    """Robotica's functions as entries of the function panel, by id."""
    made = [
        Function(f"robotica.{name}", name, GROUP, f"{command.help}\n\n{command.manual}", command.run, robotica=name)
        for name, command in commands.items()
    ]
    return {function.id: function for function in made}


class RoboticaSheet(QWidget):
    """`wanted`: run `line`; `stopped`: stop what runs; `edited`: the sheet's size may have changed."""

    wanted = Signal()
    stopped = Signal()
    edited = Signal()
    live = False

    def __init__(self, function: Function, command: Command, settings: Settings, folder: Callable[[], str]) -> None:
        super().__init__()
        self.function, self.command = function, command
        self._settings, self._folder = settings, folder
        self.fields: dict[str, QLineEdit] = {}
        self.boxes: dict[str, QCheckBox] = {}
        self._build()
        self._recall()

    # ----------------------------------------------------------------------------- building

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 6, 2, 0)
        layout.setSpacing(6)
        self.area = self._area()
        self.area.help_toggled.connect(self.edited)
        layout.addLayout(head(self.command.name, "What this function and its options do", self.area))
        layout.addWidget(self.area, 1)
        self.preview = QLabel()
        self.preview.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.preview.setWordWrap(True)
        self.preview.setTextFormat(Qt.TextFormat.PlainText)
        self.preview.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.preview.setToolTip("The line that Run types for you")
        layout.addWidget(self.preview)
        self.note = Note()
        layout.addWidget(self.note)
        layout.addLayout(self._foot())

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
        line.setToolTip(tip)
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
        """Boxes for words, fields for those that have a value."""
        flags = [word for word in argument.words if not word.value]
        if flags:
            place = QWidget()
            grid = QGridLayout(place)
            grid.setContentsMargins(0, 0, 0, 0)
            for k, word in enumerate(flags):
                box = self.boxes[word.name] = QCheckBox(word.name)
                box.setToolTip(word.help)
                box.clicked.connect(self._changed)
                grid.addWidget(box, k // BOXES, k % BOXES)
            form.addRow(place)
        for word in argument.words:
            if word.value:
                form.addRow(row_label(word.name, word.help), self._value(word))

    def _value(self, word: Word) -> QWidget:
        return self._line(word.name, word.default or "none", word.help)

    def _foot(self) -> QHBoxLayout:
        self.run_button = QPushButton(icon("play"), "Run")
        self.run_button.clicked.connect(self.wanted)
        self.stop_button = QPushButton(icon("stop"), "Abort")
        self.stop_button.clicked.connect(self.stopped)
        self.stop_button.hide()
        reset = tool_button("reset", "Put everything back to the defaults", self.reset)
        reset.setVisible(bool(self.command.arguments))
        row = QHBoxLayout()
        row.addWidget(self.run_button)
        row.addWidget(self.stop_button)
        row.addStretch(1)
        row.addWidget(reset)
        return row

    def wanted_height(self) -> int:
        """Height in which everything is seen without scrolling."""
        return self.area.wanted_height(self)

    # ----------------------------------------------------------------------------- values

    def chosen(self) -> dict[str, Any]:
        """What stands in the sheet, by argument."""
        options = {**{name: box.isChecked() for name, box in self.boxes.items()},
                   **{name: field.text() for name, field in self.fields.items()}}  # fmt: skip
        return {a.id: options if a.kind == "options" else self.fields[a.id].text() for a in self.command.arguments}

    @property
    def line(self) -> str:
        """The call the sheet stands for."""
        return self.command.line(self.chosen())

    def problem(self) -> str:
        """Why the line cannot be run; "" if it can."""
        try:
            tree = parse_all(self.line)[0].tree
            self.command.given(tree if isinstance(tree, Call) else Call(Name(self.command.name), ()))
        except KinetostatError as error:
            return f"{error.what} {error.remedy}".strip()
        return ""

    def remember(self) -> None:
        """Keep what stands in the sheet for the next use."""
        kept = {**{name: field.text() for name, field in self.fields.items()},
                **{name: box.isChecked() for name, box in self.boxes.items()}}  # fmt: skip
        self._settings.remember(f"functions/{self.function.id}", kept)

    def _recall(self) -> None:
        kept = self._settings.value(f"functions/{self.function.id}", {})
        self._fill(kept if isinstance(kept, dict) else {})

    def reset(self) -> None:
        """Defaults everywhere."""
        self._fill({})

    def _fill(self, kept: Mapping[str, Any]) -> None:
        defaults = {argument.id: argument.default for argument in self.command.arguments}
        for name, field in self.fields.items():
            field.setText(str(kept.get(name, defaults.get(name, ""))))
        for name, box in self.boxes.items():
            box.setChecked(bool(kept.get(name, False)))
        self._changed()

    def refresh(self) -> None:
        """Another machine: what is typed stays."""

    def _changed(self, *_: object) -> None:
        self.preview.setText(self.line)
        self.show_problem("")
        self.edited.emit()

    # ----------------------------------------------------------------------------- showing

    def show_problem(self, text: str) -> None:
        """Say below the fields what is wrong with them."""
        self.note.say(text, "error" if text else "")

    def show_reason(self, _reason: str) -> None:
        """Robotica's functions say themselves what is missing."""

    def show_busy(self, busy: bool) -> None:
        """A line runs, or none."""
        self.run_button.setVisible(not busy)
        self.stop_button.setVisible(busy)
