"""Form of the declared fields of an element: label column, editor column. The editor of each field is chosen by the
subclass `ElementForm` (`element_form`), so that editors of nested elements can have forms, too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QMenu, QWidget

from app.plain_text import as_tip
from app.widgets.fields.field_editor import Context, FieldEditor, Together
from app.widgets.fields.number_editors import (
    LengthEditor,
    NumberEditor,
    Scrubber,
)
from app.widgets.fields.shown_fields import ADVANCED, LENGTH_FIELD, applies, field_title
from app.widgets.form_layout import Section, tab_step, tab_stops
from app.widgets.label import Label, name_inputs
from core.errors import KinetostatError
from core.model import Body, Model
from core.model.fields import (
    Element,
    Field,
    fields_of,
)

JOINED = "\u2060"
"""Character that keeps a unit on the same line as its label."""
LABEL_WIDTH = 96

Put = Callable[[str, Any, object], str]
"""put(field, new value, gesture) returns '' or the reason for a refusal."""


class FieldsForm(QWidget):
    """All fields of an element type. The widgets are kept while the type stays the same."""

    def editor_class(self, field: Field) -> type[FieldEditor]:
        """Return the editor for a field, by its kind."""
        raise NotImplementedError

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
        self.rarely: FieldsForm | None = None
        rare = tuple(name for name in ADVANCED.get(element, ()) if name not in skip) if fold else ()
        for field in fields_of(element):
            if field.name not in skip + rare:
                self._add(field)
            if element is Body and field.name == "name":
                self._add(LENGTH_FIELD, LengthEditor)
        if rare:
            self._collapse_rare_fields(rare)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move with Tab in reading order, including fields expanded since."""
        if form_around(self) is not None:
            return super().focusNextPrevChild(forward)
        if tab_step(self, forward):
            return True
        for _ in tab_stops(self):
            gone, focus = super().focusNextPrevChild(forward), self.window().focusWidget()
            if not gone or focus is None or not self.isAncestorOf(focus):
                return gone
        return True

    def _collapse_rare_fields(self, rare: tuple[str, ...]) -> None:
        """Put the rarely needed fields into a collapsible group at the end."""
        others = tuple(field.name for field in fields_of(self.type) if field.name not in rare)
        form = self.rarely = type(self)(self.type, self.put, self.path, others, fold=False)
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
        editor = (made or self.editor_class(field))(self.type, field, path, self._commit_function(field.name), self)
        row = self.grid.rowCount()
        self.editors[field.name] = editor
        if editor.wide:
            self.grid.addWidget(editor, row, 0, 1, 2)
            return
        label = Label(field_title(field, self.type), self)
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
        for field in (*fields_of(self.type), LENGTH_FIELD):
            editor = self.editors.get(field.name)
            if editor is None or editor.parent() is not self:
                continue
            derived = field is LENGTH_FIELD
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
                title = field_title(field, self.type)
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


def form_around(widget: QWidget) -> FieldsForm | None:
    """Return the form that contains a widget."""
    holder = widget.parentWidget()
    while holder is not None and not isinstance(holder, FieldsForm):
        holder = holder.parentWidget()
    return holder


def nested_form(editor: FieldEditor, element: type, put: Put, path: str, skip: tuple[str, ...] = ()) -> FieldsForm:
    """Return a form for a nested element, of the class of the form that contains the editor."""
    form = form_around(editor)
    assert form is not None
    return type(form)(element, put, path, skip)
