"""Dialog that appends formulas to a file with a label, in a chosen language; file and language are remembered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.document.session import Session
from app.preferences.settings import Settings
from app.widgets.note import Note
from core.errors import KinetostatError
from core.functions.subjects.symbols import append
from core.symbolic.export import EXPORTS

Written = Callable[[str, str], str]
FILE, LANGUAGE = "formulas/file", "formulas/language"
SUFFIXES = {"latex": "tex", "mathematica": "m", "python": "py", "sympy": "py", "c": "c"}


class AppendDialog(QDialog):
    """Dialog for label, language and file.

    written : the formulas, in a language and under a label; own : the label they have, if they have one together
    """

    def __init__(self, parent: QWidget, written: Written, own: str, session: Session, settings: Settings) -> None:
        super().__init__(parent)
        self.setWindowTitle("Append to a file")
        self._written, self._session, self._settings = written, session, settings
        self.label = QLineEdit()
        self.label.setPlaceholderText(own or "its own name")
        self.language = QComboBox()
        for language, (title, _, _) in EXPORTS.items():
            self.language.addItem(title, language)
        self.language.setCurrentIndex(max(0, self.language.findData(settings.value(LANGUAGE, "text"))))
        self.file = QLineEdit(str(settings.value(FILE, "")))
        self.file.setMinimumWidth(340)
        browse = QPushButton("Choose…")
        browse.clicked.connect(self._browse)
        place = QWidget()
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.file, 1)
        row.addWidget(browse)
        form = QFormLayout()
        form.addRow("Label", self.label)
        form.addRow("Language", self.language)
        form.addRow("File", place)
        self.note = Note()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.add = self.buttons.addButton("Append", QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.note)
        column.addWidget(self.buttons)

    def _browse(self) -> None:
        suffix = SUFFIXES.get(self.language.currentData(), "txt")
        kept = QFileDialog.Option.DontConfirmOverwrite
        start = self.file.text() or str((self._session.folder or Path.home()) / f"formulas.{suffix}")
        path, _ = QFileDialog.getSaveFileName(self, "Append to", start, options=kept)
        if path:
            self.file.setText(path)

    def accept(self) -> None:
        """Write the formulas; errors are shown in the dialog."""
        path, language = self.file.text().strip(), str(self.language.currentData())
        if not path:
            self.note.say("Name a file.", "error")
            self.file.setFocus()
            return
        try:
            append(path, self._written(language, self.label.text().strip()))
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self._settings.remember(FILE, path)
        self._settings.remember(LANGUAGE, language)
        self._session.message.emit("done", f"Appended to {path}")
        super().accept()


def append_formulas(parent: QWidget, written: Written, own: str, session: Session, settings: Settings) -> AppendDialog:
    """Open the dialog that appends formulas to a file."""
    dialog = AppendDialog(parent, written, own, session, settings)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
