"""Editors for numeric options (a single number, a vector, one number per coordinate, ranges), and the base class of all
editors for function options.

An editor's `value()` is what the catalogue takes (SI numbers, formulas as text, names) and what settings can remember.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QSpinBox, QToolButton, QVBoxLayout, QWidget

from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import Label
from app.widgets.panel_parts import create_icon_button
from app.widgets.plain_keys import SpinBoxKeyFilter
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure, Units
from core.analysis.sweep import coordinate_aliases, variable_dimension, variable_value
from core.functions.context import Context
from core.functions.options import DIVISIONS, MAX_DIVISIONS, Number, Option, Ranges, SymbolValues, Values, Vector
from core.functions.subjects.dynamics import speed_dimensions


class OptionEditor(QWidget):
    """Editor for one option. Emits `changed` after every edit by the user."""

    changed = Signal()
    labelled = True
    """True if the form shows the option's title next to the editor."""

    def __init__(self, option: Option, context: Callable[[], Context], units: Units) -> None:
        super().__init__()
        self.option, self.context, self.units = option, context, units
        self.setToolTip(escape_tip(option.help))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self.row = row
        self.build_widgets()
        self.show_value(option.default)

    def build_widgets(self) -> None:
        """Create the widgets."""

    def value(self) -> Any:
        """Return the chosen value."""
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        """Show a value without emitting a change."""

    def reset_value(self) -> None:
        """Discard what the user chose or typed, and show the default."""
        for edit in self.findChildren(QuantityEdit):
            edit.discard_text()
        self.show_value(self.option.default)

    def refresh(self) -> None:
        """Update names and numbers after a change of the machine or the units."""

    def problem(self) -> str:
        """Return the reason why the content of the editor is invalid; '' if it is valid."""
        self.value()
        return next((edit.problem for edit in self.findChildren(QuantityEdit) if edit.problem), "")


_SECOND_RATES = {"angular_velocity": "angular_acceleration", "velocity": "acceleration"}
_FORCES = {"angular_velocity": "torque", "velocity": "force"}


class NumbersEditor(OptionEditor):
    """Editor for one or several numbers, each with its unit; formulas are allowed."""

    option: Number | Vector

    def build_widgets(self) -> None:
        labels = self.option.labels if isinstance(self.option, Vector) else ("",)
        optional = self.option.default is None
        measure = Measure(self.option.dimension)
        self._edits = []
        for label in labels:
            edit = QuantityEdit(measure, self.units, lambda _v, _g: self._on_edited(), optional=optional)
            edit.setPlaceholderText(label)
            edit.setToolTip(escape_tip(f"{label}: {self.option.help}" if label else self.option.help))
            self._edits.append(edit)
            self.row.addWidget(edit)

    def _on_edited(self) -> str:
        self.changed.emit()
        return ""

    def value(self) -> Any:
        for edit in self._edits:
            edit.commit_text()
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
            edit.refresh_text()


class CoordinateValuesEditor(OptionEditor):
    """Editor with one number per coordinate or speed; an empty field gives no value."""

    option: Values

    def build_widgets(self) -> None:
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(3)
        self.row.addLayout(self._grid)
        self._edits: dict[str, QuantityEdit] = {}
        self.refresh()

    def refresh(self) -> None:
        context = self.context()
        names, dimensions = self.option.selectable_names(context), _coordinate_dimensions(self.option, context)
        if list(self._edits) != list(names):
            kept = self.value()
            while (item := self._grid.takeAt(0)) is not None:
                item.widget().deleteLater()
            self._edits = {}
            for row, (name, dimension) in enumerate(zip(names, dimensions, strict=True)):
                edit = QuantityEdit(Measure(dimension), self.units, lambda _v, _g: self._on_edited(), optional=True)
                label = Label(name)
                label.setProperty("muted", True)
                self._grid.addWidget(label, row, 0)
                self._grid.addWidget(edit, row, 1)
                self._edits[name] = edit
            self.show_value(kept)
        follows = self.option.rate > 0 and context.mech.constrained
        for edit in self._edits.values():
            edit.setPlaceholderText("dependent" if follows else "" if self.option.rate == 0 else "0")
            edit.refresh_text()

    def _on_edited(self) -> str:
        self.changed.emit()
        return ""

    def value(self) -> dict[str, Any]:
        for edit in self._edits.values():
            edit.commit_text()
        return {name: edit.value for name, edit in self._edits.items() if edit.value is not None}

    def show_value(self, value: Any) -> None:
        given = dict(value or {})
        for name, edit in self._edits.items():
            edit.show_value(given.get(name))


