"""Escape user text for tool tips (which Qt may interpret as HTML), titles and menu entries (which have special
characters of their own). For labels use `app.widgets.label.Label`. `tests/project/test_text_as_it_is.py` enforces both.
"""

from __future__ import annotations

from html import escape

from PySide6.QtGui import Qt

from core.errors import escape_control_characters


def escape_tip(text: str) -> str:
    """Escape the text of a tool tip (of a widget, item or action) so that it is shown literally."""
    text = escape_control_characters(text)
    if not Qt.mightBeRichText(text):
        return text
    return Qt.convertFromPlainText(text, Qt.WhiteSpaceMode.WhiteSpaceNormal)


def format_tip(heading: str, shortcut: str, text: str) -> str:
    """Return a tool tip with a bold heading, followed by a shortcut key (may be empty), with text below."""
    keys = f" ({escape(shortcut)})" if shortcut else ""
    return f"<b>{escape(escape_control_characters(heading))}</b>{keys}<br>{escape(escape_control_characters(text))}"


def escape_title(text: str) -> str:
    """Return text for a window title: on one line, and with `[*]` escaped, which otherwise marks unsaved work."""
    return _one_line(text).replace("[*]", "[*][*]")


def escape_entry(text: str) -> str:
    """Return text for a menu entry, button or tab: on one line, and with `&` escaped, which otherwise marks a mnemonic
    key."""
    return _one_line(text).replace("&", "&&")


def _one_line(text: str) -> str:
    return " ".join(escape_control_characters(text).split())
