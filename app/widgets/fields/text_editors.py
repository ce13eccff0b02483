"""Editors for text: names, single lines, multi-line notes, files and colours."""

from __future__ import annotations

import re
from math import ceil
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QIcon, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QColorDialog, QFileDialog, QHBoxLayout, QLineEdit, QPlainTextEdit, QToolButton, QWidget

from app.document.opening import mesh_filter, readable_patterns, signal_filter
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.fields.field_editor import Commit, Context, FieldEditor
from app.widgets.plain_keys import TextFieldKeyFilter
from core.errors import ModelError
from core.model import Driver, Figures, Mesh, SubAssembly
from core.model.fields import Element, Field


class CancellableLineEdit(QLineEdit):
    """Line edit in which Escape discards typed or refused text."""

    taken_back = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kept = ""
        TextFieldKeyFilter(self, self.has_edited_text)

    def has_edited_text(self) -> bool:
        """Return True if the text differs from the committed value."""
        return self.isModified() or self.text() != self.kept

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.has_edited_text():
            self.setText(self.kept)
            self.setModified(False)
            self.taken_back.emit()
        else:
            super().keyPressEvent(event)


class TextEditor(FieldEditor):
    """Editor for a line of text or the name of an element."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.line = CancellableLineEdit(self)
        self.line.editingFinished.connect(self._commit_text)
        self.line.taken_back.connect(self.discard_text)
        self.row = QHBoxLayout()
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(2)
        self.row.addWidget(self.line, 1)
        self.column.addLayout(self.row)
        self.setFocusProxy(self.line)
        self.problem = ""

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        self.line.setReadOnly(context.read_only)
        self.show_text(value)

    def show_text(self, text: str) -> None:
        """Show a text; text being typed or refused stays until the committed value changes."""
        changed = text != self.line.kept
        self.line.kept = text
        if changed or not (self.line.isModified() or self.problem):
            self.problem = ""
            self.line.setText(text)
            self.line.setCursorPosition(0)
            self.line.setModified(False)
            self.show_note("")

    def discard_text(self) -> None:
        self.problem = ""
        self.line.setModified(False)
        self.show_text(self.line.kept)

    def parse_value(self, text: str) -> object:
        """Convert the typed text to the field's value; raises ModelError."""
        return text.strip()

    def _commit_text(self) -> None:
        if not self.line.isModified():
            return
        text = self.line.text()
        self.line.setModified(False)
        try:
            value = self.parse_value(text)
        except ModelError as error:
            self.problem = f"{error.what} {error.remedy}"
            self.show_note(self.problem, "error")
            return
        self.problem = ""
        self.problem = self.try_commit(value)
        if self.problem:
            self.line.setText(text)
        else:
            self.show_text(self.line.kept)


def file_filter(owner: type) -> str:
    """Return the default filter of the file dialog for a field of an element type."""
    if owner is SubAssembly:
        return f"Machines ({readable_patterns()})"
    if owner is Figures:
        return f"Shapes {mesh_filter().partition(' ')[2].removesuffix(')')} *.txt *.m)"
    filters = {Mesh: mesh_filter, Driver: signal_filter}
    return filters[owner]() if owner in filters else "Pictures (*.png *.jpg *.jpeg *.bmp)"


EMPTY: dict[type, str] = {Figures: "the built-in shapes"}
"""Placeholder text of an empty file field, by element type."""


class FileEditor(TextEditor):
    """Editor for the path or URI of a file, with a browse button."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.button = QToolButton(self, icon=icon("folder"), toolTip="Choose a file…")
        self.button.clicked.connect(self._browse)
        self.row.addWidget(self.button)
        self.line.setPlaceholderText(EMPTY.get(owner, ""))
        self._origin = ""

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        super().show_value(value, owner, context)
        self._origin = context.model.origin
        self.button.setEnabled(not context.read_only)
        self.line.setToolTip(escape_tip(value or self.field.help))

    def _browse(self) -> None:
        first = file_filter(self.owner)
        dialog = QFileDialog(self, "Choose a file", str(Path(self._origin).parent), f"{first};;All files (*)")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.commit_file)
        dialog.open()

    def commit_file(self, path: str) -> None:
        """Commit the chosen file; its path is relative to the model's file if it is in or below its folder."""
        self.try_commit(stored_path(self._origin, path))


