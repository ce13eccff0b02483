"""Editors of function options, one class per kind of option; a form is made of them.

An editor's `value()` is what the catalogue takes (SI numbers, formulas as text, names) and what settings can remember.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.widgets.choice_editors import Combo
from app.widgets.quantity import QuantityEdit
from app.widgets.quantity_text import Measure, Units
from core.analysis.sweep import dimension_of, value_of
from core.functions.dynamics import speed_dimensions
from core.functions.function import Context
from core.functions.options import (
    DIVISIONS,
    MAX_DIVISIONS,
    Choice,
    Flag,
    FrameName,
    FrameNames,
    Integer,
    Number,
    Option,
    OutputFile,
    Ranges,
    Values,
    Vector,
)

_SECOND_RATES = {"angular_velocity": "angular_acceleration", "velocity": "acceleration"}


class OptionEditor(QWidget):
    """Edits one option. `changed` after every edit of the person."""

    changed = Signal()
    labelled = True
    """Whether the form writes the option's title beside it."""

    def __init__(self, option: Option, context: Callable[[], Context], units: Units) -> None:
        super().__init__()
        self.option, self.context, self.units = option, context, units
        self.setToolTip(option.help)
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
            self._combo.addItem(choice[:1].upper() + choice[1:], choice)
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


class FrameEditor(OptionEditor):
    """A combo box of bodies and frames; the first entry stands for the tool (or the world)."""

    option: FrameName

    def build(self) -> None:
        self._combo = Combo()
        self._combo.activated.connect(self.changed)
        self.row.addWidget(self._combo)
        self.refresh()

    def value(self) -> str:
        return str(self._combo.currentData() or "")

    def show_value(self, value: Any) -> None:
        self._combo.setCurrentIndex(max(0, self._combo.findData(value)))

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


class TextEditor(OptionEditor):
    """A line of text: names with commas, or free text."""

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


class FileEditor(OptionEditor):
    """A path and a button to choose it."""

    option: OutputFile

    def build(self) -> None:
        self._line = QLineEdit()
        self._line.setPlaceholderText("none")
        self._line.editingFinished.connect(self.changed)
        button = QToolButton()
        button.setIcon(icon("folder"))
        button.setToolTip("Choose a file")
        button.clicked.connect(self._choose)
        self.row.addWidget(self._line)
        self.row.addWidget(button)

    def value(self) -> str:
        return self._line.text().strip()

    def show_value(self, value: Any) -> None:
        self._line.setText(str(value or ""))

    def _choose(self) -> None:
        patterns = " ".join(f"*{suffix}" for suffix in self.option.suffixes)
        path, _ = QFileDialog.getSaveFileName(self, self.option.title, self.value(), f"Files ({patterns})")
        if path:
            self._line.setText(path)
            self.changed.emit()


class NumbersEditor(OptionEditor):
    """One number or several, each with its unit; formulas allowed."""

    option: Number | Vector

    def build(self) -> None:
        labels = self.option.labels if isinstance(self.option, Vector) else ("",)
        optional = self.option.default is None
        measure = Measure(self.option.dimension)
        self._edits = []
        for label in labels:
            edit = QuantityEdit(measure, self.units, lambda _v, _g: self._edited(), optional=optional)
            edit.setPlaceholderText(label)
            edit.setToolTip(f"{label}: {self.option.help}" if label else self.option.help)
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
    """A number for each coordinate or speed."""

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
                edit = QuantityEdit(Measure(dimension), self.units, lambda _v, _g: self._edited())
                label = QLabel(name)
                label.setProperty("muted", True)
                self._grid.addWidget(label, row, 0)
                self._grid.addWidget(edit, row, 1)
                self._edits[name] = edit
            self.show_value(kept)
        for edit in self._edits.values():
            edit.refresh()

    def _edited(self) -> str:
        self.changed.emit()
        return ""

    def value(self) -> dict[str, Any]:
        for edit in self._edits.values():
            edit.finish()
        return {name: edit.value for name, edit in self._edits.items() if edit.value not in (0.0, None)}

    def show_value(self, value: Any) -> None:
        given = dict(value or {})
        for name, edit in self._edits.items():
            edit.show_value(given.get(name, 0.0))


