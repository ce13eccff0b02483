"""The dialog shown before unsaved work is closed: a list of what would be lost, each item with a check box."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.document.kept.recovery_copies import counted
from app.document.run_tree import Record
from app.preferences.icons import icon
from app.widgets.label import Label

ROWS = 8
"""Rows of the list that are seen without scrolling."""


class Loss(NamedTuple):
    """Unsaved work: edits of the document since it was saved, deletions of runs kept with it, and runs."""

    name: str
    edits: int
    deleted: int
    runs: tuple[Record, ...]

    @property
    def of_document(self) -> tuple[str, ...]:
        """Descriptions of the unsaved changes of the document itself."""
        deleted = (f"{counted(self.deleted, 'run')} deleted",) if self.deleted else ()
        return (counted(self.edits, "edit"), *deleted) if self.edits else deleted

    @property
    def items(self) -> tuple[str, ...]:
        """A line for each item that would be lost."""
        document = (f"{self.name}: {', '.join(self.of_document)}",) if self.of_document else ()
        return *document, *(_run_line(record) for record in self.runs)

    @property
    def words(self) -> str:
        """Summary, e.g. "four_bar: 3 edits, 2 runs"."""
        parts = (*self.of_document, *((counted(len(self.runs), "run"),) if self.runs else ()))
        return f"{self.name}: {', '.join(parts)}"


class Wanted(NamedTuple):
    """The items to save; if none is set, everything is discarded."""

    document: bool = False
    runs: tuple[Record, ...] = ()

    def __bool__(self) -> bool:
        return self.document or bool(self.runs)


def ask(parent: QWidget, loss: Loss) -> Wanted | None:
    """Ask which items to save; returns None to stay."""
    dialog = LeavingDialog(parent, loss)
    try:
        return dialog.wanted if dialog.exec() == QDialog.DialogCode.Accepted else None
    finally:
        dialog.deleteLater()


class LeavingDialog(QDialog):
    """Dialog with Save (everything, or the checked items), Discard and Cancel; Esc cancels."""

    def __init__(self, parent: QWidget, loss: Loss) -> None:
        super().__init__(parent)
        self._loss = loss
        self.wanted = Wanted()
        self.setWindowTitle("Unsaved work")
        question = Label(f"Save {loss.words}?")
        question.setWordWrap(True)
        font = question.font()
        font.setBold(True)
        question.setFont(font)
        rest = Label("Items that are not checked are lost.")
        self.list = QListWidget()
        self.list.setAccessibleName("What would be lost")
        pictures = [*(["model"] if loss.of_document else []), *["simulate" for _ in loss.runs]]
        for words, picture in zip(loss.items, pictures, strict=True):
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
        self.save.setText("Save all" if all(ticks) else "Save ticked")
        self.save.setEnabled(any(ticks))

    def _save(self) -> None:
        ticks = self._checked_items
        document = ticks.pop(0) if self._loss.of_document else False
        self.wanted = Wanted(document, tuple(r for r, on in zip(self._loss.runs, ticks, strict=True) if on))
        self.accept()


def _run_line(record: Record) -> str:
    """Describe a run, e.g. "Run 2: 10 s"."""
    note = f" ({' '.join(record.note.split())[:60]})" if record.note else ""
    return f"{record.name}{note}: {float(record.run.time[-1]):.4g} s"