class SymbolValuesEditor(OptionEditor):
    """Editor with one field per symbol that needs a value; typed values are kept when another file is selected."""

    option: SymbolValues

    def build_widgets(self) -> None:
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(3)
        self._none = Label("All symbols have values")
        self._none.setProperty("muted", True)
        self.row.addWidget(self._none)
        self.row.addLayout(self._grid)
        self._edits: dict[str, QuantityEdit] = {}
        self._typed: dict[str, float] = {}

    def show_undefined_symbols(self, options: dict[str, Any]) -> None:
        """Show fields for the symbols that the other options leave undefined."""
        context = self.context()
        needed = self.option.needed(context, options)
        self._store_typed_values()
        if list(self._edits) != list(needed):
            while (item := self._grid.takeAt(0)) is not None:
                item.widget().hide()
                item.widget().deleteLater()
            self._edits = {name: self._build_field(row, name) for row, name in enumerate(needed)}
        for name, edit in self._edits.items():
            assumed = needed[name]
            edit.setPlaceholderText("required" if assumed is None else f"default {assumed:g}")
            edit.show_value(self._typed.get(name))
        self._none.setVisible(not needed)

    def _build_field(self, row: int, name: str) -> QuantityEdit:
        edit = QuantityEdit(Measure(), self.units, lambda _v, _g: self._on_edited(), optional=True)
        label = Label(name)
        label.setProperty("muted", True)
        self._grid.addWidget(label, row, 0)
        self._grid.addWidget(edit, row, 1)
        return edit

    def _store_typed_values(self) -> None:
        for name, edit in self._edits.items():
            edit.commit_text()
            self._typed.pop(name, None)
            if edit.value is not None:
                self._typed[name] = edit.value  # type: ignore[assignment]

    def _on_edited(self) -> str:
        self.changed.emit()
        return ""

    def value(self) -> dict[str, Any]:
        self._store_typed_values()
        return {name: value for name, value in self._typed.items() if name in self._edits or not self._edits}

    def show_value(self, value: Any) -> None:
        self._typed = dict(value or {})
        for name, edit in self._edits.items():
            edit.show_value(self._typed.get(name))


def _coordinate_dimensions(option: Values, context: Context) -> list[str]:
    if option.of == "coordinates":
        return [coordinate.dimension for coordinate in context.mech.coordinates]
    speeds = list(speed_dimensions(context))
    other = {2: _SECOND_RATES, -1: _FORCES}.get(option.rate)
    return [other[d] for d in speeds] if other else speeds


class RangesEditor(OptionEditor):
    """Editor for a list of ranges: name, start, stop, divisions; rows can be added and removed."""

    option: Ranges

    def build_widgets(self) -> None:
        self._column = QVBoxLayout()
        self._column.setSpacing(3)
        self.row.addLayout(self._column)
        self._rows: list[_RangeRow] = []
        self._add = QToolButton()
        self._add.setIcon(icon("add"))
        self._add.setText("Add range")
        self._add.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._add.clicked.connect(self._add_default_range)
        self._column.addWidget(self._add)

    def _add_default_range(self) -> None:
        context = self.context()
        used = {row.name() for row in self._rows}
        names = [name for name in self.option.selectable_names(context) if name not in used]
        if names:
            self._append_row((names[0], *_default_range(context, names[0]), DIVISIONS))
            self.changed.emit()

    def _append_row(self, item: Any) -> None:
        row = _RangeRow(self, item)
        row.changed.connect(self.changed)
        row.removed.connect(lambda: self._remove_row(row))
        self._rows.append(row)
        self._column.insertWidget(self._column.count() - 1, row)

    def _remove_row(self, row: _RangeRow) -> None:
        self._rows.remove(row)
        row.hide()
        row.deleteLater()
        self.changed.emit()

    def value(self) -> tuple[Any, ...]:
        return tuple(row.value() for row in self._rows)

    def show_value(self, value: Any) -> None:
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = []
        names = self.option.selectable_names(self.context())
        for item in value or ():
            if item[0] in names:
                self._append_row(item)

    def refresh(self) -> None:
        for row in self._rows:
            row.refresh()


