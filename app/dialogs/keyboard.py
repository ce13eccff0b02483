"""A page with all keys and mouse gestures; the keys come from the table of commands."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from app.commands import table

MOUSE = (
    ("Left drag", "orbit; on a handle: move the joint; with the Move tool on a body: pull it"),
    ("Middle drag, Shift + left drag", "pan"),
    ("Wheel", "zoom to the pointer"),
    ("Click", "select"),
    ("Double click", "set the centre of orbiting"),
    ("Right click", "what can be done with this"),
    ("Right drag", "orbit"),
    ("Ctrl while dragging a handle", "snap to 5° or 10 mm"),
    ("Trackpad: two fingers", "pan; with Shift orbit; with Ctrl zoom"),
    ("Trackpad: pinch", "zoom to the pointer"),
)


class KeyboardMap(QDialog):
    """Dialog with two tables: keys and mouse gestures."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keyboard and mouse")
        self.resize(620, 640)
        text = QTextBrowser()
        text.setHtml(page())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(text)
        column.addWidget(buttons)


def page() -> str:
    """Return the page as HTML."""
    rows = []
    for command in table().values():
        keys = [QKeySequence(key.strip()) for key in command.shortcut.split(",") if key.strip()]
        if keys:
            shown = " or ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in keys)
            rows.append((shown, command.title.rstrip("…")))
    return f"<h3>Mouse and trackpad</h3>{_table(MOUSE)}<h3>Keys</h3>{_table(rows)}"


def _table(rows: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> str:
    inside = "".join(f"<tr><td width='230'><b>{escape(a)}</b></td><td>{escape(b)}</td></tr>" for a, b in rows)
    return f"<table cellspacing='0' cellpadding='3'>{inside}</table>"
