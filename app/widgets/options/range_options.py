"""Editor for ranges of coordinates, parameters and DH entries."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QSpinBox, QToolButton, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.fields.choice_editors import Combo
from app.widgets.label import Label
from app.widgets.options.option_editor import OptionEditor
from app.widgets.plain_keys import FieldEnds
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure
from app.widgets.tool_button import tool_button
from core.analysis.sweep import coordinate_aliases, dimension_of, value_of
from core.functions.context import Context
from core.functions.options import DIVISIONS, MAX_DIVISIONS, Ranges


class RangesEditor(OptionEditor):
    """A list of ranges: name, start, stop, divisions; rows can be added and removed."""

    option: Ranges

    def build(self) -> None:
        self._column = QVBoxLayout()
        self._column.setSpacing(3)
        self.row.addLayout(self._column)
        self._rows: list[_RangeRow] = []
        self._add = QToolButton()
        self._add.setIcon(icon("add"))
        self._add.setText("Add range")
        self._add.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._add.clicked.connect(self._add_next)
        self._column.addWidget(self._add)

    def _add_next(self) -> None:
        context = self.context()
        used = {row.name() for row in self._rows}
        names = [name for name in self.option.names(context) if name not in used]
        if names:
            self._append((names[0], *_default_range(context, names[0]), DIVISIONS))
            self.changed.emit()

    def _append(self, item: Any) -> None:
        row = _RangeRow(self, item)
        row.changed.connect(self.changed)
        row.removed.connect(lambda: self._remove(row))
        self._rows.append(row)
        self._column.insertWidget(self._column.count() - 1, row)

    def _remove(self, row: _RangeRow) -> None:
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
        names = self.option.names(self.context())
        for item in value or ():
            if item[0] in names:
                self._append(item)

    def refresh(self) -> None:
        for row in self._rows:
            row.refresh()


class _RangeRow(QWidget):
    """name | start | stop | divisions | remove, on two lines so that it fits a narrow dock."""

    changed = Signal()
    removed = Signal()

    def __init__(self, owner: RangesEditor, item: Any) -> None:
        super().__init__()
        self._owner = owner
        name, start, stop, divisions = (*item, DIVISIONS)[:4]
        self._name = Combo()
        self._name.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._name.addItems(list(owner.option.names(owner.context())))
        self._name.setCurrentText(name)
        self._name.activated.connect(self._on_renamed)
        self._ends = [QuantityEdit(Measure(), owner.units, lambda _v, _g: self._on_edited()) for _ in range(2)]
        self._measure()
        for edit, value, what in zip(self._ends, (start, stop), ("Start", "Stop"), strict=True):
            edit.setToolTip(as_tip(what))
            edit.show_value(value)
        self._divisions = QSpinBox()
        FieldEnds(self._divisions)
        self._divisions.setRange(1, MAX_DIVISIONS)
        self._divisions.setValue(int(divisions))
        self._divisions.setSuffix(" div.")
        self._divisions.setToolTip("Number of divisions: n divisions give n + 1 poses")
        self._divisions.valueChanged.connect(self.changed)
        remove = tool_button("close", "Remove this range", self.removed.emit)
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
            edit.finish()
        return (self.name(), self._ends[0].value, self._ends[1].value, self._divisions.value())

    def refresh(self) -> None:
        for edit in self._ends:
            edit.refresh()

    def _measure(self) -> None:
        context = self._owner.context()
        for edit in self._ends:
            edit.measure = Measure(dimension_of(context.model, context.mech, self.name()))

    def _on_renamed(self) -> None:
        self._measure()
        for edit, value in zip(self._ends, _default_range(self._owner.context(), self.name()), strict=True):
            edit.show_value(value)
            edit.refresh()
        self.changed.emit()

    def _on_edited(self) -> str:
        self.changed.emit()
        return ""


def _default_range(context: Context, name: str) -> tuple[float, float]:
    """Return a sensible default range: from the present value over a quarter of the remaining range to the limit."""
    now = value_of(context.model, context.mech, context.q, context.p, name)
    dimension = dimension_of(context.model, context.mech, name)
    width = {"angle": math.pi / 2.0, "length": 0.1}.get(dimension, 0.5 * abs(now) or 1.0)
    bounds: dict[str, tuple[Any, Any]] = {c.name: (c.lower, c.upper) for c in context.mech.coordinates}
    bounds |= {p.name: (p.minimum, p.maximum) for p in context.model.parameters}
    lower, upper = bounds.get(coordinate_aliases(context.model).get(name, name), (None, None))
    stop = now + width if not isinstance(upper, float) else min(now + width, upper)
    if stop - now < 0.25 * width:
        stop = now - width if not isinstance(lower, float) else max(now - width, lower)
    return now, stop