def stored_path(origin: str, path: str) -> str:
    """Return the path of a file as a model stores it: relative to the model's own file if it is in or below its
    folder."""
    folder = Path(origin).resolve().parent if origin else None
    return Path(path).relative_to(folder).as_posix() if folder and Path(path).is_relative_to(folder) else path


_HEX = re.compile(r"#?([0-9a-fA-F]{6}|[0-9a-fA-F]{8})")


def color_text(color: tuple[float, ...] | None) -> str:
    """Return a colour as #rrggbb, with two more digits for an opacity below one."""
    if color is None:
        return ""
    digits = "".join(f"{round(255 * part):02x}" for part in color)
    return "#" + (digits[:6] if digits[6:] == "ff" else digits)


class ColorEditor(TextEditor):
    """Editor for a colour, as #rrggbb(aa) or by name, with a swatch that opens a colour dialog; an empty field means
    the default."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.line.setPlaceholderText("default")
        self.button = QToolButton(self, toolTip="Choose a colour…")
        self.button.clicked.connect(self._open_color_dialog)
        self.row.insertWidget(0, self.button)
        self.value: tuple[float, ...] | None = None

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        self.value = value
        self.line.setReadOnly(context.read_only)
        self.button.setEnabled(not context.read_only)
        self.button.setIcon(color_swatch(value))
        self.show_text(color_text(value))

    def parse_value(self, text: str) -> object:
        text = text.strip()
        if not text:
            return None
        match = _HEX.fullmatch(text)
        if match:
            digits = match.group(1).ljust(8, "f")
            return tuple(int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4, 6))
        named = QColor(text)
        if not named.isValid():
            raise ModelError(f"'{text}' is not a colour.", remedy="Enter #rrggbb, or a name such as orange.")
        return (named.redF(), named.greenF(), named.blueF(), 1.0)

    def _open_color_dialog(self) -> None:
        present = QColor.fromRgbF(*self.value) if self.value else QColor("#8899aa")
        dialog = QColorDialog(present, self)
        dialog.setOption(QColorDialog.ColorDialogOption.ShowAlphaChannel)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.colorSelected.connect(lambda color: self.try_commit(color.getRgbF()))
        dialog.open()


def color_swatch(color: tuple[float, ...] | None, side: int = 16) -> QIcon:
    """Return an icon filled with a colour; a crossed-out one for the default."""
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(128, 128, 128))
    if color is None:
        painter.drawRoundedRect(1, 1, side - 3, side - 3, 3, 3)
        painter.drawLine(3, side - 4, side - 4, 3)
    else:
        painter.setBrush(QColor.fromRgbF(*color))
        painter.drawRoundedRect(1, 1, side - 3, side - 3, 3, 3)
    painter.end()
    return QIcon(picture)


NOTES_LEAST, NOTES_MOST = 3, 12
"""Smallest and largest visible number of lines of notes; longer notes scroll."""


class _NotesField(QPlainTextEdit):
    def __init__(self, editor: NotesEditor) -> None:
        super().__init__(editor)
        self.editor = editor
        self.setTabChangesFocus(True)
        TextFieldKeyFilter(self, self.document().isModified)
        self.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        self._fit_height()

    def _fit_height(self, *_: object) -> None:
        """Adapt the height to the number of lines, within limits, without cutting off a line."""
        many = self.document().size().height() > NOTES_MOST  # its unit is a line
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if many else policy.ScrollBarAlwaysOff)
        lines = self.document().size().height()  # without a scroll bar they are longer
        edges = 2 * (self.frameWidth() + self.document().documentMargin() + 1)
        height = ceil(min(max(lines, NOTES_LEAST), NOTES_MOST) * self.fontMetrics().height() + edges)
        if height != self.height():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.editor.commit_text()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.editor.commit_text()
        else:
            super().keyPressEvent(event)


class NotesEditor(FieldEditor):
    """Editor for multi-line text, committed with Ctrl+Enter or when the field loses the focus."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.box = _NotesField(self)
        self.column.addWidget(self.box)
        self.setFocusProxy(self.box)
        self.value = ""

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        self.box.setReadOnly(context.read_only)
        typing = self.box.hasFocus() and self.box.document().isModified()
        if value != self.value or not typing:
            self.value = value
            if self.box.toPlainText() != value:
                self.box.setPlainText(value)
            self.box.document().setModified(False)

    def discard_text(self) -> None:
        self.box.document().setModified(False)

    def commit_text(self) -> None:
        """Commit the typed text."""
        text = self.box.toPlainText()
        if text != self.value:
            self.try_commit(text)
