"""Form generated from the declared fields of an element, with an editor for each kind of field and collapsible groups
for nested elements."""

from __future__ import annotations

from typing import Any

from app.widgets.fields.choice_editors import ChoiceEditor, CoordinateEditor, FlagEditor, ReferenceEditor
from app.widgets.fields.driver_editors import ColumnEditor, RecordedSignalEditor, SourceEditor, TimeTableEditor
from app.widgets.fields.field_editor import FieldEditor
from app.widgets.fields.fields_form import FieldsForm
from app.widgets.fields.formula_edit import FormulaEditor, FormulaVectorEditor
from app.widgets.fields.number_editors import (
    CoordinatesEditor,
    NumberEditor,
    RotationEditor,
    VectorEditor,
)
from app.widgets.fields.part_editors import ElementListEditor, JointLimitsEditor, NestedElementEditor, RowsEditor
from app.widgets.fields.settings_editor import SettingsEditor
from app.widgets.fields.shown_fields import table_columns
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
    NestedElementKind,
    NestedElementsKind,
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
    """Return the editor class for a field of an element."""

    match field.kind:
        case FormulaKind(states=False):
            return SourceEditor
        case FormulaKind():
            return FormulaEditor
        case FormulaVectorKind():
            return FormulaVectorEditor
        case VectorKind(sizes=(), dimension="time"):
            return TimeTableEditor
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
        case NestedElementsKind(element=element):
            return _list_editor_class(element)
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
        NestedElementKind: NestedElementEditor,
    }
    return plain[type(field.kind)]


def _list_editor_class(element: Any) -> type[FieldEditor]:
    """Return the editor class for a list of nested elements."""

    if element is Setting:
        return SettingsEditor
    if not table_columns(element):
        return ElementListEditor
    return JointLimitsEditor if element is Limit else RowsEditor