class _RangeRow(QWidget):
    """Row with name, start, stop, divisions and a remove button, on two lines so that it fits into a narrow dock."""

    changed = Signal()
    removed = Signal()

    def __init__(self, owner: RangesEditor, item: Any) -> None:
        super().__init__()
        self._owner = owner
        name, start, stop, divisions = (*item, DIVISIONS)[:4]
        self._name = NarrowCombo()
        self._name.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._name.addItems(list(owner.option.selectable_names(owner.context())))
        self._name.setCurrentText(name)
        self._name.activated.connect(self._on_renamed)
        self._ends = [QuantityEdit(Measure(), owner.units, lambda _v, _g: self._on_edited()) for _ in range(2)]
        self._update_units()
        for edit, value, what in zip(self._ends, (start, stop), ("Start", "Stop"), strict=True):
            edit.setToolTip(escape_tip(what))
            edit.show_value(value)
        self._divisions = QSpinBox()
        SpinBoxKeyFilter(self._divisions)
        self._divisions.setRange(1, MAX_DIVISIONS)
        self._divisions.setValue(int(divisions))
        self._divisions.setSuffix(" div.")
        self._divisions.setToolTip("Number of divisions: n divisions give n + 1 poses")
        self._divisions.valueChanged.connect(self.changed)
        remove = create_icon_button("close", "Remove this range", self.removed.emit)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 4)
        grid.setSpacing(3)
        grid.addWidget(self._name, 0, 0, 1, 2)
        grid.addWidget(self._divisions, 0, 2)
        grid.addWidget(remove, 0, 3)
        grid.addWidget(self._ends[0], 1, 0)
        grid.addWidget(Label("to"), 1, 1)
        grid.addWidget(self._ends[1], 1, 2, 1, 2)
        grid.setColumnStretch(0, 1)

    def name(self) -> str:
        return self._name.currentText()

    def value(self) -> tuple[Any, ...]:
        for edit in self._ends:
            edit.commit_text()
        return (self.name(), self._ends[0].value, self._ends[1].value, self._divisions.value())

    def refresh(self) -> None:
        for edit in self._ends:
            edit.refresh_text()

    def _update_units(self) -> None:
        context = self._owner.context()
        for edit in self._ends:
            edit.measure = Measure(variable_dimension(context.model, context.mech, self.name()))

    def _on_renamed(self) -> None:
        self._update_units()
        for edit, value in zip(self._ends, _default_range(self._owner.context(), self.name()), strict=True):
            edit.show_value(value)
            edit.refresh_text()
        self.changed.emit()

    def _on_edited(self) -> str:
        self.changed.emit()
        return ""


def _default_range(context: Context, name: str) -> tuple[float, float]:
    """Return a default range: from the present value over a quarter of the remaining range up to the limit."""
    now = variable_value(context.model, context.mech, context.q, context.p, name)
    dimension = variable_dimension(context.model, context.mech, name)
    width = {"angle": math.pi / 2.0, "length": 0.1}.get(dimension, 0.5 * abs(now) or 1.0)
    bounds: dict[str, tuple[Any, Any]] = {c.name: (c.lower, c.upper) for c in context.mech.coordinates}
    bounds |= {p.name: (p.minimum, p.maximum) for p in context.model.parameters}
    lower, upper = bounds.get(coordinate_aliases(context.model).get(name, name), (None, None))
    stop = now + width if not isinstance(upper, float) else min(now + width, upper)
    if stop - now < 0.25 * width:
        stop = now - width if not isinstance(lower, float) else max(now - width, lower)
    return now, stop
