"""Editor for values of numbers that are declared elsewhere: the parameters of a sub-assembly's file, or the numbers of
a user-defined kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from PySide6.QtWidgets import QGridLayout, QWidget

from app.plain_text import escape_tip
from app.widgets.fields.field_editor import Commit, Context, FieldEditor
from app.widgets.fields.number_editors import LabelDragScrubber
from app.widgets.form_layout import CollapsibleSection
from app.widgets.label import Label
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure, evaluate_value, format_quantity, measure_of
from core.model import Constraint, Force, Setting, Signal, SubAssembly
from core.model.fields import Element, Field, Value


class DeclaredNumber(NamedTuple):
    """A declared number that an element can set."""

    name: str
    title: str
    help: str
    measure: Measure
    own: Value
    """Default value, used if nothing is set."""
    values: Mapping[str, float] = {}
    """Values of the parameters in `own`."""
    derived: str = ""
    """Words for the value that is used if nothing is set, where that is not `own`."""


def declared_numbers(owner: Element) -> list[DeclaredNumber]:
    """Return the numbers that an element can set. Settings whose declaration is missing are included, so that they can
    be removed."""
    found: list[DeclaredNumber] = []
    if isinstance(owner, SubAssembly):
        values = owner.content.values() if owner.content is not None else {}
        for each in owner.content.expanded.parameters if owner.content is not None else ():
            measure = Measure(each.dimension)
            found.append(DeclaredNumber(each.name, each.name, each.description, measure, each.value, values))
    elif isinstance(owner, Force | Constraint | Signal):
        for number in owner.info.numbers:
            measure = Measure("none", number.unit) if number.dimension == "none" else measure_of(number.dimension)
            found.append(
                DeclaredNumber(number.name, number.title, number.help, measure, number.default, derived=number.derived)
            )
        known = {number.name for number in found}
        names = [setting.parameter for setting in owner.settings if setting.parameter not in known]
        found += [DeclaredNumber(name, name, "This kind has no number of that name.", Measure(), 0.0) for name in names]
    return found


class SettingsEditor(FieldEditor):
    """Editor with one field per declared number; an empty field keeps the default, which is shown as placeholder."""

    wide = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.value: tuple[Setting, ...] = ()
        self.edits: dict[str, QuantityEdit] = {}
        self._shown: tuple[Element, Context] | None = None
        title = "Parameters" if owner is SubAssembly else "Parameters of this kind"
        self.section = CollapsibleSection(title, self._build_content, f"{owner.__name__}.settings")
        self.section.arrow.setToolTip(escape_tip(field.help))
        self.section.folded.connect(lambda _on: self._refresh_fields())
        self.column.addWidget(self.section)

    def _build_content(self) -> QWidget:
        box = QWidget()
        self.grid = QGridLayout(box)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setColumnStretch(1, 1)
        return box

    def show_value(self, value: tuple[Setting, ...], owner: Element, context: Context) -> None:
        self.value, self._shown = value, (owner, context)
        lost = isinstance(owner, SubAssembly) and owner.content is None
        self.show_note("The file could not be read." if lost else "", "hint" if lost else "")
        self._refresh_fields()

    def discard_text(self) -> None:
        for edit in self.edits.values():
            edit.discard_text()

    def _refresh_fields(self) -> None:
        if self._shown is None:
            return
        owner, context = self._shown
        left = "value in the file" if isinstance(owner, SubAssembly) else "default of the kind"
        self.section.show_summary(", ".join(setting.parameter for setting in self.value) or left)
        if not self.section.is_open or self.section.content is None:
            return
        numbers = declared_numbers(owner)
        if list(self.edits) != [number.name for number in numbers]:
            self._build_fields(numbers)
        here = {setting.parameter: setting.value for setting in self.value}
        for number in numbers:
            edit = self.edits[number.name]
            edit.settings, edit.measure = context.settings, number.measure
            own = evaluate_value(number.own, number.values)
            default = "" if own is None else format_quantity(own, edit.measure, context.settings, 5)
            edit.setPlaceholderText(number.derived or default)
            edit.setReadOnly(context.read_only)
            edit.show_value(here.get(number.name), context.values)

    def _build_fields(self, numbers: list[DeclaredNumber]) -> None:
        while self.grid.count():
            old = self.grid.takeAt(0).widget()
            old.hide()
            old.deleteLater()
        self.edits = {}
        for row, number in enumerate(numbers):
            label = Label(number.title)
            label.setToolTip(escape_tip(number.help))
            edit = QuantityEdit(optional=True)
            edit.commit = self._commit_function(number.name)
            edit.explained.connect(
                lambda words, severity: self.show_note(words if severity == "error" else "", severity)
            )
            LabelDragScrubber(label, edit)
            self.grid.addWidget(label, row, 0)
            self.grid.addWidget(edit, row, 1)
            self.edits[number.name] = edit

    def _commit_function(self, name: str) -> Callable[[Value | None, object], str]:
        def commit(value: Value | None, gesture: object) -> str:
            others = [setting for setting in self.value if setting.parameter != name]
            order = {known: place for place, known in enumerate(self.edits)}
            new = others if value is None else [*others, Setting(parameter=name, value=value)]
            return self.commit(tuple(sorted(new, key=lambda s: order.get(s.parameter, len(order)))), gesture)

        return commit
