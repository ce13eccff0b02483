"""Editors for nested elements: one element in a group, a list of elements with buttons to add, remove and reorder them,
and tables with a form below for fields that do not fit in a row (rows of a DH chain, limits of a joint with their
stops)."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.fields.field_editor import Commit, Context, FieldEditor, FieldValues
from app.widgets.fields.fields_form import FieldsForm, build_nested_form, replace_field
from app.widgets.fields.shown_fields import coordinate_titles, field_title, type_title
from app.widgets.fields.table_editor import TableEditor
from app.widgets.form_layout import CollapsibleSection
from app.widgets.quantities.quantity_text import Measure, append_unit, evaluate_value, format_number
from core.errors import KinetostatError
from core.model import SHAPE_TYPES, DHRow, Inertia, Model, Pose, Shape, Strand
from core.model.edits.rewiring import default_strand, dependent_field_changes
from core.model.fields import (
    Element,
    Field,
    NestedElementKind,
    NestedElementsKind,
    ReferenceKind,
    SignalKind,
    declared_fields,
)


def create_element(element: type, model: Model, owner: Element, siblings: tuple[Any, ...] = ()) -> Any:
    """Create a nested element with default values; required references name the first suitable element, quantities the
    first coordinate that no sibling names."""
    from app.widgets.fields.choice_editors import selectable_names

    if element is Strand:
        return default_strand(model)
    given: dict[str, Any] = {}
    for field in declared_fields(element):
        if field.required and isinstance(field.kind, ReferenceKind):
            itself = getattr(owner, "name", "")
            fitting = [name for name in selectable_names(model, field.kind.target) if name != itself]
            if not fitting:
                raise KinetostatError(
                    f"There is no suitable {field.kind.target} in the model yet.", remedy="Add one first."
                )
            given[field.name] = fitting[0]
        elif field.required and isinstance(field.kind, SignalKind):
            used = {getattr(other, field.name, "") for other in siblings}
            given[field.name] = next((name for name in coordinate_names(model) if name not in used), "t")
    return element(**given)


def coordinate_names(model: Model) -> list[str]:
    """Return the names of all joint coordinates, written as in quantities ("joint.q")."""
    joints = model.expanded.joints
    return [
        f"{joint.name}.{word}.q" if word else f"{joint.name}.q" for joint in joints for word in joint.info.coordinates
    ]


def types_by_title(element: Any) -> dict[str, type]:
    """Return the element types that a list may contain, by title."""
    if element is Shape or issubclass(element, Shape):
        return dict(SHAPE_TYPES)
    kinds = typing.get_args(element) or (element,)
    return {kind.__name__.lower(): kind for kind in kinds}


def summarize_element(element: Element, context: Context) -> str:
    """Return a short description of an element for its collapsed group."""
    if isinstance(element, Pose):
        return "at the origin" if element == Pose() else _position_text(element, context)
    if isinstance(element, Inertia) and element == Inertia():
        return "zero"
    if isinstance(element, Shape):
        return "" if element.role == "both" else element.role
    return element.summary


def _position_text(pose: Pose, context: Context) -> str:
    length = Measure("length")
    numbers = [evaluate_value(item, context.values) for item in pose.position]
    texts = ["?" if x is None else format_number(x, length, context.settings, 3) for x in numbers]
    return append_unit(f"({', '.join(texts)})", length, context.settings) + (
        "" if not any(pose.rotation) else ", turned"
    )


class NestedElementEditor(FieldEditor):
    """Editor for one nested element in a collapsible group; an optional element can be added and removed."""

    wide = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, NestedElementKind)
        self.kind: NestedElementKind = field.kind
        self.value: Any = None
        self._shown: tuple[Element, Context] | None = None
        self.form: FieldsForm | None = None
        opened = field.kind.element is not Pose or field.name == "pose"
        self.section = CollapsibleSection(
            field_title(field, owner), self._build_form, f"{owner.__name__}.{field.name}", opened=opened
        )
        self.section.arrow.setToolTip(escape_tip(field.help))
        self.section.folded.connect(lambda _on: self._refresh_form())
        self.column.addWidget(self.section)
        self.toggle: QToolButton | None = None
        if field.kind.optional:
            self.toggle = self.section.add_button("add", f"Add: {field.help.lower()}", self._add_or_remove)

    def _build_form(self) -> QWidget:
        self.form = build_nested_form(self, self.kind.element, self._change_field, self.path)
        self._refresh_form()
        return self.form

    def _change_field(self, name: str, value: Any, gesture: object) -> str:
        new, problem = replace_field(self.value, name, value)
        return problem or self.commit(new, gesture)

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        was_none = self.value is None
        self.value = value
        self._shown = (owner, context)
        self.show_note("")
        if self.toggle is not None:
            self.toggle.setIcon(icon("add" if value is None else "remove"))
            self.toggle.setToolTip(escape_tip(("Add: " if value is None else "Remove: ") + self.field.help.lower()))
            self.toggle.setEnabled(not context.read_only)
            self.section.arrow.setEnabled(value is not None)
            if value is None:
                self.section.set_open(False)
            elif was_none:
                self.section.set_open(True)
        self.section.show_summary("none" if value is None else summarize_element(value, context))
        self._refresh_form()

    def _refresh_form(self) -> None:
        if self.form is not None and self._shown is not None and self.value is not None and self.section.is_open:
            self.form.show_element(self.value, self._shown[1])

    def _add_or_remove(self) -> None:
        assert self._shown is not None
        owner, context = self._shown
        try:
            self.try_commit(None if self.value is not None else create_element(self.kind.element, context.model, owner))
        except KinetostatError as error:
            self.show_note(str(error), "error")


class ElementListEditor(FieldEditor):
    """Editor for a list of nested elements: one group for each, with buttons to move, copy and remove it."""

    wide = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, NestedElementsKind)
        self.types = types_by_title(field.kind.element)
        self.value: tuple[Any, ...] = ()
        self._shown: tuple[Element, Context] | None = None
        self.items: list[tuple[type, CollapsibleSection]] = []
        self.section = CollapsibleSection(field_title(field, owner), self._build_list, f"{owner.__name__}.{field.name}")
        self.section.arrow.setToolTip(escape_tip(field.help))
        self.column.addWidget(self.section)

    def _build_list(self) -> QWidget:
        box = QWidget()
        self.list = QVBoxLayout(box)
        self.list.setContentsMargins(0, 0, 0, 0)
        self.list.setSpacing(2)
        self.add_button = QPushButton(icon("add"), "Add", box)
        self.add_button.setFlat(True)
        if len(self.types) > 1:
            menu = QMenu(self.add_button)
            for word, kind in self.types.items():
                menu.addAction(icon(word), type_title(kind).capitalize(), lambda kind=kind: self.add_element(kind))
            self.add_button.setMenu(menu)
        else:
            kind = next(iter(self.types.values()))
            self.add_button.clicked.connect(lambda: self.add_element(kind))
        self.list.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        return box

    def add_element(self, kind: type) -> str:
        """Append a new element of the given type."""
        assert self._shown is not None
        try:
            return self.try_commit(
                (*self.value, create_element(kind, self._shown[1].model, self._shown[0], self.value))
            )
        except KinetostatError as error:
            self.show_note(str(error), "error")
            return str(error)

    def show_value(self, value: tuple[Any, ...], owner: Element, context: Context) -> None:
        self.value = value
        self._shown = (owner, context)
        self.section.set_title(
            f"{field_title(self.field, self.owner)} ({len(value)})" if value else field_title(self.field, self.owner)
        )
        self.section.show_summary("" if value else "none")
        if self.section.content is None:
            return
        self.add_button.setVisible(not context.read_only)
        self._match_groups_to_elements()
        for i in range(len(value)):
            self._refresh_group(i)

    def _match_groups_to_elements(self) -> None:
        """Create one group per element, keeping those whose type matches."""
        for i, item in enumerate(self.value):
            if i < len(self.items) and self.items[i][0] is type(item):
                continue
            if i < len(self.items):
                self._remove_group(i)
            section = self._build_group(i, type(item))
            self.items.insert(i, (type(item), section))
            self.list.insertWidget(i, section)
        while len(self.items) > len(self.value):
            self._remove_group(len(self.items) - 1)

    def _remove_group(self, index: int) -> None:
        _, section = self.items.pop(index)
        section.hide()
        self.list.removeWidget(section)
        section.deleteLater()

    def _build_group(self, index: int, kind: type) -> CollapsibleSection:
        def build_form() -> QWidget:
            return build_nested_form(
                self,
                kind,
                lambda name, value, gesture: self._change_field(index, name, value, gesture),
                f"{self.path}.{index}",
            )

        section = CollapsibleSection(type_title(kind).capitalize(), build_form, opened=len(self.value) <= 2)
        section.folded.connect(lambda _on: self._refresh_group(index))
        section.add_button("up", "Move up", lambda: self._move_element(index, -1))
        section.add_button("duplicate", "Duplicate", lambda: self._copy_element(index))
        section.add_button("remove", "Remove", lambda: self._remove_element(index))
        return section

    def _refresh_group(self, index: int) -> None:
        if self._shown is None or index >= len(self.items):
            return
        kind, section = self.items[index]
        context = self._shown[1]
        section.set_title(f"{index + 1}  {type_title(kind).capitalize()}")
        section.show_summary(summarize_element(self.value[index], context))
        form = section.content
        if isinstance(form, FieldsForm) and section.is_open:
            form.show_element(self.value[index], context)

    def _change_field(self, index: int, name: str, value: Any, gesture: object) -> str:
        assert self._shown is not None
        given = (
            value
            if isinstance(value, FieldValues)
            else dependent_field_changes(self._shown[1].model, self.value[index], name, value)
        )
        new, problem = replace_field(self.value[index], name, FieldValues(given))
        return problem or self.commit((*self.value[:index], new, *self.value[index + 1 :]), gesture)

    def _move_element(self, index: int, offset: int) -> None:
        other = index + offset
        if 0 <= other < len(self.value):
            items = list(self.value)
            items[index], items[other] = items[other], items[index]
            self.try_commit(tuple(items))

    def _copy_element(self, index: int) -> None:
        self.try_commit((*self.value[: index + 1], dataclasses.replace(self.value[index]), *self.value[index + 1 :]))

    def _remove_element(self, index: int) -> None:
        self.try_commit((*self.value[:index], *self.value[index + 1 :]))


class RowsEditor(TableEditor):
    """Table with buttons below it, and a form for the fields of the selected row that do not fit in the table."""

    fixed_rows = False

    def add_widgets_below(self, box: QWidget, column: QVBoxLayout) -> None:
        self.table.currentCellChanged.connect(lambda *_: self._show_row_form())
        column.addLayout(self._build_buttons(box))
        self.detail = CollapsibleSection(
            "Row", self._build_row_form, f"{self.owner.__name__}.{self.field.name}.row", opened=False
        )
        self.detail.folded.connect(lambda _on: self._show_row_form())
        column.addWidget(self.detail)

    def update_widgets_below(self) -> None:
        assert self._shown is not None
        for button in self.buttons.values():
            button.setEnabled(not self._shown[1].read_only)
        self._show_row_form()

    def _build_buttons(self, box: QWidget) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(0)
        self.buttons: dict[str, QToolButton] = {}
        for name, words, run in (
            ("add", "Add a row", self.add_row),
            ("duplicate", "Duplicate the row", self.copy_row),
            ("up", "Move the row up", lambda: self.move_row(-1)),
            ("down", "Move the row down", lambda: self.move_row(1)),
            ("remove", "Remove the row", self.remove_row),
        ):
            button = QToolButton(box, icon=icon(name), toolTip=escape_tip(words), autoRaise=True)
            button.setAccessibleName(words)
            button.clicked.connect(run)
            self.buttons[name] = button
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _build_row_form(self) -> QWidget:
        form = build_nested_form(self, self.type, self._change_row_field, f"{self.path}.0", skip=self.columns)
        return form

    def _show_row_form(self) -> None:
        if self._shown is None:
            return
        row = max(0, self.table.currentRow())
        self.detail.setVisible(row < len(self.value))
        self.detail.set_title(f"Row {row + 1}: symbol, mass, limits, shapes")
        form = self.detail.content
        if isinstance(form, FieldsForm) and self.detail.is_open and row < len(self.value):
            form.show_element(self.value[row], self._row_context(self._shown[1], row))

    def _row_context(self, context: Context, row: int) -> Context:
        """Return the context for the form of one row, with its paths rewritten to those of the first row."""
        form, own = f"{self.path}.0", f"{self.path}.{row}"

        def path_in_row(path: str) -> str:
            return own + path.removeprefix(form)

        promote, suggest = context.promote, context.suggest
        found = {
            form + path.removeprefix(own): each
            for path, each in context.findings.items()
            if path == own or path.startswith(f"{own}.")
        }
        tops = {path: ".".join(path.split(".")[: form.count(".") + 2]) for path in found}
        for path, top in tops.items():
            if path != top:
                found[top] = (*found.get(top, ()), *found[path])
        return dataclasses.replace(
            context,
            findings=found,
            defaults={
                form + path.removeprefix(own): each
                for path, each in context.defaults.items()
                if path.startswith(f"{own}.")
            },
            promote=None if promote is None else lambda path: promote(path_in_row(path)),
            suggest=None if suggest is None else lambda path: suggest(path_in_row(path)),
        )

    def open_row(self, row: int, field: str) -> FieldEditor:
        """Select a row; return the editor for one of its fields in the form, or this editor for fields in the table."""
        self.section.set_open(True)
        self.table.setCurrentCell(row, 0)
        if field in self.columns or not field:
            return self
        self.detail.set_open(True)
        form = self.detail.content
        return form.editors.get(field, self) if isinstance(form, FieldsForm) else self

    def _change_row_field(self, name: str, value: Any, gesture: object) -> str:
        return self.commit_field(max(0, self.table.currentRow()), name, value, gesture)

    def add_row(self) -> None:
        """Add a row after the current one."""
        row = self.table.currentRow()
        at = row + 1 if 0 <= row < len(self.value) else len(self.value)
        self._commit_rows([*self.value[:at], self.type(), *self.value[at:]], at)

    def copy_row(self) -> None:
        """Insert a copy of the current row after it."""
        row = self.table.currentRow()
        if 0 <= row < len(self.value):
            self._commit_rows([*self.value[: row + 1], self._copy_without_name(row), *self.value[row + 1 :]], row + 1)

    def _copy_without_name(self, row: int) -> Any:
        return dataclasses.replace(self.value[row], variable="") if self.type is DHRow else self.value[row]

    def move_row(self, offset: int) -> None:
        """Swap the current row with the neighbour at the given offset (±1)."""
        row, other = self.table.currentRow(), self.table.currentRow() + offset
        if 0 <= row < len(self.value) and 0 <= other < len(self.value):
            items = list(self.value)
            items[row], items[other] = items[other], items[row]
            self._commit_rows(items, other)

    def remove_row(self) -> None:
        """Remove the current (or last) row."""
        row = self.table.currentRow() if 0 <= self.table.currentRow() < len(self.value) else len(self.value) - 1
        if row >= 0:
            self._commit_rows([*self.value[:row], *self.value[row + 1 :]], row)

    def _commit_rows(self, items: list[Any], current_row: int) -> None:
        if not self.try_commit(tuple(items)):
            self.table.setCurrentCell(min(current_row, len(items) - 1), max(0, self.table.currentColumn()))


class JointLimitsEditor(RowsEditor):
    """Editor for joint limits, with one row per coordinate."""

    fixed_rows = True

    def add_widgets_below(self, box: QWidget, column: QVBoxLayout) -> None:
        self.table.currentCellChanged.connect(lambda *_: self._show_row_form())
        self.detail = CollapsibleSection(
            "Stops", self._build_row_form, f"{self.owner.__name__}.{self.field.name}.row", opened=False
        )
        self.detail.folded.connect(lambda _on: self._show_row_form())
        column.addWidget(self.detail)

    def update_widgets_below(self) -> None:
        self._show_row_form()

    def _show_row_form(self) -> None:
        if self._shown is None:
            return
        joint, context = self._shown
        row = min(max(0, self.table.currentRow()), self._row_count() - 1)
        limit = self.value[row] if row < len(self.value) else self.type()
        self.detail.setVisible(limit.lower is not None or limit.upper is not None)
        titles = coordinate_titles(joint)
        self.detail.set_title(f"Stops of {titles[row]}" if len(titles) > 1 else "Stops")
        self.detail.show_summary(limit.stop)
        form = self.detail.content
        if isinstance(form, FieldsForm) and self.detail.is_open:
            form.show_element(limit, self._row_context(context, row))
