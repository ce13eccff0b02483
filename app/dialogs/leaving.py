"""The dialog shown before unsaved work is discarded: a list of the items that would be lost, each with a check box."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.document.kept.recovery_copies import format_count
from app.document.run_tree import RunRecord
from app.preferences.icons import icon
from app.widgets.label import Label

ROWS = 8
"""Number of list rows visible without scrolling."""


class UnsavedWork(NamedTuple):
    """Unsaved work: edits of the document since it was saved, deletions of runs stored with it, and new runs."""

    name: str
    edits: int
    deleted: int
    runs: tuple[RunRecord, ...]

    @property
    def document_changes(self) -> tuple[str, ...]:
        """Descriptions of the unsaved changes to the document itself."""
        deleted = (f"{format_count(self.deleted, 'run')} deleted",) if self.deleted else ()
        return (format_count(self.edits, "edit"), *deleted) if self.edits else deleted

    @property
    def unsaved_items(self) -> tuple[str, ...]:
        """One line for each item that would be lost."""
        document = (f"{self.name}: {', '.join(self.document_changes)}",) if self.document_changes else ()
        return *document, *(_describe_run(record) for record in self.runs)

    @property
    def summary(self) -> str:
        """Summary of the unsaved work, e.g. "four_bar: 3 edits, 2 runs"."""
        parts = (*self.document_changes, *((format_count(len(self.runs), "run"),) if self.runs else ()))
        return f"{self.name}: {', '.join(parts)}"


class SaveChoice(NamedTuple):
    """The user's choice of items to save; if none is set, everything is discarded."""

    document: bool = False
    runs: tuple[RunRecord, ...] = ()

    def __bool__(self) -> bool:
        return self.document or bool(self.runs)


def ask(parent: QWidget, loss: UnsavedWork) -> SaveChoice | None:
    """Ask which items to save before closing; returns None if the user cancels."""
    dialog = LeavingDialog(parent, loss)
    try:
        return dialog.wanted if dialog.exec() == QDialog.DialogCode.Accepted else None
    finally:
        dialog.deleteLater()


class LeavingDialog(QDialog):
    """Dialog with Save (all or the checked items), Discard and Cancel; Esc cancels."""

    def __init__(self, parent: QWidget, loss: UnsavedWork) -> None:
        super().__init__(parent)
        self._loss = loss
        self.wanted = SaveChoice()
        self.setWindowTitle("Unsaved work")
        question = Label(f"Save {loss.summary}?")
        question.setWordWrap(True)
        font = question.font()
        font.setBold(True)
        question.setFont(font)
        rest = Label("Items that are not checked are lost.")
        self.list = QListWidget()
        self.list.setAccessibleName("What would be lost")
        pictures = [*(["model"] if loss.document_changes else []), *["simulate" for _ in loss.runs]]
        for words, picture in zip(loss.unsaved_items, pictures, strict=True):
            item = QListWidgetItem(icon(picture), words, self.list)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
        self.list.setFixedHeight(
            min(ROWS, self.list.count()) * self.list.sizeHintForRow(0) + 2 * self.list.frameWidth()
        )
        self.list.itemChanged.connect(self._update_buttons)
        buttons = QDialogButtonBox()
        self.save = buttons.addButton("Save all", QDialogButtonBox.ButtonRole.AcceptRole)
        self.discard = buttons.addButton("Discard", QDialogButtonBox.ButtonRole.DestructiveRole)
        buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        self.save.setDefault(True)
        self.save.clicked.connect(self._save)
        self.discard.clicked.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for part in (question, self.list, rest, buttons):
            column.addWidget(part)
        self.resize(440, self.sizeHint().height())

    @property
    def _checked_items(self) -> list[bool]:
        return [self.list.item(k).checkState() == Qt.CheckState.Checked for k in range(self.list.count())]

    def _update_buttons(self) -> None:
        ticks = self._checked_items
        self.save.setText("Save all" if all(ticks) else "Save checked")
        self.save.setEnabled(any(ticks))

    def _save(self) -> None:
        ticks = self._checked_items
        document = ticks.pop(0) if self._loss.document_changes else False
        self.wanted = SaveChoice(document, tuple(r for r, on in zip(self._loss.runs, ticks, strict=True) if on))
        self.accept()


def _describe_run(record: RunRecord) -> str:
    """Describe a run, e.g. "Run 2: 10 s"."""
    note = f" ({' '.join(record.note.split())[:60]})" if record.note else ""
    return f"{record.name}{note}: {float(record.run.time[-1]):.4g} s"
