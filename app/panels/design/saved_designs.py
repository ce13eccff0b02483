"""Saved designs of the document: the settings of the Design panel, saved under a name and loaded from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from app.document.session import Session
from app.plain_text import escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from core.errors import KinetostatError
from core.model import Aim, Model
from core.model.edits import edits


class SavedDesigns(QWidget):
    """List of the document's designs with a Save button. shown(aim) : loads a design into the panel; asked(name) :
    returns the panel's contents as a design; refused(words) : reports why one is not accepted."""

    def __init__(
        self,
        session: Session,
        shown: Callable[[Aim], None],
        asked: Callable[[str], Aim],
        refused: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._session, self._shown, self._asked, self._refused = session, shown, asked, refused
        self.names = NarrowCombo()
        self.names.setEditable(True)
        self.names.setInsertPolicy(NarrowCombo.InsertPolicy.NoInsert)
        self.names.setAccessibleName("Saved design")
        self.names.setToolTip(escape_tip("Designs saved in the document; type a name to save another one"))
        line = self.names.lineEdit()
        assert isinstance(line, QLineEdit)
        line.setPlaceholderText("Not saved")
        self.names.activated.connect(lambda _: self.load_design())
        self.save_button = QPushButton(
            "Save", toolTip=escape_tip("Save these settings as a design in the document (can be undone)")
        )
        self.save_button.clicked.connect(lambda: self.save_design())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.names, 1)
        row.addWidget(self.save_button)
        self.update_names()

    def update_names(self) -> None:
        """Update the list of names; text being typed is kept."""
        text = self.names.currentText()
        self.names.blockSignals(True)
        self.names.clear()
        self.names.addItems([aim.name for aim in self._session.model.designs])
        self.names.setCurrentIndex(-1)
        self.names.setEditText(text)
        self.names.blockSignals(False)

    def load_design(self) -> None:
        """Load the selected design into the panel."""
        name = self.names.currentText().strip()
        found = next((aim for aim in self._session.model.designs if aim.name == name), None)
        if found is not None:
            self._shown(found)

    def show_design(self, name: str) -> None:
        """Select a design and load it into the panel."""
        self.names.setCurrentText(name)
        self.load_design()

    def save_design(self) -> None:
        """Save the panel's contents under the selected or typed name, or under an unused one."""
        model = self._session.model
        name = self.names.currentText().strip() or edits.unused_name(model, "designs", "design")
        try:
            aim = self._asked(name)
        except (KinetostatError, ValueError) as error:
            self._refused(str(error))
            return

        def edit(model: Model) -> Model:
            old = next((each for each in model.designs if each.name == name), None)
            if old is None:
                return edits.add(model, aim)
            return edits.replace(model, old, dataclasses.replace(aim, description=old.description))

        if self._session.apply(f"Save design {name}", edit):
            self.names.setEditText(name)