def _dimensions(option: Values, context: Context) -> list[str]:
    if option.of == "coordinates":
        return [coordinate.dimension for coordinate in context.mech.coordinates]
    speeds = list(speed_dimensions(context))
    return [_SECOND_RATES[d] for d in speeds] if option.rate == 2 else speeds


class RangesEditor(OptionEditor):
    """A list of ranges: name, start, stop, divisions; rows are added and taken away."""

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
            self._append((names[0], *_usual_range(context, names[0]), DIVISIONS))
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
    """name | start | stop | divisions | remove, over two lines so that it fits a narrow dock."""

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
        self._name.activated.connect(self._renamed)
        self._ends = [QuantityEdit(Measure(), owner.units, lambda _v, _g: self._edited()) for _ in range(2)]
        self._measure()
        for edit, value, what in zip(self._ends, (start, stop), ("Start", "Stop"), strict=True):
            edit.setToolTip(what)
            edit.show_value(value)
        self._divisions = QSpinBox()
        self._divisions.setRange(1, MAX_DIVISIONS)
        self._divisions.setValue(int(divisions))
        self._divisions.setSuffix(" div.")
        self._divisions.setToolTip("Divisions: n give n + 1 poses")
        self._divisions.valueChanged.connect(self.changed)
        remove = QToolButton()
        remove.setIcon(icon("close"))
        remove.setToolTip("Take this range away")
        remove.clicked.connect(self.removed)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 4)
        grid.setSpacing(3)
        grid.addWidget(self._name, 0, 0, 1, 2)
        grid.addWidget(self._divisions, 0, 2)
        grid.addWidget(remove, 0, 3)
        grid.addWidget(self._ends[0], 1, 0)
        grid.addWidget(QLabel("to"), 1, 1)
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

    def _renamed(self) -> None:
        self._measure()
        for edit, value in zip(self._ends, _usual_range(self._owner.context(), self.name()), strict=True):
            edit.show_value(value)
            edit.refresh()
        self.changed.emit()

    def _edited(self) -> str:
        self.changed.emit()
        return ""


def _usual_range(context: Context, name: str) -> tuple[float, float]:
    """A sensible range to begin with: from the present value, over a quarter of what the limits leave."""
    from core.analysis.sweep import coordinate_aliases

    now = value_of(context.model, context.mech, context.q, context.p, name)
    dimension = dimension_of(context.model, context.mech, name)
    width = {"angle": 1.5707963267948966, "length": 0.1}.get(dimension, 0.5 * abs(now) or 1.0)
    bounds = {c.name: (c.lower, c.upper) for c in context.mech.coordinates}
    bounds |= {p.name: (p.minimum, p.maximum) for p in context.model.parameters}
    lower, upper = bounds.get(coordinate_aliases(context.model).get(name, name), (None, None))
    stop = now + width if not isinstance(upper, float) else min(now + width, upper)
    if stop - now < 0.25 * width:
        stop = now - width if not isinstance(lower, float) else max(now - width, lower)
    return now, stop


_EDITORS: dict[type[Option], type[OptionEditor]] = {
    Flag: FlagEditor,
    Choice: ChoiceEditor,
    Integer: IntegerEditor,
    Number: NumbersEditor,
    Vector: NumbersEditor,
    FrameName: FrameEditor,
    FrameNames: TextEditor,
    OutputFile: FileEditor,
    Values: ValuesEditor,
    Ranges: RangesEditor,
}


def editor_of(option: Option, context: Callable[[], Context], units: Units) -> OptionEditor:
    """The editor of an option."""
    return _EDITORS.get(type(option), TextEditor)(option, context, units)
