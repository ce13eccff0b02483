"""Editors of nested elements: one element in a group, a list of them with buttons to add, remove and reorder, and
tables with a form beneath for fields that do not fit in a row (rows of a DH chain, limits of a joint with their stops).
"""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.fields.field_editor import Commit, Context, FieldEditor, Together
from app.widgets.fields.fields_form import FieldsForm, nested_form, replaced
from app.widgets.fields.shown_fields import coordinate_titles, field_title, type_title
from app.widgets.fields.table_editor import TableEditor
from app.widgets.form_layout import Section
from app.widgets.quantities.quantity_text import Measure, number, value_in, with_unit
from core.errors import KinetostatError
from core.model import SHAPE_TYPES, DHRow, Inertia, Model, Pose, Shape, Strand
from core.model.edits.rewiring import first_strand, together
from core.model.fields import Element, Field, PartKind, PartsKind, ReferenceKind, SignalKind, fields_of


def fresh(element: type, model: Model, owner: Element, siblings: tuple[Any, ...] = ()) -> Any:
    """Return a new nested element with its defaults; required references name the first suitable element, quantities
    the first coordinate that no sibling names."""
    from app.widgets.fields.choice_editors import names_for

    if element is Strand:
        return first_strand(model)
    given: dict[str, Any] = {}
    for field in fields_of(element):
        if field.required and isinstance(field.kind, ReferenceKind):
            itself = getattr(owner, "name", "")
            fitting = [name for name in names_for(model, field.kind.target) if name != itself]
            if not fitting:
                raise KinetostatError(f"There is no other {field.kind.target} yet.", remedy="Add one first.")
            given[field.name] = fitting[0]
        elif field.required and isinstance(field.kind, SignalKind):
            used = {getattr(other, field.name, "") for other in siblings}
            given[field.name] = next((name for name in coordinates(model) if name not in used), "t")
    return element(**given)


def coordinates(model: Model) -> list[str]:
    """Return the names of joint coordinates, as quantities use them."""
    joints = model.expanded.joints
    return [
        f"{joint.name}.{word}.q" if word else f"{joint.name}.q" for joint in joints for word in joint.info.coordinates
    ]


def types_of(element: Any) -> dict[str, type]:
    """Return the element types that a list may hold, by their titles."""
    if element is Shape or issubclass(element, Shape):
        return dict(SHAPE_TYPES)
    kinds = typing.get_args(element) or (element,)
    return {kind.__name__.lower(): kind for kind in kinds}


def summary_of(element: Element, context: Context) -> str:
    """Return a short description for a collapsed group."""
    if isinstance(element, Pose):
        return "at the origin" if element == Pose() else _position_text(element, context)
    if isinstance(element, Inertia) and element == Inertia():
        return "zero"
    if isinstance(element, Shape):
        return "" if element.role == "both" else element.role
    return element.summary


def _position_text(pose: Pose, context: Context) -> str:
    length = Measure("length")
    numbers = [value_in(item, context.values) for item in pose.position]
    texts = ["?" if x is None else number(x, length, context.settings, 3) for x in numbers]
    return with_unit(f"({', '.join(texts)})", length, context.settings) + ("" if not any(pose.rotation) else ", turned")


class PartEditor(FieldEditor):
    """One nested element in a collapsible group; an optional one can be added and removed."""

    wide = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, PartKind)
        self.kind: PartKind = field.kind
        self.value: Any = None
        self._shown: tuple[Element, Context] | None = None
        self.form: FieldsForm | None = None
        opened = field.kind.element is not Pose or field.name == "pose"
        self.section = Section(field_title(field, owner), self._make, f"{owner.__name__}.{field.name}", opened=opened)
        self.section.arrow.setToolTip(as_tip(field.help))
        self.section.folded.connect(lambda _on: self._refresh())
        self.column.addWidget(self.section)
        self.toggle: QToolButton | None = None
        if field.kind.optional:
            self.toggle = self.section.add_button("add", f"Add: {field.help.lower()}", self._toggle)

    def _make(self) -> QWidget:
        self.form = nested_form(self, self.kind.element, self._put, self.path)
        self._refresh()
        return self.form

    def _put(self, name: str, value: Any, gesture: object) -> str:
        new, problem = replaced(self.value, name, value)
        return problem or self.commit(new, gesture)

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        was_none = self.value is None
        self.value = value
        self._shown = (owner, context)
        self.explain("")
        if self.toggle is not None:
            self.toggle.setIcon(icon("add" if value is None else "remove"))
            self.toggle.setToolTip(as_tip(("Add: " if value is None else "Remove: ") + self.field.help.lower()))
            self.toggle.setEnabled(not context.read_only)
            self.section.arrow.setEnabled(value is not None)
            if value is None:
                self.section.open(False)
            elif was_none:
                self.section.open(True)
        self.section.summarize("none" if value is None else summary_of(value, context))
        self._refresh()

    def _refresh(self) -> None:
        if self.form is not None and self._shown is not None and self.value is not None and self.section.opened:
            self.form.show_element(self.value, self._shown[1])

    def _toggle(self) -> None:
        assert self._shown is not None
        owner, context = self._shown
        try:
            self.attempt(None if self.value is not None else fresh(self.kind.element, context.model, owner))
        except KinetostatError as error:
            self.explain(str(error), "error")


