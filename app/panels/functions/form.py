"""Form for the options of one function, generated from its declaration; remembers the values used last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox

from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.widgets.label import set_accessible_input_names
from app.widgets.options.number_options import OptionEditor, SymbolValuesEditor
from app.widgets.options.option_editors import create_option_editor
from app.widgets.options.panel_form import FormScrollArea, PanelForm, build_field_label
from app.widgets.panel_parts import ProgressBar
from core.errors import ModelError
from core.functions import Context, Function


class FunctionForm(PanelForm):
    """Form for the options of a catalogue function. Emits `live_switched(on)` when live updating is switched on or
    off."""

    live_switched = Signal(bool)

    def __init__(self, function: Function, context: Callable[[], Context], settings: Settings) -> None:
        super().__init__(function, settings, "Stop")
        self.editors: dict[str, OptionEditor] = {}
        self._context, self._document = context, context().document
        self.card = 0
        """The card whose answer follows, or followed last."""
        self._told = ""
        """Last reason reported for a missing result."""
        self.live_box = QCheckBox("Live")
        self.live_box.setToolTip("Run the function again whenever the pose changes, also while dragging")
        self.live_box.setVisible(function.live)
        self.live_box.toggled.connect(self.live_switched)
        self.progress = ProgressBar()
        self.progress.setRange(0, 1000)
        self.progress.setTextVisible(True)
        self.progress.hide()
        room = self.progress.sizePolicy()
        room.setHorizontalStretch(1)
        self.progress.setSizePolicy(room)
        self.run_button.setDefault(True)
        self.reset_button.setVisible(bool(function.options))
        area = self._area(context)
        self.lay_out(function.title, "Explain this function", area, right_widgets=(self.live_box, self.progress))
        self._restore_options()
        self._update_dependent_rows()

    # ----------------------------------------------------------------------------- building

    def _area(self, context: Callable[[], Context]) -> FormScrollArea:
        area = FormScrollArea(self.function.summary, self.function.help)
        for option in self.function.options:
            editor = self.editors[option.id] = create_option_editor(option, context, self.settings)
            editor.changed.connect(self._on_edited)
            area.rows.addRow(build_field_label(option.title, option.help) if editor.labelled else "", editor)
        return area

    # ----------------------------------------------------------------------------- values

    @property
    def live(self) -> bool:
        """True if the function is run again whenever the pose changes."""
        return self.live_box.isChecked()

    def options(self) -> dict[str, Any]:
        """Return the selected options by name; raises ModelError for a text that is not a valid value."""
        for editor in self.editors.values():
            problem = editor.problem()
            if problem:
                raise ModelError(problem, where=f"option '{editor.option.id}'")
        return {key: editor.value() for key, editor in self.editors.items()}

    def show_options(self, options: dict[str, Any]) -> None:
        """Set the form to the given option values."""
        for key, value in options.items():
            if key in self.editors:
                self.editors[key].show_value(value)

    def remember(self) -> None:
        """Store the options for the next use."""
        self.settings.remember(f"functions/{self.function.id}", self.options())
        self.settings.remember(f"machines/{self.function.id}", _machine_key(self._context()))

    def _restore_options(self) -> None:
        """Show the options used last; options that refer to elements of a machine are restored only for the same
        machine."""
        kept = self.settings.value(f"functions/{self.function.id}", {})
        same = self.settings.value(f"machines/{self.function.id}", "") == _machine_key(self._context())
        if isinstance(kept, dict):
            for key, value in kept.items():
                if key in self.editors and self.editors[key].option.is_machine_specific and not same:
                    continue
                try:
                    self.show_options({key: value})
                except (TypeError, ValueError, LookupError):  # kept by another version: the default stays
                    self.editors[key].show_value(self.editors[key].option.default)

    def reset(self) -> None:
        """Restore all defaults."""
        for editor in self.editors.values():
            editor.show_value(editor.option.default)
        self._on_edited()

    def refresh(self) -> None:
        """Update the form after a change of machine or units; in another document, options that refer to elements of
        the previous machine are reset."""
        document = self._context().document
        another, self._document = document != self._document, document
        for editor in self.editors.values():
            if another and editor.option.is_machine_specific:
                editor.reset_value()
            editor.refresh()
        if another:
            self.show_problem("")
        self._update_dependent_rows()

    def _update_dependent_rows(self) -> None:
        """Update rows and editors that depend on other options."""
        for editor in self.editors.values():
            set_accessible_input_names(editor, editor.option.title)
            if editor.option.only:
                other = editor.option.only[0]
                self.area.rows.setRowVisible(editor, editor.option.has_effect({other: self.editors[other].value()}))
            if isinstance(editor, SymbolValuesEditor):
                editor.show_undefined_symbols(
                    {key: other.value() for key, other in self.editors.items() if other is not editor}
                )

    def _on_edited(self) -> None:
        self.show_problem("")
        self._update_dependent_rows()
        self.edited.emit()
        if self.live:
            self.live_switched.emit(True)

    # ----------------------------------------------------------------------------- showing

    def show_live(self, on: bool, problem: str) -> None:
        """Show whether the result is updated live, and the reason if it currently cannot be."""
        with QSignalBlocker(self.live_box):
            self.live_box.setChecked(on)
        if problem or self.note.words == self._told:
            self.show_problem(problem)
        self._told = problem

    def show_unavailable_reason(self, reason: str) -> None:
        """Show the reason why the function is not available; '' if it is available."""
        self.run_button.setEnabled(not reason)
        self.live_box.setEnabled(not reason)
        self.note.show_text(reason, "hint" if reason else "")

    def show_busy(self, busy: bool) -> None:
        """Show whether a function is running."""
        super().show_busy(busy)
        if not busy:
            self.progress.hide()

    def show_progress(self, fraction: float, text: str, seconds_left: float | None) -> None:
        """Show the progress of the running function."""
        self.progress.show()
        self.progress.setValue(round(1000 * fraction))
        left = f", {seconds_left:.0f} s left" if seconds_left and seconds_left > 2.0 else ""
        words = f"{text or 'Working'} %p %{left}"
        fits = self.progress.fontMetrics().horizontalAdvance(words) < self.progress.width() - 8
        self.progress.setFormat(words if fits else "%p %")
        self.progress.setToolTip(escape_tip(f"{text or 'Working'}{left}"))


def _machine_key(context: Context) -> str:
    """Return a key that identifies the machine of a context when it is opened again: its file, or its name if it has
    none."""
    return context.model.origin or context.model.name
