"""The parameters of a sub-assembly, each with the value it has in its file or takes here."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QGridLayout, QWidget

from app.plain_text import as_tip
from app.widgets.fields.field_editor import Commit, Context, FieldEditor
from app.widgets.fields.number_editors import Scrubber
from app.widgets.label import Label
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure, quantity, value_in
from app.widgets.section import Section
from core.model import Parameter, Setting, SubAssembly
from core.model.fields import Element, Field, Value


class SettingsEditor(FieldEditor):
    """One line per parameter of the file; an empty one leaves the value of the file, which it shows faintly."""

    wide = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.value: tuple[Setting, ...] = ()
        self.edits: dict[str, QuantityEdit] = {}
        self._shown: tuple[SubAssembly, Context] | None = None
        self.section = Section("Parameters", self._make, "SubAssembly.settings")
        self.section.arrow.setToolTip(as_tip(field.help))
        self.section.folded.connect(lambda _on: self._refresh())
        self.column.addWidget(self.section)

    def _make(self) -> QWidget:
        box = QWidget()
        self.grid = QGridLayout(box)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setColumnStretch(1, 1)
        return box

    def show_value(self, value: tuple[Setting, ...], owner: Element, context: Context) -> None:
        assert isinstance(owner, SubAssembly)
        self.value, self._shown = value, (owner, context)
        self.explain(
            "" if owner.content is not None else "The file could not be read.", "" if owner.content else "hint"
        )
        self._refresh()

    def forget(self) -> None:
        for edit in self.edits.values():
            edit.forget()

    def _parameters(self) -> list[Parameter]:
        content = self._shown[0].content if self._shown else None
        return list(content.expanded.parameters) if content is not None else []

    def _refresh(self) -> None:
        if self._shown is None:
            return
        parameters = self._parameters()
        self.section.summarize(", ".join(setting.parameter for setting in self.value) or "as in the file")
        if not self.section.opened or self.section.content is None:
            return
        if list(self.edits) != [parameter.name for parameter in parameters]:
            self._build(parameters)
        _owner, context = self._shown
        here = {setting.parameter: setting.value for setting in self.value}
        content = self._shown[0].content
        values = content.values() if content is not None else {}
        for parameter in parameters:
            edit = self.edits[parameter.name]
            edit.settings, edit.measure = context.settings, Measure(parameter.dimension)
            own = value_in(parameter.value, values)
            edit.setPlaceholderText("" if own is None else quantity(own, edit.measure, context.settings, 5))
            edit.setReadOnly(context.read_only)
            edit.show_value(here.get(parameter.name), context.values)

    def _build(self, parameters: list[Parameter]) -> None:
        while self.grid.count():
            old = self.grid.takeAt(0).widget()
            old.hide()
            old.deleteLater()
        self.edits = {}
        for row, parameter in enumerate(parameters):
            label = Label(parameter.name)
            label.setToolTip(as_tip(parameter.description))
            edit = QuantityEdit(optional=True)
            edit.commit = self._committer(parameter.name)
            edit.explained.connect(lambda words, severity: self.explain(words if severity == "error" else "", severity))
            Scrubber(label, edit)
            self.grid.addWidget(label, row, 0)
            self.grid.addWidget(edit, row, 1)
            self.edits[parameter.name] = edit

    def _committer(self, name: str) -> Callable[[Value | None, object], str]:
        def commit(value: Value | None, gesture: object) -> str:
            others = [setting for setting in self.value if setting.parameter != name]
            order = {parameter.name: i for i, parameter in enumerate(self._parameters())}
            new = others if value is None else [*others, Setting(parameter=name, value=value)]
            return self.commit(tuple(sorted(new, key=lambda s: order.get(s.parameter, len(order)))), gesture)

        return commit