class PartsEditor(FieldEditor):
    """A list of nested elements: a group for each, with buttons to move, copy and remove it."""

    wide = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, PartsKind)
        self.types = types_of(field.kind.element)
        self.value: tuple[Any, ...] = ()
        self._shown: tuple[Element, Context] | None = None
        self.items: list[tuple[type, Section]] = []
        self.section = Section(field_title(field, owner), self._make, f"{owner.__name__}.{field.name}")
        self.section.arrow.setToolTip(as_tip(field.help))
        self.column.addWidget(self.section)

    def _make(self) -> QWidget:
        box = QWidget()
        self.list = QVBoxLayout(box)
        self.list.setContentsMargins(0, 0, 0, 0)
        self.list.setSpacing(2)
        self.add_button = QPushButton(icon("add"), "Add", box)
        self.add_button.setFlat(True)
        if len(self.types) > 1:
            menu = QMenu(self.add_button)
            for word, kind in self.types.items():
                menu.addAction(icon(word), type_title(kind).capitalize(), lambda kind=kind: self.add(kind))
            self.add_button.setMenu(menu)
        else:
            kind = next(iter(self.types.values()))
            self.add_button.clicked.connect(lambda: self.add(kind))
        self.list.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        return box

    def add(self, kind: type) -> str:
        """Append a new element of a kind."""
        assert self._shown is not None
        try:
            return self.attempt((*self.value, fresh(kind, self._shown[1].model, self._shown[0], self.value)))
        except KinetostatError as error:
            self.explain(str(error), "error")
            return str(error)

    def show_value(self, value: tuple[Any, ...], owner: Element, context: Context) -> None:
        self.value = value
        self._shown = (owner, context)
        self.section.set_title(
            f"{field_title(self.field, self.owner)} ({len(value)})" if value else field_title(self.field, self.owner)
        )
        self.section.summarize("" if value else "none")
        if self.section.content is None:
            return
        self.add_button.setVisible(not context.read_only)
        self._match_groups()
        for i in range(len(value)):
            self._refresh(i)

    def _match_groups(self) -> None:
        """Create one group per element, keeping those whose type matches."""
        for i, item in enumerate(self.value):
            if i < len(self.items) and self.items[i][0] is type(item):
                continue
            if i < len(self.items):
                self._drop(i)
            section = self._section(i, type(item))
            self.items.insert(i, (type(item), section))
            self.list.insertWidget(i, section)
        while len(self.items) > len(self.value):
            self._drop(len(self.items) - 1)

    def _drop(self, index: int) -> None:
        _, section = self.items.pop(index)
        section.hide()
        self.list.removeWidget(section)
        section.deleteLater()

    def _section(self, index: int, kind: type) -> Section:
        def make() -> QWidget:
            return nested_form(
                self, kind, lambda name, value, gesture: self._put(index, name, value, gesture), f"{self.path}.{index}"
            )

        section = Section(type_title(kind).capitalize(), make, opened=len(self.value) <= 2)
        section.folded.connect(lambda _on: self._refresh(index))
        section.add_button("up", "Move up", lambda: self._move(index, -1))
        section.add_button("duplicate", "Duplicate", lambda: self._copy(index))
        section.add_button("remove", "Remove", lambda: self._remove(index))
        return section

    def _refresh(self, index: int) -> None:
        if self._shown is None or index >= len(self.items):
            return
        kind, section = self.items[index]
        context = self._shown[1]
        section.set_title(f"{index + 1}  {type_title(kind).capitalize()}")
        section.summarize(summary_of(self.value[index], context))
        form = section.content
        if isinstance(form, FieldsForm) and section.opened:
            form.show_element(self.value[index], context)

    def _put(self, index: int, name: str, value: Any, gesture: object) -> str:
        assert self._shown is not None
        given = value if isinstance(value, Together) else together(self._shown[1].model, self.value[index], name, value)
        new, problem = replaced(self.value[index], name, Together(given))
        return problem or self.commit((*self.value[:index], new, *self.value[index + 1 :]), gesture)

    def _move(self, index: int, by: int) -> None:
        other = index + by
        if 0 <= other < len(self.value):
            items = list(self.value)
            items[index], items[other] = items[other], items[index]
            self.attempt(tuple(items))

    def _copy(self, index: int) -> None:
        self.attempt((*self.value[: index + 1], dataclasses.replace(self.value[index]), *self.value[index + 1 :]))

    def _remove(self, index: int) -> None:
        self.attempt((*self.value[:index], *self.value[index + 1 :]))


