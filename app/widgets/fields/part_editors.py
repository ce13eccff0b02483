"""Editors of nested elements: one element in a group, or a list of them with buttons to add, remove and reorder."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.fields.element_form import ElementForm, replaced
from app.widgets.fields.field_editor import Commit, Context, FieldEditor, Together
from app.widgets.fields.shown_fields import field_title, type_title
from app.widgets.quantities.quantity_text import Measure, number, value_in, with_unit
from app.widgets.section import Section
from core.errors import KinetostatError
from core.model import SHAPE_TYPES, Inertia, Model, Pose, Shape, Strand
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
        self.form: ElementForm | None = None
        opened = field.kind.element is not Pose or field.name == "pose"
        self.section = Section(field_title(field, owner), self._make, f"{owner.__name__}.{field.name}", opened=opened)
        self.section.arrow.setToolTip(as_tip(field.help))
        self.section.folded.connect(lambda _on: self._refresh())
        self.column.addWidget(self.section)
        self.toggle: QToolButton | None = None
        if field.kind.optional:
            self.toggle = self.section.add_button("add", f"Add: {field.help.lower()}", self._toggle)

    def _make(self) -> QWidget:
        self.form = ElementForm(self.kind.element, self._put, self.path)
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
            return ElementForm(
                kind, lambda name, value, gesture: self._put(index, name, value, gesture), f"{self.path}.{index}"
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
        if isinstance(form, ElementForm) and section.opened:
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
