"""Form for the declared fields of an element, with a label column and an editor column. The subclass `ElementForm`
(`element_form`) chooses the editor of each field, so that editors of nested elements can contain forms too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QMenu, QWidget

from app.plain_text import escape_tip
from app.widgets.fields.field_editor import Context, FieldEditor, FieldValues
from app.widgets.fields.number_editors import (
    LabelDragScrubber,
    LinkLengthEditor,
    NumberEditor,
)
from app.widgets.fields.shown_fields import ADVANCED, LENGTH_FIELD, field_applies, field_title
from app.widgets.form_layout import CollapsibleSection, move_focus, tab_stops
from app.widgets.label import Label, set_accessible_input_names
from core.errors import KinetostatError
from core.model import Body, Model
from core.model.fields import (
    Element,
    Field,
    declared_fields,
)

JOINED = "\u2060"
"""Character that keeps a unit on the same line as its label."""
LABEL_WIDTH = 96

Put = Callable[[str, Any, object], str]
"""put(field, new value, gesture) returns '' or the reason for a refusal."""


class FieldsForm(QWidget):
    """Form with all fields of an element type. The widgets are reused as long as the type stays the same."""

    def editor_class(self, field: Field) -> type[FieldEditor]:
        """Return the editor class for a field."""
        raise NotImplementedError

    def __init__(
        self,
        element: type,
        change_field: Put,
        path: str = "",
        skip: tuple[str, ...] = (),
        parent: QWidget | None = None,
        fold: bool = True,
    ) -> None:
        super().__init__(parent)
        self.type, self.put, self.path = element, change_field, path
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
        self.rarely: FieldsForm | None = None
        rare = tuple(name for name in ADVANCED.get(element, ()) if name not in skip) if fold else ()
        for field in declared_fields(element):
            if field.name not in skip + rare:
                self._add_editor(field)
            if element is Body and field.name == "name":
                self._add_editor(LENGTH_FIELD, LinkLengthEditor)
        if rare:
            self._collapse_rare_fields(rare)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus with Tab in reading order, including fields expanded later."""
        if enclosing_form(self) is not None:
            return super().focusNextPrevChild(forward)
        if move_focus(self, forward):
            return True
        for _ in tab_stops(self):
            gone, focus = super().focusNextPrevChild(forward), self.window().focusWidget()
            if not gone or focus is None or not self.isAncestorOf(focus):
                return gone
        return True

    def _collapse_rare_fields(self, rare: tuple[str, ...]) -> None:
        """Put the rarely needed fields into a collapsible group at the end."""
        others = tuple(field.name for field in declared_fields(self.type) if field.name not in rare)
        form = self.rarely = type(self)(self.type, self.put, self.path, others, fold=False)
        section = CollapsibleSection(
            "Advanced", lambda: form, f"{self.type.__name__}.advanced", opened=False, parent=self
        )
        form.setParent(section)
        form.setVisible(section.is_open)
        self.rare_section = section
        self.editors.update(form.editors)
        for editor in form.editors.values():
            editor.section = section
        self.grid.addWidget(section, self.grid.rowCount(), 0, 1, 2)

    def _add_editor(self, field: Field, editor_class: type[FieldEditor] | None = None) -> None:
        path = f"{self.path}.{field.name}" if self.path else field.name
        editor = (editor_class or self.editor_class(field))(
            self.type, field, path, self._commit_function(field.name), self
        )
        row = self.grid.rowCount()
        self.editors[field.name] = editor
        if editor.wide:
            self.grid.addWidget(editor, row, 0, 1, 2)
            return
        label = Label(field_title(field, self.type), self)
        set_accessible_input_names(editor, label.text())
        label.setToolTip(escape_tip(field.help))
        label.setBuddy(editor)
        label.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        label.customContextMenuRequested.connect(lambda point, f=field: self._open_label_menu(f, point))
        if isinstance(editor, NumberEditor):
            LabelDragScrubber(label, editor.edit)
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
        context = context.nested_context(element)
        for field in (*declared_fields(self.type), LENGTH_FIELD):
            editor = self.editors.get(field.name)
            if editor is None or editor.parent() is not self:
                continue
            derived = field is LENGTH_FIELD
            shown = field_applies(element, field, context.model)
            editor.setVisible(shown)
            label = self.labels.get(field.name)
            if label is not None:
                label.setVisible(shown)
            if not shown:
                continue
            editor.show_value(None if derived else getattr(element, field.name), element, context)
            if not derived:
                editor.show_findings(context.findings.get(editor.path, ()), context.notes.get(editor.path, ""))
            unit = editor.label_unit().replace("/", f"{JOINED}/{JOINED}")
            if label is not None:
                title = field_title(field, self.type)
                label.setText(f"{title} ({unit})" if unit else title)

        if self.rarely is not None:
            self.rarely.show_element(element, context)
            used = any(
                field_applies(element, f, context.model)
                for f in declared_fields(self.type)
                if f.name in ADVANCED[self.type]
            )
            self.rare_section.setVisible(used)

    def _open_label_menu(self, field: Field, point: Any) -> None:
        if field.required or self.element is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        action = menu.addAction("Reset to the default")
        action.setEnabled(getattr(self.element, field.name) != field.default)
        action.triggered.connect(lambda: self.editors[field.name].try_commit(field.default))
        menu.popup(self.labels[field.name].mapToGlobal(point))


def replace_field(element: Any, name: str, value: Any) -> tuple[Any, str]:
    """Return (element with a field replaced, ''), or (None, reason) if the value is not possible."""
    try:
        return dataclasses.replace(element, **(value if isinstance(value, FieldValues) else {name: value})), ""
    except KinetostatError as error:
        return None, f"{error.what} {error.remedy}".strip()


def enclosing_form(widget: QWidget) -> FieldsForm | None:
    """Return the form that contains a widget."""
    holder = widget.parentWidget()
    while holder is not None and not isinstance(holder, FieldsForm):
        holder = holder.parentWidget()
    return holder


def build_nested_form(
    editor: FieldEditor, element: type, change_field: Put, path: str, skip: tuple[str, ...] = ()
) -> FieldsForm:
    """Build a form for a nested element, of the same class as the form that contains the editor."""
    form = enclosing_form(editor)
    assert form is not None
    return type(form)(element, change_field, path, skip)
