"""Editors for function options, one class per kind of option; forms are built from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QMenu, QSpinBox, QToolButton

from app.plain_text import escape_entry, escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.options.number_options import (
    CoordinateValuesEditor,
    NumbersEditor,
    OptionEditor,
    RangesEditor,
    SymbolValuesEditor,
)
from app.widgets.options.signal_options import SignalNamesEditor
from app.widgets.panel_parts import create_icon_button
from app.widgets.plain_keys import SpinBoxKeyFilter
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
"""Largest width that a combo box requests, in pixels: the width available in a narrow panel."""


class FlagEditor(OptionEditor):
    """Check box labelled with the option's title."""

    labelled = False

    def build_widgets(self) -> None:
        self._box = QCheckBox(self.option.title)
        self._box.clicked.connect(self.changed)
        self.row.addWidget(self._box)

    def value(self) -> bool:
        return self._box.isChecked()

    def show_value(self, value: Any) -> None:
        self._box.setChecked(bool(value))


class ChoiceEditor(OptionEditor):
    """Combo box of the choices."""

    option: Choice

    def build_widgets(self) -> None:
        self._combo = NarrowCombo()
        for choice in self.option.choices:
            self._combo.addItem(self.option.choice_label(choice), choice)
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
    """Spin box for an integer."""

    option: Integer

    def build_widgets(self) -> None:
        self._box = QSpinBox()
        SpinBoxKeyFilter(self._box)
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
    """Combo box of names; the first entry represents an empty value."""

    def build_widgets(self) -> None:
        self._combo = NarrowCombo()
        self._combo.activated.connect(self.changed)
        self.row.addWidget(self._combo)
        self.refresh()

    def value(self) -> str:
        return str(self._combo.currentData() or "")

    def show_value(self, value: Any) -> None:
        self._combo.setCurrentIndex(max(0, self._combo.findData(value)))


class FrameEditor(_NameOptionEditor):
    """Combo box of bodies and frames; the first entry means the tool (or the world)."""

    option: FrameName

    def refresh(self) -> None:
        context, chosen = self.context(), self.value()
        names = self.option.selectable_names(context)
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
    """Combo box of the elements of a collection; the first entry means none."""

    option: ElementName

    def refresh(self) -> None:
        names, chosen = self.option.selectable_names(self.context()), self.value()
        self._combo.clear()
        self._combo.addItem(self.option.none, "")
        for name in names:
            self._combo.addItem(name, name)
        self._combo.setEnabled(bool(names))
        self.show_value(chosen)


class TextEditor(OptionEditor):
    """Line edit for names separated by commas, or for free text."""

    def build_widgets(self) -> None:
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
    """Line edit for a path, with a button next to it."""

    option: OutputFile | InputFile

    def _build_row(self, button: QToolButton) -> None:
        self._line = QLineEdit()
        self._line.setPlaceholderText("none")
        self._line.editingFinished.connect(self.changed)
        self.row.addWidget(self._line)
        self.row.addWidget(button)

    def value(self) -> str:
        return self._line.text().strip()

    @property
    def file_dialog_filter(self) -> str:
        """Return the file dialog filter for suitable files."""
        return "Files ({})".format(" ".join(f"*{suffix}" for suffix in self.option.suffixes))


def dialog_start_path(model: Model, path: str) -> str:
    """Return a path at which a file dialog starts; relative paths are resolved against the folder of the machine's
    file."""
    return str(Path(model.origin).parent / path) if model.origin and not is_example(Path(model.origin)) else path


class FileEditor(_PathOptionEditor):
    """Line edit for a path, and a button that opens a file dialog."""

    option: OutputFile

    def build_widgets(self) -> None:
        self._build_row(create_icon_button("folder", "Choose a file", self._open_file_dialog))

    def show_value(self, value: Any) -> None:
        self._line.setText(str(value or ""))

    def _open_file_dialog(self) -> None:
        start = dialog_start_path(self.context().model, self.value())
        path, _ = QFileDialog.getSaveFileName(self, self.option.title, start, self.file_dialog_filter)
        if path:
            self._line.setText(path)
            self.changed.emit()


class FolderEditor(FileEditor):
    """Line edit for the path of a folder, and a button that opens a folder dialog."""

    def _open_file_dialog(self) -> None:
        start = dialog_start_path(self.context().model, self.value())
        if path := QFileDialog.getExistingDirectory(self, self.option.title, start):
            self._line.setText(path)
            self.changed.emit()


class InputFileEditor(_PathOptionEditor):
    """Line edit for a path, a button that opens a file dialog, and a list of files near the machine's own."""

    option: InputFile

    def build_widgets(self) -> None:
        button = create_icon_button("folder", "Choose a file")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(button)
        self.menu.aboutToShow.connect(self._fill_file_menu)
        button.setMenu(self.menu)
        self._build_row(button)

    def show_value(self, value: Any) -> None:
        self._line.setText(str(value or ""))
        self._line.setToolTip(escape_tip(self._line.text() or self.option.help))

    def _fill_file_menu(self) -> None:
        self.menu.clear()
        for path in self.option.near(self.context()):
            entry = self.menu.addAction(escape_entry(Path(path).name), lambda path=path: self._set_path(path))
            entry.setToolTip(escape_tip(path))
        self.menu.addSeparator()
        self.menu.addAction("Choose a file…", self._open_file_dialog)
        self.menu.addAction("None", lambda: self._set_path("")).setEnabled(bool(self.value()))

    def _open_file_dialog(self) -> None:
        near = next(iter(self.option.near(self.context())), "")
        start = self.value() or (str(Path(near).parent) if near else dialog_start_path(self.context().model, ""))
        path, _ = QFileDialog.getOpenFileName(
            self, self.option.title, start, f"{self.file_dialog_filter};;All files (*)"
        )
        if path:
            self._set_path(path)

    def _set_path(self, path: str) -> None:
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
    SymbolValues: SymbolValuesEditor,
    Values: CoordinateValuesEditor,
    Ranges: RangesEditor,
    Signals: SignalNamesEditor,
    SignalValues: SignalNamesEditor,
}


def create_option_editor(option: Option, context: Callable[[], Context], units: Units) -> OptionEditor:
    """Create the editor for an option."""
    return _EDITORS.get(type(option), TextEditor)(option, context, units)
