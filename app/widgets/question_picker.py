"""Choice of a panel's settings among the elements of a collection of the document, with a Save button."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QWidget

from app.background.lifetime import Lifetime
from app.document.revision import Ref, State, exists, successor
from app.document.session import Session
from app.plain_text import as_tip
from app.preferences.element_icons import collection_icon
from app.preferences.icons import icon
from app.widgets.fields.choice_editors import Combo
from app.widgets.plain_keys import FieldKeys
from core.errors import KinetostatError
from core.model import WORDS
from core.model.edits import edits
from core.model.fields import Element


class QuestionPicker(QWidget):
    """Combo box of names, in which a new one can be typed, and a Save button that makes one undo step."""

    def __init__(
        self,
        session: Session,
        collection: str,
        make: Callable[[str], Element],
        show: Callable[[Any], None],
        say: Callable[[str, str], None],
    ) -> None:
        """Create the picker. make(name) : returns the panel's settings as an element, or raises a KinetostatError;
        show(element) : loads an element into the panel; say(words, severity) : shows a message."""
        super().__init__()
        self._session, self._collection = session, collection
        self._make, self._show, self._say = make, show, say
        self._chosen, self._saving = "", False
        self.word = WORDS[collection]
        self.box = Combo(self)
        self.box.setEditable(True)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setAccessibleName(f"Name of the {self.word}")
        self.box.setToolTip(
            as_tip(f"Choose one of the document, or type a name and save these settings as {self.word}")
        )
        self.box.setMinimumContentsLength(9)
        line = self.box.lineEdit()
        line.setPlaceholderText("Not saved")
        line.returnPressed.connect(self._on_name_entered)
        FieldKeys(line, line.isUndoAvailable)
        self.box.activated.connect(lambda _index: self.choose(self.box.currentText()))
        self.save_button = QPushButton(
            "Save", toolTip=as_tip(f"Save these settings in the document as {self.word} of this name")
        )
        self.save_button.clicked.connect(lambda: self.save())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.box, 1)
        row.addWidget(self.save_button)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_document_changed), (session.selected, self._on_selected))
        self._update_names()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    @property
    def chosen(self) -> str:
        """Return the name of the element loaded or saved last; "" for none."""
        return self._chosen

    def choose(self, name: str) -> None:
        """Load the element of this name into the panel."""
        element = self._element_named(name)
        if element is None:
            return
        self._chosen = name
        self.box.setCurrentText(name)
        self._show(element)

    def save(self) -> bool:
        """Save the panel's settings under the name in the box or a new one."""
        name = self.box.currentText().strip() or edits.unused_name(
            self._session.model, self._collection, self.word.replace(" ", "_")
        )
        there = self._element_named(name)
        try:
            element = self._make(name)
        except KinetostatError as error:
            self._say(str(error), "error")
            return False
        if element == there:
            return True
        put = (lambda m: edits.add(m, element)) if there is None else (lambda m: edits.replace(m, there, element))
        self._saving = True
        done = self._session.apply(f"{'Save' if there is None else 'Change'} {self.word} {name}", put)
        self._saving = False
        if done:
            self._chosen = name
            self._update_names()
            self._say(f"Saved in the document as “{name}”.", "done")
        return done

    # ------------------------------------------------------------------------------------------------ inside

    def _on_name_entered(self) -> None:
        """Handle Return: load the element of the typed name, or save the settings under it."""
        name = self.box.currentText().strip()
        self.choose(name) if self._element_named(name) is not None else self.save()

    def _element_named(self, name: str) -> Element | None:
        elements = getattr(self._session.model, self._collection)
        return next((each for each in elements if each.name == name), None)

    def _update_names(self) -> None:
        """Update the list of names; typed text is kept."""
        names = [element.name for element in getattr(self._session.model, self._collection)]
        shown = self._chosen or self.box.currentText()
        if names != [self.box.itemText(k) for k in range(self.box.count())]:
            self.box.clear()
            for name in names:
                self.box.addItem(icon(collection_icon(self._collection)), name)
        self.box.setCurrentIndex(self.box.findText(shown))
        self.box.setCurrentText(shown)

    def _on_document_changed(self, old: State, new: State) -> None:
        if old.model is new.model:
            return
        before = self._chosen
        now = successor(old.model, new.model, Ref(self._collection, before)) if before else None
        self._chosen = "" if now is None else now.name
        self._update_names()
        if self._saving or now is None:
            return
        was = next((each for each in getattr(old.model, self._collection) if each.name == before), None)
        element = self._element_named(self._chosen)
        if element is not None and element != was:
            self._show(element)

    def _on_selected(self, ref: Ref | None) -> None:
        if ref is not None and ref.collection == self._collection and ref.name != self._chosen:
            self.choose(ref.name if exists(self._session.model, ref) else "")
