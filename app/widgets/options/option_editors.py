"""Editors of function options, one class per kind of option; forms are made of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QMenu, QSpinBox, QToolButton

from app.plain_text import as_entry, as_tip
from app.widgets.fields.choice_editors import Combo
from app.widgets.options.number_options import NumbersEditor, OptionEditor, RangesEditor, SymbolsEditor, ValuesEditor
from app.widgets.options.signal_options import SignalsEditor
from app.widgets.panel_parts import tool_button
from app.widgets.plain_keys import FieldEnds
from app.widgets.quantities.quantity_text import Units
from core.functions.context import Context
from core.functions.options import (
    Choice,
    ElementName,
    Flag,
    FrameName,
    FrameNames,
    InputFile,
    Integer,
    Number,
    Option,
    OutputFile,
    OutputFolder,
    Ranges,
    Signals,
    SignalValues,
    SymbolValues,
    Values,
    Vector,
)
from core.model import Model
from resources import is_example

ARROW = 40
"""Width of a combo box in addition to its text, pixels."""
WIDEST = 236
"""Largest width that a combo box requests, pixels, as available in a narrow panel."""


class FlagEditor(OptionEditor):
    """A check box with the option's title."""

    labelled = False

    def build(self) -> None:
        self._box = QCheckBox(self.option.title)
        self._box.clicked.connect(self.changed)
        self.row.addWidget(self._box)

    def value(self) -> bool:
        return self._box.isChecked()

    def show_value(self, value: Any) -> None:
        self._box.setChecked(bool(value))


class ChoiceEditor(OptionEditor):
    """A combo box of the choices."""

    option: Choice

    def build(self) -> None:
        self._combo = Combo()
        for choice in self.option.choices:
            self._combo.addItem(self.option.title_of(choice), choice)
        widths = [
            self._combo.fontMetrics().horizontalAdvance(self._combo.itemText(k)) for k in range(self._combo.count())
        ]
        self._combo.setMinimumWidth(min(max(widths, default=0) + ARROW, WIDEST))  # else it goes below its label
        self._combo.activated.connect(self.changed)
        self.row.addWidget(self._combo)

    def value(self) -> str:
        return str(self._combo.currentData())

    def show_value(self, value: Any) -> None:
        self._combo.setCurrentIndex(max(0, self._combo.findData(value)))


class IntegerEditor(OptionEditor):
    """A spin box."""

    option: Integer

    def build(self) -> None:
        self._box = QSpinBox()
        FieldEnds(self._box)
        self._box.setRange(self.option.minimum, self.option.maximum)
        self._box.valueChanged.connect(self.changed)
        self.row.addWidget(self._box)
        self.row.addStretch(1)

    def value(self) -> int:
        return self._box.value()

    def show_value(self, value: Any) -> None:
        blocker = QSignalBlocker(self._box)
        self._box.setValue(int(value))
        blocker.unblock()


class _NameOptionEditor(OptionEditor):
    """A combo box of names; the first entry stands for an empty value."""

    def build(self) -> None:
        self._combo = Combo()
        self._combo.activated.connect(self.changed)
        self.row.addWidget(self._combo)
        self.refresh()

    def value(self) -> str:
        return str(self._combo.currentData() or "")

    def show_value(self, value: Any) -> None:
        self._combo.setCurrentIndex(max(0, self._combo.findData(value)))


class FrameEditor(_NameOptionEditor):
    """A combo box of bodies and frames; the first entry means the tool (or the world)."""

    option: FrameName

    def refresh(self) -> None:
        context, chosen = self.context(), self.value()
        names = self.option.names(context)
        self._combo.clear()
        if self.option.fallback == "tool":
            self._combo.addItem(f"Tool ({context.tool})", "")
        else:
            self._combo.addItem("World", "")
            names = tuple(name for name in names if name != "world")
        for name in names:
            self._combo.addItem(name, name)
        self.show_value(chosen)


class ElementEditor(_NameOptionEditor):
    """A combo box of the elements of a collection; the first entry means none."""

    option: ElementName

    def refresh(self) -> None:
        names, chosen = self.option.names(self.context()), self.value()
        self._combo.clear()
        self._combo.addItem(self.option.none, "")
        for name in names:
            self._combo.addItem(name, name)
        self._combo.setEnabled(bool(names))
        self.show_value(chosen)


