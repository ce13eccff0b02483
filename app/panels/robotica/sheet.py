"""Input sheet of a Robotica function: a field per argument, a check box per option, and the resulting call."""

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

from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.widgets.label import Label
from app.widgets.options.panel_form import FormScrollArea, PanelForm, build_field_label
from app.widgets.panel_parts import create_icon_button
from core.errors import KinetostatError
from core.files.mathematica.syntax import Call, Name, parse_all
from core.functions import Function
from core.robotica.command import Argument, Command, OptionWord

GROUP = "Robotica"
BOXES = 3
"""Number of option boxes per row."""


def function_entries(commands: Mapping[str, Command]) -> dict[str, Function]:
    """Return Robotica's functions as entries for the Functions panel, by id."""
    made = [
        Function(f"robotica.{name}", name, GROUP, f"{command.help}\n\n{command.help_text}", command.run, robotica=name)
        for name, command in commands.items()
    ]
    return {function.id: function for function in made}


class RoboticaSheet(PanelForm):
    """Form for the arguments of a Robotica function; Run executes the resulting call."""

    def __init__(self, function: Function, command: Command, settings: Settings, folder: Callable[[], str]) -> None:
        super().__init__(function, settings, "Abort")
        self.command, self._folder = command, folder
        self.fields: dict[str, QLineEdit] = {}
        self.boxes: dict[str, QCheckBox] = {}
        self._build()
        self._restore_contents()

    # ----------------------------------------------------------------------------- building

    def _build(self) -> None:
        self.preview = Label()
        self.preview.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.preview.setWordWrap(True)
        self.preview.setTextFormat(Qt.TextFormat.PlainText)
        self.preview.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.preview.setToolTip("The line that Run enters for you")
        self.preview.setAlignment(Qt.AlignmentFlag.AlignTop)
        lines = (
            1 + bool(self.command.arguments) + bool(self.command.option_words)
        )  # room, so that boxes stay where they are
        self.preview.setMinimumHeight(lines * self.preview.fontMetrics().lineSpacing())
        self.reset_button.setVisible(bool(self.command.arguments))
        self.lay_out(self.command.name, "Explain this function and its options", self._area(), self.preview)

    def _area(self) -> FormScrollArea:
        area = FormScrollArea(self.command.help, self.command.help_text)
        for argument in self.command.arguments:
            if argument.kind == "options":
                self._add_options(area.rows, argument)
            else:
                area.rows.addRow(build_field_label(argument.title, argument.help), self._create_field(argument))
        return area

    def _create_field(self, argument: Argument) -> QWidget:
        line = self._create_line(argument.id, argument.example, argument.help)
        return self._with_browse_button(line, argument) if argument.kind in ("read", "write") else line

    def _create_line(self, key: str, example: str, tip: str) -> QLineEdit:
        line = self.fields[key] = QLineEdit()
        line.setPlaceholderText(example)
        line.setToolTip(escape_tip(tip))
        line.setAccessibleName(key)
        line.textEdited.connect(self._on_changed)
        line.returnPressed.connect(self.wanted)
        return line

    def _with_browse_button(self, line: QLineEdit, argument: Argument) -> QWidget:
        place = QWidget()
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(line, 1)
        row.addWidget(create_icon_button("folder", "Choose a file", lambda: self._browse(line, argument)))
        return place

    def _browse(self, line: QLineEdit, argument: Argument) -> None:
        start = os.path.join(self._folder(), line.text() if line.text() != "*" else "")
        if argument.kind == "read":
            path, _ = QFileDialog.getOpenFileName(self, argument.title, start)
        else:
            path, _ = QFileDialog.getSaveFileName(self, argument.title, start)
        if path:
            line.setText(path)
            self._on_changed()

    def _add_options(self, form: QFormLayout, argument: Argument) -> None:
        """Add a check box for each option word, and a field for each option with a value."""
        flags = [word for word in argument.words if not word.value]
        if flags:
            place = QWidget()
            grid = QGridLayout(place)
            grid.setContentsMargins(0, 0, 0, 0)
            for k, word in enumerate(flags):
                box = self.boxes[word.name] = QCheckBox(word.name)
                box.setToolTip(escape_tip(word.help))
                box.clicked.connect(self._on_changed)
                grid.addWidget(box, k // BOXES, k % BOXES)
            form.addRow(place)
        for word in argument.words:
            if word.value:
                form.addRow(build_field_label(word.name, word.help), self._create_option_field(word))

    def _create_option_field(self, word: OptionWord) -> QWidget:
        return self._create_line(word.name, word.default or "none", word.help)

    # ----------------------------------------------------------------------------- values

    def contents(self) -> dict[str, Any]:
        """Return the contents of the sheet by argument."""
        options = {
            **{name: box.isChecked() for name, box in self.boxes.items()},
            **{name: field.text() for name, field in self.fields.items()},
        }
        return {a.id: options if a.kind == "options" else self.fields[a.id].text() for a in self.command.arguments}

    @property
    def line(self) -> str:
        """Return the Robotica call that the sheet describes."""
        return self.command.line(self.contents())

    def problem(self) -> str:
        """Return the reason why the call cannot be run; "" if it can."""
        try:
            tree = parse_all(self.line)[0].tree
            self.command.convert_arguments(tree if isinstance(tree, Call) else Call(Name(self.command.name), ()))
        except KinetostatError as error:
            return f"{error.what} {error.remedy}".strip()
        return ""

    def remember(self) -> None:
        """Store the contents for the next use."""
        kept = {
            **{name: field.text() for name, field in self.fields.items()},
            **{name: box.isChecked() for name, box in self.boxes.items()},
        }
        self.settings.remember(f"functions/{self.function.id}", kept)

    def _restore_contents(self) -> None:
        kept = self.settings.value(f"functions/{self.function.id}", {})
        self._show_contents(kept if isinstance(kept, dict) else {})

    def reset(self) -> None:
        """Restore all defaults."""
        self._show_contents({})

    def _show_contents(self, contents: Mapping[str, Any]) -> None:
        defaults = {argument.id: argument.default for argument in self.command.arguments}
        for name, field in self.fields.items():
            field.setText(str(contents.get(name, defaults.get(name, ""))))
        for name, box in self.boxes.items():
            box.setChecked(bool(contents.get(name, False)))
        self._on_changed()

    def _on_changed(self, *_: object) -> None:
        self.preview.setText(self.line)
        self.show_problem("")
        self.edited.emit()
