"""Form generated from the declared fields of an element: label column, editor column, groups for nested elements."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QMenu, QWidget

from app.plain_text import as_tip
from app.widgets.accessible import name_inputs
from app.widgets.fields.applicability import ADVANCED, LENGTH, applies
from app.widgets.fields.choice_editors import ChoiceEditor, CoordinateEditor, FlagEditor, ReferenceEditor
from app.widgets.fields.field_editor import Context, FieldEditor, Together
from app.widgets.fields.formula_edit import FormulaEditor, FormulaVectorEditor
from app.widgets.fields.length_editor import LengthEditor
from app.widgets.fields.number_editors import CoordinatesEditor, NumberEditor, RotationEditor, Scrubber, VectorEditor
from app.widgets.fields.text_editors import ColorEditor, FileEditor, NotesEditor, TextEditor
from app.widgets.fields.titles import columns_of, title_of
from app.widgets.label import Label
from app.widgets.section import Section
from app.widgets.tab_order import step, stops
from core.errors import KinetostatError
from core.model import Body, Driver, Limit, Model, Setting
from core.model.fields import (
    ChoiceKind,
    ColorKind,
    Element,
    FamilyKind,
    Field,
    FlagKind,
    FormulaKind,
    FormulaVectorKind,
    NameKind,
    PartKind,
    PartsKind,
    ReferenceKind,
    ScalarKind,
    SignalKind,
    TextKind,
    VectorKind,
    fields_of,
)

JOINED = "\u2060"
"""Character that keeps a unit on the same line as its label."""
LABEL_WIDTH = 96

Put = Callable[[str, Any, object], str]
"""put(field, new value, gesture) returns '' or the reason for a refusal."""


def editor_class(field: Field, owner: type = object) -> type[FieldEditor]:
    """Return the editor for a field of an element, by its kind."""
    from app.widgets.fields.driver_editors import SourceEditor, TableOfTimes
    from app.widgets.fields.part_editors import PartEditor
    from app.widgets.fields.recorded_signal_editors import ColumnEditor, RecordedSignalEditor

    match field.kind:
        case FormulaKind(states=False):
            return SourceEditor
        case FormulaKind():
            return FormulaEditor
        case FormulaVectorKind():
            return FormulaVectorEditor
        case VectorKind(sizes=(), dimension="time"):
            return TableOfTimes
        case TextKind() if field.name == "coordinate":
            return CoordinateEditor
        case VectorKind(sizes=(3, 4)):
            return RotationEditor
        case VectorKind(sizes=()):
            return CoordinatesEditor
        case TextKind(role="file"):
            return RecordedSignalEditor if owner is Driver else FileEditor
        case TextKind() if field.name == "column" and owner is Driver:
            return ColumnEditor
        case TextKind() if field.name in ("description", "content"):
            return NotesEditor
        case PartsKind(element=element):
            return _parts_editor(element)
    plain: dict[type, type[FieldEditor]] = {
        ScalarKind: NumberEditor,
        VectorKind: VectorEditor,
        NameKind: TextEditor,
        TextKind: TextEditor,
        SignalKind: TextEditor,
        ReferenceKind: ReferenceEditor,
        ChoiceKind: ChoiceEditor,
        FamilyKind: ChoiceEditor,
        FlagKind: FlagEditor,
        ColorKind: ColorEditor,
        PartKind: PartEditor,
    }
    return plain[type(field.kind)]


def _parts_editor(element: Any) -> type[FieldEditor]:
    """Return the editor for a list of nested elements."""
    from app.widgets.fields.part_editors import PartsEditor
    from app.widgets.fields.rows_editor import LimitsEditor, RowsEditor
    from app.widgets.fields.settings_editor import SettingsEditor

    if element is Setting:
        return SettingsEditor
    if not columns_of(element):
        return PartsEditor
    return LimitsEditor if element is Limit else RowsEditor


class ElementForm(QWidget):
    """All fields of an element type. The widgets are kept while the type stays the same."""

    def __init__(
        self,
        element: type,
        put: Put,
        path: str = "",
        skip: tuple[str, ...] = (),
        parent: QWidget | None = None,
        fold: bool = True,
    ) -> None:
        super().__init__(parent)
        self.type, self.put, self.path = element, put, path
        self.element: Element | None = None
        self.model: Model | None = None
        self.labels: dict[str, QLabel] = {}
        self.editors: dict[str, FieldEditor] = {}
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(8)
        self.grid.setVerticalSpacing(5)
        self.grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        self.grid.setColumnStretch(1, 1)
        self.rarely: ElementForm | None = None
        rare = tuple(name for name in ADVANCED.get(element, ()) if name not in skip) if fold else ()
        for field in fields_of(element):
            if field.name not in skip + rare:
                self._add(field)
            if element is Body and field.name == "name":
                self._add(LENGTH, LengthEditor)
        if rare:
            self._collapse_rare_fields(rare)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move with Tab in reading order, including fields expanded since."""
        if self.parent_form() is not None:
            return super().focusNextPrevChild(forward)
        if step(self, forward):
            return True
        for _ in stops(self):
            gone, focus = super().focusNextPrevChild(forward), self.window().focusWidget()
            if not gone or focus is None or not self.isAncestorOf(focus):
                return gone
        return True

    def parent_form(self) -> ElementForm | None:
        """Return the form that contains this one."""
        holder = self.parentWidget()
        while holder is not None and not isinstance(holder, ElementForm):
            holder = holder.parentWidget()
        return holder

    def _collapse_rare_fields(self, rare: tuple[str, ...]) -> None:
        """Put the rarely needed fields into a collapsible group at the end."""
        others = tuple(field.name for field in fields_of(self.type) if field.name not in rare)
        form = self.rarely = ElementForm(self.type, self.put, self.path, others, fold=False)
        section = Section("Advanced", lambda: form, f"{self.type.__name__}.advanced", opened=False, parent=self)
        form.setParent(section)
        form.setVisible(section.opened)
        self.rare_section = section
        self.editors.update(form.editors)
        for editor in form.editors.values():
            editor.section = section
        self.grid.addWidget(section, self.grid.rowCount(), 0, 1, 2)

    def _add(self, field: Field, made: type[FieldEditor] | None = None) -> None:
        path = f"{self.path}.{field.name}" if self.path else field.name
        editor = (made or editor_class(field, self.type))(
            self.type, field, path, self._commit_function(field.name), self
        )
        row = self.grid.rowCount()
        self.editors[field.name] = editor
        if editor.wide:
            self.grid.addWidget(editor, row, 0, 1, 2)
            return
        label = Label(title_of(field, self.type), self)
        name_inputs(editor, label.text())
        label.setToolTip(as_tip(field.help))
        label.setBuddy(editor)
        label.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        label.customContextMenuRequested.connect(lambda point, f=field: self._label_menu(f, point))
        if isinstance(editor, NumberEditor):
            Scrubber(label, editor.edit)
        self.labels[field.name] = label
        if editor.broad:
            self.grid.addWidget(label, row, 0, 1, 2)
            self.grid.addWidget(editor, row + 1, 0, 1, 2)
            return
        label.setWordWrap(True)
        label.setFixedWidth(LABEL_WIDTH)
        label.setContentsMargins(0, 4, 0, 0)
        self.grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
        self.grid.addWidget(editor, row, 1)

    def _commit_function(self, name: str) -> Callable[[Any, object], str]:
        def commit(value: Any, gesture: object) -> str:
            return self.put(name, value, gesture)

        return commit

    def show_element(self, element: Element, context: Context) -> None:
        """Show an element of this type."""
        self.element, self.model = element, context.model
        context = context.inside(element)
        for field in (*fields_of(self.type), LENGTH):
            editor = self.editors.get(field.name)
            if editor is None or editor.parent() is not self:
                continue
            derived = field is LENGTH
            shown = applies(element, field, context.model)
            editor.setVisible(shown)
            label = self.labels.get(field.name)
            if label is not None:
                label.setVisible(shown)
            if not shown:
                continue
            editor.show_value(None if derived else getattr(element, field.name), element, context)
            if not derived:
                editor.show_findings(context.findings.get(editor.path, ()), context.notes.get(editor.path, ""))
            unit = editor.unit().replace("/", f"{JOINED}/{JOINED}")
            if label is not None:
                title = title_of(field, self.type)
                label.setText(f"{title} ({unit})" if unit else title)

        if self.rarely is not None:
            self.rarely.show_element(element, context)
            used = any(
                applies(element, f, context.model) for f in fields_of(self.type) if f.name in ADVANCED[self.type]
            )
            self.rare_section.setVisible(used)

    def _label_menu(self, field: Field, point: Any) -> None:
        if field.required or self.element is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        action = menu.addAction("Reset to the default")
        action.setEnabled(getattr(self.element, field.name) != field.default)
        action.triggered.connect(lambda: self.editors[field.name].attempt(field.default))
        menu.popup(self.labels[field.name].mapToGlobal(point))


def replaced(element: Any, name: str, value: Any) -> tuple[Any, str]:
    """Return (the element with a field replaced, '') or (None, the reason why that is not possible)."""
    try:
        return dataclasses.replace(element, **(value if isinstance(value, Together) else {name: value})), ""
    except KinetostatError as error:
        return None, f"{error.what} {error.remedy}".strip()
