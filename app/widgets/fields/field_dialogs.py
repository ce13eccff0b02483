"""Small dialogs of the editing commands: confirmation of a deletion with its consequences, and the draft of a new
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

from app.document.revision import Ref
from app.document.session import Session
from app.plain_text import as_title
from app.preferences.element_icons import icon_of
from app.preferences.icons import icon
from app.widgets.fields.element_form import ElementForm
from app.widgets.fields.field_editor import Context, Together
from app.widgets.fields.fields_form import replaced
from app.widgets.label import Label, Note
from app.widgets.quantities.quantity_text import Units
from core.errors import KinetostatError
from core.model import WORDS, Model
from core.model.differences import Removal, removal
from core.model.edits import edits
from core.model.edits.rewiring import together
from core.model.fields import Element, fields_of


class RemovalDialog(QDialog):
    """Asks before deleting an element on which others depend; lists what is deleted with it and what keeps its
    value."""

    def __init__(self, session: Session, ref: Ref, effect: Removal, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self.ref, self.effect = session, ref, effect
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        word = WORDS[ref.collection]
        self.setWindowTitle(as_title(f"Delete {word} {ref.name}"))
        self.list = QListWidget(self)
        self.list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        keeps = f" – {self._kept_words}" if effect.gone else ""
        for (collection, element), words in (
            *((each, "") for each in effect.gone),
            *((each, keeps) for each in effect.kept),
        ):
            text = f"{WORDS[collection]} {element.name}{words}"
            self.list.addItem(QListWidgetItem(icon(icon_of(collection, element)), text))
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
        column.addWidget(self._wrapped_label(f"{loose_bodies_text(effect)} It can be undone.".strip()))
        column.addWidget(buttons)
        self.resize(420, min(420, 180 + 22 * self.list.count()))

    @property
    def _kept_words(self) -> str:
        return "keeps its colour" if self.ref.collection == "materials" else "keeps its present value"

    @property
    def _lead_sentence(self) -> str:
        if not self.effect.gone:
            return f"Elements that use it {self._kept_words}:"
        keep = ", or keep its value" if self.effect.kept or self.effect.world else ""
        return f"These elements depend on it and are deleted too{keep}:"

    def _wrapped_label(self, text: str) -> Label:
        label = Label(text, self)
        label.setWordWrap(True)
        return label

    def accept(self) -> None:
        """Delete the element in one undo step."""
        remove_now(self.session, self.ref)
        super().accept()


def loose_bodies_text(effect: Removal) -> str:
    """Describe which bodies a deletion leaves without joints to the ground; '' if none."""
    return f"Without joints to the ground, moving freely: {', '.join(effect.adrift)}." if effect.adrift else ""


def remove_now(session: Session, ref: Ref) -> bool:
    """Delete an element with its dependents."""
    return session.apply(
        f"Delete {WORDS[ref.collection]} {ref.name}", lambda model: edits.remove(model, ref.collection, ref.name)
    )


def remove(session: Session, ref: Ref, parent: QWidget | None = None) -> RemovalDialog | None:
    """Delete an element; if others are affected, open and return a dialog that lists them first."""
    effect = removal(session.model, *ref)
    if not effect.harmless:
        dialog = RemovalDialog(session, ref, effect, parent)
        dialog.open()
        return dialog
    if remove_now(session, ref) and effect.adrift:
        session.message.emit("hint", loose_bodies_text(effect))
    return None


class DraftDialog(QDialog):
    """A new element before it is added: its main fields, checked while typing."""

    def __init__(
        self,
        session: Session,
        settings: Units,
        title: str,
        draft: Element,
        fields: tuple[str, ...],
        added: Callable[[Model, Any], Model] = edits.add,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.session, self.settings, self.draft = session, settings, draft
        self.added = added
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(as_title(title))
        skip = tuple(field.name for field in fields_of(type(draft)) if field.name not in fields)
        self.form = ElementForm(type(draft), self._put, skip=skip)
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
        self._show()
        self.resize(420, min(560, self.form.sizeHint().height() + 110))

    def _show(self) -> None:
        model = self.session.model
        self.form.show_element(
            self.draft,
            Context(
                model=model,
                settings=self.settings,
                values=model.values(),
            ),
        )

    def _put(self, name: str, value: Any, gesture: object) -> str:
        try:
            fields = value if isinstance(value, Together) else together(self.session.model, self.draft, name, value)
        except KinetostatError as error:
            return f"{error.what} {error.remedy}".strip()
        new, problem = replaced(self.draft, name, Together(fields))
        if not problem:
            self.draft = new
            self._show()
        return problem

    def keyPressEvent(self, event: Any) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.add_button.hasFocus():
            return  # Enter finishes the field, not the dialog
        super().keyPressEvent(event)

    def accept(self) -> None:
        """Add the element; a refusal is shown here."""
        element: Any = self.draft
        try:
            new = self.added(self.session.model, element)
        except KinetostatError as error:
            self.note.say(f"{error.what} {error.remedy}".strip(), "error")
            return
        collection = edits.collection_of(element)
        ref = Ref(collection, element.name)
        if self.session.apply(f"Add {WORDS[collection]} {element.name}", lambda _m: new, select=ref):
            super().accept()
