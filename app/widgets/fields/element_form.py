"""Form generated from the declared fields of an element, with an editor for each kind of field and groups for nested
elements."""

from __future__ import annotations

from typing import Any

from app.widgets.fields.choice_editors import ChoiceEditor, CoordinateEditor, FlagEditor, ReferenceEditor
from app.widgets.fields.driver_editors import ColumnEditor, RecordedSignalEditor, SourceEditor, TableOfTimes
from app.widgets.fields.field_editor import FieldEditor
from app.widgets.fields.fields_form import FieldsForm
from app.widgets.fields.formula_edit import FormulaEditor, FormulaVectorEditor
from app.widgets.fields.number_editors import (
    CoordinatesEditor,
    NumberEditor,
    RotationEditor,
    VectorEditor,
)
from app.widgets.fields.part_editors import LimitsEditor, PartEditor, PartsEditor, RowsEditor
from app.widgets.fields.settings_editor import SettingsEditor
from app.widgets.fields.shown_fields import columns_of
from app.widgets.fields.text_editors import ColorEditor, FileEditor, NotesEditor, TextEditor
from core.model import Driver, Limit, Setting
from core.model.fields import (
    ChoiceKind,
    ColorKind,
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
)


class ElementForm(FieldsForm):
    """Form of all fields of an element type."""

    def editor_class(self, field: Field) -> type[FieldEditor]:
        return editor_class(field, self.type)


def editor_class(field: Field, owner: type = object) -> type[FieldEditor]:
    """Return the editor for a field of an element, by its kind."""

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

    if element is Setting:
        return SettingsEditor
    if not columns_of(element):
        return PartsEditor
    return LimitsEditor if element is Limit else RowsEditor