class RowsEditor(TableEditor):
    """Table with buttons beneath it, and a form for the selected row's fields that do not fit in the table."""

    fixed_rows = False

    def complete(self, box: QWidget, column: QVBoxLayout) -> None:
        self.table.currentCellChanged.connect(lambda *_: self._show_detail())
        column.addLayout(self._buttons(box))
        self.detail = Section("Row", self._make_detail, f"{self.owner.__name__}.{self.field.name}.row", opened=False)
        self.detail.folded.connect(lambda _on: self._show_detail())
        column.addWidget(self.detail)

    def show_beneath(self) -> None:
        assert self._shown is not None
        for button in self.buttons.values():
            button.setEnabled(not self._shown[1].read_only)
        self._show_detail()

    def _buttons(self, box: QWidget) -> QHBoxLayout:
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
            button = QToolButton(box, icon=icon(name), toolTip=as_tip(words), autoRaise=True)
            button.setAccessibleName(words)
            button.clicked.connect(run)
            self.buttons[name] = button
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _make_detail(self) -> QWidget:
        form = nested_form(self, self.type, self._put_detail, f"{self.path}.0", skip=self.columns)
        return form

    def _show_detail(self) -> None:
        if self._shown is None:
            return
        row = max(0, self.table.currentRow())
        self.detail.setVisible(row < len(self.value))
        self.detail.set_title(f"Row {row + 1}: symbol, mass, limits, shapes")
        form = self.detail.content
        if isinstance(form, FieldsForm) and self.detail.opened and row < len(self.value):
            form.show_element(self.value[row], self._context_of(self._shown[1], row))

    def _context_of(self, context: Context, row: int) -> Context:
        """Return the context for the form of one row, with paths of the first row."""
        form, own = f"{self.path}.0", f"{self.path}.{row}"

        def there(path: str) -> str:
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
            promote=None if promote is None else lambda path: promote(there(path)),
            suggest=None if suggest is None else lambda path: suggest(there(path)),
        )

    def open_row(self, row: int, field: str) -> FieldEditor:
        """Select a row; return the editor of one of its fields in the form, or this editor for fields in the table."""
        self.section.open(True)
        self.table.setCurrentCell(row, 0)
        if field in self.columns or not field:
            return self
        self.detail.open(True)
        form = self.detail.content
        return form.editors.get(field, self) if isinstance(form, FieldsForm) else self

    def _put_detail(self, name: str, value: Any, gesture: object) -> str:
        return self.put(max(0, self.table.currentRow()), name, value, gesture)

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

    def move_row(self, by: int) -> None:
        """Swap the current row with its neighbour."""
        row, other = self.table.currentRow(), self.table.currentRow() + by
        if 0 <= row < len(self.value) and 0 <= other < len(self.value):
            items = list(self.value)
            items[row], items[other] = items[other], items[row]
            self._commit_rows(items, other)

    def remove_row(self) -> None:
        """Remove the current (or last) row."""
        row = self.table.currentRow() if 0 <= self.table.currentRow() < len(self.value) else len(self.value) - 1
        if row >= 0:
            self._commit_rows([*self.value[:row], *self.value[row + 1 :]], row)

    def _commit_rows(self, items: list[Any], current: int) -> None:
        if not self.attempt(tuple(items)):
            self.table.setCurrentCell(min(current, len(items) - 1), max(0, self.table.currentColumn()))


class LimitsEditor(RowsEditor):
    """Editor of joint limits, with a row for each coordinate."""

    fixed_rows = True

    def complete(self, box: QWidget, column: QVBoxLayout) -> None:
        self.table.currentCellChanged.connect(lambda *_: self._show_detail())
        self.detail = Section("Stops", self._make_detail, f"{self.owner.__name__}.{self.field.name}.row", opened=False)
        self.detail.folded.connect(lambda _on: self._show_detail())
        column.addWidget(self.detail)

    def show_beneath(self) -> None:
        self._show_detail()

    def _show_detail(self) -> None:
        if self._shown is None:
            return
        joint, context = self._shown
        row = min(max(0, self.table.currentRow()), self._rows() - 1)
        limit = self.value[row] if row < len(self.value) else self.type()
        self.detail.setVisible(limit.lower is not None or limit.upper is not None)
        titles = coordinate_titles(joint)
        self.detail.set_title(f"Stops of {titles[row]}" if len(titles) > 1 else "Stops")
        self.detail.summarize(limit.stop)
        form = self.detail.content
        if isinstance(form, FieldsForm) and self.detail.opened:
            form.show_element(limit, self._context_of(context, row))