class TextEditor(OptionEditor):
    """A line of text: names separated by commas, or free text."""

    def build(self) -> None:
        self._line = QLineEdit()
        self._line.editingFinished.connect(self.changed)
        self.row.addWidget(self._line)

    def value(self) -> Any:
        text = self._line.text().strip()
        if isinstance(self.option, FrameNames):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        return text

    def show_value(self, value: Any) -> None:
        if isinstance(self.option, FrameNames):
            self._line.setPlaceholderText("tool")
        self._line.setText(value if isinstance(value, str) else ", ".join(value or ()))
        self._line.setCursorPosition(0)


class _PathOptionEditor(OptionEditor):
    """A path with a button next to it."""

    option: OutputFile | InputFile

    def _build(self, button: QToolButton) -> None:
        self._line = QLineEdit()
        self._line.setPlaceholderText("none")
        self._line.editingFinished.connect(self.changed)
        self.row.addWidget(self._line)
        self.row.addWidget(button)

    def value(self) -> str:
        return self._line.text().strip()

    @property
    def patterns(self) -> str:
        """Return the filter for suitable files, for a file dialog."""
        return "Files ({})".format(" ".join(f"*{suffix}" for suffix in self.option.suffixes))


def in_folder_of(model: Model, path: str) -> str:
    """Return a path to start a file dialog with; relative paths are resolved against the folder of the machine's
    file."""
    return str(Path(model.origin).parent / path) if model.origin and not is_example(Path(model.origin)) else path


class FileEditor(_PathOptionEditor):
    """A path and a button to choose it."""

    option: OutputFile

    def build(self) -> None:
        self._build(tool_button("folder", "Choose a file", self._choose))

    def show_value(self, value: Any) -> None:
        self._line.setText(str(value or ""))

    def _choose(self) -> None:
        start = in_folder_of(self.context().model, self.value())
        path, _ = QFileDialog.getSaveFileName(self, self.option.title, start, self.patterns)
        if path:
            self._line.setText(path)
            self.changed.emit()


class FolderEditor(FileEditor):
    """A path of a folder and a button to choose it."""

    def _choose(self) -> None:
        start = in_folder_of(self.context().model, self.value())
        if path := QFileDialog.getExistingDirectory(self, self.option.title, start):
            self._line.setText(path)
            self.changed.emit()


class InputFileEditor(_PathOptionEditor):
    """A path, a button to choose it, and a list of files near the machine's own."""

    option: InputFile

    def build(self) -> None:
        button = tool_button("folder", "Choose a file")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(button)
        self.menu.aboutToShow.connect(self._fill)
        button.setMenu(self.menu)
        self._build(button)

    def show_value(self, value: Any) -> None:
        self._line.setText(str(value or ""))
        self._line.setToolTip(as_tip(self._line.text() or self.option.help))

    def _fill(self) -> None:
        self.menu.clear()
        for path in self.option.near(self.context()):
            entry = self.menu.addAction(as_entry(Path(path).name), lambda path=path: self._take(path))
            entry.setToolTip(as_tip(path))
        self.menu.addSeparator()
        self.menu.addAction("Choose a file…", self._choose)
        self.menu.addAction("None", lambda: self._take("")).setEnabled(bool(self.value()))

    def _choose(self) -> None:
        near = next(iter(self.option.near(self.context())), "")
        start = self.value() or (str(Path(near).parent) if near else in_folder_of(self.context().model, ""))
        path, _ = QFileDialog.getOpenFileName(self, self.option.title, start, f"{self.patterns};;All files (*)")
        if path:
            self._take(path)

    def _take(self, path: str) -> None:
        self.show_value(path)
        self.changed.emit()


_EDITORS: dict[type[Option], type[OptionEditor]] = {
    Flag: FlagEditor,
    Choice: ChoiceEditor,
    Integer: IntegerEditor,
    Number: NumbersEditor,
    Vector: NumbersEditor,
    FrameName: FrameEditor,
    ElementName: ElementEditor,
    FrameNames: TextEditor,
    InputFile: InputFileEditor,
    OutputFile: FileEditor,
    OutputFolder: FolderEditor,
    SymbolValues: SymbolsEditor,
    Values: ValuesEditor,
    Ranges: RangesEditor,
    Signals: SignalsEditor,
    SignalValues: SignalsEditor,
}


def editor_of(option: Option, context: Callable[[], Context], units: Units) -> OptionEditor:
    """Return the editor of an option."""
    return _EDITORS.get(type(option), TextEditor)(option, context, units)
