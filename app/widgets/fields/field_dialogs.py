"""Small dialogs of the editing commands: confirmation of a deletion with its consequences, and entry of a new
element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.document.revision import ElementRef
from app.document.session import Session
from app.plain_text import escape_title
from app.preferences.element_icons import element_icon
from app.preferences.icons import icon
from app.widgets.fields.element_form import ElementForm
from app.widgets.fields.field_editor import Context, FieldValues
from app.widgets.fields.fields_form import replace_field
from app.widgets.label import Label, Note
from app.widgets.quantities.quantity_text import Units
from core.errors import KinetostatError
from core.model import WORDS, Model
from core.model.differences import RemovalConsequences, removal_consequences
from core.model.edits import edits
from core.model.edits.rewiring import dependent_field_changes
from core.model.fields import Element, declared_fields


class RemovalDialog(QDialog):
    """Asks for confirmation before deleting an element on which others depend; lists what is deleted with it and what
    keeps its value."""

    def __init__(
        self, session: Session, ref: ElementRef, effect: RemovalConsequences, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.session, self.ref, self.effect = session, ref, effect
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        word = WORDS[ref.collection]
        self.setWindowTitle(escape_title(f"Delete {word} {ref.name}"))
        self.list = QListWidget(self)
        self.list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        keeps = f" – {self._kept_values_text}" if effect.gone else ""
        for (collection, element), words in (
            *((each, "") for each in effect.gone),
            *((each, keeps) for each in effect.kept),
        ):
            text = f"{WORDS[collection]} {element.name}{words}"
            self.list.addItem(QListWidgetItem(icon(element_icon(collection, element)), text))
        if effect.world:
            self.list.addItem(QListWidgetItem(icon("world"), f"gravity of the world{keeps}"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, parent=self)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setIcon(icon("cancel"))
        delete = buttons.addButton("Delete", QDialogButtonBox.ButtonRole.AcceptRole)
        delete.setIcon(icon("delete"))
        delete.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self._wrapped_label(f"Delete the {word} “{ref.name}”? {self._lead_sentence}"))
        column.addWidget(self.list)
        column.addWidget(self._wrapped_label(f"{loose_bodies_text(effect)} Deleting can be undone.".strip()))
        column.addWidget(buttons)
        self.resize(420, min(420, 180 + 22 * self.list.count()))

    @property
    def _kept_values_text(self) -> str:
        return "keeps its colour" if self.ref.collection == "materials" else "keeps its present value"

    @property
    def _lead_sentence(self) -> str:
        if not self.effect.gone:
            return f"The elements that use it {self._kept_values_text}:"
        keep = ", or keep their present value" if self.effect.kept or self.effect.world else ""
        return f"These elements depend on it and are also deleted{keep}:"

    def _wrapped_label(self, text: str) -> Label:
        label = Label(text, self)
        label.setWordWrap(True)
        return label

    def accept(self) -> None:
        """Delete the element in one undo step."""
        remove_without_asking(self.session, self.ref)
        super().accept()


def loose_bodies_text(effect: RemovalConsequences) -> str:
    """Describe which bodies a deletion leaves without joints to the ground; '' if none."""
    return f"No longer connected to the ground, free to move: {', '.join(effect.adrift)}." if effect.adrift else ""


def remove_without_asking(session: Session, ref: ElementRef) -> bool:
    """Delete an element and its dependents without asking."""
    return session.apply(
        f"Delete {WORDS[ref.collection]} {ref.name}", lambda model: edits.remove(model, ref.collection, ref.name)
    )


def remove(session: Session, ref: ElementRef, parent: QWidget | None = None) -> RemovalDialog | None:
    """Delete an element; if other elements are affected, first open and return a dialog that lists them."""
    effect = removal_consequences(session.model, *ref)
    if not effect.is_harmless:
        dialog = RemovalDialog(session, ref, effect, parent)
        dialog.open()
        return dialog
    if remove_without_asking(session, ref) and effect.adrift:
        session.message.emit("hint", loose_bodies_text(effect))
    return None


class DraftDialog(QDialog):
    """Dialog for a new element before it is added: its main fields, checked while the user types."""

    def __init__(
        self,
        session: Session,
        settings: Units,
        title: str,
        draft: Element,
        fields: tuple[str, ...],
        add_to_model: Callable[[Model, Any], Model] = edits.add,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.session, self.settings, self.draft = session, settings, draft
        self.added = add_to_model
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(escape_title(title))
        skip = tuple(field.name for field in declared_fields(type(draft)) if field.name not in fields)
        self.form = ElementForm(type(draft), self._change_field, skip=skip)
        self.note = Note(self)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        holder = QWidget()
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self.form)
        inner.addStretch(1)
        area.setWidget(holder)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, parent=self)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setIcon(icon("cancel"))
        self.add_button = buttons.addButton("Add", QDialogButtonBox.ButtonRole.AcceptRole)
        self.add_button.setIcon(icon("add"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(area, 1)
        column.addWidget(self.note)
        column.addWidget(buttons)
        self._show_draft()
        self.resize(420, min(560, self.form.sizeHint().height() + 110))

    def _show_draft(self) -> None:
        model = self.session.model
        self.form.show_element(
            self.draft,
            Context(
                model=model,
                settings=self.settings,
                values=model.values(),
            ),
        )

    def _change_field(self, name: str, value: Any, gesture: object) -> str:
        try:
            fields = (
                value
                if isinstance(value, FieldValues)
                else dependent_field_changes(self.session.model, self.draft, name, value)
            )
        except KinetostatError as error:
            return f"{error.what} {error.remedy}".strip()
        new, problem = replace_field(self.draft, name, FieldValues(fields))
        if not problem:
            self.draft = new
            self._show_draft()
        return problem

    def keyPressEvent(self, event: Any) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.add_button.hasFocus():
            return  # Enter finishes the field, not the dialog
        super().keyPressEvent(event)

    def accept(self) -> None:
        """Add the element; if it is refused, the reason is shown in the dialog."""
        element: Any = self.draft
        try:
            new = self.added(self.session.model, element)
        except KinetostatError as error:
            self.note.show_text(f"{error.what} {error.remedy}".strip(), "error")
            return
        collection = edits.collection_of(element)
        ref = ElementRef(collection, element.name)
        if self.session.apply(f"Add {WORDS[collection]} {element.name}", lambda _m: new, select=ref):
            super().accept()
