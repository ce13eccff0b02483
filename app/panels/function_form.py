"""The options of one function: a form made from its declaration, remembered from the last use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.icons import icon
from app.panels.form_area import FormArea, head, row_label
from app.panels.number_options import SymbolsEditor
from app.panels.option_editor import OptionEditor
from app.panels.option_editors import editor_of
from app.settings import Settings
from app.widgets.note import Note
from app.widgets.progress import ProgressBar
from app.widgets.tool_button import tool_button
from core.errors import ModelError
from core.functions import Context, Function


class FunctionForm(QWidget):
    """Title, what it does, options, Run."""

    wanted = Signal()
    stopped = Signal()
    live_switched = Signal(bool)
    edited = Signal()

    def __init__(self, function: Function, context: Callable[[], Context], settings: Settings) -> None:
        super().__init__()
        self.function = function
        self._settings = settings
        self.editors: dict[str, OptionEditor] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 6, 2, 0)
        layout.setSpacing(6)
        self.area = self._area(context)
        self.area.help_toggled.connect(self.edited)
        layout.addLayout(head(function.title, "What this function does", self.area))
        layout.addWidget(self.area, 1)
        self.note = Note()
        layout.addWidget(self.note)
        layout.addLayout(self._foot())
        self._recall()
        self._follow()

    # ----------------------------------------------------------------------------- building

    def _area(self, context: Callable[[], Context]) -> FormArea:
        area = FormArea(self.function.summary, self.function.help)
        for option in self.function.options:
            editor = self.editors[option.id] = editor_of(option, context, self._settings)
            editor.changed.connect(self._edited)
            area.rows.addRow(row_label(option.title, option.help) if editor.labelled else "", editor)
        return area

    def _foot(self) -> QHBoxLayout:
        self.run_button = QPushButton(icon("play"), "Run")
        self.run_button.setDefault(True)
        self.run_button.clicked.connect(self.wanted)
        self.stop_button = QPushButton(icon("stop"), "Stop")
        self.stop_button.clicked.connect(self.stopped)
        self.stop_button.hide()
        self.live_box = QCheckBox("Live")
        self.live_box.setToolTip("Run again whenever the pose moves, also while dragging")
        self.live_box.setVisible(self.function.live)
        self.live_box.toggled.connect(self.live_switched)
        self.progress = ProgressBar()
        self.progress.setRange(0, 1000)
        self.progress.setTextVisible(True)
        self.progress.hide()
        reset = tool_button("reset", "Put all options back to their defaults", self.reset)
        reset.setVisible(bool(self.function.options))
        row = QHBoxLayout()
        for widget in (self.run_button, self.stop_button, self.live_box):
            row.addWidget(widget)
        row.addWidget(self.progress, 1)
        row.addStretch(1)
        row.addWidget(reset)
        return row

    def wanted_height(self) -> int:
        """Height in which all options are seen without scrolling."""
        return self.area.wanted_height(self)

    # ----------------------------------------------------------------------------- values

    @property
    def live(self) -> bool:
        """Whether the function follows the pose."""
        return self.live_box.isChecked()

    def options(self) -> dict[str, Any]:
        """What the person chose, by option; raises ModelError for a text that is no value."""
        for editor in self.editors.values():
            problem = editor.problem()
            if problem:
                raise ModelError(problem, where=f"option '{editor.option.id}'")
        return {key: editor.value() for key, editor in self.editors.items()}

    def show_options(self, options: dict[str, Any]) -> None:
        """Put values into the form."""
        for key, value in options.items():
            if key in self.editors:
                self.editors[key].show_value(value)

    def remember(self) -> None:
        """Keep the options for the next use."""
        self._settings.remember(f"functions/{self.function.id}", self.options())

    def _recall(self) -> None:
        kept = self._settings.value(f"functions/{self.function.id}", {})
        if isinstance(kept, dict):
            for key, value in kept.items():
                try:
                    self.show_options({key: value})
                except (TypeError, ValueError, LookupError):  # kept by another version: the default stays
                    self.editors[key].show_value(self.editors[key].option.default)

    def reset(self) -> None:
        """Defaults everywhere."""
        for editor in self.editors.values():
            editor.show_value(editor.option.default)
        self._edited()

    def refresh(self) -> None:
        """The machine or the units changed."""
        for editor in self.editors.values():
            editor.refresh()
        self._follow()

    def _follow(self) -> None:
        """What depends on the other options: whether a row is there, fields of editors."""
        for editor in self.editors.values():
            if editor.option.only:
                other = editor.option.only[0]
                self.area.rows.setRowVisible(editor, editor.option.matters({other: self.editors[other].value()}))
            if isinstance(editor, SymbolsEditor):
                editor.follow({key: other.value() for key, other in self.editors.items() if other is not editor})

    def _edited(self) -> None:
        self.show_problem("")
        self._follow()
        self.edited.emit()
        if self.live:
            self.live_switched.emit(True)

    # ----------------------------------------------------------------------------- showing

    def show_problem(self, text: str) -> None:
        """Say below the options what is wrong with them."""
        self.note.say(text, "error" if text else "")

    def show_reason(self, reason: str) -> None:
        """Why the function is not available; '' if it is."""
        self.run_button.setEnabled(not reason)
        self.live_box.setEnabled(not reason)
        self.note.say(reason, "hint" if reason else "")

    def show_busy(self, busy: bool) -> None:
        """A function runs, or none."""
        self.run_button.setVisible(not busy)
        self.stop_button.setVisible(busy)
        if not busy:
            self.progress.hide()

    def show_progress(self, fraction: float, text: str, seconds_left: float | None) -> None:
        """How far the running function is."""
        self.progress.show()
        self.progress.setValue(round(1000 * fraction))
        left = f", {seconds_left:.0f} s left" if seconds_left and seconds_left > 2.0 else ""
        words = f"{text or 'Working'} %p %{left}"
        fits = self.progress.fontMetrics().horizontalAdvance(words) < self.progress.width() - 8
        self.progress.setFormat(words if fits else "%p %")
        self.progress.setToolTip(f"{text or 'Working'}{left}")
