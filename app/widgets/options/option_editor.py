"""Base class of editors for function options.

An editor's `value()` is what the catalogue takes (SI numbers, formulas as text, names) and what settings can remember.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.plain_text import as_tip
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Units
from core.functions.context import Context
from core.functions.options import Option


class OptionEditor(QWidget):
    """Edits one option. Emits `changed` after every edit of the user."""

    changed = Signal()
    labelled = True
    """True if the form shows the option's title next to the editor."""

    def __init__(self, option: Option, context: Callable[[], Context], units: Units) -> None:
        super().__init__()
        self.option, self.context, self.units = option, context, units
        self.setToolTip(as_tip(option.help))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self.row = row
        self.build()
        self.show_value(option.default)

    def build(self) -> None:
        """Create the widgets."""

    def value(self) -> Any:
        """Return the chosen value."""
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        """Show a value without emitting a change."""

    def forget(self) -> None:
        """Discard what was chosen or typed; the default is shown."""
        for edit in self.findChildren(QuantityEdit):
            edit.forget()
        self.show_value(self.option.default)

    def refresh(self) -> None:
        """Update names and numbers after a change of machine or units."""

    def problem(self) -> str:
        """Return why the editor's contents are not valid; '' if they are."""
        self.value()
        return next((edit.problem for edit in self.findChildren(QuantityEdit) if edit.problem), "")
