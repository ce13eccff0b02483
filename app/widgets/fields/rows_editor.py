"""Tables with a form beneath for fields that do not fit in a row: the rows of a DH chain, which can be added, moved and
removed, and the limits of a joint's coordinates with their stops."""

from __future__ import annotations

import dataclasses
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.fields.element_form import ElementForm
from app.widgets.fields.field_editor import Context, FieldEditor
from app.widgets.fields.table_editor import TableEditor
from app.widgets.fields.titles import coordinate_titles
from app.widgets.section import Section
from core.model import DHRow


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
        form = ElementForm(self.type, self._put_detail, f"{self.path}.0", skip=self.columns)
        return form

    def _show_detail(self) -> None:
        if self._shown is None:
            return
        row = max(0, self.table.currentRow())
        self.detail.setVisible(row < len(self.value))
        self.detail.set_title(f"Row {row + 1}: symbol, mass, limits, shapes")
        form = self.detail.content
        if isinstance(form, ElementForm) and self.detail.opened and row < len(self.value):
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
        return form.editors.get(field, self) if isinstance(form, ElementForm) else self

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
        if isinstance(form, ElementForm) and self.detail.opened:
            form.show_element(limit, self._context_of(context, row))
