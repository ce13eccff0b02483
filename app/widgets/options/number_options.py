"""Editors of numeric options: a single number, a vector, or one number per coordinate."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QGridLayout

from app.plain_text import as_tip
from app.widgets.label import Label
from app.widgets.options.option_editor import OptionEditor
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure
from core.functions.context import Context
from core.functions.options import Number, SymbolValues, Values, Vector
from core.functions.subjects.dynamics import speed_dimensions

_SECOND_RATES = {"angular_velocity": "angular_acceleration", "velocity": "acceleration"}
_FORCES = {"angular_velocity": "torque", "velocity": "force"}


class NumbersEditor(OptionEditor):
    """One or several numbers, each with its unit; formulas are allowed."""

    option: Number | Vector

    def build(self) -> None:
        labels = self.option.labels if isinstance(self.option, Vector) else ("",)
        optional = self.option.default is None
        measure = Measure(self.option.dimension)
        self._edits = []
        for label in labels:
            edit = QuantityEdit(measure, self.units, lambda _v, _g: self._edited(), optional=optional)
            edit.setPlaceholderText(label)
            edit.setToolTip(as_tip(f"{label}: {self.option.help}" if label else self.option.help))
            self._edits.append(edit)
            self.row.addWidget(edit)

    def _edited(self) -> str:
        self.changed.emit()
        return ""

    def value(self) -> Any:
        for edit in self._edits:
            edit.finish()
        values = [edit.value for edit in self._edits]
        if isinstance(self.option, Number):
            return values[0]
        if self.option.default is None and all(value is None for value in values):
            return None
        return tuple(values)

    def show_value(self, value: Any) -> None:
        values = [None] * len(self._edits) if value is None else value if isinstance(value, tuple | list) else [value]
        for edit, item in zip(self._edits, values, strict=False):
            edit.show_value(item)

    def refresh(self) -> None:
        for edit in self._edits:
            edit.refresh()


class ValuesEditor(OptionEditor):
    """One number per coordinate or speed; an empty field gives none."""

    option: Values

    def build(self) -> None:
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(3)
        self.row.addLayout(self._grid)
        self._edits: dict[str, QuantityEdit] = {}
        self.refresh()

    def refresh(self) -> None:
        context = self.context()
        names, dimensions = self.option.names(context), _dimensions(self.option, context)
        if list(self._edits) != list(names):
            kept = self.value()
            while (item := self._grid.takeAt(0)) is not None:
                item.widget().deleteLater()
            self._edits = {}
            for row, (name, dimension) in enumerate(zip(names, dimensions, strict=True)):
                edit = QuantityEdit(Measure(dimension), self.units, lambda _v, _g: self._edited(), optional=True)
                label = Label(name)
                label.setProperty("muted", True)
                self._grid.addWidget(label, row, 0)
                self._grid.addWidget(edit, row, 1)
                self._edits[name] = edit
            self.show_value(kept)
        follows = self.option.rate > 0 and context.mech.constrained
        for edit in self._edits.values():
            edit.setPlaceholderText("follows" if follows else "" if self.option.rate == 0 else "0")
            edit.refresh()

    def _edited(self) -> str:
        self.changed.emit()
        return ""

    def value(self) -> dict[str, Any]:
        for edit in self._edits.values():
            edit.finish()
        return {name: edit.value for name, edit in self._edits.items() if edit.value is not None}

    def show_value(self, value: Any) -> None:
        given = dict(value or {})
        for name, edit in self._edits.items():
            edit.show_value(given.get(name))


class SymbolsEditor(OptionEditor):
    """One field per symbol that needs a value; typed values are kept while another file is tried."""

    option: SymbolValues

    def build(self) -> None:
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(3)
        self._none = Label("every symbol has a value")
        self._none.setProperty("muted", True)
        self.row.addWidget(self._none)
        self.row.addLayout(self._grid)
        self._edits: dict[str, QuantityEdit] = {}
        self._typed: dict[str, float] = {}

    def follow(self, options: dict[str, Any]) -> None:
        """Show fields for the symbols that the other options leave undefined."""
        context = self.context()
        needed = self.option.needed(context, options)
        self._keep()
        if list(self._edits) != list(needed):
            while (item := self._grid.takeAt(0)) is not None:
                item.widget().hide()
                item.widget().deleteLater()
            self._edits = {name: self._field(row, name) for row, name in enumerate(needed)}
        for name, edit in self._edits.items():
            assumed = needed[name]
            edit.setPlaceholderText("needed" if assumed is None else f"{assumed:g} assumed")
            edit.show_value(self._typed.get(name))
        self._none.setVisible(not needed)

    def _field(self, row: int, name: str) -> QuantityEdit:
        edit = QuantityEdit(Measure(), self.units, lambda _v, _g: self._edited(), optional=True)
        label = Label(name)
        label.setProperty("muted", True)
        self._grid.addWidget(label, row, 0)
        self._grid.addWidget(edit, row, 1)
        return edit

    def _keep(self) -> None:
        for name, edit in self._edits.items():
            edit.finish()
            self._typed.pop(name, None)
            if edit.value is not None:
                self._typed[name] = edit.value  # type: ignore[assignment]

    def _edited(self) -> str:
        self.changed.emit()
        return ""

    def value(self) -> dict[str, Any]:
        self._keep()
        return {name: value for name, value in self._typed.items() if name in self._edits or not self._edits}

    def show_value(self, value: Any) -> None:
        self._typed = dict(value or {})
        for name, edit in self._edits.items():
            edit.show_value(self._typed.get(name))


def _dimensions(option: Values, context: Context) -> list[str]:
    if option.of == "coordinates":
        return [coordinate.dimension for coordinate in context.mech.coordinates]
    speeds = list(speed_dimensions(context))
    other = {2: _SECOND_RATES, -1: _FORCES}.get(option.rate)
    return [other[d] for d in speeds] if other else speeds
