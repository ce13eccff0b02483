"""What editors of function options share.

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
    """Edits one option. `changed` after every edit of the person."""

    changed = Signal()
    labelled = True
    """Whether the form writes the option's title beside it."""

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
        """Make the widgets."""

    def value(self) -> Any:
        """What the person chose."""
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        """Show a value without telling of a change."""

    def refresh(self) -> None:
        """The machine or the units changed: offer the present names, write numbers anew."""

    def problem(self) -> str:
        """Why what stands in the editor cannot be taken; '' if it can."""
        self.value()
        return next((edit.problem for edit in self.findChildren(QuantityEdit) if edit.problem), "")
