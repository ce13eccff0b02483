"""Cells of a table of nested elements: editing and keyboard control."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QTableWidget, QWidget

from app.widgets.plain_keys import PlainKeys

Index: TypeAlias = QModelIndex | QPersistentModelIndex


class Cells(Protocol):
    """Protocol of the table editor as its cells use it."""

    def options_at(self, column: int) -> tuple[str, ...]:
        """Return the choices of a column; () if it holds numbers."""

    def text_to_edit(self, row: int, column: int) -> str:
        """Return the text with which a cell's editor begins."""

    def take(self, row: int, column: int, text: str) -> None:
        """Commit the text typed in a cell."""

    def clear_cell(self, row: int, column: int) -> None:
        """Reset a cell to its default."""


class CellDelegate(QStyledItemDelegate):
    """Delegate that edits cells as text, choices with a combo box, and passes the result to the table editor."""

    def __init__(self, editor: Cells, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor = editor

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        options = self.editor.options_at(index.column())
        if options:
            combo = QComboBox(parent)
            combo.addItems(options)
            combo.activated.connect(lambda _i: (self.commitData.emit(combo), self.closeEditor.emit(combo)))
            return combo
        line = QLineEdit(parent)
        line.setFrame(False)
        return line

    def setEditorData(self, widget: QWidget, index: Index) -> None:
        text = self.editor.text_to_edit(index.row(), index.column())
        if isinstance(widget, QComboBox):
            widget.setCurrentText(text)
        elif isinstance(widget, QLineEdit):
            widget.setText(text)
            widget.selectAll()

    def setModelData(self, widget: QWidget, model: QAbstractItemModel, index: Index) -> None:
        text = widget.currentText() if isinstance(widget, QComboBox) else ""
        if isinstance(widget, QLineEdit):
            text = widget.text()
            if not widget.isModified():
                return
        self.editor.take(index.row(), index.column(), text)


class Grid(QTableWidget):
    """Table of cells in which Delete empties a cell."""

    def __init__(self, editor: Cells, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor = editor
        PlainKeys(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.currentRow() >= 0:
            self.editor.clear_cell(self.currentRow(), self.currentColumn())
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Enter at the first cell with Tab, at the last one with Shift+Tab."""
        super().focusInEvent(event)
        if self.rowCount() and event.reason() == Qt.FocusReason.TabFocusReason:
            self.setCurrentCell(0, 0)
        elif self.rowCount() and event.reason() == Qt.FocusReason.BacktabFocusReason:
            self.setCurrentCell(self.rowCount() - 1, self.columnCount() - 1)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move from cell to cell with Tab, and on from the last."""
        last = (self.rowCount() - 1, self.columnCount() - 1)
        leaves = (self.currentRow(), self.currentColumn()) == (last if forward else (0, 0))
        self.setTabKeyNavigation(not leaves and self.rowCount() > 0)
        gone = super().focusNextPrevChild(forward)
        self.setTabKeyNavigation(True)
        return gone
